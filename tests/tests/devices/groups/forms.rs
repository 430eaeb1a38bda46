//! Further features of graphs over several devices: monitors, recomputation, shared memory, packed constants, steps one by
//! one, other shapes, added gradients, and random numbers.

use super::{
    CPU, DEFAULT, GPUS, MIXED, ON_GPUS, World, assert_same, compare, fill, head_grads, numbers, push, results, steps,
};
use crate::bits;
use mxrs::exec::{BindOptions, Executor, GradReq, GradRequests, Monitored, PackedStore, Recompute};
use mxrs::graph::{AttrScope, NameManager, Symbol, SymbolCall};
use mxrs::ndarray::NdArray;
use mxrs::types::{DType, Device, Shape};
use std::sync::{Arc, Mutex};

/// A monitor of a graph over several devices sees the same tensors as on one device, and in addition the inputs and outputs
/// of copies.
#[test]
fn a_monitor_sees_the_same_tensors_and_the_copies() {
    let world = World::new(DEFAULT);
    for name in ["lenet", "fork"] {
        let network = world.network(name);
        let seen = |on: Option<[Device; 3]>| {
            // Turns off additions in place. With them, the order of the steps decides which term of a sum holds the result,
            // so the tensors that a monitor sees could differ.
            let change = |options: &mut BindOptions| (options.fuse, options.plan.enable_inplace) = (false, false);
            let executor = world.bind(&network, on, change).unwrap();
            fill(&executor).unwrap();
            let seen = Arc::new(Mutex::new(Vec::<(String, String, NdArray)>::new()));
            let into = Arc::clone(&seen);
            let note = move |m: &Monitored<'_>| {
                into.lock().unwrap().push((m.op.to_owned(), m.name.to_owned(), m.array.clone()));
            };
            executor.set_monitor(note, true);
            push(&executor, &head_grads(&world, &network, &executor).unwrap()).unwrap();
            let seen = seen.lock().unwrap();
            let mut bits: Vec<(String, String, Vec<u32>)> =
                seen.iter().map(|(op, name, array)| (op.clone(), name.clone(), bits(array))).collect();
            bits.sort();
            bits
        };
        let (want, got) = (seen(None), seen(Some(MIXED)));
        let (copies, got): (Vec<_>, Vec<_>) = got.into_iter().partition(|(op, ..)| op == "_CrossDeviceCopy");
        assert!(want.len() > 10 && copies.len() >= 2 * 4, "{} tensors, {} of copies", want.len(), copies.len());
        // The inputs of all copies must have the same bits as their outputs.
        let ends = |end: &str| -> Vec<&Vec<u32>> {
            copies.iter().filter(|(_, name, _)| name.ends_with(end)).map(|(.., bits)| bits).collect()
        };
        assert_eq!(ends("_data"), ends("_output"), "{name}");
        let names = |of: &[(String, String, Vec<u32>)]| -> Vec<String> {
            of.iter().map(|(op, name, _)| format!("{op} {name}")).collect()
        };
        assert_eq!(names(&got), names(&want), "{name}");
        assert!(got == want, "{name}: other bits");
    }
    world.assert_ordered();
    world.assert_empty();
}

#[test]
fn mixed_precision_gives_the_same_bits() {
    let world = World::new(DEFAULT);
    for name in ["lenet", "states"] {
        compare(&world, &world.network(name), MIXED, |options| options.autocast = Some(DType::BF16));
    }
    world.assert_ordered();
    world.assert_empty();
}

#[test]
fn recomputed_activations_give_the_same_bits() {
    let world = World::new(DEFAULT);
    for recompute in [Recompute::Off, Recompute::Mirror, Recompute::Sqrt, Recompute::Chain] {
        for name in ["states", "lstm"] {
            compare(&world, &world.network(name), MIXED, |options| options.recompute = recompute);
        }
    }
    world.assert_ordered();
    world.assert_empty();
}

#[test]
fn executors_that_share_a_pool_and_constants_give_the_same_bits() {
    let world = World::new(DEFAULT);
    let network = world.network("rnn");
    let want = steps(&world, &network, &world.bind(&network, None, |_| {}).unwrap()).unwrap();
    let store = PackedStore::new();
    let one = world.bind(&network, Some(MIXED), |options| options.packed = Some(store.clone())).unwrap();
    let other = world.bind(&network, Some(MIXED), |options| {
        (options.pool, options.packed) = (Some(one.pool().clone()), Some(store.clone()));
    });
    let other = other.unwrap();
    assert!(one.argument("decoder_weight").unwrap().shares_storage(other.argument("decoder_weight").unwrap()));
    for executor in [&one, &other, &one] {
        assert_same(&steps(&world, &network, executor).unwrap(), &want, "rnn");
    }
    world.assert_ordered();
    drop((one, other));
    world.assert_empty();
}

