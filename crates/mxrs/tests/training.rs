//! Training on the digits data set: losses and weights equal MXNet's at every step (recorded by
//! `tests/mxnet/make_training.py`), a network learns from random weights, and a resumed training has the same bits, on all
//! kernels of this build.

use mxrs::data::{DataIter, ImageRecordIter, ImageRecordIterBuilder};
use mxrs::format::{ArrayFile, Options};
use mxrs::models::{Initializer, ModelOptions, model};
use mxrs::ndarray::NdArray;
use mxrs::train::callback::{BatchEnd, Callbacks, Speedometer};
use mxrs::train::metric::{EvalMetric, create, create_all};
use mxrs::train::{BindFor, CheckpointOptions, FitOptions, InitOptions, LossScaler, Module, Outcome};
use mxrs::types::DType;
use mxrs::{Model, Runtime};
use mxrs_sync::atomic::{AtomicBool, Ordering};
use std::path::Path;
use std::sync::Arc;

const MXNET: &str = include_str!("fixtures/training.json");

fn digits(name: &str) -> String {
    format!("{}/../../data/digits/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn records(name: &str) -> ImageRecordIterBuilder {
    ImageRecordIter::builder(digits(name), [1, 28, 28], 32).scale(1.0 / 255.0).preprocess_threads(2)
}

/// MXNet's values for one network: cross-entropy and accuracy of each batch.
fn expected(name: &str) -> Vec<[f64; 2]> {
    let all: serde_json::Value = serde_json::from_str(MXNET).unwrap();
    let rows = all[name].as_array().unwrap().iter();
    rows.map(|row| [0, 1].map(|i| row[i].as_f64().unwrap())).collect()
}

/// The network of this name with its stored weights multiplied by `part`, ready for training with MXNet's settings.
fn module(runtime: &Runtime, name: &str, part: f32, data: &ImageRecordIter) -> Module {
    let model = Model::load(runtime, digits(name), 10).unwrap();
    let mut module = Module::new(runtime, model.graph()).unwrap();
    module.bind(data.provide_data(), data.provide_label(), BindFor::default()).unwrap();
    module.init_params(None, &InitOptions { initializer: Initializer::Zero, ..InitOptions::default() }).unwrap();
    let aux = module.get_params().unwrap().aux;
    for (name, array) in model.params() {
        let factor = if aux.contains_key(name) { 1.0 } else { part };
        let values: Vec<f32> = array.to_vec::<f32>().unwrap().iter().map(|v| v * factor).collect();
        module.executor().unwrap().argument(name).unwrap().copy_from(&values).unwrap();
    }
    let settings = [("learning_rate", "0.02"), ("momentum", "0.9"), ("wd", "1e-4")];
    module.init_optimizer_named("sgd", &settings).unwrap();
    module
}

#[test]
fn twenty_steps_have_the_losses_of_mxnet() {
    let runtime = Runtime::builder().build().unwrap();
    for (name, part) in [("lenet", 0.2f32), ("resnet8", 0.5)] {
        let mut data = records("digits_train.rec").build().unwrap();
        let mut module = module(&runtime, name, part, &data);
        let mut metrics = create_all(&[("ce", &[]), ("acc", &[])]).unwrap();
        for (i, [loss, accuracy]) in expected(name).into_iter().enumerate() {
            let batch = data.next_batch().unwrap().unwrap();
            metrics.reset();
            module.forward_backward(batch).unwrap();
            module.update_metric(&mut metrics, 0).unwrap();
            module.update().unwrap();
            let ours = metrics.get().unwrap();
            let error = (ours[0].1 - loss).abs() / loss;
            assert!(error < 1e-3, "{name}, step {i}: loss {}, MXNet {loss}", ours[0].1);
            assert!((ours[1].1 - accuracy).abs() < 1.5 / 32.0, "{name}, step {i}: {}, MXNet {accuracy}", ours[1].1);
        }
    }
}

/// Training starts from the stored weights. For each array, the distance to MXNet's result is at most 1e-4 of its norm, or
/// 3e-4 for moving averages.
#[test]
fn twenty_steps_lead_to_the_weights_of_mxnet() {
    let runtime = Runtime::builder().build().unwrap();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/training.params");
    let file = ArrayFile::open(path, &Options::default()).unwrap().value.arrays.into_named().unwrap();
    for name in ["lenet", "resnet8"] {
        let mut data = records("digits_train.rec").build().unwrap();
        let mut module = module(&runtime, name, 1.0, &data);
        for _ in 0..20 {
            module.forward_backward(data.next_batch().unwrap().unwrap()).unwrap();
            module.update().unwrap();
        }
        let params = module.get_params().unwrap();
        let mut n_compared = 0;
        for (array, ours) in params.arg.iter().chain(&params.aux) {
            let theirs = file[&format!("{name}/{array}")].as_slice::<f32>().unwrap();
            let ours = ours.as_slice::<f32>().unwrap();
            let step = (ours.len() / 2000).max(1);
            let norm = |values: &mut dyn Iterator<Item = f32>| values.map(|v| f64::from(v).powi(2)).sum::<f64>().sqrt();
            let pairs = theirs.iter().zip(ours.iter().step_by(step));
            let error = norm(&mut pairs.map(|(theirs, ours)| ours - theirs)) / norm(&mut theirs.iter().copied());
            // Moving means of nearly centered values are small compared with the averaged values, so their relative errors are
            // larger.
            let bound = if params.aux.contains_key(array) { 3e-4 } else { 1e-4 };
            assert!(error <= bound, "{name}, {array}: {error:e} away from MXNet's");
            n_compared += 1;
        }
        assert!(n_compared >= 8, "{name}: {n_compared} arrays");
    }
}

fn options(epochs: u64) -> FitOptions {
    let init = InitOptions { initializer: Initializer::xavier(3.0), seed: 3, ..InitOptions::default() };
    let settings = [("learning_rate", "0.05"), ("momentum", "0.9"), ("wd", "1e-4")];
    let optimizer_params = settings.map(|(key, text)| (key.to_string(), text.to_string())).to_vec();
    FitOptions { init, optimizer_params, ..FitOptions::new(epochs) }
}

fn train(network: &str, options: &FitOptions, callbacks: &mut Callbacks) -> (Module, Outcome, f64) {
    train_with(network, options, callbacks, |module| module)
}

fn train_with(
    network: &str,
    options: &FitOptions,
    callbacks: &mut Callbacks,
    change: impl FnOnce(Module) -> Module,
) -> (Module, Outcome, f64) {
    let runtime = Runtime::builder().build().unwrap();
    runtime.arrays().random().seed(1);
    let network = model(network, &ModelOptions { n_classes: 10, ..ModelOptions::default() }).unwrap();
    let graph = network.symbol.graph().unwrap();
    let mut module = change(Module::new(&runtime, &graph).unwrap());
    let mut train = records("digits_train.rec").path_imgidx(digits("digits_train.idx")).shuffle(9).build().unwrap();
    let mut eval = records("digits_val.rec").build().unwrap();
    let mut metric = create("acc", &[]).unwrap();
    let report = module.fit(&mut train, Some(&mut eval), &mut metric, None, callbacks, options).unwrap();
    let accuracy = report.validation.first().map_or(f64::NAN, |(_, value)| *value);
    (module, report.outcome, accuracy)
}

/// The part of all images, those of training included, that a network recognizes.
fn accuracy_of_all(module: &mut Module) -> f64 {
    let n_right = ["digits_train.rec", "digits_val.rec"].map(|name| {
        let mut images = records(name).build().unwrap();
        let mut metric = create("acc", &[]).unwrap();
        let report = module.score(&mut images, &mut metric, None).unwrap();
        report.first().unwrap().1 * if name == "digits_train.rec" { 1500.0 } else { 297.0 }
    });
    (n_right[0] + n_right[1]) / 1797.0
}

#[test]
fn lenet_learns_the_digits() {
    let mut callbacks = Callbacks::default();
    callbacks.batch_end.push(Box::new(Speedometer::new(32)));
    let (_, outcome, accuracy) = train("lenet", &options(3), &mut callbacks);
    assert_eq!(outcome, Outcome::Finished);
    assert!(accuracy > 0.95, "validation accuracy {accuracy}");
    // There are 297 images in 10 batches of 32: padding is not counted in the accuracy.
    assert!((accuracy * 297.0 - (accuracy * 297.0).round()).abs() < 1e-9, "{accuracy}");
}

#[test]
fn lenet_learns_the_digits_in_float16_as_well_as_in_float32() {
    let amp = |module: Module| {
        let scaler = LossScaler::dynamic().starting_at(f64::from(1 << 24)).unwrap();
        module.amp(DType::F16).loss_scaling(scaler).unwrap()
    };
    let (mut full, ..) = train("lenet", &options(6), &mut Callbacks::default());
    let (mut mixed, ..) = train_with("lenet", &options(6), &mut Callbacks::default(), amp);
    // Accuracy is measured over all 1,797 images: with only the 297 test images, one image alone would change it by 0.3 %.
    let [want, got] = [&mut full, &mut mixed].map(accuracy_of_all);
    assert!(want > 0.98 && got >= want - 0.005, "{got} instead of {want}");
    let scaler = mixed.loss_scaler().unwrap();
    // Kernels for float16 overflow at first, because the loss scale begins too high, and these steps are skipped. Without
    // such kernels, gradients stay in float32. Of 47 steps of each epoch, few are skipped.
    assert!(scaler.n_skipped() < 20 && scaler.scale() >= 64.0, "{scaler:?}");
    assert_ne!(bits(&mixed), bits(&full));
    let names = |module: &Module| module.get_params().unwrap().arg.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&mixed), names(&full));
}

