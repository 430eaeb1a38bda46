//! Mistakes in the options and failures of a device. The error names the operator, the group or the devices, no memory
//! leaks, and the host still works.

use super::{CPU, DEFAULT, ENGINES, GPUS, MIXED, ON_GPUS, World, assert_same, head_grads, push, steps};
use mxrs::exec::{BindOptions, Executor, StepReport};
use mxrs::graph::{AttrScope, NameManager, Symbol};
use mxrs::ndarray::NdArray;
use mxrs::types::{Device, Shape};
use std::sync::Arc;

type Bits = Vec<(String, Vec<u32>)>;

/// The results of an inference and two training steps over these devices, or the first error.
fn run(world: &World, name: &str, on: Option<[Device; 3]>) -> mxrs::Result<Bits> {
    let network = world.network(name);
    let executor = world.bind(&network, on, |_| {})?;
    steps(world, &network, &executor)
}

#[track_caller]
fn assert_says(error: &mxrs::Error, parts: &[&str]) {
    let text = error.to_string();
    assert!(parts.iter().all(|part| text.contains(part)), "{text}");
}

#[test]
fn groups_without_a_device_and_unknown_devices_are_named() {
    let world = World::new(DEFAULT);
    let network = world.network("mlp");
    let error = world.bind(&network, Some(MIXED), |options| _ = options.groups.swap_remove("b")).err().unwrap();
    assert_says(&error, &["`ctx_group`", "`b`", "a, c"]);
    let error = world.bind(&network, Some([GPUS[0], Device::gpu(7), CPU]), |_| {}).err().unwrap();
    assert_says(&error, &["gpu(7)"]);
    let error = world.bind(&network, Some([GPUS[0], Device::cpu_pinned(0), CPU]), |_| {}).err().unwrap();
    assert_says(&error, &["cpu_pinned(0)", "a cpu or a gpu"]);
    // It is allowed to give a device to a group that has no nodes.
    world.bind(&network, Some(MIXED), |options| *options = options.clone().with_group("unused", GPUS[1])).unwrap();
}

#[test]
fn operators_on_two_devices_cannot_write_one_state() {
    let world = World::new(DEFAULT);
    let mut names = NameManager::new();
    let [mean, var] = ["mean", "var"].map(Symbol::variable);
    let mut normalized = Symbol::variable("data");
    for group in ["a", "b"] {
        let call = AttrScope::new([("ctx_group", group)]).call(world.runtime.ops().get("BatchNorm").unwrap());
        let call = call.name(format!("bn_{group}")).input(&normalized);
        let call = call.named_input("moving_mean", &mean).named_input("moving_var", &var);
        normalized = call.build(&mut names).unwrap().output(0).unwrap();
    }
    let graph = normalized.graph().unwrap();
    let bind = |on: [Device; 2]| {
        let options = world.runtime.bind_options().with_group("a", on[0]).with_group("b", on[1]);
        let inputs = [("data", Shape::from([2, 3, 4, 4]))];
        Executor::simple_bind(&graph, world.runtime.arrays(), &inputs, &options)
    };
    assert_says(&bind(GPUS).err().unwrap(), &["`mean`", "`bn_b`", "gpu(0)", "gpu(1)"]);
    // The auxiliary state `mean` has no group of its own, so it is placed on the device of the operators that write it.
    let executor = bind([GPUS[1]; 2]).unwrap();
    assert_eq!(executor.argument("mean").unwrap().device(), GPUS[1]);
}

#[test]
fn an_array_elsewhere_is_named_with_both_devices() {
    let world = World::new(DEFAULT);
    let network = world.network("mlp");
    let executor = world.bind(&network, Some(MIXED), |_| {}).unwrap();
    let groups = ["a", "b", "c"].map(String::from).into_iter().zip(MIXED).collect();
    let options = BindOptions { groups, ..world.runtime.bind_options() };
    // Binds to the arrays of `executor`, with `weight` in place of one of them.
    let bind = |weight: &NdArray| {
        let given = |(name, array): &(String, NdArray)| {
            (name.clone(), if name == "fc2_weight" { weight.clone() } else { array.clone() })
        };
        let params = executor.arrays().iter().map(given).collect();
        Executor::bind(&network.graph, world.runtime.arrays(), &network.inputs(), &params, &options)
    };
    let weight = executor.argument("fc2_weight").unwrap();
    bind(weight).unwrap();
    let moved = weight.copy_to_device(world.runtime.arrays(), GPUS[0]).unwrap();
    assert_says(&bind(&moved).err().unwrap(), &["`fc2_weight`", "gpu(0)", "gpu(1)"]);
}

