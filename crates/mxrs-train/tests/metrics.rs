//! Metrics compared with MXNet's values on random batches (recorded by `tests/mxnet/make_metrics.py`); the effects of
//! padding, resets and names; refused inputs.

mod common;

use common::{KINDS, array, context, context_of};
use mxrs_ndarray::NdArray;
use mxrs_train::metric::{self, CustomMetric, EvalMetric, create, create_all};
use serde_json::Value;

const MXNET: &str = include_str!("fixtures/metrics.json");

fn read(context: &mxrs_ndarray::ArrayContext, value: &Value) -> NdArray {
    let list = |key: &str| value[key].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect::<Vec<f64>>();
    let shape: Vec<usize> = list("shape").into_iter().map(|n| n as usize).collect();
    let values: Vec<f32> = list("values").into_iter().map(|v| v as f32).collect();
    array(context, &shape[..], &values)
}

fn close(ours: f64, mxnet: f64) -> bool {
    (ours - mxnet).abs() <= 1e-6 * mxnet.abs().max(1.0)
}

#[test]
fn values_are_those_of_mxnet() {
    let cases: Value = serde_json::from_str(MXNET).unwrap();
    for kind in KINDS {
        let context = context_of(kind);
        for case in cases.as_array().unwrap() {
            let name = case["metric"].as_str().unwrap();
            let params: Vec<(&str, &str)> =
                case["params"].as_object().unwrap().iter().map(|(k, v)| (k.as_str(), v.as_str().unwrap())).collect();
            let mut metric = create(name, &params).unwrap();
            assert_eq!(metric.name(), case["printed"].as_str().unwrap());
            assert!(metric.get().unwrap()[0].1.is_nan(), "{name}: nothing was counted");
            for (i, batch) in case["batches"].as_array().unwrap().iter().enumerate() {
                let (label, pred) = (read(&context, &batch["label"]), read(&context, &batch["pred"]));
                metric.update(&[&label], &[&pred], 0).unwrap();
                let (local, global) = (metric.get().unwrap()[0].1, metric.get_global().unwrap()[0].1);
                let expected = batch["get"].as_f64().unwrap();
                assert!(close(local, expected), "{name} {params:?} batch {i}: {local}, MXNet {expected}");
                if let Some(expected) = batch["get_global"].as_f64() {
                    assert!(close(global, expected), "{name} {params:?} batch {i}: global {global}, MXNet {expected}");
                }
                if i == 1 && case["resets"] == true {
                    metric.reset_local();
                }
            }
        }
    }
}

/// The values of padding rows do not change the metric.
#[test]
fn padding_is_not_counted() {
    let cases: Value = serde_json::from_str(MXNET).unwrap();
    let context = context();
    for case in cases.as_array().unwrap() {
        let name = case["metric"].as_str().unwrap();
        let params: Vec<(&str, &str)> =
            case["params"].as_object().unwrap().iter().map(|(k, v)| (k.as_str(), v.as_str().unwrap())).collect();
        let (label, pred) = (read(&context, &case["batches"][0]["label"]), read(&context, &case["batches"][0]["pred"]));
        let longer = |from: &NdArray| {
            let row = from.shape()[1..].iter().product::<usize>();
            let mut values = from.to_vec::<f32>().unwrap();
            values.extend(vec![f32::NAN; 2 * row]);
            let mut shape = from.shape().clone();
            shape.dims_mut()[0] += 2;
            array(&context, shape, &values)
        };
        let mut values = Vec::new();
        for (label, pred, pad) in [(&label, &pred, 0), (&longer(&label), &longer(&pred), 2)] {
            let mut metric = create(name, &params).unwrap();
            metric.update(&[label], &[pred], pad).unwrap();
            values.push(metric.get().unwrap()[0].1);
        }
        assert!(values[0] == values[1], "{name} {params:?}: {values:?}");
    }
}

/// The sum over an epoch survives a reset by a callback, also if `get` was not called before it.
#[test]
fn resets() {
    let context = context();
    let mut metric = create("loss", &[]).unwrap();
    let add = |metric: &mut Box<dyn EvalMetric>, value: f32| {
        metric.update(&[], &[&array(&context, [1], &[value])], 0).unwrap();
    };
    add(&mut metric, 1.0);
    metric.reset_local();
    add(&mut metric, 3.0);
    assert_eq!((metric.get().unwrap()[0].1, metric.get_global().unwrap()[0].1), (3.0, 2.0));
    add(&mut metric, 5.0);
    metric.reset();
    assert!(metric.get_global().unwrap()[0].1.is_nan());
    add(&mut metric, 7.0);
    assert_eq!((metric.get().unwrap()[0].1, metric.get_global().unwrap()[0].1), (7.0, 7.0));
}

