//! Calls of single operators, gradients and cached graphs on a device.

use super::{CPU, DEFAULT, ENGINES, GPU, World, bits};
use mxrs::exec::{BackwardOptions, CachedOp, GradReq, autograd};
use mxrs::graph::{NameManager, Symbol, SymbolCall};
use mxrs::ndarray::NdArray;
use mxrs::op::Attrs;
use mxrs::types::Device;

fn numbers(n: usize) -> Vec<f32> {
    (0..n).map(|i| (i * 7919 % 1009) as f32 / 504.5 - 1.0).collect()
}

/// The value and the gradient of `tanh(a) * b`, and the product of two matrices.
fn values(world: &World, device: Device) -> Vec<Vec<u32>> {
    let nd = world.runtime.imperative().unwrap();
    let none = Attrs::new();
    let array = |shift: usize| {
        let numbers = &numbers(12 + shift)[shift..];
        NdArray::from_slice_on(world.runtime.arrays(), [3, 4], numbers, device).unwrap()
    };
    let (a, b) = (array(0), array(5));
    nd.attach_grad(&a, GradReq::Write).unwrap();
    let made = {
        let _record = autograd::record();
        let t = nd.invoke("tanh", &none, &[&a]).unwrap().remove(0);
        nd.invoke("elemwise_mul", &none, &[&t, &b]).unwrap().remove(0)
    };
    nd.backward(&[&made], &[], BackwardOptions::default()).unwrap();
    let mut attrs = Attrs::new();
    attrs.set("num_hidden", "3");
    attrs.set("no_bias", "True");
    let product = nd.invoke("FullyConnected", &attrs, &[&a, &b]).unwrap().remove(0);
    assert!(made.device() == device && product.device() == device);
    let gradient = autograd::grad_of(&a).unwrap();
    assert_eq!(gradient.device(), device);
    [made, product, gradient].iter().map(bits).collect()
}

#[test]
fn calls_and_gradients_have_the_same_bits() {
    for engine in ENGINES {
        let world = World::new(engine);
        let want = values(&world, CPU);
        assert_eq!(values(&world, GPU), want, "{engine:?}");
        assert_eq!(values(&world, Device::cpu(1)), want, "{engine:?}");
        world.assert_ordered();
    }
}

#[test]
fn arrays_on_different_devices_are_refused() {
    let world = World::new(DEFAULT);
    let nd = world.runtime.imperative().unwrap();
    let on = |device| NdArray::from_slice_on(world.runtime.arrays(), [2], &[1.0f32, 2.0], device).unwrap();
    for devices in [[CPU, GPU], [GPU, CPU]] {
        let [a, b] = devices.map(on);
        let error = nd.invoke("elemwise_add", &Attrs::new(), &[&a, &b]).expect_err("an error").to_string();
        assert!(error.contains("cpu(0)") && error.contains("gpu(0)"), "{error}");
    }
    let (a, out) = (on(GPU), on(CPU));
    let error = nd.invoke_into("tanh", &Attrs::new(), &[&a], &[&out]).expect_err("an error").to_string();
    assert!(error.contains("cpu(0)") && error.contains("gpu(0)"), "{error}");
}

#[test]
fn cached_graphs_have_the_same_bits() {
    let world = World::new(DEFAULT);
    let op = |name: &str| world.runtime.ops().get(name).unwrap();
    let mut names = NameManager::new();
    let x = Symbol::variable("x");
    let y = SymbolCall::new(op("tanh")).input(&x).build(&mut names).unwrap();
    let y = SymbolCall::new(op("elemwise_mul")).input(&y).input(&x).build(&mut names).unwrap();
    let graph = y.graph().unwrap();
    let nd = world.runtime.imperative().unwrap();
    for static_alloc in [false, true] {
        let flags = mxrs::exec::CachedOpFlags { static_alloc, inline_limit: 0, ..world.runtime.cached_op_flags() };
        let cached = CachedOp::new(&nd, &graph, flags).unwrap();
        let run = |device: Device| {
            let x = NdArray::from_slice_on(world.runtime.arrays(), [3, 4], &numbers(12), device).unwrap();
            nd.attach_grad(&x, GradReq::Write).unwrap();
            let y = {
                let _record = autograd::record();
                cached.call(&[&x]).unwrap().remove(0)
            };
            nd.backward(&[&y], &[], BackwardOptions::default()).unwrap();
            let gradient = autograd::grad_of(&x).unwrap();
            assert!(y.device() == device && gradient.device() == device);
            let plain = cached.call(&[&x]).unwrap().remove(0);
            [y, gradient, plain].iter().map(bits).collect::<Vec<_>>()
        };
        assert_eq!(run(GPU), run(CPU));
    }
    world.assert_ordered();
}