fn bits(module: &Module) -> Vec<(String, Vec<f32>)> {
    let values = |(name, array): &(String, NdArray)| (name.clone(), array.to_vec::<f32>().unwrap());
    let arrays = module.executor().unwrap().arrays().iter();
    arrays.filter(|(name, _)| name != "data" && name != "softmax_label").map(values).collect()
}

/// A training that is interrupted in the middle of an epoch and resumed has the same weights as an uninterrupted one, with
/// all kernels of this build, several threads and a shuffled iterator.
#[test]
fn an_interruption_leaves_no_trace() {
    for network in ["mlp", "lenet"] {
        let (unbroken, ..) = train(network, &options(2), &mut Callbacks::default());
        let dir = tempfile::tempdir().unwrap();
        let prefix: &Path = &dir.path().join("net");
        let flag = Arc::new(AtomicBool::new(false));
        let broken = FitOptions {
            checkpoint: Some(CheckpointOptions::new(prefix)),
            resume: true,
            interrupt: Some(flag.clone()),
            ..options(2)
        };
        let mut callbacks = Callbacks::default();
        let (raised, mut left) = (flag.clone(), 60);
        callbacks.batch_end.push(Box::new(move |_: &mut BatchEnd<'_>| {
            left -= 1;
            raised.store(left == 0, Ordering::Relaxed);
            Ok(())
        }));
        let (_, outcome, _) = train(network, &broken, &mut callbacks);
        assert_eq!(outcome, Outcome::Interrupted);
        flag.store(false, Ordering::Relaxed);
        let (resumed, outcome, _) = train(network, &broken, &mut Callbacks::default());
        assert_eq!(outcome, Outcome::Finished);
        for ((name, expected), (_, ours)) in bits(&unbroken).into_iter().zip(bits(&resumed)) {
            let same = expected.iter().zip(&ours).all(|(a, b)| a.to_bits() == b.to_bits());
            assert!(same, "{network}: `{name}` differs");
        }
    }
}
