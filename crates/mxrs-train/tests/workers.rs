//! Training by several workers, which are threads of this process. The tests compare it with one process that has as many
//! devices as there are workers. Each worker gets the examples that this process gives to the device with the same number.
//! The weights must have the same bits, because the store `device` also adds gradients from left to right.

mod common;

use common::{Net, array, context, fit_options, numbers, options};
use half::f16;
use mxrs_data::{DataIter, NdArrayIter};
use mxrs_exec::{BackwardOptions, BindOptions, GradReq, Imperative, autograd};
use mxrs_format::{Dense, Tensor};
use mxrs_graph::{Graph, Symbol};
use mxrs_kvstore::dist::{DistSync, Group, GroupOptions, local_workers};
use mxrs_kvstore::{Compression, KvStore, KvStoreOptions};
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_op::Attrs;
use mxrs_optim::Sgd;
use mxrs_train::callback::Callbacks;
use mxrs_train::metric::create;
use mxrs_train::{CheckpointOptions, FitOptions, KvStoreChoice, Module, StoreOptions, Trainer};
use mxrs_types::{Device, Result};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Examples in a batch of one worker.
const ROWS: usize = 4;
/// Batches of an epoch.
const BATCHES: usize = 3;
const CLASSES: usize = 3;

/// A perceptron with batch normalization. It has no dropout, because random numbers differ between devices.
fn net() -> Graph {
    let mut net = Net::default();
    let data = Symbol::variable("data");
    let x = net.call("FullyConnected", "fc1", &[("num_hidden", "8")], &[&data]);
    let x = net.call("BatchNorm", "bn1", &[("fix_gamma", "False")], &[&x]);
    let x = net.call("Activation", "relu1", &[("act_type", "relu")], &[&x]);
    let x = net.call("FullyConnected", "fc2", &[("num_hidden", "3")], &[&x]);
    net.call("SoftmaxOutput", "softmax", &[], &[&x]).graph().unwrap()
}

/// The examples of the workers `ranks`, out of `n_workers`. Each batch has `ROWS` examples of the first worker in `ranks`,
/// then `ROWS` examples of the second, and so on.
fn data(ranks: std::ops::Range<usize>, n_workers: usize) -> NdArrayIter {
    let n = ROWS * n_workers * BATCHES;
    let (rows, labels) = common::examples(3, n, CLASSES);
    let (rows, labels): (&[f32], &[f32]) = (rows.as_slice().unwrap(), labels.as_slice().unwrap());
    let is_taken = |i: usize| ranks.contains(&(i / ROWS % n_workers));
    let taken: Vec<usize> = (0..n).filter(|i| is_taken(*i)).collect();
    let rows: Vec<f32> = taken.iter().flat_map(|i| rows[i * 6..i * 6 + 6].to_vec()).collect();
    let labels: Vec<f32> = taken.iter().map(|i| labels[*i]).collect();
    let dense =
        |shape: &[usize], values: &[f32]| -> Dense { Tensor::from_slice(shape, values).unwrap().into_dense().unwrap() };
    let builder = NdArrayIter::builder(ROWS * ranks.len());
    let builder = builder.data("data", dense(&[taken.len(), 6], &rows));
    builder.label("softmax_label", dense(&[taken.len()], &labels)).build().unwrap()
}

/// How a training runs.
#[derive(Clone, Debug)]
struct Case {
    n: usize,
    optimizer: &'static str,
    store: &'static str,
    on_store: bool,
    compression: Option<Compression>,
    /// A key with at least this many elements is divided among the workers.
    bound: u64,
    n_epochs: u64,
    prefix: Option<PathBuf>,
    clip: Option<f64>,
}

const CASE: Case = Case {
    n: 2,
    optimizer: "sgd",
    store: "dist_sync",
    on_store: true,
    compression: None,
    bound: 1_000_000,
    n_epochs: 2,
    prefix: None,
    clip: None,
};

type Bits = Vec<(String, Vec<u8>)>;

