//! Inference and a training step of whole networks on the device, with the bits of `cpu(0)` and without a wait of the host.

use super::{CPU, DEFAULT, GPU, World, assert_same, eventually, results};
use mxrs::exec::{BindOptions, Executor, GradReq, GradRequests};
use mxrs::graph::{Graph, infer_shapes};
use mxrs::models::{ModelOptions, model};
use mxrs::types::{Device, Shape};
use mxrs_tests::{parameter, uniform};
use std::collections::BTreeMap;

const SEED: u64 = 7;
const BATCH: usize = 2;
const N_CLASSES: usize = 10;
/// Enough for the parameters, gradients and temporaries of the largest network.
const DEVICE_BYTES: u64 = 4 << 30;

/// A network, and values for all its inputs.
struct Network {
    graph: Graph,
    data: Shape,
    values: BTreeMap<String, Vec<f32>>,
}

impl Network {
    fn new(name: &str, image: [usize; 3]) -> Self {
        let options = ModelOptions { image: Some(image), n_classes: N_CLASSES, ..ModelOptions::default() };
        let graph = model(name, &options).unwrap().symbol.graph().unwrap();
        let data: Shape = [BATCH].into_iter().chain(image).collect();
        Self::of(graph, data, |name, shape| parameter(name, shape, SEED).unwrap())
    }

    /// A network of `data/digits` with its trained parameters.
    fn digits(world: &World, name: &str) -> Self {
        let model = world.model(name);
        let value = |name: &str, _: &Shape| model.params()[name].to_vec::<f32>().unwrap();
        Self::of(model.graph().clone(), Shape::from([BATCH, 1, 28, 28]), value)
    }

    fn of(graph: Graph, data: Shape, value: impl Fn(&str, &Shape) -> Vec<f32>) -> Self {
        let shapes = infer_shapes(&graph, [("data", data.clone().into())]).unwrap().complete(&graph).unwrap();
        let mut values = BTreeMap::new();
        for &id in graph.variables() {
            let (name, shape) = (&graph.node(id).name, &shapes[graph.output_id(id, 0).index()]);
            let of_name = match name.as_str() {
                "data" => uniform(name, shape, 1.0, SEED).unwrap(),
                "softmax_label" => (0..BATCH).map(|i| (i * 3 % N_CLASSES) as f32).collect(),
                _ => value(name, shape),
            };
            values.insert(name.clone(), of_name);
        }
        Self { graph, data, values }
    }

    /// Binds the network to a device, and writes all values there.
    fn bind(&self, world: &World, device: Device, is_train: bool) -> Executor {
        let gradients = is_train.then(|| GradRequests::all(GradReq::Write).with("data", GradReq::Null));
        let options = BindOptions { device, gradients, ..world.runtime.bind_options() };
        let data = [("data", self.data.clone())];
        let executor = Executor::simple_bind(&self.graph, world.runtime.arrays(), &data, &options).unwrap();
        for (name, array) in executor.arrays() {
            array.copy_from(&self.values[name]).unwrap();
        }
        executor
    }
}

fn push(executor: &Executor, is_train: bool) {
    if is_train { super::push(executor).unwrap() } else { executor.forward().unwrap() }
}

/// Makes the device draw the same random numbers as `cpu(0)`, for Dropout. The runtime must have one generator per device.
///
/// The seed of a device's generator is 127 times the seed of the device, with some bits changed that depend on the kind of
/// device. This function computes the device's seed for which the generator's seed equals that of `cpu(0)`.
fn same_random_numbers(world: &World) {
    let random = world.runtime.arrays().random();
    random.seed_device(0, GPU);
    let kind = random.reserve(GPU, 1).seed;
    // The inverse of 127 modulo 2^64, by Newton's method. 127 is its own inverse modulo 8, so the first 3 bits are right,
    // and each step doubles the number of right bits.
    let inverse = (0..5).fold(127_u64, |x, _| x.wrapping_mul(2_u64.wrapping_sub(x.wrapping_mul(127))));
    let seeds = || {
        random.seed_device(SEED, CPU);
        random.seed_device((kind ^ (127 * SEED)).wrapping_mul(inverse), GPU);
    };
    seeds();
    assert_eq!(random.reserve(GPU, 1), random.reserve(CPU, 1));
    seeds();
}

