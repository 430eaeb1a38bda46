//! A training with `n` processes gives bit for bit the same weights as a training in one process with `n` devices and the
//! store `device`. In the one process, device `i` gets the examples of worker `i`. The store `device` adds gradients in the
//! order of the devices.

use crate::mxrs::mxrs_in_with;
use ::mxrs::data::{DataBatch, DataIter, MnistIter};
use ::mxrs::format::{Checkpoint, Dense, Options, Tensor};
use ::mxrs::models::{Initializer, ModelOptions, model};
use ::mxrs::optim::Updater;
use ::mxrs::train::{BindFor, Compression, InitOptions, Module, StoreOptions};
use ::mxrs::types::{Device, Shape};
use ::mxrs::{Runtime, env::MapSource};
use mxrs_testkit::skipped;
use std::path::Path;

/// Examples in a batch of one worker.
const BATCH: usize = 10;
const EPOCHS: u64 = 2;
/// Number of training images; a multiple of the examples in a step of 2, 3 or 4 workers.
const IMAGES: usize = 240;
const PATH: (&str, &str) = ("PATH", "/usr/local/bin:/usr/bin:/bin");

/// Writes MNIST's four files into `<folder>/data`: patterns of ten classes, with noise.
pub fn write_images(folder: &Path, n_images: usize) {
    let folder = folder.join("data");
    std::fs::create_dir(&folder).unwrap();
    for (name, n) in [("train", n_images), ("t10k", 40)] {
        let noise = |i: usize| (i as u32).wrapping_mul(2_654_435_761) >> 25;
        let mut images: Vec<u8> = [2051, n as u32, 28, 28].iter().flat_map(|word| word.to_be_bytes()).collect();
        for i in 0..n {
            let class = i % 10;
            images.extend((0..784).map(|p| if p / 80 == class { 200 } else { 0 } + noise(i * 784 + p) as u8 / 4));
        }
        let mut labels: Vec<u8> = [2049, n as u32].iter().flat_map(|word| word.to_be_bytes()).collect();
        labels.extend((0..n).map(|i| (i % 10) as u8));
        std::fs::write(folder.join(format!("{name}-images-idx3-ubyte")), images).unwrap();
        std::fs::write(folder.join(format!("{name}-labels-idx1-ubyte")), labels).unwrap();
    }
}

/// One tensor with the rows of several tensors, one after the other.
fn joined(parts: &[Dense]) -> Dense {
    let values: Vec<f32> = parts.iter().flat_map(|part| part.to_f32_vec()).collect();
    let mut shape: Vec<usize> = parts[0].shape().to_vec();
    shape[0] *= parts.len();
    Tensor::from_slice(Shape::from(&shape[..]), &values).unwrap().into_dense().unwrap()
}

/// The weights after the training in one process with `n` devices.
fn one_process(folder: &Path, n: usize, compression: Option<Compression>) -> Vec<(String, Vec<u8>)> {
    let runtime = Runtime::builder().env(&MapSource::new([("OMP_NUM_THREADS", "1")])).build().unwrap();
    let path = |name: &str| folder.join("data").join(name).display().to_string();
    let (images, labels) = (path("train-images-idx3-ubyte"), path("train-labels-idx1-ubyte"));
    let size = BATCH.to_string();
    let parameters = [("image", &*images), ("label", &labels), ("batch_size", &size), ("seed", "0"), ("flat", "1")];
    let part = |part_index| {
        let settings = MnistIter::from_params(&parameters).unwrap();
        MnistIter { shuffle: true, white: 255, part_index, num_parts: n, ..settings }.build().unwrap()
    };
    let mut parts: Vec<_> = (0..n).map(part).collect();
    let options = ModelOptions { n_classes: 10, image: Some([1, 28, 28]), ..ModelOptions::default() };
    let graph = model("mlp", &options).unwrap().symbol.graph().unwrap();
    let mut module = Module::new(&runtime, &graph).unwrap().contexts((0..n as u32).map(Device::cpu)).unwrap();
    let whole = |descs: &[::mxrs::data::DataDesc]| {
        let mut descs = descs.to_vec();
        descs.iter_mut().for_each(|desc| desc.shape.dims_mut()[0] *= n);
        descs
    };
    let data = whole(parts[0].provide_data());
    let label = whole(parts[0].provide_label());
    module.bind(&data, &label, BindFor::default()).unwrap();
    // The initializer and the optimizer of MXNet's `train_mnist.py`.
    let (rnd_type, factor_type) = (::mxrs::models::RandomKind::Gaussian, ::mxrs::models::FactorKind::In);
    let initializer = Initializer::Xavier { rnd_type, factor_type, magnitude: 2.0 };
    module.init_params(None, &InitOptions { initializer, ..InitOptions::default() }).unwrap();
    let settings = [("learning_rate", "0.05"), ("wd", "0.0001"), ("multi_precision", "True"), ("momentum", "0.9")];
    let sgd = runtime.optimizer("sgd", &settings).unwrap();
    let store = StoreOptions { compression, ..StoreOptions::new("device") };
    module.init_optimizer_with(Updater::new(sgd), &store).unwrap();
    for _ in 0..EPOCHS {
        while let Some(first) = parts[0].next_batch().unwrap() {
            let others = parts[1..].iter_mut().map(|part| part.next_batch().unwrap().expect("as many batches"));
            let all: Vec<DataBatch> = std::iter::once(first).chain(others).collect();
            let data = joined(&all.iter().map(|batch| batch.data[0].clone()).collect::<Vec<_>>());
            let labels = joined(&all.iter().map(|batch| batch.labels[0].clone()).collect::<Vec<_>>());
            let index = all.iter().flat_map(|batch| batch.index.clone()).collect();
            module.forward_backward(DataBatch { data: vec![data], labels: vec![labels], index, pad: 0 }).unwrap();
            module.update().unwrap();
        }
        parts.iter_mut().for_each(|part| part.reset().unwrap());
    }
    let executor = module.executor().unwrap();
    let names = module.get_params().unwrap().arg.into_keys();
    names.map(|name| (name.clone(), executor.argument(&name).unwrap().read_bytes(<[u8]>::to_vec).unwrap())).collect()
}

