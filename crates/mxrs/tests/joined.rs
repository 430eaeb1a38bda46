//! Concatenation in place on all kernels of this build. Modules of branches, like Inception's, have the same outputs as with
//! copies at several batch sizes, their arena is not larger, and a monitor sees the same values.

use mxrs::env::MapSource;
use mxrs::exec::{Executor, ExecutorReport};
use mxrs::graph::{Graph, NameManager, Symbol, SymbolCall};
use mxrs::types::Shape;
use mxrs::{Error, Runtime};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// A generator of pseudorandom numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 16) % n as u64) as usize
    }

    fn fill(&mut self, n: usize) -> Vec<f32> {
        (0..n).map(|_| self.below(2048) as f32 / 1024.0 - 1.0).collect()
    }
}

struct Net<'a> {
    runtime: &'a Runtime,
    names: NameManager,
}

impl Net<'_> {
    fn call(&mut self, op: &str, attrs: &[(&str, &str)], inputs: &[&Symbol]) -> Symbol {
        let mut call = SymbolCall::new(self.runtime.ops().get(op).unwrap());
        for (key, value) in attrs {
            call = call.attr(*key, value);
        }
        call.inputs(inputs.iter().copied()).build(&mut self.names).unwrap()
    }

    fn conv(&mut self, x: &Symbol, filters: usize, [kh, kw]: [usize; 2]) -> Symbol {
        let filters = filters.to_string();
        let (kernel, pad) = (format!("({kh}, {kw})"), format!("({}, {})", kh / 2, kw / 2));
        let x = self.call("Convolution", &[("num_filter", &filters), ("kernel", &kernel), ("pad", &pad)], &[x]);
        self.call("Activation", &[("act_type", "relu")], &[&x])
    }

    fn pool(&mut self, x: &Symbol, kind: &str) -> Symbol {
        let attrs = [("kernel", "(3, 3)"), ("stride", "(1, 1)"), ("pad", "(1, 1)"), ("pool_type", kind)];
        self.call("Pooling", &attrs, &[x])
    }

    /// Branches of the data, concatenated. The last branch may have 20 channels, which do not fill their blocks.
    fn module(&mut self, x: &Symbol, numbers: &mut Numbers) -> Symbol {
        let mut parts = Vec::new();
        for _ in 0..2 + numbers.below(3) {
            let filters = 16 * (1 + numbers.below(3));
            let part = match numbers.below(7) {
                0 | 1 => self.conv(x, filters, [1, 1]),
                2 => self.conv(x, filters, [3, 3]),
                3 => {
                    let x = self.conv(x, 16, [1, 1]);
                    self.conv(&x, filters, [1, 7])
                }
                4 => self.pool(x, "max"),
                5 => {
                    let x = self.pool(x, "avg");
                    self.conv(&x, filters, [1, 1])
                }
                // A branch that is read twice needs a copy.
                _ => {
                    let (y, z) = (self.conv(x, filters, [1, 1]), self.conv(x, filters, [3, 3]));
                    parts.push(y.clone());
                    self.call("elemwise_add", &[], &[&y, &z])
                }
            };
            parts.push(part);
        }
        if numbers.below(2) == 0 {
            parts.push(self.conv(x, 20, [3, 3]));
        }
        let n = parts.len().to_string();
        let whole = self.call("Concat", &[("num_args", &n)], &parts.iter().collect::<Vec<_>>());
        self.conv(&whole, 32, [1, 1])
    }
}

fn network(runtime: &Runtime, numbers: &mut Numbers) -> Graph {
    let mut net = Net { runtime, names: NameManager::new() };
    let mut x = net.conv(&Symbol::variable("data"), 32, [3, 3]);
    for _ in 0..1 + numbers.below(3) {
        x = net.module(&x, numbers);
    }
    x.graph().unwrap()
}

fn bound(runtime: &Runtime, graph: &Graph, shape: &Shape, in_place: bool) -> Executor {
    let mut options = runtime.bind_options();
    options.plan.enable_inplace = in_place;
    let executor = Executor::simple_bind(graph, runtime.arrays(), &[("data", shape.clone())], &options).unwrap();
    let mut numbers = Numbers(77);
    for (name, array) in executor.arrays().iter().filter(|(name, _)| name != "data") {
        let values: Vec<f32> = numbers.fill(array.shape().n_elements()).iter().map(|x| x / 8.0).collect();
        array.copy_from(&values).unwrap_or_else(|e| panic!("{name}: {e}"));
    }
    executor
}

