//! Tests that one training step from a checkpoint gives the output, the gradients and the auxiliary states of MXNet 1.9.1.
//!
//! The gradient of a trained network is a small difference of nearly equal numbers. So MXNet's float32 gradients differ from
//! its float64 gradients by up to 3e-3 of an array's largest element (`tests/mxnet/make_exact_step.py`). Ours are compared
//! with the float64 gradients. They may differ by 1e-6 in float64; in float32, by 1e-4 plus three times MXNet's own
//! difference.

use mxrs::env::MapSource;
use mxrs::exec::{BindOptions, Executor, GradReq, GradRequests, Recompute};
use mxrs::format::{ArrayFile, Options, Tensor};
use mxrs::ndarray::NdArray;
use mxrs::types::{DType, Shape};
use mxrs::{Model, Runtime};
use mxrs_tests::{digits, fixture};
use std::collections::BTreeMap;

type Recorded = BTreeMap<String, (Shape, Vec<f32>)>;

/// The arrays that MXNet recorded: shape and numbers by name.
fn recorded(model: &str, kind: &str) -> Recorded {
    let file = ArrayFile::open(fixture(&format!("{model}-{kind}.params")), &Options::default()).unwrap().value;
    let named = file.arrays.into_named().unwrap();
    let numbers =
        |tensor: &Tensor| (tensor.as_dense().unwrap().shape().clone(), tensor.as_slice::<f32>().unwrap().to_vec());
    named.iter().map(|(name, tensor)| (name.clone(), numbers(tensor))).collect()
}

fn bind(runtime: &Runtime, model: &str, options: &BindOptions) -> Executor {
    let model = Model::load(runtime, digits(model), 10).unwrap();
    let inputs = [("data", Shape::from([32, 1, 28, 28])), ("softmax_label", Shape::from([32]))];
    Executor::bind(model.graph(), runtime.arrays(), &inputs, model.params(), options).unwrap()
}

/// Largest difference, relative to the largest recorded number of the array.
fn relative(got: &[f32], want: &[f32]) -> f64 {
    assert_eq!(got.len(), want.len());
    let largest = want.iter().fold(0f64, |m, w| m.max(f64::from(w.abs()))).max(1e-8);
    got.iter().zip(want).fold(0f64, |m, (g, w)| m.max(f64::from((g - w).abs()))) / largest
}

fn absolute(got: &[f32], want: &[f32]) -> f64 {
    assert_eq!(got.len(), want.len());
    got.iter().zip(want).fold(0f64, |m, (g, w)| m.max(f64::from((g - w).abs())))
}

pub fn step(runtime: &Runtime, model: &str, change: impl FnOnce(&mut BindOptions)) {
    let recorded = recorded(model, "step");
    let mut options = runtime.bind_options();
    options.gradients = Some(GradRequests::all(GradReq::Write).with("data", GradReq::Null));
    change(&mut options);
    let executor = bind(runtime, model, &options);
    executor.argument("data").unwrap().copy_from(&recorded["data"].1).unwrap();
    executor.argument("softmax_label").unwrap().copy_from(&recorded["softmax_label"].1).unwrap();
    executor.forward_train().unwrap();
    executor.backward(&[]).unwrap();
    let output = executor.outputs()[0].to_vec::<f32>().unwrap();
    assert!(absolute(&output, &recorded["out:softmax"].1) <= 1e-5, "{model}: output");
    let exact = self::recorded(model, "exact");
    for (name, (shape, want)) in &exact {
        let gradient = executor.gradient(name.strip_prefix("grad:").unwrap()).unwrap();
        assert_eq!(gradient.shape(), shape, "{model}: {name}");
        let mxnets = relative(&recorded[name].1, want);
        let off = relative(&gradient.to_vec().unwrap(), want);
        assert!(off <= 1e-4 + 3.0 * mxnets, "{model}: {name} is off by {off:e}, MXNet's by {mxnets:e}");
    }
    for (name, (_, want)) in &recorded {
        if let Some(name) = name.strip_prefix("aux_after:") {
            let got = executor.argument(name).unwrap().to_vec::<f32>().unwrap();
            let is_close = |(g, w): (&f32, &f32)| (g - w).abs() <= 1e-5 * (1.0 + w.abs());
            assert!(got.iter().zip(want).all(is_close), "{model}: {name} after the step: {got:?}, MXNet {want:?}");
        }
    }
    assert!(exact.len() >= 8, "{model}: {} arrays", exact.len());
}

#[test]
fn in_float64_with_the_reference_kernels() {
    let runtime = Runtime::builder().env(&MapSource::empty()).only_backend("reference").build().unwrap();
    for name in ["lenet", "resnet8"] {
        let (step, exact) = (recorded(name, "step"), recorded(name, "exact"));
        let model = Model::load(&runtime, digits(name), 10).unwrap();
        let wide = |numbers: &[f32]| numbers.iter().map(|x| f64::from(*x)).collect::<Vec<f64>>();
        let params = model.params().iter().map(|(name, array)| {
            let numbers = wide(&array.to_vec().unwrap());
            (name.clone(), NdArray::from_slice(runtime.arrays(), array.shape().clone(), &numbers).unwrap())
        });
        let params = params.collect();
        let mut options = runtime.bind_options();
        options.default_dtype = DType::F64;
        options.gradients = Some(GradRequests::all(GradReq::Write).with("data", GradReq::Null));
        let inputs = [("data", Shape::from([32, 1, 28, 28])), ("softmax_label", Shape::from([32]))];
        let executor = Executor::bind(model.graph(), runtime.arrays(), &inputs, &params, &options).unwrap();
        for input in ["data", "softmax_label"] {
            executor.argument(input).unwrap().copy_from(&wide(&step[input].1)).unwrap();
        }
        executor.forward_train().unwrap();
        executor.backward(&[]).unwrap();
        for (name, (_, want)) in &exact {
            let got = executor.gradient(name.strip_prefix("grad:").unwrap()).unwrap();
            let got: Vec<f32> = got.to_vec::<f64>().unwrap().iter().map(|x| *x as f32).collect();
            let off = relative(&got, want);
            assert!(off <= 1e-6, "{name} is off by {off:e}");
        }
    }
}

