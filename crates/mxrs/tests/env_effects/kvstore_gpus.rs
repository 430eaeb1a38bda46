//! Rows D42 to D47 of `docs/env.md`: trees over the links between devices, and direct copies. The GPUs are simulated ones
//! of one machine, whose timelines show each copy.

use crate::log_lines::log_lines;
use crate::plug::Plug;
use crate::{Vars, builder, warnings};
use mxrs::Runtime;
use mxrs::kvstore::{Key, KvStore};
use mxrs::ndarray::NdArray;
use mxrs::types::{DType, Device};
use mxrs_simulated_gpu::SimulatedDevice;
use std::sync::Arc;

const TREE: (&str, &str) = ("MXNET_KVSTORE_USETREE", "1");
const LOG: (&str, &str) = ("MXNET_KVSTORE_LOGTREE", "1");
const BACKTRACK: (&str, &str) = ("MXNET_KVSTORE_TREE_BACKTRACK", "1");
const DIRECT: &str = "MXNET_ENABLE_GPU_P2P";

/// The trees that a search finds for four devices with equal links, given by their leaves. They are those of MXNet.
const FOUR: [[u32; 4]; 4] = [[0, 1, 2, 3], [1, 2, 3, 0], [2, 0, 1, 3], [3, 2, 0, 1]];

/// A runtime with simulated GPUs, and a store `device`.
struct World {
    gpus: Vec<Arc<SimulatedDevice>>,
    runtime: Runtime,
    store: Arc<dyn KvStore>,
}

/// What a push and a pull caused.
struct Traffic {
    /// The log lines of the push and the pull.
    lines: Vec<String>,
    /// The copies from device to device during the pull, sorted.
    copies: Vec<(u32, u32)>,
    /// The number of uploads to each device during the push.
    uploads: Vec<u64>,
    /// The number of downloads from all devices during the pull.
    n_downloads: u64,
}

impl World {
    /// Makes a runtime with simulated GPUs. The pairs of GPUs in `cut` have no link.
    fn new(vars: Vars<'_>, n_gpus: u32, cut: &[(u32, u32)]) -> Self {
        let first = SimulatedDevice::new(Device::gpu(0), 1 << 20);
        let others = (1..n_gpus).map(|id| first.beside(Device::gpu(id), 1 << 20));
        let gpus: Vec<Arc<SimulatedDevice>> = std::iter::once(Arc::clone(&first)).chain(others).collect();
        cut.iter().for_each(|&(from, to)| gpus[from as usize].cut_link(Device::gpu(to)));
        // The GPUs have no kernels.
        let plug = |gpu| Arc::new(Plug { gpu: Arc::clone(gpu), backends: Vec::new() });
        let builder =
            gpus.iter().map(plug).fold(builder(vars).only_backend("reference"), |builder, plug| builder.device(plug));
        let runtime = builder.build().expect("the runtime starts");
        let store = runtime.kvstore("device").expect("a built-in store");
        Self { gpus, runtime, store }
    }

    fn count(&self, of: impl Fn(&SimulatedDevice) -> u64) -> Vec<u64> {
        self.gpus.iter().map(|gpu| of(gpu)).collect()
    }

    /// The copies between devices so far, in order.
    fn copies(&self) -> Vec<(u32, u32)> {
        let spans = self.gpus.iter().flat_map(|gpu| gpu.gpu().timeline().spans().to_vec());
        let devices = |name: &str| {
            let (from, to) = name.strip_prefix("copy from gpu(")?.split_once(") to gpu(")?;
            Some((from.parse().ok()?, to.strip_suffix(')')?.parse().ok()?))
        };
        spans.filter_map(|span| devices(&span.name)).collect()
    }

    /// Pushes an array from each GPU, pulls the sum to each GPU, and checks it.
    fn push_and_pull(&self, shape: [usize; 2]) -> Traffic {
        let n = shape[0] * shape[1];
        let engine = self.runtime.engine();
        self.store.init(&[(Key::Int(0), NdArray::zeros(self.runtime.arrays(), shape, DType::F32).unwrap())]).unwrap();
        let gradient = |id: u32| {
            let elements: Vec<f32> = (0..n).map(|i| (i as u32 * (id + 1)) as f32).collect();
            NdArray::from_slice_on(self.runtime.arrays(), shape, &elements, Device::gpu(id)).unwrap()
        };
        let gradients: Vec<NdArray> = (0..self.gpus.len() as u32).map(gradient).collect();
        engine.wait_for_all().unwrap();
        let uploads = self.count(|gpu| gpu.copies().uploads.n);
        let values: Vec<_> = gradients.iter().map(|gradient| (Key::Int(0), gradient.into())).collect();
        let (pushed, lines) = log_lines(|| self.store.push(&values, 0));
        pushed.unwrap();
        engine.wait_for_all().unwrap();
        let uploads =
            self.count(|gpu| gpu.copies().uploads.n).iter().zip(uploads).map(|(now, before)| now - before).collect();
        assert_eq!(self.copies(), [], "the sum goes through the host");
        let n_downloads = |world: &Self| world.count(|gpu| gpu.copies().downloads.n).iter().sum::<u64>();
        let before = n_downloads(self);
        let outs: Vec<_> = gradients.iter().map(|gradient| (Key::Int(0), gradient.clone())).collect();
        self.store.pull(&outs, 0).unwrap();
        engine.wait_for_all().unwrap();
        let n_downloads = n_downloads(self) - before;
        let mut copies = self.copies();
        copies.sort_unstable();
        let factor = (1..=self.gpus.len()).sum::<usize>();
        let expected: Vec<f32> = (0..n).map(|i| (i * factor) as f32).collect();
        for gradient in &gradients {
            assert_eq!(gradient.to_vec::<f32>().unwrap(), expected, "the sum on {}", gradient.device());
        }
        self.gpus[0].checker().assert_clean();
        Traffic { lines, copies, uploads, n_downloads }
    }
}