#[test]
fn steps_one_by_one_and_other_shapes_have_the_same_bits() {
    let world = World::new(DEFAULT);
    let network = world.network("lenet");
    let run = |on: Option<[Device; 3]>| {
        let executor = world.bind(&network, on, |_| {}).unwrap();
        fill(&executor).unwrap();
        let mut step = 0;
        while executor.partial_forward(true, step).unwrap() > 0 {
            step += 1;
        }
        executor.backward(&[]).unwrap();
        let mut found = results(&executor).unwrap();
        let shapes = [("data", Shape::from([2, 1, 28, 28])), ("softmax_label", Shape::from([2]))];
        let smaller = executor.reshape(&shapes, Default::default()).unwrap();
        fill(&smaller).unwrap();
        push(&smaller, &[]).unwrap();
        found.extend(results(&smaller).unwrap());
        found
    };
    assert_same(&run(Some(MIXED)), &run(None), "lenet");
    world.assert_ordered();
    world.assert_empty();
}

/// With the request `add`, gradients are added to what the gradient arrays hold, also if a tensor is read on two devices or
/// an argument is read on another device than its own.
#[test]
fn gradients_are_added_and_return_to_their_arguments() {
    let world = World::new(DEFAULT);
    for name in ["fork", "ungrouped", "rnn"] {
        let network = world.network(name);
        let run = |on: Option<[Device; 3]>| {
            let all = GradRequests::all(GradReq::Add).with("softmax_label", GradReq::Null);
            let requests = if network.is_loss { all } else { GradRequests::all(GradReq::Add) };
            let executor = world.bind(&network, on, |options| options.gradients = Some(requests)).unwrap();
            fill(&executor).unwrap();
            for gradient in executor.gradients() {
                gradient.array.copy_from(&numbers(&gradient.name, gradient.array.shape().n_elements())).unwrap();
                let of = executor.argument(&gradient.name).unwrap();
                assert_eq!(gradient.array.device(), of.device(), "{}", gradient.name);
            }
            let heads = head_grads(&world, &network, &executor).unwrap();
            for _ in 0..2 {
                push(&executor, &heads).unwrap();
            }
            results(&executor).unwrap()
        };
        assert_same(&run(Some(MIXED)), &run(None), name);
    }
    world.assert_ordered();
    world.assert_empty();
}

/// A model gives the same bits over several devices and after freezing. At inference, constants are packed on the device of
/// the kernel that reads them. Freezing releases the original parameters.
#[test]
fn a_model_over_groups_gives_the_same_bits_and_can_be_frozen() {
    let world = World::new(DEFAULT);
    let network = world.network("lenet");
    let trained = world.bind(&network, None, |_| {}).unwrap();
    fill(&trained).unwrap();
    let params = trained.arrays().iter().filter(|(name, _)| name != "data" && name != "softmax_label");
    let tensors = params.map(|(name, array)| {
        let values = array.to_vec::<f32>().unwrap();
        (name.clone(), mxrs::format::Tensor::from_slice(array.shape().clone(), &values).unwrap())
    });
    let model = mxrs::Model::from_parts(&world.runtime, network.graph.clone(), tensors).unwrap();
    let image = numbers("data", 4 * 28 * 28);
    let shapes = [("data", Shape::from([4, 1, 28, 28]))];
    let run = |model: &mxrs::Model| {
        let bound = model.bind(&shapes).unwrap();
        bits(&bound.forward(&[("data", &image)]).unwrap()[0])
    };
    let want = run(&model);
    let spread = model.on_groups(["a", "b", "c"].into_iter().zip(MIXED)).unwrap();
    assert_eq!(spread.params()["conv2_weight"].device(), GPUS[1]);
    assert_eq!(run(&spread), want);
    let frozen = spread.freeze(&[&shapes]).unwrap();
    assert_eq!(bits(&frozen[0].forward(&[("data", &image)]).unwrap()[0]), want, "frozen");
    world.assert_ordered();
    drop(frozen);
    world.assert_empty();
}