/// The weights after a training that `mxrs launch` starts; `None` if the launcher is not installed.
fn launched(folder: &Path, n: usize, launch: &[&str], train: &[&str]) -> Option<Vec<(String, Vec<u8>)>> {
    let (workers, own, size, epochs) =
        (n.to_string(), env!("CARGO_BIN_EXE_mxrs"), BATCH.to_string(), EPOCHS.to_string());
    let start = [&["launch", "-n", &workers], launch, &["--", own, "train", "mnist"]].concat();
    let flags = ["--batch-size", &size, "--num-epochs", &epochs, "--threads", "1", "--model-prefix", "net"];
    let ran = mxrs_in_with(folder, &[PATH], [&start[..], &flags, train].concat());
    if ran.code == Some(2) && ran.err.contains("no mpirun") {
        skipped("a training whose workers MPI connects", &ran.err);
        return None;
    }
    ran.ok();
    let file = Checkpoint::open(folder.join(format!("net-{EPOCHS:04}.params")), &Options::default()).unwrap().value;
    Some(file.arg.into_iter().map(|(name, tensor)| (name, tensor.stored_bytes().to_vec())).collect())
}

fn check(n: usize, launch: &[&str], train: &[&str], compression: Option<Compression>) {
    let dir = tempfile::tempdir().unwrap();
    write_images(dir.path(), IMAGES);
    let Some(got) = launched(dir.path(), n, launch, train) else { return };
    let expected = one_process(dir.path(), n, compression);
    assert!(got.len() > 4, "{} arrays", got.len());
    for ((name, got), (other, expected)) in got.iter().zip(&expected) {
        assert!(
            name == other && got == expected,
            "{n} workers, {launch:?} {train:?}: `{name}` differs from one process"
        );
    }
}

#[test]
fn of_two_three_and_four_workers() {
    for n in [2, 3, 4] {
        check(n, &[], &["--kv-store", "dist_sync"], None);
    }
}

#[test]
fn of_all_stores() {
    check(2, &[], &["--kv-store", "dist_device_sync"], None);
    check(3, &[], &["--kv-store", "p3"], None);
    check(3, &[], &["--kv-store", "horovod"], None);
    check(2, &["--p3"], &["--kv-store", "dist_sync"], None);
    check(2, &["--env-worker", "MXNET_KVSTORE_BIGARRAY_BOUND:100"], &["--kv-store", "dist_sync"], None);
    check(2, &["--env-worker", "MXNET_UPDATE_ON_KVSTORE:0"], &["--kv-store", "dist_sync"], None);
}

#[test]
fn with_compression() {
    let train = ["--kv-store", "dist_sync", "--gc-type", "2bit", "--gc-threshold", "0.1"];
    check(3, &[], &train, Some(Compression::TwoBit { threshold: 0.1 }));
}

/// Each worker of MPI is a process of `mpirun`. Without MPI, the test says that it is skipped.
#[test]
fn of_workers_that_mpi_connects() {
    for n in [2, 3] {
        check(n, &["--launcher", "mpi"], &["--kv-store", "dist_sync"], None);
    }
}
