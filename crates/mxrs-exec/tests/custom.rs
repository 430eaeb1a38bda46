//! Calls operators that the test defines: on arrays, in graphs with gradients, and as nodes of symbol files.

mod common;

use common::{Net, array, backward, context, grad, imperative, marked, options, recorded, values};
use mxrs_engine::EngineKind;
use mxrs_exec::{CachedOp, CachedOpFlags, Executor, GradReq, GradRequests};
use mxrs_graph::Symbol;
use mxrs_ndarray::NdArray;
use mxrs_op::{Attrs, RefInput, RefOutput, elements};
use mxrs_ops::custom::{CustomGradient, CustomOp, register};
use mxrs_symbol::{Registry, graph_from_bytes, graph_to_file};
use mxrs_types::{Error, Result};
use std::sync::{Mutex, Once};

/// `factor * x`, or an error if an element is negative.
struct Scale(f64);

impl CustomOp for Scale {
    fn forward(&self, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], is_train: bool) -> Result<()> {
        let data = elements::read_f64(inputs[0].bytes, inputs[0].desc.dtype);
        if let Some(negative) = data.iter().find(|x| **x < 0.0) {
            return Err(Error::invalid("element of scale", negative, "no negative number"));
        }
        // At inference the result is one more, so that the tests see the mode.
        let more = if is_train { 0.0 } else { 1.0 };
        let scaled: Vec<f64> = data.iter().map(|x| self.0 * x + more).collect();
        elements::write_f64(&scaled, outputs[0].desc.dtype, outputs[0].bytes);
        Ok(())
    }

    fn backward(&self, call: &CustomGradient<'_>, gradients: &mut [RefOutput<'_>]) -> Result<()> {
        let grad = elements::read_f64(call.out_grads[0].bytes, call.out_grads[0].desc.dtype);
        let scaled: Vec<f64> = grad.iter().map(|x| self.0 * x).collect();
        elements::write_f64(&scaled, gradients[0].desc.dtype, gradients[0].bytes);
        Ok(())
    }
}

const ATTRS: [(&str, &str); 2] = [("op_type", "scale"), ("factor", "3")];

fn register_scale() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        register("scale", |attrs: &Attrs| {
            let factor = attrs.get("factor").and_then(|text| text.parse().ok());
            let factor = factor.ok_or_else(|| Error::invalid("factor", format!("{attrs:?}"), "a number"))?;
            Ok(Box::new(Scale(factor)))
        })
        .unwrap();
    });
}

/// Remembers its input, and returns it as the gradient.
#[derive(Default)]
struct Remembers(Mutex<Vec<f64>>);

impl CustomOp for Remembers {
    fn forward(&self, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: bool) -> Result<()> {
        *self.0.lock().unwrap() = elements::read_f64(inputs[0].bytes, inputs[0].desc.dtype);
        outputs[0].bytes.copy_from_slice(inputs[0].bytes);
        Ok(())
    }

    fn backward(&self, _: &CustomGradient<'_>, gradients: &mut [RefOutput<'_>]) -> Result<()> {
        let remembered = self.0.lock().unwrap();
        elements::write_f64(&remembered, gradients[0].desc.dtype, gradients[0].bytes);
        Ok(())
    }
}

/// The operator that ran a call computes its gradient, so it may keep what it needs.
#[test]
fn a_gradient_is_computed_by_the_operator_of_its_call() {
    register("remembers", |_| Ok(Box::new(Remembers::default()))).unwrap();
    let attrs = Attrs::from([("op_type", "remembers")]);
    let nd = imperative();
    let x = marked(&nd, &[2], &[5.0, 7.0]);
    let y = recorded(|| nd.invoke("Custom", &attrs, &[&x]));
    backward(&nd, &y[0]);
    assert_eq!(grad(&x), [5.0, 7.0]);
    let mut net = Net::new();
    let graph = net.call_with("Custom", &[("op_type", "remembers")], &[&Symbol::variable("x")]).graph().unwrap();
    let mut options = options();
    options.gradients = Some(GradRequests::all(GradReq::Write));
    let context = context(EngineKind::ThreadedPerDevice, 2);
    let executor = Executor::simple_bind(&graph, &context, &[("x", [2].into())], &options).unwrap();
    executor.argument("x").unwrap().copy_from(&[3.0f32, 4.0]).unwrap();
    executor.forward_train().unwrap();
    executor.backward(&[NdArray::from_slice(&context, [2], &[1.0f32, 1.0]).unwrap()]).unwrap();
    assert_eq!(executor.gradient("x").unwrap().to_vec::<f32>().unwrap(), [3.0, 4.0]);
    assert!(register("remembers", |_| Ok(Box::new(Remembers::default()))).unwrap_err().to_string().contains("taken"));
}