/// Compares inference and a training step on the device with `cpu(0)`.
fn compare(world: &World, name: &str, network: &Network) {
    for is_train in [false, true] {
        let what = format!("{name}, {}", if is_train { "training" } else { "inference" });
        same_random_numbers(world);
        let want = {
            let executor = network.bind(world, CPU, is_train);
            push(&executor, is_train);
            results(&executor).unwrap()
        };
        assert_meaningful(&want, &what);
        let executor = network.bind(world, GPU, is_train);
        push(&executor, is_train);
        assert_same(&results(&executor).unwrap(), &want, &what);
        assert_no_wait(world, &executor, is_train, &what);
    }
    world.assert_ordered();
    world.assert_empty();
}

/// Asserts that the results depend on the images: numbers that are not 0, and that differ.
#[track_caller]
fn assert_meaningful(results: &[(String, Vec<u32>)], what: &str) {
    for (name, bits) in results.iter().filter(|(name, _)| name == "output" || name.starts_with("gradient of ")) {
        let numbers = || bits.iter().map(|bits| f32::from_bits(*bits));
        assert!(numbers().all(f32::is_finite), "{what}: {name}");
        assert!(name != "output" || numbers().any(|x| x != numbers().next().unwrap()), "{what}: {name}");
    }
    // Only gradients of weights are checked for numbers other than 0. Gradients of labels are 0, and so are those of scales
    // that batch normalization fixes.
    let is_of_weight = |name: &str| name.starts_with("gradient of ") && name.ends_with("weight");
    for (name, bits) in results.iter().filter(|(name, _)| is_of_weight(name)) {
        assert!(bits.iter().any(|bits| f32::from_bits(*bits) != 0.0), "{what}: {name} is 0");
    }
}

/// Asserts that the host enqueues a whole step while the device is halted.
#[track_caller]
fn assert_no_wait(world: &World, executor: &Executor, is_train: bool, what: &str) {
    let launches = || world.gpu.gpu().counters().launches;
    let engine = world.runtime.engine();
    engine.wait_for_all().unwrap();
    let before = launches();
    push(executor, is_train);
    engine.wait_for_all().unwrap();
    let n_launches = launches() - before;
    let (before, waits) = (launches(), world.host_waits());
    let hold = world.gpu.gpu().hold();
    push(executor, is_train);
    let is_enqueued = eventually(|| launches() == before + n_launches);
    assert!(is_enqueued, "{what}: {} of {n_launches} launches", launches() - before);
    assert_eq!(world.host_waits(), waits, "{what}: waits of the host");
    drop(hold);
    engine.wait_for_all().unwrap();
}

fn compare_named(name: &str, image: [usize; 3]) {
    let world = World::with(DEFAULT, DEVICE_BYTES, &[("MXNET_GPU_PARALLEL_RAND_COPY", "1")]);
    compare(&world, name, &Network::new(name, image));
}

fn compare_digits(name: &str) {
    let world = World::with(DEFAULT, DEVICE_BYTES, &[("MXNET_GPU_PARALLEL_RAND_COPY", "1")]);
    compare(&world, name, &Network::digits(&world, name));
}

#[test]
fn lenet() {
    compare_digits("lenet");
}

#[test]
fn resnet8() {
    compare_digits("resnet8");
}

#[test]
fn alexnet() {
    compare_named("alexnet", [3, 67, 67]);
}

#[test]
fn inception_bn() {
    compare_named("inception-bn", [3, 28, 28]);
}

#[test]
fn resnet_50() {
    compare_named("resnet-50", [3, 33, 33]);
}

#[test]
fn vgg_16() {
    compare_named("vgg-16", [3, 32, 32]);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "slow in debug builds")]
fn resnet_152() {
    compare_named("resnet-152", [3, 33, 33]);
}

/// Images have 299 by 299 pixels, the smallest possible size, of which 8 by 8 reach the last pooling layer.
#[test]
#[cfg_attr(debug_assertions, ignore = "slow in debug builds")]
fn inception_v3() {
    compare_named("inception-v3", [3, 299, 299]);
}