/// The parameters and auxiliary states of the first device. The means over several devices, which `get_params` returns, may
/// differ from equal copies by rounding.
fn first_copy(module: &Module) -> Result<Bits> {
    let params = module.get_params()?;
    let names = params.arg.keys().chain(params.aux.keys());
    let read = |name: &String| Ok((name.clone(), module.executor()?.argument(name)?.read_bytes(<[u8]>::to_vec)?));
    names.map(read).collect()
}

fn fit(module: &mut Module, train: &mut NdArrayIter, store: KvStoreChoice, case: &Case) -> Result<Bits> {
    let mut settings = vec![("learning_rate".to_owned(), "0.05".to_owned())];
    if case.optimizer == "sgd" {
        settings.push(("momentum".into(), "0.9".into()));
    }
    let options = FitOptions {
        kvstore: store,
        compression: case.compression,
        optimizer: case.optimizer.into(),
        optimizer_params: settings,
        checkpoint: case.prefix.as_ref().map(CheckpointOptions::new),
        resume: case.prefix.is_some(),
        clip_global_norm: case.clip,
        ..fit_options(case.n_epochs)
    };
    let mut metric = create("acc", &[]).unwrap();
    module.fit(train as &mut dyn DataIter, None, &mut metric, None, &mut Callbacks::default(), &options)?;
    first_copy(module)
}

/// Trains in one process with `n` devices.
fn one_process(case: &Case) -> Bits {
    let host = common::StoreHost { update_on_kvstore: case.on_store, ..common::StoreHost::new(true) };
    let mut module = Module::new(&host, &net()).unwrap().contexts((0..case.n as u32).map(Device::cpu)).unwrap();
    let mut train = data(0..case.n, case.n);
    fit(&mut module, &mut train, "device".into(), case).unwrap()
}