/// The copies between devices of a training step, as errors name them.
fn copies(executor: &Executor) -> Vec<String> {
    let name =
        |step: StepReport| Some(format!("`{} ({} from {} to {})`", step.name, step.op, step.source?, step.device));
    executor.training_report().unwrap().steps.into_iter().filter_map(name).collect()
}

/// If a copy fails, everything that is computed from it fails too, and the error names the copy. The next step gives correct
/// results again.
#[test]
fn a_failing_copy_at_every_copy() {
    for engine in [DEFAULT, ENGINES[0], ENGINES[4]] {
        let world = World::new(engine);
        let want = run(&world, "lenet", None).unwrap();
        let network = world.network("lenet");
        for on in [MIXED, ON_GPUS] {
            let executor = world.bind(&network, Some(on), |_| {}).unwrap();
            assert_same(&steps(&world, &network, &executor).unwrap(), &want, "before failures");
            let copies = copies(&executor);
            for (device, gpu) in GPUS.into_iter().zip(&world.gpus) {
                let mut n_between = 0;
                let step = || {
                    push(&executor, &[])?;
                    executor.gradients().iter().try_for_each(|gradient| gradient.array.wait_to_read())?;
                    executor.outputs().iter().try_for_each(|output| output.wait_to_read())
                };
                let before = gpu.n_copies();
                step().unwrap();
                let n_copies = gpu.n_copies() - before;
                assert!(n_copies > 0, "no copy on {device}");
                for nth in 1..=n_copies {
                    gpu.fail_copy(gpu.n_copies() + nth);
                    let error = step().expect_err("an error");
                    assert_says(&error, &["copy", &device.to_string()]);
                    let text = error.to_string();
                    if !text.contains(&format!("`copy within {device}`")) {
                        assert!(copies.iter().any(|copy| text.contains(copy)), "none of {copies:?} in {text}");
                        n_between += 1;
                    }
                    let _ = world.runtime.engine().wait_for_all();
                    step().unwrap();
                }
                assert!(n_between > 0, "no copy between devices failed");
            }
            assert_same(&steps(&world, &network, &executor).unwrap(), &want, "after failures");
        }
        world.assert_empty();
        assert_same(&run(&world, "lenet", None).unwrap(), &want, "the host");
    }
}

/// Eight requests in a row fail: after a failure the storage tries again, with a smaller size or after it has returned
/// cached blocks.
#[test]
fn out_of_memory_on_the_second_device() {
    let want = run(&World::new(DEFAULT), "lstm", None).unwrap();
    let mut n_errors = 0;
    for nth in 1.. {
        let world = World::new(DEFAULT);
        let memory = Arc::clone(world.gpus[1].memory());
        (nth..nth + 8).for_each(|nth| memory.fail_on_request(nth));
        match run(&world, "lstm", Some(ON_GPUS)) {
            Ok(got) => assert_same(&got, &want, "with a retry"),
            Err(error) => {
                assert_says(&error, &["gpu(1)"]);
                n_errors += 1;
            }
        }
        world.assert_empty();
        assert_same(&run(&world, "lstm", None).unwrap(), &want, "the host");
        if memory.counters().refusals == 0 {
            break;
        }
    }
    assert!(n_errors > 3, "{n_errors} allocations could fail");
}

#[test]
fn a_lost_device_is_named_and_the_others_go_on() {
    for lost in 0..2 {
        let world = World::new(DEFAULT);
        let network = world.network("fork");
        let want = run(&world, "fork", None).unwrap();
        let executor = world.bind(&network, Some(MIXED), |_| {}).unwrap();
        assert_same(&steps(&world, &network, &executor).unwrap(), &want, "before the loss");
        let heads = head_grads(&world, &network, &executor).unwrap();
        world.gpus[lost].lose();
        let step = || {
            push(&executor, &heads)?;
            executor.outputs().iter().try_for_each(|output| output.wait_to_read())
        };
        assert_says(&step().expect_err("an error"), &[&GPUS[lost].to_string()]);
        drop((executor, heads));
        assert_same(&run(&world, "fork", None).unwrap(), &want, "the host");
        let other = GPUS[1 - lost];
        assert_same(&run(&world, "fork", Some([other, CPU, CPU])).unwrap(), &want, "the other device");
    }
}