fn traffic(vars: Vars<'_>, n_gpus: u32, shape: [usize; 2]) -> Traffic {
    World::new(vars, n_gpus, &[]).push_and_pull(shape)
}

/// The copies that spread a value from the roots of trees with these leaves, sorted.
fn edges(trees: &[[u32; 4]]) -> Vec<(u32, u32)> {
    let of = |&[root, one, two, three]: &[u32; 4]| [(root, two), (root, one), (two, three)];
    let mut edges: Vec<(u32, u32)> = trees.iter().flat_map(of).collect();
    edges.sort_unstable();
    edges
}

#[test]
fn d42_sums_and_copies_follow_a_tree() {
    for vars in [&[] as Vars<'_>, &[("MXNET_KVSTORE_USETREE", "0")], &[LOG, BACKTRACK]] {
        let flat = traffic(vars, 4, [3, 2]);
        assert_eq!(flat.copies, [(0, 1), (0, 2), (0, 3)], "{vars:?}");
        assert_eq!((flat.uploads, flat.lines), (vec![1, 0, 0, 0], vec![]), "one sum, on one device");
    }
    let tree = traffic(&[("MXNET_KVSTORE_USETREE", "1"), ("MXNET_KVSTORE_TREE_BACKTRACK", "1")], 4, [3, 2]);
    assert_eq!(tree.copies, edges(&FOUR[..1]));
    assert_eq!(tree.uploads, [2, 0, 1, 0], "devices 0 and 2 add what others send");
    assert_eq!(tree.lines, ["INFO Using Tree for the sums of gpu(0), gpu(1), gpu(2), gpu(3)"]);
}

#[test]
fn d43_logs_links_and_trees() {
    let lines = traffic(&[TREE, ("MXNET_KVSTORE_LOGTREE", "1"), BACKTRACK], 4, [3, 2]).lines;
    for (i, tree) in FOUR.iter().enumerate() {
        let [a, b, c, d] = tree;
        let block = format!("INFO Tree {i}, of weight 6:\n  {a}\n  {a} {c}\n  {a} {b} {c} {d}\n");
        // A link that earlier trees use weighs less in the search for later trees, but the log shows its original weight.
        assert!(lines.contains(&block), "{block}{lines:#?}");
    }
    let with = |start: &str| lines.iter().filter(|line| line.starts_with(start)).count();
    assert_eq!(with("INFO devices that copy to each other directly:\n.vvv\nv.vv\nvv.v\nvvv."), 1, "{lines:#?}");
    assert_eq!(with("INFO links between devices:\n0.000 2.000 2.000 2.000\n"), 1, "{lines:#?}");
    assert!(with("INFO link 0 - 2: used by ") == 1, "{lines:#?}");
    let silent = traffic(&[TREE, ("MXNET_KVSTORE_LOGTREE", "0")], 4, [3, 2]).lines;
    assert!(silent.iter().all(|line| !line.contains("Tree 0") && !line.contains("links")), "{silent:?}");
}

#[test]
fn d44_large_arrays_have_a_root_per_device() {
    let (one, mut all) = (edges(&FOUR[..1]), edges(&FOUR));
    // Before the pull, the stored value is on device 0. Each slice is first copied from there to the root of its tree.
    all.extend([(0, 1), (0, 2), (0, 3)]);
    all.sort_unstable();
    for (bound, shape, expected) in
        [("31", [8, 4], &all), ("32", [8, 4], &one), ("31", [7, 5], &one), ("1", [9, 1], &all)]
    {
        let vars = [TREE, BACKTRACK, ("MXNET_KVSTORE_TREE_ARRAY_BOUND", bound)];
        assert_eq!(traffic(&vars, 4, shape).copies, *expected, "bound {bound}, shape {shape:?}");
    }
    assert_eq!(traffic(&[TREE, BACKTRACK], 4, [8, 4]).copies, one, "the bound is 10,000,000");
}

