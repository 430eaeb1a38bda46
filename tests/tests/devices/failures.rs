//! Failures of the device: the error names operator and device, nothing leaks, and the next step and the host go on.

use super::{CPU, DEFAULT, ENGINES, GPU, World, assert_same, feed, push, results};
use mxrs::exec::Executor;
use mxrs::types::Device;

fn step(executor: &Executor) -> mxrs::Result<Vec<(String, Vec<u32>)>> {
    feed(executor)?;
    push(executor)?;
    for array in executor.outputs().iter().chain(executor.gradients().iter().map(|g| &g.array)) {
        array.wait_to_read()?;
    }
    results(executor)
}

fn want(world: &World, name: &str) -> Vec<(String, Vec<u32>)> {
    step(&world.training(name, CPU, |_| {}).unwrap()).unwrap()
}

#[test]
fn a_failing_launch_at_every_launch() {
    for engine in [DEFAULT, ENGINES[1], ENGINES[4]] {
        let world = World::new(engine);
        let want = want(&world, "lenet");
        let executor = world.training("lenet", GPU, |_| {}).unwrap();
        let launches = || world.gpu.gpu().counters().launches;
        // New arrays are filled with zeros by launches of their own.
        world.runtime.engine().wait_for_all().unwrap();
        let before = launches();
        assert_same(&step(&executor).unwrap(), &want, "before failures");
        let n_launches = launches() - before;
        assert!(n_launches > 20, "{n_launches} launches");
        let (mut n_failed, mut named) = (0, Vec::new());
        for nth in 1..=n_launches {
            world.gpu.gpu().fail_launch(launches() + nth);
            if let Err(error) = step(&executor) {
                let error = error.to_string();
                assert!(error.contains("gpu(0)") && error.contains('`'), "launch {nth}: {error}");
                named.push(error);
                n_failed += 1;
            }
            let _ = world.runtime.engine().wait_for_all();
            assert_same(&step(&executor).unwrap(), &want, &format!("after failure {nth} on {engine:?}"));
        }
        assert!(n_failed * 2 > n_launches, "{n_failed} of {n_launches} failures were reported");
        for op in ["Convolution", "FullyConnected", "Pooling"] {
            assert!(named.iter().any(|error| error.contains(op)), "no error names {op}: {named:?}");
        }
        drop(executor);
        world.assert_empty();
        assert_same(&self::want(&world, "lenet"), &want, "the host");
    }
}

/// The storage asks the device again with less, or after it has returned cached blocks, so several requests in a row fail.
#[test]
fn out_of_memory_at_every_allocation() {
    let want = want(&World::new(DEFAULT), "lenet");
    let mut n_errors = 0;
    for nth in 1.. {
        let world = World::new(DEFAULT);
        let memory = world.gpu.memory();
        (nth..nth + 8).for_each(|nth| memory.fail_on_request(nth));
        let run = || step(&world.training("lenet", GPU, |_| {})?);
        match run() {
            Ok(got) => assert_same(&got, &want, "with a retry"),
            Err(error) => {
                let error = error.to_string();
                assert!(error.contains("gpu(0)"), "allocation {nth}: {error}");
                n_errors += 1;
            }
        }
        world.assert_empty();
        assert_same(&self::want(&world, "lenet"), &want, "the host");
        if memory.counters().refusals == 0 {
            break;
        }
    }
    assert!(n_errors > 5, "{n_errors} allocations could fail");
}

#[test]
fn a_lost_device_is_named_and_the_host_goes_on() {
    let world = World::new(DEFAULT);
    let want = want(&world, "resnet8");
    let executor = world.training("resnet8", GPU, |_| {}).unwrap();
    assert_same(&step(&executor).unwrap(), &want, "before the loss");
    world.gpu.lose();
    let error = step(&executor).expect_err("an error").to_string();
    assert!(error.contains("gpu(0)"), "{error}");
    drop(executor);
    assert_same(&self::want(&world, "resnet8"), &want, "the host");
    let on_other: Device = Device::cpu(1);
    assert_same(&step(&world.training("resnet8", on_other, |_| {}).unwrap()).unwrap(), &want, "cpu(1)");
}
