//! Training over several contexts resumes with the same bits: parameters and auxiliary states of every context, states of
//! the optimizer, random numbers, and residuals of compression.

mod common;

use common::{StoreHost, context, fit_options, iter, options, small_net};
use mxrs_data::DataIter;
use mxrs_kvstore::Compression;
use mxrs_sync::atomic::{AtomicBool, Ordering};
use mxrs_train::callback::{BatchEnd, Callbacks};
use mxrs_train::metric::create;
use mxrs_train::resume::newest;
use mxrs_train::{CheckpointOptions, FitOptions, Module, Outcome};
use mxrs_types::Device;
use std::path::Path;
use std::sync::Arc;

const EPOCHS: u64 = 2;
const BATCHES: u64 = 4;

/// How a training runs.
#[derive(Clone, Copy, Debug)]
struct Case {
    n: u32,
    store: &'static str,
    on_store: bool,
    optimizer: &'static str,
    compression: Option<Compression>,
}

/// Every parameter and auxiliary state of every context, and the validation metrics.
type Ended = (Vec<Vec<(String, Vec<u8>)>>, Vec<(String, f64)>);

fn train(case: Case, prefix: Option<&Path>, flag: &Arc<AtomicBool>, stop: Option<u64>) -> (Outcome, Ended) {
    let host = StoreHost::new(case.on_store);
    let mut module = Module::new(&host, &small_net(8, 3)).unwrap().contexts((0..case.n).map(Device::cpu)).unwrap();
    let (mut data, mut eval) = (iter(1, 8 * BATCHES as usize - 3, 8, 3), iter(2, 16, 8, 3));
    let mut callbacks = Callbacks::default();
    let (seen, raised) = (std::cell::Cell::new(0), Arc::clone(flag));
    callbacks.batch_end.push(Box::new(move |_: &mut BatchEnd<'_>| {
        seen.set(seen.get() + 1);
        raised.store(Some(seen.get()) == stop, Ordering::Relaxed);
        Ok(())
    }));
    let options = FitOptions {
        kvstore: case.store.into(),
        compression: case.compression,
        optimizer: case.optimizer.into(),
        optimizer_params: vec![("learning_rate".into(), "0.02".into())],
        checkpoint: prefix.map(CheckpointOptions::new),
        resume: true,
        interrupt: Some(Arc::clone(flag)),
        ..fit_options(EPOCHS)
    };
    let eval: Option<&mut dyn DataIter> = Some(&mut eval);
    let mut metric = create("ce", &[]).unwrap();
    let report = module.fit(&mut data, eval, &mut metric, None, &mut callbacks, &options).unwrap();
    assert_eq!(module.updates_on_kvstore(), case.on_store && case.n > 1);
    let arrays = |executor: &&mxrs_exec::Executor| {
        let kept = executor.arrays().iter().filter(|(name, _)| name != "data" && name != "softmax_label");
        kept.map(|(name, array)| (name.clone(), array.read_bytes(<[u8]>::to_vec).unwrap())).collect()
    };
    (report.outcome, (module.executors().unwrap().iter().map(arrays).collect(), report.validation))
}

fn check(case: Case, stops: impl Iterator<Item = u64>) {
    let flag = Arc::new(AtomicBool::new(false));
    let (outcome, want) = train(case, None, &flag, None);
    assert_eq!(outcome, Outcome::Finished);
    let weights = |copy: usize| want.0[copy].iter().filter(|(name, _)| !name.contains("moving")).collect::<Vec<_>>();
    assert!((1..case.n as usize).all(|copy| weights(copy) == weights(0)), "{case:?}: contexts differ");
    for stop in stops {
        let dir = tempfile::tempdir().unwrap();
        let prefix = dir.path().join("net");
        assert_eq!(train(case, Some(&prefix), &flag, Some(stop)).0, Outcome::Interrupted, "{case:?}");
        flag.store(false, Ordering::Relaxed);
        let (outcome, got) = train(case, Some(&prefix), &flag, None);
        assert_eq!(outcome, Outcome::Finished);
        assert!(got.0 == want.0, "{case:?}: interrupted after batch {stop}");
        // An interrupt after the last batch of the last epoch skips validation, and the resumed training has no epoch left
        // to validate.
        assert!(got.1 == want.1 || stop == EPOCHS * BATCHES, "{case:?}: validation after batch {stop}");
    }
}

const CASE: Case = Case { n: 2, store: "local", on_store: true, optimizer: "adam", compression: None };

#[test]
fn wherever_it_is_interrupted() {
    check(CASE, 1..=EPOCHS * BATCHES);
}

/// The mean of three equal numbers may differ from them by rounding, so the checkpoint must also hold the copy of each
/// context.
#[test]
fn on_three_contexts() {
    for on_store in [true, false] {
        check(Case { n: 3, on_store, ..CASE }, [3, 4, 6].into_iter());
    }
}

/// Each device updates its own weights. Nadam is included because it keeps a number that every update changes.
#[test]
fn with_updates_on_workers() {
    for optimizer in ["sgd", "nadam"] {
        check(Case { on_store: false, store: "device", optimizer, ..CASE }, [2, 5].into_iter());
    }
}

#[test]
fn with_compressed_gradients() {
    for (kind, on_store) in [("2bit", true), ("2bit", false), ("1bit", true)] {
        let compression = Some(Compression::new(kind, 0.05).unwrap());
        check(Case { store: "device", compression, optimizer: "sgd", on_store, ..CASE }, [2, 4, 7].into_iter());
    }
}

/// A checkpoint can be resumed with another number of contexts. Every context then starts from the mean parameters and the
/// states of the optimizer.
#[test]
fn on_another_number_of_contexts() {
    let flag = Arc::new(AtomicBool::new(false));
    for (before, after) in [(2, 1), (1, 2), (3, 2)] {
        let dir = tempfile::tempdir().unwrap();
        let prefix = dir.path().join("net");
        train(Case { n: before, ..CASE }, Some(&prefix), &flag, Some(3));
        flag.store(false, Ordering::Relaxed);
        let (state, params) = newest(&prefix).unwrap().unwrap();
        assert_eq!(state.random.len(), before as usize);
        let host = (context(), options());
        let mut module = Module::new(&host, &small_net(8, 3)).unwrap().contexts((0..after).map(Device::cpu)).unwrap();
        let data = iter(1, 16, 8, 3);
        module.bind(data.provide_data(), data.provide_label(), mxrs_train::BindFor::default()).unwrap();
        module.init_optimizer(mxrs_optim::create("adam", &[]).unwrap()).unwrap();
        module.restore(&state, &params).unwrap();
        for executor in module.executors().unwrap() {
            for (name, tensor) in params.arg.iter().chain(&params.aux) {
                let array = executor.argument(name).unwrap();
                assert_eq!(array.read_bytes(<[u8]>::to_vec).unwrap(), tensor.stored_bytes(), "{name}");
            }
        }
        assert_eq!(module.optimizer().unwrap().num_update(), 3);
        let (outcome, _) = train(Case { n: after, ..CASE }, Some(&prefix), &flag, None);
        assert_eq!(outcome, Outcome::Finished);
    }
}
