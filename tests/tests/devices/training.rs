//! Whole training steps of the digits networks.

use super::{
    BATCH, CPU, DEFAULT, ENGINES, GPU, World, assert_same, bits, eventually, feed, images, labels, push, results,
};
use mxrs::data::{DataBatch, DataDesc};
use mxrs::exec::{BindOptions, Executor};
use mxrs::format::{Checkpoint, Options, Tensor};
use mxrs::optim::Sgd;
use mxrs::train::{BindFor, Module};
use mxrs::types::{DType, Device, Shape};

/// The results of two steps.
fn steps(executor: &Executor) -> Vec<(String, Vec<u32>)> {
    feed(executor).unwrap();
    push(executor).unwrap();
    push(executor).unwrap();
    results(executor).unwrap()
}

fn compare(world: &World, name: &str, device: Device, change: impl Fn(&mut BindOptions)) {
    let want = steps(&world.training(name, CPU, &change).unwrap());
    let got = steps(&world.training(name, device, &change).unwrap());
    assert_same(&got, &want, name);
}

#[test]
fn lenet_has_the_same_bits_on_every_engine() {
    for engine in ENGINES {
        let world = World::new(engine);
        compare(&world, "lenet", GPU, |_| {});
        compare(&world, "lenet", Device::cpu(1), |_| {});
        world.assert_ordered();
        world.assert_empty();
    }
}

#[test]
fn resnet8_has_the_same_bits() {
    let world = World::new(DEFAULT);
    compare(&world, "resnet8", GPU, |_| {});
    world.assert_ordered();
    world.assert_empty();
}

#[test]
fn bulks_of_every_size_have_the_same_bits() {
    let world = World::new(DEFAULT);
    for size in [1, 15, usize::MAX] {
        compare(&world, "lenet", GPU, |options| {
            (options.bulk_train_forward, options.bulk_train_backward) = (size, size);
        });
    }
    world.assert_ordered();
    world.assert_empty();
}

/// The host enqueues a whole step while the device is halted, so nothing in the step waits on the host for the device.
#[test]
fn a_step_does_not_wait_on_the_host() {
    for name in ["lenet", "resnet8"] {
        for bulk in [1, 15] {
            let world = World::new(DEFAULT);
            let executor = world
                .training(name, GPU, |options| {
                    (options.bulk_train_forward, options.bulk_train_backward) = (bulk, bulk);
                })
                .unwrap();
            feed(&executor).unwrap();
            // Waits, because filling the new arrays with zeros launches kernels too, and these must not be counted.
            world.runtime.engine().wait_for_all().unwrap();
            let launches = || world.gpu.gpu().counters().launches;
            let before = launches();
            push(&executor).unwrap();
            executor.gradients().iter().for_each(|g| g.array.wait_to_read().unwrap());
            let n_launches = launches() - before;
            let (before, waits) = (launches(), world.host_waits());
            let hold = world.gpu.gpu().hold();
            push(&executor).unwrap();
            let is_enqueued = eventually(|| launches() == before + n_launches);
            let what = format!("{name} in bulks of {bulk}: {} of {n_launches}", launches() - before);
            assert!(is_enqueued, "{what}, {} waits, {:?}", world.host_waits() - waits, world.gpu.gpu().counters());
            assert_eq!(world.host_waits(), waits, "{name} in bulks of {bulk}");
            drop(hold);
            world.runtime.engine().wait_for_all().unwrap();
            world.assert_ordered();
        }
    }
}

/// Two steps of a module with an update each; returns the parameters afterwards.
fn module(world: &World, name: &str, device: Device) -> Vec<(String, Vec<u32>)> {
    let options = BindOptions { device, ..world.runtime.bind_options() };
    let graph = world.model(name);
    let mut module = Module::new(&(world.runtime.arrays().clone(), options), graph.graph()).unwrap();
    let data = DataDesc::new("data", Shape::from([BATCH, 1, 28, 28]), DType::F32);
    let label = DataDesc::new("softmax_label", Shape::from([BATCH]), DType::F32);
    module.bind(&[data], &[label], BindFor::default()).unwrap();
    let file = mxrs_tests::digits(&format!("{name}-0010.params"));
    module.set_params(&Checkpoint::open(file, &Options::default()).unwrap().value).unwrap();
    module.init_optimizer(Sgd { lr: 0.1, momentum: 0.9, ..Sgd::default() }).unwrap();
    for _ in 0..2 {
        let dense = |shape: &[usize], values: Vec<f32>| {
            Tensor::from_slice(Shape::from(shape), &values).unwrap().into_dense().unwrap()
        };
        let data = vec![dense(&[BATCH, 1, 28, 28], images(BATCH))];
        let labels = vec![dense(&[BATCH], labels())];
        let batch = DataBatch { data, labels, index: (0..BATCH as u64).collect(), pad: 0 };
        module.forward_backward(batch).unwrap();
        module.update().unwrap();
    }
    let executor = module.executor().unwrap();
    assert!(executor.arrays().iter().all(|(_, array)| array.device() == device));
    executor.arrays().iter().map(|(name, array)| (name.clone(), bits(array))).collect()
}

#[test]
fn modules_update_to_the_same_bits() {
    for name in ["lenet", "resnet8"] {
        let world = World::new(DEFAULT);
        let want = module(&world, name, CPU);
        assert_same(&module(&world, name, GPU), &want, name);
        assert_same(&module(&world, name, Device::cpu(1)), &want, name);
        world.assert_ordered();
        world.assert_empty();
    }
}
