//! Memory that the device still uses can be given to new owners, and the host does not wait for that: arrays, the
//! temporaries of executors, packed constants and the memory of cached graphs.

use super::{BATCH, CPU, DEFAULT, GPU, World, assert_same, bits, eventually, images, labels, push, results};
use mxrs::exec::{CachedOp, CachedOpFlags, Executor};
use mxrs::ndarray::NdArray;
use mxrs::types::{Device, Shape};

/// Feeds an executor without waiting.
fn feed(executor: &Executor) {
    executor.argument("data").unwrap().copy_from(&images(BATCH)).unwrap();
    executor.argument("softmax_label").unwrap().copy_from(&labels()).unwrap();
}

/// Runs `work`, drops the result, and runs `work` again, all while the device is halted. So the second run gets the memory
/// of the first run before the device has begun with the first run. Returns what `read` reads from the result of the second
/// run.
fn twice<T>(
    world: &World,
    what: &str,
    work: impl Fn() -> T,
    read: impl Fn(&T) -> Vec<(String, Vec<u32>)>,
) -> Vec<(String, Vec<u32>)> {
    let (storage, engine) = (world.runtime.storage(), world.runtime.engine());
    // Allocates everything once, so that the pool has the memory.
    drop(work());
    engine.wait_for_all().unwrap();
    let is_free = |live| eventually(|| storage.stats(GPU).live_blocks == live);
    let live = storage.stats(GPU).live_blocks;
    let (waits, requests) = (world.host_waits(), world.gpu.memory().n_requests());
    let hold = world.gpu.gpu().hold();
    drop(work());
    assert!(is_free(live), "{what}: the memory is freed while the device has yet to use it");
    let second = work();
    assert_eq!(world.gpu.memory().n_requests(), requests, "{what}: the memory is reused");
    assert_eq!(world.host_waits(), waits, "{what}: waits of the host");
    drop(hold);
    engine.wait_for_all().unwrap();
    let read = read(&second);
    drop(second);
    world.assert_ordered();
    read
}

#[test]
fn executors_are_bound_in_memory_that_is_in_use() {
    let world = World::new(DEFAULT);
    for name in ["lenet", "resnet8"] {
        let run = |device: Device| {
            let executor = world.training(name, device, |_| {}).unwrap();
            feed(&executor);
            push(&executor).unwrap();
            executor
        };
        let want = results(&run(CPU)).unwrap();
        assert_same(&twice(&world, name, || run(GPU), |executor| results(executor).unwrap()), &want, name);
    }
}

/// Inference packs weights into constants.
#[test]
fn constants_are_packed_in_memory_that_is_in_use() {
    let world = World::new(DEFAULT);
    for name in ["lenet", "resnet8"] {
        let run = |device: Device| {
            let model = world.model(name).on_device(device).unwrap();
            let bound = model.bind(&[("data", Shape::from([BATCH, 1, 28, 28]))]).unwrap();
            bound.executor().argument("data").unwrap().copy_from(&images(BATCH)).unwrap();
            bound.executor().forward().unwrap();
            bound
        };
        let want = results(run(CPU).executor()).unwrap();
        assert_same(&twice(&world, name, || run(GPU), |bound| results(bound.executor()).unwrap()), &want, name);
    }
}

#[test]
fn cached_graphs_are_planned_in_memory_that_is_in_use() {
    let world = World::new(DEFAULT);
    let nd = world.runtime.imperative().unwrap();
    let model = world.model("lenet");
    let graph = model.graph();
    let run = |device: Device| {
        let flags = CachedOpFlags { static_alloc: true, inline_limit: 0, ..world.runtime.cached_op_flags() };
        let cached = CachedOp::new(&nd, graph, flags).unwrap();
        let inputs: Vec<NdArray> = graph
            .variables()
            .iter()
            .map(|id| match graph.node(*id).name.as_str() {
                "data" => ([BATCH, 1, 28, 28].into(), images(BATCH)),
                "softmax_label" => ([BATCH].into(), labels()),
                name => (model.params()[name].shape().clone(), model.params()[name].to_vec::<f32>().unwrap()),
            })
            .map(|(shape, values): (Shape, Vec<f32>)| {
                NdArray::from_slice_on(world.runtime.arrays(), shape, &values, device).unwrap()
            })
            .collect();
        let inputs: Vec<&NdArray> = inputs.iter().collect();
        cached.call(&inputs).unwrap().remove(0)
    };
    let read = |output: &NdArray| vec![("output".to_owned(), bits(output))];
    let want = read(&run(CPU));
    assert_same(&twice(&world, "lenet", || run(GPU), read), &want, "lenet");
}