#[test]
fn with_every_backend_of_this_build() {
    let runtime = Runtime::builder().env(&MapSource::empty()).build().unwrap();
    step(&runtime, "lenet", |_| {});
    step(&runtime, "resnet8", |_| {});
}

#[test]
fn with_the_reference_kernels() {
    let runtime = Runtime::builder().env(&MapSource::empty()).only_backend("reference").build().unwrap();
    step(&runtime, "lenet", |_| {});
    step(&runtime, "resnet8", |_| {});
}

#[test]
fn on_every_engine_and_with_each_planner_switch() {
    for kind in ["NaiveEngine", "ThreadedEngine", "ThreadedEnginePerDevice", "ThreadedEnginePerDeviceAsync"] {
        let runtime = Runtime::builder().env(&MapSource::new([("MXNET_ENGINE_TYPE", kind)])).build().unwrap();
        step(&runtime, "resnet8", |_| {});
    }
    let runtime = Runtime::builder().env(&MapSource::empty()).build().unwrap();
    step(&runtime, "resnet8", |o| o.plan.enable_inplace = false);
    step(&runtime, "resnet8", |o| o.plan.match_range = Some(16));
    step(&runtime, "resnet8", |o| o.plan.match_range = Some(0));
    step(&runtime, "resnet8", |o| o.plan.num_colors = 4);
    step(&runtime, "resnet8", |o| (o.bulk_train_forward, o.bulk_train_backward) = (1, 1));
    step(&runtime, "resnet8", |o| o.grad_sum_cap = 2);
}

/// Changes the option of each pass alone, then all of them together, and compares each training step with MXNet's recording.
/// Runs once with all backends, and once with the reference kernels alone.
#[test]
fn with_and_without_each_pass() {
    let switches: [fn(&mut BindOptions); 6] = [
        |o| o.eliminate_common = !o.eliminate_common,
        |o| o.recompute = Recompute::Mirror,
        |o| o.recompute = Recompute::Sqrt,
        |o| o.recompute = Recompute::Chain,
        |o| o.grad_sum_cap = 2,
        |o| o.plan.enable_inplace = !o.plan.enable_inplace,
    ];
    let all = Runtime::builder().env(&MapSource::empty());
    let reference = Runtime::builder().env(&MapSource::empty()).only_backend("reference");
    for (runtime, nets) in [(all, &["lenet", "resnet8"][..]), (reference, &["lenet"][..])] {
        let runtime = runtime.build().unwrap();
        for net in nets {
            for switch in switches {
                step(&runtime, net, switch);
            }
            step(&runtime, net, |o| switches.iter().for_each(|switch| switch(o)));
        }
    }
}

#[test]
fn b4_g11_a_request_to_add_adds_and_null_makes_no_array() {
    let runtime = Runtime::builder().env(&MapSource::empty()).build().unwrap();
    let recorded = recorded("lenet", "step");
    let mut options = runtime.bind_options();
    let requests = GradRequests::all(GradReq::Add).with("data", GradReq::Null).with("softmax_label", GradReq::Null);
    options.gradients = Some(requests);
    let executor = bind(&runtime, "lenet", &options);
    executor.argument("data").unwrap().copy_from(&recorded["data"].1).unwrap();
    executor.argument("softmax_label").unwrap().copy_from(&recorded["softmax_label"].1).unwrap();
    for _ in 0..3 {
        executor.forward_train().unwrap();
        executor.backward(&[]).unwrap();
    }
    assert!(executor.gradient("data").is_err());
    let exact = self::recorded("lenet", "exact");
    for gradient in executor.gradients() {
        let name = format!("grad:{}", gradient.name);
        let mxnets = relative(&recorded[&name].1, &exact[&name].1);
        let want: Vec<f32> = exact[&name].1.iter().map(|g| 3.0 * g).collect();
        let off = relative(&gradient.array.to_vec().unwrap(), &want);
        assert!(off <= 1e-4 + 3.0 * mxnets, "{}: {off:e}", gradient.name);
    }
}

#[test]
fn backward_without_a_training_run_is_refused() {
    let runtime = Runtime::builder().env(&MapSource::empty()).build().unwrap();
    let mut options = runtime.bind_options();
    options.gradients = Some(GradRequests::all(GradReq::Write));
    let executor = bind(&runtime, "lenet", &options);
    let message = executor.backward(&[]).unwrap_err().to_string();
    assert!(message.contains("forward_train"), "{message}");
    executor.forward_train().unwrap();
    executor.backward(&[]).unwrap();
    assert!(executor.backward(&[]).is_err(), "a second backward of one run");
    executor.forward_train().unwrap();
    executor.forward().unwrap();
    assert!(executor.backward(&[]).is_err(), "the outputs were overwritten");
    let without = bind(&runtime, "lenet", &runtime.bind_options());
    without.forward_train().unwrap();
    let message = without.backward(&[]).unwrap_err().to_string();
    assert!(message.contains("gradients"), "{message}");
}
