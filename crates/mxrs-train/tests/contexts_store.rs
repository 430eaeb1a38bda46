//! The calls that a module makes to its store, with their order and priorities, and the factor by which gradients are
//! multiplied if the store connects several workers.

mod common;

use common::{batch, context, fit_options, iter, options, sgd, small_net};
use mxrs_data::DataIter;
use mxrs_kvstore::{Compression, Key, KvStore, RowPull, RowSparse, StoreType, Updater, Value};
use mxrs_ndarray::NdArray;
use mxrs_sync::Mutex;
use mxrs_train::{BindFor, Host, Module, StoreOptions};
use mxrs_types::{Device, Result};
use std::sync::Arc;

/// A store that records the calls that it passes on.
struct Recording {
    store: Arc<dyn KvStore>,
    /// The type that it says it has.
    store_type: StoreType,
    calls: Mutex<Vec<String>>,
}

impl Recording {
    fn note(&self, verb: &str, keys: &[&Key], n_outs: usize, priority: i32) {
        let key = keys.first().map(ToString::to_string).unwrap_or_default();
        assert!(keys.iter().all(|other| *other == keys[0]), "one key in each call");
        self.calls.lock().push(format!("{verb} {key} {} {n_outs} {priority}", keys.len()));
    }
}

impl KvStore for Recording {
    fn store_type(&self) -> &StoreType {
        &self.store_type
    }
    fn init(&self, values: &[(Key, NdArray)]) -> Result<()> {
        self.store.init(values)
    }
    fn push(&self, values: &[(Key, Value)], priority: i32) -> Result<()> {
        self.note("push", &values.iter().map(|(key, _)| key).collect::<Vec<_>>(), 0, priority);
        self.store.push(values, priority)
    }
    fn pull(&self, outs: &[(Key, NdArray)], priority: i32) -> Result<()> {
        self.note("pull", &outs.iter().map(|(key, _)| key).collect::<Vec<_>>(), outs.len(), priority);
        self.store.pull(outs, priority)
    }
    fn pushpull(&self, values: &[(Key, Value)], outs: &[(Key, NdArray)], priority: i32) -> Result<()> {
        self.note("pushpull", &values.iter().map(|(key, _)| key).collect::<Vec<_>>(), outs.len(), priority);
        self.store.pushpull(values, outs, priority)
    }
    fn row_sparse_pull(&self, pulls: &[RowPull], priority: i32) -> Result<Vec<Vec<RowSparse>>> {
        self.store.row_sparse_pull(pulls, priority)
    }
    fn set_updater(&self, updater: Box<dyn Updater>) -> Result<()> {
        self.calls.lock().push("updater".into());
        self.store.set_updater(updater)
    }
    fn set_gradient_compression(&self, compression: Compression) -> Result<()> {
        self.calls.lock().push(compression.kind().into());
        self.store.set_gradient_compression(compression)
    }
    fn num_workers(&self) -> usize {
        3
    }
}

/// Makes one training step on two contexts. Returns the calls that the store received, and the factor by which the optimizer
/// multiplies gradients (`rescale_grad`).
fn calls(store_type: &str, on_store: bool) -> Result<(Vec<String>, f64)> {
    let host = (context(), options());
    let mut module = Module::new(&host, &small_net(8, 3))?.contexts([Device::cpu(0), Device::cpu(1)])?;
    let mut data = iter(1, 16, 8, 3);
    module.bind(data.provide_data(), data.provide_label(), BindFor::default())?;
    module.init_params(None, &fit_options(1).init)?;
    let recording = Arc::new(Recording {
        store: host.kvstore("device")?,
        store_type: store_type.parse()?,
        calls: Mutex::default(),
    });
    let store: Arc<dyn KvStore> = Arc::clone(&recording) as _;
    let compression = Some(Compression::new("2bit", 0.5)?);
    let options = StoreOptions { update_on_kvstore: Some(on_store), compression, ..StoreOptions::new(store) };
    module.init_optimizer_with(sgd(0.1, 0.0), &options)?;
    module.forward_backward(batch(&mut data))?;
    module.update()?;
    let rescale = module.optimizer().map(|update| update.optimizer().common().rescale_grad);
    let calls = recording.calls.lock().clone();
    Ok((calls, rescale.unwrap_or_default()))
}

/// As in MXNet's `_update_params_on_kvstore`, parameters are pushed in the order of the arguments, parameter `i` with
/// priority `-i`.
#[test]
fn gradients_are_pushed_in_order_with_falling_priorities() {
    let names = ["fc1_weight", "fc1_bias", "bn1_gamma", "bn1_beta", "fc2_weight", "fc2_bias"];
    let begin = |name: (usize, &&str)| format!("pull `{}` 2 2 {}", name.1, -(name.0 as i32));
    let with = |n_outs: usize| move |(i, name): (usize, &&str)| format!("pushpull `{name}` 2 {n_outs} {}", -(i as i32));
    let pulls: Vec<String> = names.iter().enumerate().map(begin).collect();
    let (on_store, rescale) = calls("device", true).unwrap();
    let steps: Vec<String> = names.iter().enumerate().map(with(2)).collect();
    assert_eq!(on_store, [vec!["2bit".to_owned(), "updater".to_owned()], pulls.clone(), steps].concat());
    assert_eq!(rescale, 1.0 / 8.0);
    let (on_workers, _) = calls("device", false).unwrap();
    let steps: Vec<String> = names.iter().enumerate().map(with(0)).collect();
    assert_eq!(on_workers, [vec!["2bit".to_owned()], pulls, steps].concat());
}

/// A store that sums over workers divides gradients by the batch size of all workers. An asynchronous store applies the
/// gradient of each worker separately, so it divides by the batch size of one worker.
#[test]
fn distributed_stores_divide_by_the_whole_batch() {
    assert_eq!(calls("dist_sync", true).unwrap().1, 1.0 / 24.0);
    assert_eq!(calls("dist_async", true).unwrap().1, 1.0 / 8.0);
    assert_eq!(calls("horovod", false).unwrap().1, 1.0 / 8.0, "MXNet's module leaves this division to the program");
    let error = calls("dist_async", false).unwrap_err().to_string();
    assert!(error.contains("update_on_kvstore") && error.contains("dist_async"), "{error}");
    let error = calls("horovod", true).unwrap_err().to_string();
    assert!(error.contains("false with the store `horovod`"), "{error}");
}