/// Runs `body` on `n` threads, one for each worker.
fn on_workers<R: Send>(n: usize, body: impl Fn(Arc<Group>) -> R + Sync) -> Vec<R> {
    std::thread::scope(|scope| {
        let start = |connect| {
            let body = &body;
            scope.spawn(move || body(Group::start(connect, GroupOptions::default()).unwrap()))
        };
        let threads: Vec<_> = local_workers(n).into_iter().map(start).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Trains with `n` workers that have one device each.
fn workers(case: &Case) -> Vec<Result<Bits>> {
    on_workers(case.n, |group| {
        let host = common::StoreHost { update_on_kvstore: case.on_store, ..common::StoreHost::new(true) };
        let mut module = Module::new(&host, &net()).unwrap();
        let options = KvStoreOptions { big_array_elements: case.bound, slice_elements: 7, ..KvStoreOptions::default() };
        let store = DistSync::new(case.store.parse().unwrap(), &host.context, &options, &group).unwrap();
        let store: Arc<dyn KvStore> = Arc::new(store);
        let mut train = data(group.rank()..group.rank() + 1, case.n);
        fit(&mut module, &mut train, store.into(), case)
    })
}

#[track_caller]
fn check(case: &Case) {
    let expected = one_process(case);
    for (rank, got) in workers(case).into_iter().enumerate() {
        let got = got.unwrap();
        let differs = got.iter().zip(&expected).find(|(got, expected)| got != expected).map(|(got, _)| &got.0);
        assert_eq!(differs, None, "{case:?}, worker {rank}");
        assert_eq!(got.len(), expected.len());
    }
}

#[test]
fn weights_and_statistics_are_those_of_one_process() {
    for n in 1..=4 {
        for on_store in [true, false] {
            for bound in [1_000_000, 5] {
                check(&Case { n, on_store, bound, ..CASE.clone() });
            }
        }
    }
}

#[test]
fn with_other_stores_and_optimizers() {
    for store in ["dist", "dist_sync_device", "dist_device_sync"] {
        check(&Case { store, ..CASE.clone() });
    }
    check(&Case { store: "p3", on_store: false, n: 3, ..CASE.clone() });
    for optimizer in ["adam", "lamb", "nadam"] {
        // The states of Adam are divided among the workers. LAMB updates whole weights only. Nadam counts its calls, so each
        // worker updates its own weights instead of the store.
        let on_store = optimizer != "nadam";
        check(&Case { optimizer, on_store, bound: 5, n: 3, ..CASE.clone() });
    }
}

#[test]
fn with_compressed_gradients() {
    for (kind, on_store) in [("2bit", true), ("2bit", false), ("1bit", true)] {
        let compression = Some(Compression::new(kind, 0.05).unwrap());
        check(&Case { compression, on_store, n: 3, bound: 40, ..CASE.clone() });
    }
}

/// The norm of one process is computed from sums in double precision, and that of the workers from sums in float32. So the
/// weights may differ by rounding.
#[test]
fn gradients_are_clipped_by_the_norm_of_all_workers() {
    let floats = |bits: &Bits| -> Vec<f32> {
        let bytes = bits.iter().flat_map(|(_, bytes)| bytes.chunks_exact(4));
        bytes.map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect()
    };
    for store in ["dist_sync", "p3"] {
        let case = Case { n: 3, store, on_store: false, clip: Some(0.05), ..CASE.clone() };
        let all: Vec<Bits> = workers(&case).into_iter().map(Result::unwrap).collect();
        assert!(all.iter().all(|bits| *bits == all[0]), "{store}: workers compute the same norm");
        let (got, expected) = (floats(&all[0]), floats(&one_process(&case)));
        let free = floats(&one_process(&Case { clip: None, ..case.clone() }));
        let worst = |other: &[f32]| got.iter().zip(other).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(worst(&expected) < 1e-5 && worst(&free) > 1e-3, "{store}: {} {}", worst(&expected), worst(&free));
    }
    let errors = workers(&Case { clip: Some(0.05), ..CASE.clone() });
    for error in errors.into_iter().map(Result::unwrap_err) {
        assert!(error.to_string().contains("update_on_kvstore"), "{error}");
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// Each worker has the optimizer states of only those elements that it updates. A checkpoint must hold the states of all
/// elements.
#[test]
fn checkpoints_resume_with_another_number_of_workers() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (dir.path().join("a"), dir.path().join("b"));
    std::fs::create_dir(&a).unwrap();
    for optimizer in ["sgd", "adam"] {
        let two = Case { optimizer, bound: 5, n_epochs: 1, prefix: Some(a.join(optimizer)), ..CASE.clone() };
        for result in workers(&two) {
            result.unwrap();
        }
    }
    copy(&a, &b);
    for optimizer in ["sgd", "adam"] {
        let three = Case { n: 3, optimizer, bound: 5, prefix: Some(a.join(optimizer)), ..CASE.clone() };
        let expected = one_process(&Case { prefix: Some(b.join(optimizer)), ..three.clone() });
        for result in workers(&three) {
            assert!(result.unwrap() == expected, "{optimizer}");
        }
    }
}

#[test]
fn epochs_of_different_lengths_are_refused() {
    let errors = on_workers(2, |group| {
        let host = (context(), options());
        let mut module = Module::new(&host, &net()).unwrap();
        let store = DistSync::new("dist_sync".parse().unwrap(), &host.0, &KvStoreOptions::default(), &group).unwrap();
        let store: Arc<dyn KvStore> = Arc::new(store);
        // Worker 0 has 3 batches. Below, worker 1 gets 9 batches.
        let (rank, mut train) = (group.rank(), data(0..1, 2 + group.rank()));
        if rank == 1 {
            let (rows, labels) = common::examples(3, ROWS * 9, CLASSES);
            let builder = NdArrayIter::builder(ROWS).data("data", rows).label("softmax_label", labels);
            train = builder.build().unwrap();
        }
        fit(&mut module, &mut train, store.into(), &CASE).unwrap_err().to_string()
    });
    assert!(errors.iter().all(|error| error.contains("worker 1") && error.contains("9 batches")), "{errors:?}");
}

/// Number of elements of the parameter in the tests of a [`Trainer`].
const N: usize = 50;
/// Examples in a step of all workers, for the tests of a [`Trainer`].
const EXAMPLES: usize = 12;

type HostOf = (ArrayContext, BindOptions);

/// A store of this worker that divides the parameter among all workers.
fn store_of(name: &str, host: &HostOf, group: &Arc<Group>) -> Arc<dyn KvStore> {
    let options = KvStoreOptions { big_array_elements: 5, slice_elements: 7, ..KvStoreOptions::default() };
    Arc::new(DistSync::new(name.parse().unwrap(), &host.0, &options, group).unwrap())
}

/// These gradients, added one after another.
fn added(gradients: impl Iterator<Item = Vec<f32>>) -> Vec<f32> {
    let add = |mut sum: Vec<f32>, next: Vec<f32>| {
        sum.iter_mut().zip(next).for_each(|(sum, next)| *sum += next);
        sum
    };
    gradients.reduce(add).expect("at least one gradient")
}

/// "gradient accumulation without synchronisation (MXNet's `grad_req="add"` and `update_on_kvstore=False`)": each worker adds the
/// gradients of its micro-batches, and one push for each step gives the bits of one process that adds the same micro-batches
/// in the order of ranks.
#[test]
fn accumulated_gradients_are_exchanged_once_for_each_step() {
    const MICRO_BATCHES: u64 = 3;
    const STEPS: u64 = 3;
    let n_workers = 3;
    let factors = |rank: usize, step: u64, i: u64| numbers(1 + rank as u64 * 1000 + step * 10 + i, N);
    let of_worker = |rank: usize, step: u64| added((0..MICRO_BATCHES).map(|i| factors(rank, step, i)));
    let sgd = Sgd { lr: 0.1, momentum: 0.9, ..Sgd::default() };
    let expected = {
        let host = (context(), options());
        let (nd, weight) = (Imperative::new(&host.0, &host.1).unwrap(), array(&host.0, [N], &numbers(99, N)));
        let mut trainer = Trainer::new(&nd, &[("w", &weight)], sgd.clone()).unwrap();
        for step in 0..STEPS {
            let sum = added((0..n_workers).map(|rank| of_worker(rank, step)));
            autograd::grad_of(&weight).unwrap().copy_from(&sum).unwrap();
            trainer.step(EXAMPLES).unwrap();
        }
        weight.to_vec::<f32>().unwrap()
    };
    for (name, on_store) in [("dist_sync", false), ("dist_sync", true), ("p3", false), ("horovod", false)] {
        // The number of steps for which workers 0 and 1 have all their gradients.
        let n_ready = AtomicU64::new(0);
        let results = on_workers(n_workers, |group| {
            let (rank, host) = (group.rank(), (context(), options()));
            let (nd, weight) = (Imperative::new(&host.0, &host.1).unwrap(), array(&host.0, [N], &numbers(99, N)));
            nd.attach_grad(&weight, GradReq::Add).unwrap();
            let gradient = autograd::grad_of(&weight).unwrap();
            let store = StoreOptions::new(store_of(name, &host, &group));
            let store = StoreOptions { update_on_kvstore: Some(on_store), ..store };
            let mut trainer = Trainer::on_devices(&nd, &host, &[("w", &[&weight][..])], sgd.clone(), &store).unwrap();
            for step in 0..STEPS {
                // Worker 2 has no gradient yet when the others have theirs, so nothing was exchanged for them.
                let since = Instant::now();
                while rank == 2 && n_ready.load(Ordering::SeqCst) < 2 * (step + 1) {
                    assert!(since.elapsed() < Duration::from_secs(100), "{name}: a gradient waits for other workers");
                    std::thread::sleep(Duration::from_millis(2));
                }
                gradient.copy_from(&[0.0f32; N]).unwrap();
                for i in 0..MICRO_BATCHES {
                    let factors = array(&host.0, [N], &factors(rank, step, i));
                    let product = {
                        let _record = autograd::record();
                        nd.invoke("elemwise_mul", &Attrs::default(), &[&weight, &factors]).unwrap().remove(0)
                    };
                    nd.backward(&[&product], &[], BackwardOptions::default()).unwrap();
                }
                assert_eq!(gradient.to_vec::<f32>().unwrap(), of_worker(rank, step), "{name}, worker {rank}");
                if rank != 2 {
                    n_ready.fetch_add(1, Ordering::SeqCst);
                }
                trainer.step(EXAMPLES).unwrap();
            }
            weight.to_vec::<f32>().unwrap()
        });
        for (rank, got) in results.iter().enumerate() {
            let is_equal = got.iter().zip(&expected).all(|(got, expected)| got.to_bits() == expected.to_bits());
            assert!(is_equal, "{name}, on the store: {on_store}, worker {rank}");
        }
    }
}

/// Trains a parameter in float16 by steps that are smaller than the distance between two such numbers. The gradients of these
/// workers are on devices of this process, one for each.
fn train_in_half(ranks: Range<usize>, host: &HostOf, store: &StoreOptions, multi_precision: bool) -> Vec<f32> {
    let nd = Imperative::new(&host.0, &host.1).unwrap();
    let first: Vec<f16> = (0..N).map(first_in_half).collect();
    let weight = |id: usize| NdArray::from_slice_on(&host.0, [N], &first, Device::cpu(id as u32)).unwrap();
    let weights: Vec<NdArray> = (0..ranks.len()).map(weight).collect();
    let copies: Vec<&NdArray> = weights.iter().collect();
    let sgd = Sgd { lr: 4e-4, multi_precision, ..Sgd::default() };
    let mut trainer = Trainer::on_devices(&nd, host, &[("w", &copies[..])], sgd, store).unwrap();
    for _ in 0..30 {
        for (rank, weight) in ranks.clone().zip(&weights) {
            let gradient: Vec<f16> = (0..N).map(|i| f16::from_f32(0.25 + ((7 * rank + i) % 5) as f32 / 16.0)).collect();
            autograd::grad_of(weight).unwrap().copy_from(&gradient).unwrap();
        }
        trainer.step(3).unwrap();
    }
    weights[0].to_vec::<f16>().unwrap().into_iter().map(f16::to_f32).collect()
}

/// The weight before the first step.
fn first_in_half(i: usize) -> f16 {
    f16::from_f32(0.625 + i as f32 / 256.0)
}

/// "Multi-precision: fp32 master copy, gradients cast to fp32 before summing, cast back for pulls." Here the owners of elements
/// have the master copy, and gradients are cast after the sum: it is the sum in float16 of the store `device`.
#[test]
fn owners_keep_a_master_copy_of_weights_in_float16() {
    let n_workers = 3;
    for on_store in [true, false] {
        for multi_precision in [true, false] {
            let of = |store: StoreOptions| StoreOptions { update_on_kvstore: Some(on_store), ..store };
            let host = (context(), options());
            let expected = train_in_half(0..n_workers, &host, &of(StoreOptions::new("device")), multi_precision);
            let results = on_workers(n_workers, |group| {
                let (rank, host) = (group.rank(), (context(), options()));
                let store = of(StoreOptions::new(store_of("dist_sync", &host, &group)));
                train_in_half(rank..rank + 1, &host, &store, multi_precision)
            });
            for (rank, got) in results.iter().enumerate() {
                assert_eq!(got, &expected, "worker {rank}, on the store: {on_store}");
            }
            // The mean gradient is 1/3 to 5/12, so 30 steps are 0.004 to 0.005. One step is less than half the distance between
            // two numbers, 1/2048, so it is lost without a master copy.
            let moved: Vec<f32> = (0..N).map(|i| first_in_half(i).to_f32() - expected[i]).collect();
            let range =
                if multi_precision { 0.004 - 1.0 / 2048.0..0.005 + 1.0 / 2048.0 } else { 0.0..f32::MIN_POSITIVE };
            assert!(moved.iter().all(|moved| range.contains(moved)), "{multi_precision}: {moved:?}");
        }
    }
}
