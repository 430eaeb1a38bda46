//! Inference of the digits networks.

use super::{BATCH, CPU, DEFAULT, ENGINES, GPU, World, bits, eventually, images};
use mxrs::exec::{BindOptions, Executor};
use mxrs::types::{Device, Shape};

fn predict(world: &World, name: &str, device: Device) -> Vec<u32> {
    let model = world.model(name).on_device(device).unwrap();
    assert_eq!(model.device(), device);
    let predictor = model.predictor(BATCH, &[1, 28, 28]).unwrap();
    let executor = predictor.bound().executor();
    assert!(executor.arrays().iter().all(|(_, array)| array.device() == device));
    assert!(executor.outputs().iter().all(|array| array.device() == device));
    let rows = predictor.predict(&images(BATCH)).unwrap();
    assert_eq!(rows.len(), BATCH * 10);
    rows.into_iter().map(f32::to_bits).collect()
}

#[test]
fn lenet_has_the_same_bits_on_every_engine() {
    for engine in ENGINES {
        let world = World::new(engine);
        let want = predict(&world, "lenet", CPU);
        assert_eq!(predict(&world, "lenet", GPU), want, "{engine:?}");
        assert_eq!(predict(&world, "lenet", Device::cpu(1)), want, "{engine:?}");
        world.assert_ordered();
        world.assert_empty();
    }
}

#[test]
fn resnet8_has_the_same_bits() {
    let world = World::new(DEFAULT);
    assert_eq!(predict(&world, "resnet8", GPU), predict(&world, "resnet8", CPU));
    world.assert_ordered();
    world.assert_empty();
}

#[test]
fn frozen_models_have_the_same_bits() {
    let world = World::new(DEFAULT);
    let run = |device: Device| {
        let shape = [("data", Shape::from([BATCH, 1, 28, 28]))];
        let model = world.model("resnet8").on_device(device).unwrap();
        let bound = model.freeze(&[&shape]).unwrap().remove(0);
        let outputs = bound.forward(&[("data", &images(BATCH))]).unwrap();
        super::bits(&outputs[0])
    };
    assert_eq!(run(GPU), run(CPU));
    world.assert_ordered();
    world.assert_empty();
}

/// The host enqueues a whole run while the device is halted, so nothing in the run waits on the host for the device.
#[test]
fn a_run_does_not_wait_on_the_host() {
    for name in ["lenet", "resnet8"] {
        let world = World::new(DEFAULT);
        let model = world.model(name).on_device(GPU).unwrap();
        let bound = model.bind(&[("data", Shape::from([BATCH, 1, 28, 28]))]).unwrap();
        let executor = bound.executor();
        executor.argument("data").unwrap().copy_from(&images(BATCH)).unwrap();
        let launches = || world.gpu.gpu().counters().launches;
        // The run before the counted one packs constants too, which happens only once.
        executor.forward().unwrap();
        let want = super::bits(&executor.outputs()[0]);
        world.runtime.engine().wait_for_all().unwrap();
        let before = launches();
        executor.forward().unwrap();
        executor.outputs()[0].wait_to_read().unwrap();
        let n_launches = launches() - before;
        let (before, waits) = (launches(), world.host_waits());
        let hold = world.gpu.gpu().hold();
        executor.forward().unwrap();
        assert!(eventually(|| launches() == before + n_launches), "{name}: {} of {n_launches}", launches() - before);
        assert_eq!(world.host_waits(), waits, "{name}");
        drop(hold);
        assert_eq!(super::bits(&executor.outputs()[0]), want);
        world.assert_ordered();
    }
}

#[test]
fn an_argument_on_another_device_is_refused() {
    let world = World::new(DEFAULT);
    let model = world.model("lenet");
    let options = BindOptions { device: GPU, ..world.runtime.bind_options() };
    let inputs = [("data", Shape::from([BATCH, 1, 28, 28]))];
    let bound = Executor::bind(model.graph(), world.runtime.arrays(), &inputs, model.params(), &options);
    let error = bound.err().expect("an error").to_string();
    for part in ["cpu(0)", "gpu(0)", "argument `", "as_in_context"] {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn a_device_without_a_backend_and_an_unknown_device_are_refused() {
    let world = World::new(DEFAULT);
    let model = world.model("lenet").on_device(GPU).unwrap();
    let mut options = BindOptions { device: GPU, ..world.runtime.bind_options() };
    options.backends.retain(|backend| backend.runs_on(CPU));
    let inputs = [("data", Shape::from([BATCH, 1, 28, 28]))];
    let bound = Executor::bind(model.graph(), world.runtime.arrays(), &inputs, model.params(), &options);
    let error = bound.err().expect("an error").to_string();
    assert!(error.contains("gpu(0)") && error.contains("reference runs on the cpu"), "{error}");
    let error = world.model("lenet").on_device(Device::gpu(7)).err().expect("an error").to_string();
    assert!(error.contains("gpu(7)"), "{error}");
}

#[test]
fn a_pool_of_another_device_is_refused() {
    let world = World::new(DEFAULT);
    let on_cpu = world.training("lenet", CPU, |_| {}).unwrap();
    let pool = on_cpu.pool().clone();
    let error = world.training("lenet", GPU, |options| options.pool = Some(pool)).err().expect("an error");
    let error = error.to_string();
    assert!(error.contains("gpu(0)") && error.contains("cpu(0)") && error.contains("pool"), "{error}");
}

/// Executors on several devices may share one store of packed constants. The store then has the constants of each device
/// once.
#[test]
fn a_store_has_constants_on_every_device() {
    let world = World::new(DEFAULT);
    let store = mxrs::exec::PackedStore::new();
    let mut bytes = Vec::new();
    let bound: Vec<Executor> = [CPU, GPU]
        .into_iter()
        .flat_map(|device| {
            let model = world.model("lenet").on_device(device).unwrap();
            let options = BindOptions { device, packed: Some(store.clone()), ..world.runtime.bind_options() };
            let inputs = [("data", Shape::from([BATCH, 1, 28, 28]))];
            let bind = || Executor::bind(model.graph(), world.runtime.arrays(), &inputs, model.params(), &options);
            let both = [bind().unwrap(), bind().unwrap()];
            bytes.push(store.bytes());
            both
        })
        .collect();
    assert!(bytes[0] > 0 && bytes[1] == 2 * bytes[0], "{bytes:?}");
    let run = |executor: &Executor| {
        executor.argument("data").unwrap().copy_from(&images(BATCH)).unwrap();
        executor.forward().unwrap();
        bits(&executor.outputs()[0])
    };
    let want = run(&bound[0]);
    bound.iter().for_each(|executor| assert_eq!(run(executor), want));
    world.assert_ordered();
}
