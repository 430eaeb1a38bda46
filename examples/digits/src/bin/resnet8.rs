//! Trains a residual network of eight layers on handwritten digits with `Module::fit`, as in MXNet.
//!
//! ```text
//! cargo run --release -p mxrs-example-digits --bin resnet8
//! ```

use mxrs::data::{Augment, ImageRecordIter, PrefetchingIter};
use mxrs::models::{Initializer, ModelOptions, model};
use mxrs::optim::Sgd;
use mxrs::train::callback::{Callbacks, Speedometer};
use mxrs::train::{CheckpointOptions, FitOptions, Module, metric};
use mxrs::{Result, Runtime};

const BATCH: usize = 32;
const EPOCHS: u64 = 10;

/// Batches of a record file; pixels are divided by 255.
fn digits(name: &str, shuffle: bool) -> Result<PrefetchingIter> {
    let path = format!("{}/../../data/digits/digits_{name}.rec", env!("CARGO_MANIFEST_DIR"));
    let mut records = ImageRecordIter::builder(path, [1, 28, 28], BATCH).scale(1.0 / 255.0);
    if shuffle {
        records = records.shuffle(1).augment(Augment { pad: 2, rand_crop: true, fill_value: 0, ..Augment::default() });
    }
    records.build_prefetching()
}

fn main() -> Result<()> {
    tracing_subscriber::fmt().with_target(false).init();
    let runtime = Runtime::from_env()?;
    let options =
        ModelOptions { n_classes: 10, image: Some([1, 28, 28]), n_layers: Some(8), ..ModelOptions::default() };
    let network = model("resnet", &options)?.symbol.graph()?;
    let mut module = Module::new(&runtime, &network)?;

    let (mut train, mut val) = (digits("train", true)?, digits("val", false)?);
    let mut accuracy = metric::create("accuracy", &[])?;
    let sgd = Sgd { lr: 0.1, momentum: 0.9, wd: 1e-4, ..Sgd::default() };
    let mut callbacks = Callbacks::default();
    callbacks.batch_end.push(Box::new(Speedometer::every(BATCH, 20, true)));
    let mut fit = FitOptions::new(EPOCHS);
    fit.init.initializer = Initializer::xavier(2.0);
    fit.checkpoint = Some(CheckpointOptions::new(std::env::temp_dir().join("digits-resnet8")));

    let report = module.fit(&mut train, Some(&mut val), &mut accuracy, Some(sgd.into()), &mut callbacks, &fit)?;
    for (name, value) in report.validation {
        println!("{name} on images it has not seen: {value:.4}");
    }
    Ok(())
}