/// Outputs for two batches. The second run finds the values of the first one in the arena.
fn answers(executor: &Executor, shape: &Shape) -> Vec<Vec<u8>> {
    let mut seen = Vec::new();
    for seed in [3, 5] {
        executor.argument("data").unwrap().copy_from(&Numbers(seed).fill(shape.n_elements())).unwrap();
        executor.forward().unwrap();
        seen.push(executor.outputs()[0].read_bytes(<[u8]>::to_vec).unwrap());
    }
    seen
}

/// Number of concatenations that copy all their parts, number of parts that are copied separately, and number of all
/// concatenations.
fn copies(report: &ExecutorReport) -> [usize; 3] {
    let count = |op: &str, is: &dyn Fn(&str) -> bool| {
        report.steps.iter().filter(|step| step.op == op && is(&step.kernel)).count()
    };
    [
        count("Concat", &|kernel| kernel != "view"),
        count("reorder", &|kernel| kernel == "part"),
        count("Concat", &|_| true),
    ]
}

fn runtime() -> Runtime {
    Runtime::builder().env(&MapSource::new([("OMP_NUM_THREADS", "2")])).build().unwrap()
}

#[test]
fn modules_have_the_bits_they_have_with_copies() {
    let runtime = runtime();
    let mut numbers = Numbers(0x1234_5678_9abc_def1);
    let (mut n_in_place, mut n_parts) = (0, 0);
    for case in 0..40 {
        let graph = network(&runtime, &mut numbers);
        for batch in [1, 3, 32] {
            let shape = Shape::from([batch, 16, 9, 10]);
            let (joined, plain) = (bound(&runtime, &graph, &shape, true), bound(&runtime, &graph, &shape, false));
            assert!(answers(&joined, &shape) == answers(&plain, &shape), "case {case}, batch {batch}: other bits");
            let (report, with_copies) = (joined.report().unwrap(), plain.report().unwrap());
            assert!(report.arena_bytes <= with_copies.arena_bytes, "case {case}, batch {batch}");
            let [n_copies, parts, n] = copies(&report);
            n_in_place += n - n_copies;
            n_parts += parts;
        }
    }
    // Without concatenations in place, the test would prove nothing. If kernels for channels last are preferred for widths
    // that do not fill blocks, every second concatenation has parts in two layouts and is not done in place.
    assert!(n_in_place > 40 && n_parts > 0, "{n_in_place} in place, {n_parts} parts copied");
}

type Seen = BTreeMap<String, Vec<u8>>;

fn seen(executor: &Executor, shape: &Shape) -> Seen {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let to = seen.clone();
    let callback = move |m: &mxrs::exec::Monitored<'_>| to.lock().unwrap().push((m.name.to_owned(), m.array.clone()));
    executor.set_monitor(callback, true);
    answers(executor, shape);
    executor.remove_monitor();
    let of = |(name, array): &(String, mxrs::ndarray::NdArray)| {
        Ok::<_, Error>((name.clone(), array.read_bytes(<[u8]>::to_vec)?))
    };
    seen.lock().unwrap().iter().map(of).collect::<Result<Seen, _>>().unwrap()
}

#[test]
fn a_monitor_sees_parts_as_they_are() {
    let runtime = runtime();
    let mut net = Net { runtime: &runtime, names: NameManager::new() };
    let x = net.conv(&Symbol::variable("data"), 64, [3, 3]);
    let parts = [net.conv(&x, 64, [3, 3]), net.conv(&x, 32, [3, 3]), net.pool(&x, "max"), net.pool(&x, "avg")];
    let whole = net.call("Concat", &[("num_args", "4")], &parts.iter().collect::<Vec<_>>());
    let graph = net.conv(&whole, 16, [1, 1]).graph().unwrap();
    for batch in [1, 3] {
        let shape = Shape::from([batch, 64, 28, 28]);
        let (joined, plain) = (bound(&runtime, &graph, &shape, true), bound(&runtime, &graph, &shape, false));
        assert_eq!(copies(&joined.report().unwrap())[2], 1);
        let (got, want) = (seen(&joined, &shape), seen(&plain, &shape));
        assert!(want.len() > 8);
        for (name, want) in &want {
            assert!(got.get(name) == Some(want), "batch {batch}: `{name}` differs");
        }
    }
}