/// Calls that differ only in an attribute of the program stay two calls, in executors and in cached graphs.
#[test]
fn calls_with_other_attributes_are_other_calls() {
    register_scale();
    let mut net = Net::new();
    let x = Symbol::variable("x");
    let [three, five] =
        ["3", "5"].map(|factor| net.call_with("Custom", &[("op_type", "scale"), ("factor", factor)], &[&x]));
    let graph = net.call("elemwise_sub", &[&five, &three]).graph().unwrap();
    let nd = imperative();
    let x = array(&nd, [2], &[1.0, 2.0]);
    for static_alloc in [false, true] {
        let flags = CachedOpFlags { static_alloc, ..CachedOpFlags::default() };
        let made = CachedOp::new(&nd, &graph, flags).unwrap().call(&[&x]).unwrap();
        assert_eq!(values(&made[0]), [2.0, 4.0]);
    }
}

#[test]
fn arrays_and_their_gradients() {
    register_scale();
    let nd = imperative();
    let x = marked(&nd, &[2], &[1.0, 2.0]);
    let y = recorded(|| nd.invoke("Custom", &Attrs::from(ATTRS), &[&x]));
    backward(&nd, &y[0]);
    assert_eq!((values(&y[0]), grad(&x)), (vec![3.0, 6.0], vec![3.0, 3.0]));
    let at_inference = nd.invoke("Custom", &Attrs::from(ATTRS), &[&x]).unwrap();
    assert_eq!(values(&at_inference[0]), [4.0, 7.0]);
    let error = nd.invoke("Custom", &Attrs::from([("op_type", "scale")]), &[&x]).unwrap_err().to_string();
    assert!(error.contains("factor") && error.contains("Custom"), "{error}");
    let failed = nd.invoke("Custom", &Attrs::from(ATTRS), &[&array(&nd, [1], &[-1.0])]);
    let error = failed.and_then(|made| made[0].wait_to_read()).unwrap_err().to_string();
    assert!(error.contains("element of scale"), "{error}");
}

#[test]
fn graphs_from_symbol_files_and_their_gradients() {
    register_scale();
    let mut net = Net::new();
    let scaled = net.call_with("Custom", &ATTRS, &[&Symbol::variable("x")]);
    let graph = net.call("square", &[&scaled]).graph().unwrap();
    let json = graph_to_file(&graph).to_json();
    let ops = mxrs_ops::catalog();
    let read = |text: &str| graph_from_bytes(text.as_bytes(), &Registry::new(&ops), &Default::default());
    let graph = read(&json).unwrap().value;
    let context = context(EngineKind::ThreadedPerDevice, 2);
    let mut options = options();
    options.gradients = Some(GradRequests::all(GradReq::Write));
    let executor = Executor::simple_bind(&graph, &context, &[("x", [2].into())], &options).unwrap();
    executor.argument("x").unwrap().copy_from(&[1.0f32, 2.0]).unwrap();
    executor.forward_train().unwrap();
    executor.backward(&[NdArray::from_slice(&context, [2], &[1.0f32, 1.0]).unwrap()]).unwrap();
    assert_eq!(executor.outputs()[0].to_vec::<f32>().unwrap(), [9.0, 36.0]);
    assert_eq!(executor.gradient("x").unwrap().to_vec::<f32>().unwrap(), [18.0, 36.0]);
    let error = read(&json.replace("\"scale\"", "\"other\"")).err().unwrap().to_string();
    assert!(error.contains("op_type") && error.contains("other"), "{error}");
}
