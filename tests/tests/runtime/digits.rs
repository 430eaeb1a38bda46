//! Tests that checkpoints written by MXNet give the same outputs as in MXNet, batch by batch, through the library.

use mxrs::data::ImageRecordIter;
use mxrs::env::MapSource;
use mxrs::format::{ArrayFile, Options};
use mxrs::{Model, Runtime};
use mxrs_tests::digits;

/// Number of batches that are compared. Debug builds compare only two, because their kernels are slow.
const N_BATCHES: usize = if cfg!(debug_assertions) { 2 } else { usize::MAX };

fn mxnet_answers(model: &str) -> Vec<f32> {
    let file = ArrayFile::open(digits(&format!("{model}-val-prob.npz")), &Options::default()).unwrap().value;
    file.arrays.into_named().unwrap()["prob"].as_slice::<f32>().unwrap().to_vec()
}

fn compare(model: &str, runtime: &Runtime) {
    let predictor = Model::load(runtime, digits(model), 10).unwrap().predictor(7, &[1, 28, 28]).unwrap();
    let records = ImageRecordIter::builder(digits("digits_val.rec"), [1, 28, 28], 7).scale(1.0 / 255.0);
    let mut answers = mxnet_answers(model).into_iter();
    let mut n = 0;
    for batch in records.build().unwrap().take(N_BATCHES) {
        let batch = batch.unwrap();
        let rows = predictor.predict(&batch.data[..batch.n_valid() * 28 * 28]).unwrap();
        assert_eq!(rows.len(), batch.n_valid() * 10);
        for (got, want) in rows.iter().zip(answers.by_ref()) {
            assert!((got - want).abs() <= 1e-5, "{model}: image {}, class {}: {got}, MXNet {want}", n / 10, n % 10);
            n += 1;
        }
    }
    assert!(n == 2970 || (N_BATCHES == 2 && n == 140), "{n}");
}

#[test]
fn with_every_backend_of_this_build() {
    let runtime = Runtime::builder().env(&MapSource::empty()).build().unwrap();
    compare("lenet", &runtime);
    compare("resnet8", &runtime);
}

#[test]
fn with_the_reference_kernels() {
    let runtime = Runtime::builder().env(&MapSource::empty()).only_backend("reference").build().unwrap();
    compare("lenet", &runtime);
}

#[test]
fn a_runtime_without_onednn_says_why() {
    let off = MapSource::new([("MXNET_ONEDNN_ENABLED", "0")]);
    let runtime = Runtime::builder().env(&off).build().unwrap();
    let names: Vec<&str> = runtime.backends().list().iter().map(|backend| backend.name()).collect();
    assert_eq!(names, ["nnpack", "cpu", "reference"]);
    let absent = &runtime.backends().absent[0];
    assert!(absent.name == "onednn" && absent.reason.contains("MXNET_ONEDNN_ENABLED") == cfg!(feature = "onednn"));
}

#[test]
fn shapes_that_do_not_fit_and_data_of_the_wrong_length() {
    let runtime = Runtime::builder().env(&MapSource::empty()).build().unwrap();
    let model = Model::load(&runtime, digits("lenet"), 10).unwrap();
    let error = model.predictor(2, &[3, 28, 28]).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("conv1") && error.contains("binding the network to `data` (2, 3, 28, 28)"), "{error}");
    assert!(model.predictor(0, &[1, 28, 28]).is_err());
    let predictor = model.predictor(2, &[1, 28, 28]).unwrap();
    for len in [1, 28 * 28 - 1, 3 * 28 * 28] {
        let error = predictor.predict(&vec![0.0; len]).unwrap_err().to_string();
        assert!(error.contains("up to 2 items of 784 elements"), "{error}");
    }
    assert_eq!(predictor.predict(&[]).unwrap(), [0.0; 0]);
    let missing = Model::load(&runtime, digits("lenet"), 11).map(|_| ()).unwrap_err().to_string();
    assert!(missing.contains("lenet-0011.params"), "{missing}");
}