/// The pairs of a machine with eight GPUs that have no link: each GPU has four links.
const NOT_LINKED: [(u32, u32); 12] =
    [(0, 5), (0, 6), (0, 7), (1, 4), (1, 6), (1, 7), (2, 4), (2, 5), (2, 7), (3, 4), (3, 5), (3, 6)];

/// The log lines of a tree over the eight GPUs of this machine.
fn lines_of_eight(vars: Vars<'_>) -> Vec<String> {
    let vars: Vec<(&str, &str)> = [TREE, LOG].iter().chain(vars).copied().collect();
    World::new(&vars, 8, &NOT_LINKED).push_and_pull([2, 3]).lines
}

/// The numbers between two texts in these lines.
fn numbers(lines: &[String], before: &str, after: &str) -> Vec<f64> {
    let number = |line: &String| line.split_once(before)?.1.split_once(after)?.0.parse().ok();
    lines.iter().filter_map(number).collect()
}

#[test]
fn d45_searches_all_trees() {
    let weight = |lines: &[String]| numbers(lines, "Tree 0, of weight ", ":")[0];
    let (default, searched) = (lines_of_eight(&[]), lines_of_eight(&[("MXNET_KVSTORE_TREE_BACKTRACK", "1")]));
    assert_eq!(default, lines_of_eight(&[("MXNET_KVSTORE_TREE_BACKTRACK", "0")]), "the same in every run");
    assert!(default.contains(&"INFO trees of 8 devices, by partitions of the devices:".to_owned()), "{default:#?}");
    assert!(searched.contains(&"INFO trees of 8 devices, by a search of all trees:".to_owned()), "{searched:#?}");
    assert!(weight(&searched) >= weight(&default), "{} {}", weight(&searched), weight(&default));
    // The tree and its weight are MXNet's.
    let tree = "INFO Tree 0, of weight 14:\n  0\n  0 4\n  0 2 4 6\n  0 1 2 3 4 5 6 7\n";
    assert!(searched.contains(&tree.to_owned()), "{searched:#?}");
}

#[test]
fn d46_links_that_are_in_use_are_avoided() {
    let most_uses = |penalty: Option<&str>| {
        let vars: Vec<_> =
            penalty.map(|penalty| ("MXNET_KVSTORE_TREE_LINK_USAGE_PENALTY", penalty)).into_iter().collect();
        let lines = lines_of_eight(&[&vars[..], &[BACKTRACK]].concat());
        numbers(&lines, ": used by ", " trees").into_iter().fold(0.0, f64::max)
    };
    let [strong, weak, none] = [Some("0.1"), None, Some("1")].map(most_uses);
    assert!(strong < none && weak <= none, "{strong} {weak} {none}");
}

#[test]
fn d47_copies_go_through_the_host_if_direct_ones_are_off() {
    for tree in [&[] as Vars<'_>, &[TREE]] {
        for (vars, n_direct) in [(&[] as Vars<'_>, 3), (&[(DIRECT, "1")], 3), (&[("MXNET_ENABLE_GPU_P2P", "0")], 0)] {
            let traffic = traffic(&[tree, vars].concat(), 4, [3, 2]);
            assert_eq!(
                (traffic.copies.len(), traffic.n_downloads),
                (n_direct, 3 - n_direct as u64),
                "{tree:?} {vars:?}"
            );
        }
    }
}

#[test]
fn d47_missing_links_give_one_warning() {
    let warning = "WARN only 10 of 12 pairs of gpu(0), gpu(1), gpu(2), gpu(3) copy directly; the others copy through host \
                   memory, which is slower. In this matrix a `v` stands for a direct copy:\n.vvv\nv.v.\nvv.v\nv.v.";
    for tree in [&[] as Vars<'_>, &[TREE]] {
        for (vars, n_warnings) in [(&[] as Vars<'_>, 1), (&[(DIRECT, "0")], 0)] {
            let world = World::new(&[tree, vars].concat(), 4, &[(1, 3)]);
            let lines = world.push_and_pull([3, 2]).lines;
            let found: Vec<&String> = lines.iter().filter(|line| line.starts_with("WARN")).collect();
            assert_eq!(found, vec![warning; n_warnings], "{tree:?} {vars:?}");
        }
    }
}

#[test]
fn d47_needs_a_gpu_and_has_an_effect_with_one() {
    let reason = "MXNET_ENABLE_GPU_P2P=0 has no effect: it needs a GPU device, which this build has none of";
    assert_eq!(warnings(&[(DIRECT, "0")]), [reason]);
    let (_, lines) = log_lines(|| World::new(&[(DIRECT, "0")], 2, &[]));
    assert_eq!(lines, [""; 0]);
}