/// A constant is computed from a weight that is on another device. The copy of the weight is repeated in every run, so a
/// changed weight changes the result.
#[test]
fn constants_of_another_device_follow_their_weights() {
    let world = World::new(DEFAULT);
    let (ops, mut names) = (world.runtime.ops(), NameManager::new());
    let weight = SymbolCall::new(ops.get("tanh").unwrap()).input(&Symbol::variable("w")).build(&mut names).unwrap();
    let scope = AttrScope::new([("ctx_group", "a")]);
    let call = scope.call(ops.get("FullyConnected").unwrap()).attr("num_hidden", 3).attr("no_bias", true);
    let call = call.input(&scope.variable("x")).input(&weight);
    let graph = call.build(&mut names).unwrap().graph().unwrap();
    let options = world.runtime.bind_options().with_group("a", GPUS[0]);
    let run = |options: &BindOptions| {
        let w = NdArray::from_slice(world.runtime.arrays(), [3, 5], &numbers("w", 15)).unwrap();
        let params = [("w".to_owned(), w.clone())].into_iter().collect();
        let inputs = [("x", Shape::from([2, 5]))];
        let executor = Executor::bind(&graph, world.runtime.arrays(), &inputs, &params, options).unwrap();
        executor.argument("x").unwrap().copy_from(&numbers("x", 10)).unwrap();
        let mut found = Vec::new();
        for seed in ["w", "other", "third"] {
            w.copy_from(&numbers(seed, 15)).unwrap();
            for _ in 0..2 {
                executor.forward().unwrap();
                found.push(bits(&executor.outputs()[0]));
            }
        }
        found
    };
    let want = run(&world.runtime.bind_options());
    assert_ne!(want[0], want[2]);
    assert_eq!(run(&options), want);
    assert_eq!(world.gpus[0].checker().violations(), []);
}

/// Each device draws its numbers from its own generator.
#[test]
fn random_operators_take_the_numbers_of_their_device() {
    let world = World::new(DEFAULT);
    let mut names = NameManager::new();
    let x = Symbol::variable("x");
    let drop_out = |group: &str, input: &Symbol, names: &mut NameManager| {
        let call = SymbolCall::new(world.runtime.ops().get("Dropout").unwrap()).input(input);
        call.attr("p", "0.5").attr("ctx_group", group).name(group).build(names).unwrap()
    };
    let graph = drop_out("b", &drop_out("a", &x, &mut names), &mut names).graph().unwrap();
    let random = world.runtime.arrays().random();
    let run = || {
        random.seed(11);
        let of_cpu = random.state(CPU);
        let options = BindOptions { ..world.runtime.bind_options() };
        let options = options.with_group("a", GPUS[0]).with_group("b", GPUS[1]);
        let inputs = [("x", Shape::from([4, 100]))];
        let executor = Executor::simple_bind(&graph, world.runtime.arrays(), &inputs, &options).unwrap();
        executor.argument("x").unwrap().copy_from(&[1.0f32; 400]).unwrap();
        executor.forward_train().unwrap();
        let found = bits(&executor.outputs()[0]);
        assert_eq!(random.state(CPU), of_cpu, "numbers of the host were drawn");
        found
    };
    let found = run();
    assert_eq!(run(), found);
    let n_kept = found.iter().filter(|bits| **bits != 0).count();
    assert!((60..140).contains(&n_kept), "{n_kept} of 400 elements pass two layers that drop half each");
    world.assert_ordered();
}

/// The report gives the bytes on each device, and their sum.
#[test]
fn the_memory_report_is_per_device() {
    let world = World::new(DEFAULT);
    let executor = world.bind(&world.network("lenet"), Some(ON_GPUS), |_| {}).unwrap();
    let report = executor.training_report().unwrap();
    let devices: Vec<Device> = report.devices.iter().map(|of| of.device).collect();
    assert_eq!(devices, [CPU, GPUS[0], GPUS[1]]);
    assert_eq!(report.arena_bytes, report.devices.iter().map(|of| of.arena_bytes).sum::<usize>());
    assert_eq!(report.devices[0].arena_bytes, 0, "nothing runs on the default device");
    assert!(report.devices[1..].iter().all(|of| of.arena_bytes > 0 && of.crossing_bytes > 0), "{:?}", report.devices);
    for device in GPUS {
        assert!(report.steps.iter().any(|step| step.device == device && step.source.is_none()));
    }
}
