//! Training over lists of contexts, compared with MXNet 1.9.1. `tests/mxnet/make_contexts.py` made the recording.

mod common;

use common::{Net, StoreHost, context, options};
use indexmap::IndexMap;
use mxrs_data::{DataBatch, DataDesc};
use mxrs_format::{Checkpoint, Dense, Tensor};
use mxrs_graph::{Graph, Symbol};
use mxrs_kvstore::KvStore;
use mxrs_train::metric::{EvalMetric, create_all};
use mxrs_train::{BindFor, Host, KvStoreChoice, Module, ModuleNames, StoreOptions};
use mxrs_types::{DType, Device, Shape};
use serde_json::Value;
use std::sync::Arc;

fn record() -> Value {
    serde_json::from_str(include_str!("fixtures/contexts.json")).unwrap()
}

fn floats(list: &Value) -> Vec<f32> {
    list.as_array().unwrap().iter().map(|v| v.as_f64().unwrap() as f32).collect()
}

fn dense(shape: impl Into<Shape>, values: &[f32]) -> Dense {
    Tensor::from_slice(shape, values).unwrap().into_dense().unwrap()
}

fn network() -> Graph {
    let mut net = Net::default();
    let x = net.call("FullyConnected", "fc1", &[("num_hidden", "8")], &[&Symbol::variable("data")]);
    let x = net.call("BatchNorm", "bn1", &[("fix_gamma", "False")], &[&x]);
    let x = net.call("Activation", "relu1", &[("act_type", "relu")], &[&x]);
    let x = net.call("FullyConnected", "fc2", &[("num_hidden", "3")], &[&x]);
    net.call("SoftmaxOutput", "softmax", &[], &[&x]).graph().unwrap()
}

#[track_caller]
fn assert_close(got: &[f32], want: &[f32], what: &str) {
    assert_eq!(got.len(), want.len(), "{what}");
    for (got, want) in got.iter().zip(want) {
        assert!((got - want).abs() <= 2e-5 * (1.0 + want.abs()), "{what}: {got}, MXNet {want}");
    }
}

#[test]
fn modules_train_as_mxnets_do() {
    let record = record();
    let batch = record["batch"].as_u64().unwrap() as usize;
    for run in record["runs"].as_array().unwrap() {
        let n = run["contexts"].as_u64().unwrap() as u32;
        let host = StoreHost::new(run["on_store"].as_bool().unwrap());
        let mut module = Module::new(&host, &network()).unwrap().contexts((0..n).map(Device::cpu)).unwrap();
        if !run["work_load"].is_null() {
            module = module.work_load_list(floats(&run["work_load"]).into_iter().map(f64::from)).unwrap();
        }
        let data = DataDesc::new("data", [batch, 6], DType::F32);
        let label = DataDesc::new("softmax_label", [batch], DType::F32);
        module.bind(&[data], &[label], BindFor::default()).unwrap();
        let (mut arg, mut aux) = (IndexMap::new(), IndexMap::new());
        for (name, values) in record["start"].as_object().unwrap() {
            let shape = module.executor().unwrap().argument(name).unwrap().shape().clone();
            let tensor = Tensor::from_slice(shape, &floats(values)).unwrap();
            let group = if name.contains("moving") { &mut aux } else { &mut arg };
            group.insert(name.clone(), tensor);
        }
        module.set_params(&Checkpoint::new(arg, aux)).unwrap();
        let choice = run["store"].as_str().map_or(KvStoreChoice::None, KvStoreChoice::from);
        let settings = [("learning_rate", "0.2"), ("momentum", "0.9"), ("wd", "1e-3")];
        module.init_optimizer_named_with("sgd", &settings, &StoreOptions::new(choice)).unwrap();
        let what = format!("{n} contexts, {}, on store {}, {}", run["store"], run["on_store"], run["work_load"]);
        assert_eq!(module.updates_on_kvstore(), run["updates_on_store"].as_bool().unwrap(), "{what}");
        assert_eq!(module.kvstore().is_some(), run["has_store"].as_bool().unwrap(), "{what}");
        let mut metric = create_all(&[("acc", &[]), ("ce", &[])]).unwrap();
        for step in record["batches"].as_array().unwrap() {
            let data = vec![dense([batch, 6], &floats(&step[0]))];
            let labels = vec![dense([batch], &floats(&step[1]))];
            let index = (0..batch as u64).collect();
            module.forward_backward(DataBatch { data, labels, index, pad: 0 }).unwrap();
            module.update().unwrap();
            module.update_metric(&mut metric, 0).unwrap();
        }
        let output = &module.get_outputs().unwrap()[0];
        assert_eq!(output.shape()[..], [batch, 3], "{what}");
        assert_close(&output.to_vec().unwrap(), &floats(&run["output"]), &format!("{what}: output"));
        let params = module.get_params().unwrap();
        for (name, want) in run["params"].as_object().unwrap() {
            let tensor = params.arg.get(name).or_else(|| params.aux.get(name)).unwrap();
            assert_close(tensor.as_slice::<f32>().unwrap(), &floats(want), &format!("{what}: {name}"));
        }
        let values: Vec<f32> = metric.get_global().unwrap().iter().map(|(_, value)| *value as f32).collect();
        assert_close(&values, &floats(&run["metric"]), &format!("{what}: metrics"));
    }
}