#[test]
fn several_metrics_and_functions() {
    let context = context();
    let label = array(&context, [2], &[1.0, 0.0]);
    let pred = array(&context, [2, 2], &[0.25, 0.75, 0.25, 0.75]);
    let other = array(&context, [2], &[4.0, 8.0]);
    let mut all = create_all(&[("acc", &[]), ("ce", &[("eps", "0"), ("name", "mine")])]).unwrap();
    all.add(CustomMetric::new("largest", |_, pred| Ok((pred.iter().fold(f64::MIN, f64::max), 1.0))));
    all.add(create("loss", &[("output_names", "second"), ("label_names", "l")]).unwrap());
    let labels = [("l", &label)];
    // A metric without `output_names` uses all outputs, and needs a label for each of them. Here two outputs have only one
    // label.
    let error = all.update_named(&labels, &[("first", &pred), ("second", &other)], 0).unwrap_err().to_string();
    assert!(error.contains("accuracy") && error.contains("got 2"), "{error}");
    all.reset();
    let mut wanting =
        create_all(&[("acc", &[("output_names", "first")]), ("loss", &[("output_names", "second")])]).unwrap();
    wanting.update_named(&labels, &[("first", &pred), ("second", &other)], 0).unwrap();
    assert_eq!(wanting.get().unwrap(), [("accuracy".to_string(), 0.5), ("loss".to_string(), 6.0)]);
    let mut two = create_all(&[("acc", &[]), ("ce", &[("eps", "0"), ("name", "mine")])]).unwrap();
    two.add(CustomMetric::new("largest", |_, pred| Ok((pred.iter().fold(f64::MIN, f64::max), 1.0))));
    two.update(&[&label], &[&pred], 0).unwrap();
    let values = two.get().unwrap();
    let names: Vec<&str> = values.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["accuracy", "mine", "largest"]);
    assert!(close(values[1].1, -(0.75f64.ln() + 0.25f64.ln()) / 2.0) && values[2].1 == 0.75);
}

#[test]
fn what_does_not_fit_is_told() {
    let context = context();
    let error = |name: &str, params: &[(&str, &str)]| create(name, params).err().expect("it is refused").to_string();
    assert!(error("acuracy", &[]).contains("accuracy"));
    assert!(error("acc", &[("top_k", "2")]).contains("axis"));
    assert!(error("top_k_acc", &[]).contains("top_k"));
    assert!(error("perplexity", &[]).contains("ignore_label"));
    assert!(error("f1", &[("average", "mean")]).contains("macro or micro"));
    let told = |name: &str, params: &[(&str, &str)], label: &NdArray, pred: &NdArray| {
        let mut metric: Box<dyn EvalMetric> = metric::create(name, params).unwrap();
        let updated = metric.update(&[label], &[pred], 0);
        updated.and_then(|()| metric.get()).unwrap_err().to_string()
    };
    let pred = array(&context, [2, 3], &[0.1, 0.2, 0.7, 0.3, 0.3, 0.4]);
    let far = array(&context, [2], &[1.0, 3.0]);
    let text = told("ce", &[], &far, &pred);
    assert!(text.contains("label of row 1") && text.contains("3 classes"), "{text}");
    assert!(told("acc", &[], &array(&context, [3], &[0.0; 3]), &pred).contains("accuracy"));
    let three = array(&context, [3], &[0.0, 1.0, 2.0]);
    assert!(told("f1", &[], &three, &array(&context, [3, 2], &[0.5; 6])).contains("at most two classes"));
}

/// Of equal elements the first counts as larger, as in accuracy, whose argmax returns the first.
#[test]
fn ties_of_top_k_go_to_the_first_classes() {
    let context = context();
    let alike = array(&context, [1, 3], &[0.5; 3]);
    let of = |class: f32| {
        let mut top = create("top_k_acc", &[("top_k", "2")]).unwrap();
        top.update(&[&array(&context, [1], &[class])], &[&alike], 0).unwrap();
        top.get().unwrap()[0].1
    };
    assert_eq!([0.0, 1.0, 2.0].map(of), [1.0, 1.0, 0.0]);
}

/// An update returns before the prediction is computed, and uses the value that the prediction had at the time of the call.
#[test]
fn updates_do_not_wait_and_see_their_own_batch() {
    let context = context();
    let pred = array(&context, [1], &[0.0]);
    let mut metric = create("loss", &[]).unwrap();
    for i in 1..=100u8 {
        pred.copy_from_owned(f32::from(i).to_ne_bytes().to_vec()).unwrap();
        metric.update(&[], &[&pred], 0).unwrap();
    }
    assert_eq!(metric.get().unwrap()[0].1, 50.5);
}
