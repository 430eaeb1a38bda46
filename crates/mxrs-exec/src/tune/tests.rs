//! Tests choices by timing. The kernels take a fixed time each.

mod device;

use super::*;
use crate::choose::choose_tuned;
use mxrs_op::{Answer, Attrs, Kernel, KernelArgs, Offer, OpDef, OpParams, PlannedKernel, TensorDesc};
use mxrs_sync::atomic::{AtomicUsize, Ordering};
use mxrs_types::{Error, Layout};
use smallvec::smallvec;
use std::time::Duration;

/// One algorithm of a backend: name, milliseconds of a run, whether it works in another layout, whether it fails.
#[derive(Clone, Copy)]
struct Timed {
    name: &'static str,
    ms: u64,
    is_turned: bool,
    fails: bool,
}

const fn algorithm(name: &'static str, ms: u64) -> Timed {
    Timed { name, ms, is_turned: false, fails: false }
}

/// A backend that offers to run any call in `seconds`. Copies between layouts take `copy_ms` milliseconds.
struct Clocked {
    name: &'static str,
    /// The estimated seconds. A negative number makes the kernels reference kernels.
    seconds: f64,
    algorithms: Vec<Timed>,
    copy_ms: u64,
    runs: Arc<AtomicUsize>,
}

struct Wait {
    name: String,
    ms: u64,
    fails: bool,
    runs: Arc<AtomicUsize>,
}

impl Kernel for Wait {
    fn name(&self) -> &str {
        &self.name
    }

    unsafe fn run(&self, _: &KernelArgs<'_>) -> Result<()> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        if self.fails {
            return Err(Error::not_built("a run", "it fails"));
        }
        // Sleeping instead of computing, so that tests that run at the same time do not disturb each other's timings.
        std::thread::sleep(Duration::from_millis(self.ms));
        Ok(())
    }
}

/// The transposed layout of an 8 by 8 matrix.
fn turned() -> Layout {
    Layout::Blocked { padded: smallvec![8, 8], strides: smallvec![1, 8], blocks: smallvec![] }
}

impl Clocked {
    fn planned(&self, call: &OpCall<'_>, algorithm: Timed) -> PlannedKernel {
        let layout = if algorithm.is_turned { turned() } else { Layout::RowMajor };
        let mut input_layouts = vec![Layout::RowMajor; call.inputs.len()];
        input_layouts[0] = layout.clone();
        let runs = Arc::clone(&self.runs);
        PlannedKernel {
            input_layouts,
            output_layouts: vec![layout],
            scratch_bytes: 100,
            can_run_inplace: false,
            kernel: Arc::new(Wait { name: algorithm.name.into(), ms: algorithm.ms, fails: algorithm.fails, runs }),
        }
    }
}

impl Backend for Clocked {
    fn name(&self) -> &'static str {
        self.name
    }

    fn offer<'a>(&'a self, call: &'a OpCall<'a>) -> Answer<'a> {
        let offer = Offer::new(self.seconds.abs(), || Ok(self.planned(call, self.algorithms[0])));
        Ok(if self.seconds < 0.0 { offer.as_reference() } else { offer })
    }

    fn algorithms(&self, _: &OpCall<'_>) -> Vec<String> {
        self.algorithms.iter().map(|algorithm| algorithm.name.into()).collect()
    }

    fn offer_algorithm<'a>(&'a self, call: &'a OpCall<'a>, name: &str) -> Answer<'a> {
        let algorithm = *self.algorithms.iter().find(|algorithm| algorithm.name == name).ok_or("no such way")?;
        Ok(Offer::new(self.seconds.abs(), move || Ok(self.planned(call, algorithm))))
    }

    fn reorder(&self, _: &TensorDesc, _: &TensorDesc) -> Result<Option<Arc<dyn Kernel>>> {
        let runs = Arc::new(AtomicUsize::new(0));
        Ok(Some(Arc::new(Wait { name: "copy".into(), ms: self.copy_ms, fails: false, runs })))
    }
}

/// Backends for a test, the operator that they run, and the number of runs so far.
struct World {
    backends: Vec<Arc<dyn Backend>>,
    runs: Arc<AtomicUsize>,
    op: OpDef,
    params: OpParams,
}