fn unhex(text: &Value) -> Vec<u8> {
    let digits = text.as_str().unwrap().as_bytes();
    let digit = |d: u8| (d as char).to_digit(16).unwrap() as u8;
    digits.chunks(2).map(|pair| digit(pair[0]) * 16 + digit(pair[1])).collect()
}

#[test]
fn means_of_copies_have_mxnets_bits() {
    for case in record()["means"].as_array().unwrap() {
        let dtype: DType = case["dtype"].as_str().unwrap().parse().unwrap();
        let copies: Vec<Vec<u8>> = case["copies"].as_array().unwrap().iter().map(unhex).collect();
        let mut net = Net::default();
        let attrs = [("num_hidden", "2"), ("no_bias", "True")];
        let graph = net.call("FullyConnected", "fc", &attrs, &[&Symbol::variable("data")]).graph().unwrap();
        let names = ModuleNames { labels: Vec::new(), ..ModuleNames::default() };
        let module = Module::with_names(&(context(), options()), &graph, names).unwrap();
        let mut module = module.contexts((0..copies.len() as u32).map(Device::cpu)).unwrap();
        module.bind(&[DataDesc::new("data", [6, 6], dtype)], &[], BindFor::inference()).unwrap();
        module.init_params(None, &common::fit_options(0).init).unwrap();
        for (executor, copy) in module.executors().unwrap().into_iter().zip(&copies) {
            executor.argument("fc_weight").unwrap().copy_from_bytes(copy).unwrap();
        }
        let params = module.get_params().unwrap();
        assert_eq!(params.arg["fc_weight"].dtype(), Some(dtype));
        assert_eq!(params.arg["fc_weight"].stored_bytes(), unhex(&case["mean"]), "{dtype}, {} copies", copies.len());
    }
}

/// Follows the rules of `_create_kvstore` in MXNet's `model.py`, and the store types that must or cannot update weights.
#[test]
fn rules_choose_the_store_and_who_updates() {
    let module = |n: u32, update_on_kvstore: bool| {
        let host = StoreHost::new(update_on_kvstore);
        let mut module = Module::new(&host, &network()).unwrap().contexts((0..n).map(Device::cpu)).unwrap();
        let label = DataDesc::new("softmax_label", [6], DType::F32);
        module.bind(&[DataDesc::new("data", [6, 6], DType::F32)], &[label], BindFor::default()).unwrap();
        module.init_params(None, &common::fit_options(0).init).unwrap();
        (module, host)
    };
    let decided = |n, told, options: &StoreOptions| {
        let (mut module, _) = module(n, told);
        module.init_optimizer_with(common::sgd(0.1, 0.0), options).map_err(|error| error.to_string())?;
        Ok::<_, String>((module.kvstore().is_some(), module.updates_on_kvstore()))
    };
    for name in ["local", "device"] {
        assert_eq!(decided(1, true, &StoreOptions::new(name)).unwrap(), (false, false));
        assert_eq!(decided(2, true, &StoreOptions::new(name)).unwrap(), (true, true));
        assert_eq!(decided(2, false, &StoreOptions::new(name)).unwrap(), (true, false));
        let given = |update| StoreOptions { update_on_kvstore: Some(update), ..StoreOptions::new(name) };
        assert_eq!(decided(2, true, &given(false)).unwrap(), (true, false));
        assert_eq!(decided(2, false, &given(true)).unwrap(), (true, true));
    }
    assert_eq!(decided(2, true, &StoreOptions::new(KvStoreChoice::None)).unwrap(), (false, false));
    let error = decided(2, true, &StoreOptions::new("devise")).unwrap_err();
    assert!(error.contains("nearest: device"), "{error}");
    let error = decided(1, true, &StoreOptions::new("dist_sync")).unwrap_err();
    assert!(error.contains("dist_sync"), "one device does not make a distributed store needless: {error}");
    // If the program passes a store object instead of a name, the store is used even with one device.
    let (mut module, host) = module(1, true);
    let store: Arc<dyn KvStore> = host.kvstore("local").unwrap();
    module.init_optimizer_with(common::sgd(0.1, 0.0), &StoreOptions::new(store)).unwrap();
    assert!(module.kvstore().is_some() && module.updates_on_kvstore());
}
