//! Further features of bound graphs on a device: monitors, recomputation, shared memory, additions, random numbers,
//! concatenations, and steps one by one.

use super::{BATCH, CPU, DEFAULT, GPU, World, assert_same, bits, feed, images, push, results};
use mxrs::exec::{BindOptions, Executor, GradReq, GradRequests, Recompute};
use mxrs::graph::{Graph, NameManager, Symbol, SymbolCall};
use mxrs::ndarray::NdArray;
use mxrs::types::{Device, Shape};
use std::sync::{Arc, Mutex};

/// Calls an operator with these inputs and attributes.
fn call(world: &World, op: &str, inputs: &[&Symbol], attrs: &[(&str, &str)], names: &mut NameManager) -> Symbol {
    let call = SymbolCall::new(world.runtime.ops().get(op).unwrap());
    let call = inputs.iter().fold(call, |call, input| call.input(input));
    attrs.iter().fold(call, |call, (key, value)| call.attr(*key, *value)).build(names).unwrap()
}

/// Binds a graph of one input `x` to a device, with a gradient of `x` that is treated as `request` says.
fn bind(world: &World, graph: &Graph, shape: &Shape, device: Device, request: Option<GradReq>) -> Executor {
    let gradients = request.map(GradRequests::all);
    let options = BindOptions { device, gradients, ..world.runtime.bind_options() };
    Executor::simple_bind(graph, world.runtime.arrays(), &[("x", shape.clone())], &options).unwrap()
}

fn numbers(n: usize) -> Vec<f32> {
    (0..n).map(|i| (i * 7919 % 1009) as f32 / 504.5 - 1.0).collect()
}

#[test]
fn a_monitor_sees_the_same_tensors() {
    for name in ["lenet", "resnet8"] {
        let world = World::new(DEFAULT);
        let seen = |device: Device| {
            let executor = world.training(name, device, |_| {}).unwrap();
            feed(&executor).unwrap();
            let seen = Arc::new(Mutex::new(Vec::<(String, NdArray)>::new()));
            let into = Arc::clone(&seen);
            let note = move |m: &mxrs::exec::Monitored<'_>| {
                into.lock().unwrap().push((m.name.to_owned(), m.array.clone()));
            };
            executor.set_monitor(note, true);
            push(&executor).unwrap();
            let seen = seen.lock().unwrap();
            assert!(seen.iter().all(|(_, array)| array.device() == device));
            seen.iter().map(|(name, array)| (name.clone(), bits(array))).collect::<Vec<_>>()
        };
        let want = seen(CPU);
        assert!(want.len() > 10, "{} tensors", want.len());
        assert_same(&seen(GPU), &want, name);
        world.assert_ordered();
        world.assert_empty();
    }
}

#[test]
fn recomputed_activations_give_the_same_bits() {
    let world = World::new(DEFAULT);
    for recompute in [Recompute::Off, Recompute::Mirror, Recompute::Sqrt] {
        let run = |device: Device| {
            let executor = world.training("resnet8", device, |options| options.recompute = recompute).unwrap();
            feed(&executor).unwrap();
            push(&executor).unwrap();
            results(&executor).unwrap()
        };
        assert_same(&run(GPU), &run(CPU), &format!("{recompute:?}"));
    }
    world.assert_ordered();
    world.assert_empty();
}

#[test]
fn executors_that_share_a_pool_give_the_same_bits() {
    let world = World::new(DEFAULT);
    let run = |device: Device| {
        let one = world.training("lenet", device, |_| {}).unwrap();
        let other = world.training("lenet", device, |options| options.pool = Some(one.pool().clone())).unwrap();
        assert_eq!(one.pool().device(), device);
        let mut found = Vec::new();
        for executor in [&one, &other, &one] {
            feed(executor).unwrap();
            push(executor).unwrap();
            found.extend(results(executor).unwrap());
        }
        found
    };
    assert_same(&run(GPU), &run(CPU), "lenet");
    world.assert_ordered();
    world.assert_empty();
}

/// A model that is bound twice shares its packed weights. If a parameter changes, they are packed again by the executor that
/// runs first, and both executors must use the new ones.
#[test]
fn shared_constants_are_made_again_when_a_parameter_changes() {
    let world = World::new(DEFAULT);
    let run = |device: Device| {
        let model = world.model("lenet").on_device(device).unwrap();
        let shape = [("data", Shape::from([BATCH, 1, 28, 28]))];
        let bound = [model.bind(&shape).unwrap(), model.bind(&shape).unwrap()];
        let mut found = Vec::new();
        for round in 0..4 {
            for (_, array) in model.params() {
                let halved: Vec<f32> = array.to_vec::<f32>().unwrap().iter().map(|x| x * 0.75).collect();
                array.copy_from(&halved).unwrap();
            }
            let outputs = [round % 2, 1 - round % 2].map(|i| bound[i].forward(&[("data", &images(BATCH))]).unwrap());
            found.extend(outputs.iter().map(|outputs| (format!("round {round}"), bits(&outputs[0]))));
        }
        found
    };
    assert_same(&run(GPU), &run(CPU), "lenet");
    world.assert_ordered();
    world.assert_empty();
}