impl World {
    fn new(algorithms: &[(&'static str, f64, &[Timed])]) -> Self {
        let runs = Arc::new(AtomicUsize::new(0));
        let backend = |(name, seconds, algorithms): &(&'static str, f64, &[Timed])| -> Arc<dyn Backend> {
            Arc::new(Clocked {
                name,
                seconds: *seconds,
                algorithms: algorithms.to_vec(),
                copy_ms: 4,
                runs: Arc::clone(&runs),
            })
        };
        let op = OpDef::new("clocked");
        let params = op.parse(&Attrs::new()).unwrap();
        Self { backends: algorithms.iter().map(backend).collect(), runs, op, params }
    }

    fn choose_as(&self, tuning: &Tuning, is_constant: &[bool], is_train: bool) -> Result<Choice> {
        self.choose_on((&self.backends, Device::cpu(0)), tuning, is_constant, is_train)
    }

    fn choose_on(
        &self,
        (backends, device): (&[Arc<dyn Backend>], Device),
        tuning: &Tuning,
        is_constant: &[bool],
        is_train: bool,
    ) -> Result<Choice> {
        let desc = || TensorDesc::dense([8, 8], DType::F32);
        let (inputs, outputs) = ([desc(), desc()], [desc()]);
        let (op, params) = (&self.op, &self.params);
        let call = OpCall { op, params, inputs: &inputs, outputs: &outputs, is_constant, is_train };
        choose_tuned(backends, &call, device, (Some(tuning), &Team::serial()), "node")
    }

    /// The name of the kernel chosen at inference, and how it was chosen.
    fn choose(&self, tuning: &Tuning) -> (String, ChosenBy) {
        let choice = self.choose_as(tuning, &[false, true], false).unwrap();
        (choice.planned.kernel.name().to_owned(), choice.chosen_by)
    }

    fn runs(&self) -> usize {
        self.runs.load(Ordering::Relaxed)
    }
}

/// A search with a time budget so large that it runs all rounds even on a slow machine.
fn patient() -> Search {
    Search::new(Duration::from_secs(60))
}

fn searching(search: Search) -> Tuning {
    Tuning { known: Some(Arc::default()), search: Some(Arc::new(search)), dtypes: None }
}

#[test]
fn the_fastest_way_of_all_backends_wins_and_is_known_then() {
    let world = World::new(&[
        ("a", 0.5, &[algorithm("slow", 6), algorithm("middling", 4)]),
        ("b", 1.0, &[algorithm("fast", 1)]),
    ]);
    assert_eq!(world.choose(&Tuning::default()), ("slow".into(), ChosenBy::Estimate));
    assert_eq!(world.runs(), 0, "nothing is tried unasked");
    let tuning = searching(patient());
    assert_eq!(world.choose(&tuning), ("fast".into(), ChosenBy::Search));
    let found = tuning.known.as_ref().unwrap().found();
    let [(_, kernel)] = &found[..] else { panic!("one result: {found:?}") };
    assert_eq!((kernel.backend.as_str(), kernel.algorithm.as_str()), ("b", "fast"));
    assert!(kernel.seconds < kernel.seconds_of_estimate, "{kernel:?}");
    let runs = world.runs();
    assert_eq!(world.choose(&tuning), ("fast".into(), ChosenBy::Search));
    // `is_new: false` makes the results look like results of an earlier process.
    let kept = found.into_iter().map(|(call, kernel)| (call, KnownKernel { is_new: false, ..kernel }));
    let known = Tuning { known: Some(Arc::new(KnownKernels::new(kept))), ..Tuning::default() };
    assert_eq!(world.choose(&known), ("fast".into(), ChosenBy::Cache));
    assert_eq!(world.runs(), runs);
    let mut search = patient();
    search.again = true;
    let again = Tuning { search: Some(Arc::new(search)), ..known };
    assert_eq!(world.choose(&again).1, ChosenBy::Search);
    assert!(world.runs() > runs, "it is tried again where that is asked for");
}

#[test]
fn a_layout_costs_its_copies() {
    // In the first case, the kernel in the other layout saves 2 ms but needs two copies of 4 ms. In the second case, it
    // saves so much more that delays on a busy machine do not matter.
    let other = Timed { is_turned: true, ..algorithm("other layout", 3) };
    let world = World::new(&[("a", 0.5, &[algorithm("plain", 5)]), ("b", 1.0, &[other])]);
    assert_eq!(world.choose(&searching(patient())).0, "plain");
    let much_faster = World::new(&[("a", 0.5, &[algorithm("plain", 40)]), ("b", 1.0, &[other])]);
    assert_eq!(much_faster.choose(&searching(patient())).0, "other layout");
}

#[test]
fn a_kernel_that_fails_is_no_candidate() {
    let broken = Timed { fails: true, ..algorithm("broken", 0) };
    let world = World::new(&[("a", 0.5, &[algorithm("works", 2)]), ("b", 1.0, &[broken])]);
    assert_eq!(world.choose(&searching(patient())), ("works".into(), ChosenBy::Search));
    // If the estimated choice fails while it is timed, the other candidates remain.
    let world = World::new(&[("a", 0.5, &[broken]), ("b", 1.0, &[algorithm("works", 2)])]);
    assert_eq!(world.choose(&searching(patient())).0, "works");
}

#[test]
fn only_inference_with_constant_weights_is_tried() {
    let world = World::new(&[("a", 0.5, &[algorithm("slow", 3), algorithm("fast", 1)])]);
    let tuning = searching(patient());
    let by = |tuning: &Tuning, is_constant: &[bool], is_train: bool| {
        world.choose_as(tuning, is_constant, is_train).unwrap().chosen_by
    };
    assert_eq!(by(&tuning, &[false, true], true), ChosenBy::Estimate);
    assert_eq!(by(&tuning, &[false, false], false), ChosenBy::Estimate);
    assert_eq!(by(&tuning, &[true, true], false), ChosenBy::Estimate);
    let of_types = |dtypes: &[DType]| Tuning { dtypes: Some(dtypes.to_vec()), ..tuning.clone() };
    assert_eq!(by(&of_types(&[DType::F64]), &[false, true], false), ChosenBy::Estimate);
    assert_eq!(world.runs(), 0);
    assert_eq!(by(&of_types(&[DType::F32]), &[false, true], false), ChosenBy::Search);
}

#[test]
fn what_cannot_be_chosen_is_not_tried() {
    // Backend `a` has one algorithm, and `slow` is a reference backend, which is not timed. So there is nothing to
    // choose from.
    let world = World::new(&[("a", 1.0, &[algorithm("only", 1)]), ("slow", -9.0, &[algorithm("never", 0)])]);
    let tuning = searching(patient());
    assert_eq!(world.choose(&tuning), ("only".into(), ChosenBy::Estimate));
    assert_eq!((world.runs(), tuning.known.unwrap().found().len()), (0, 0));
}

#[test]
fn a_result_that_nobody_has_is_passed_over() {
    let world = World::new(&[("a", 0.5, &[algorithm("first", 1), algorithm("second", 1)])]);
    let tuning = searching(patient());
    world.choose(&tuning);
    let (call, kernel) = tuning.known.as_ref().unwrap().found().remove(0);
    for (backend, algorithm, expected) in [
        ("a", "second", ("second", ChosenBy::Cache)),
        ("a", "gone", ("first", ChosenBy::Estimate)),
        ("gone", "second", ("first", ChosenBy::Estimate)),
    ] {
        let kernel =
            KnownKernel { backend: backend.into(), algorithm: algorithm.into(), is_new: false, ..kernel.clone() };
        let known = Arc::new(KnownKernels::new([(call.clone(), kernel)]));
        let (name, by) = world.choose(&Tuning { known: Some(known), ..Tuning::default() });
        assert_eq!((name.as_str(), by), expected, "{backend} {algorithm}");
    }
}

#[test]
fn whoever_looks_on_sees_each_call_and_can_end_it() {
    let world = World::new(&[("a", 0.5, &[algorithm("slow", 40), algorithm("fast", 1)])]);
    let seen = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&seen);
    let tuning = searching(patient().looked_on_by(move |call| {
        let n = count.fetch_add(1, Ordering::Relaxed);
        assert_eq!((call.node.as_str(), call.algorithm.as_str()), ("node", "fast"));
        assert_eq!(call.n_tried, if n == 0 { 2 } else { 0 });
        if n == 2 { Err(Error::not_built("more", "it is enough")) } else { Ok(()) }
    }));
    assert_eq!((world.choose(&tuning).1, world.choose(&tuning).1), (ChosenBy::Search, ChosenBy::Search));
    assert!(world.choose_as(&tuning, &[false, true], false).is_err());
    assert_eq!(seen.load(Ordering::Relaxed), 3);
}