#[test]
fn gradients_that_are_added_have_the_same_bits() {
    let world = World::new(DEFAULT);
    let run = |device: Device| {
        let add = |options: &mut BindOptions| {
            options.gradients = Some(GradRequests::all(GradReq::Add).with("data", GradReq::Null));
        };
        let executor = world.training("lenet", device, add).unwrap();
        feed(&executor).unwrap();
        push(&executor).unwrap();
        push(&executor).unwrap();
        results(&executor).unwrap()
    };
    assert_same(&run(GPU), &run(CPU), "lenet");
    world.assert_ordered();
    world.assert_empty();
}

/// The gradient of a reshaped input shares the memory of the output's gradient. With the request `add`, a kernel must add it
/// to the gradient array of the input.
#[test]
fn a_view_is_added_by_a_kernel() {
    let world = World::new(DEFAULT);
    let mut names = NameManager::new();
    let flat = call(&world, "Flatten", &[&Symbol::variable("x")], &[], &mut names);
    let graph = flat.graph().unwrap();
    let shape = Shape::from([2, 3, 5]);
    let run = |device: Device| {
        let executor = bind(&world, &graph, &shape, device, Some(GradReq::Add));
        executor.gradient("x").unwrap().copy_from(&numbers(30)).unwrap();
        let head = NdArray::from_slice_on(world.runtime.arrays(), [2, 15], &[0.5f32; 30], device).unwrap();
        for _ in 0..2 {
            executor.forward_train().unwrap();
            executor.backward(std::slice::from_ref(&head)).unwrap();
        }
        executor.gradient("x").unwrap().to_vec::<f32>().unwrap()
    };
    let want: Vec<f32> = numbers(30).iter().map(|x| x + 0.5 + 0.5).collect();
    assert_eq!(run(CPU), want);
    assert_eq!(run(GPU), want);
    world.assert_ordered();
}

#[test]
fn concatenations_have_the_same_bits() {
    let world = World::new(DEFAULT);
    let mut names = NameManager::new();
    let x = Symbol::variable("x");
    let relu = call(&world, "Activation", &[&x], &[("act_type", "relu")], &mut names);
    let tanh = call(&world, "Activation", &[&x], &[("act_type", "tanh")], &mut names);
    let attrs = [("num_args", "3"), ("dim", "1")];
    let graph = call(&world, "Concat", &[&relu, &x, &tanh], &attrs, &mut names);
    let graph = call(&world, "Activation", &[&graph], &[("act_type", "sigmoid")], &mut names).graph().unwrap();
    for shape in [Shape::from([1, 4, 4, 4]), Shape::from([3, 4, 4, 4]), Shape::from([2, 3, 5, 1])] {
        let run = |device: Device| {
            let executor = bind(&world, &graph, &shape, device, None);
            executor.argument("x").unwrap().copy_from(&numbers(shape.n_elements())).unwrap();
            executor.forward().unwrap();
            bits(&executor.outputs()[0])
        };
        assert_eq!(run(GPU), run(CPU), "{shape}");
    }
    world.assert_ordered();
    world.assert_empty();
}

#[test]
fn random_operators_take_the_numbers_of_the_device() {
    let world = World::new(DEFAULT);
    let random = world.runtime.arrays().random();
    let mut names = NameManager::new();
    let graph = call(&world, "Dropout", &[&Symbol::variable("x")], &[("p", "0.5")], &mut names).graph().unwrap();
    let shape = Shape::from([4, 100]);
    let run = |device: Device| {
        let executor = bind(&world, &graph, &shape, device, None);
        executor.argument("x").unwrap().copy_from(&[1.0f32; 400]).unwrap();
        executor.forward_train().unwrap();
        bits(&executor.outputs()[0])
    };
    random.seed(7);
    let (on_cpu, of_cpu) = (run(CPU), random.state(CPU));
    let on_gpu = run(GPU);
    assert_eq!(random.state(CPU), of_cpu, "a run on the device drew numbers of the host");
    assert_ne!(on_gpu, on_cpu, "the device has a generator of its own");
    random.seed(7);
    assert_eq!(run(GPU), on_gpu);
    world.assert_ordered();
}

#[test]
fn steps_one_by_one_and_other_shapes_have_the_same_bits() {
    let world = World::new(DEFAULT);
    let run = |device: Device| {
        let executor = world.training("lenet", device, |_| {}).unwrap();
        feed(&executor).unwrap();
        let mut step = 0;
        while executor.partial_forward(true, step).unwrap() > 0 {
            step += 1;
        }
        executor.backward(&[]).unwrap();
        let mut found = results(&executor).unwrap();
        let shapes = [("data", Shape::from([2, 1, 28, 28])), ("softmax_label", Shape::from([2]))];
        let smaller = executor.reshape(&shapes, Default::default()).unwrap();
        assert!(smaller.arrays().iter().all(|(_, array)| array.device() == device));
        smaller.argument("data").unwrap().copy_from(&images(2)).unwrap();
        smaller.argument("softmax_label").unwrap().copy_from(&[1.0f32, 2.0]).unwrap();
        push(&smaller).unwrap();
        found.extend(results(&smaller).unwrap());
        found
    };
    assert_same(&run(GPU), &run(CPU), "lenet");
    world.assert_ordered();
    world.assert_empty();
}
