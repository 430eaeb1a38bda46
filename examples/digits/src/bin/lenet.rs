//! Trains LeNet on handwritten digits call by call: record what is computed, go back along it, take a step.
//!
//! ```text
//! cargo run --release -p mxrs-example-digits --bin lenet
//! ```

use mxrs::data::{DataBatch, DataIter, ImageRecordIter, PrefetchingIter};
use mxrs::exec::{BackwardOptions, Imperative, autograd};
use mxrs::models::Initializer;
use mxrs::ndarray::NdArray;
use mxrs::op::Attrs;
use mxrs::optim::Updater;
use mxrs::train::Trainer;
use mxrs::train::metric::{self, EvalMetric};
use mxrs::types::Shape;
use mxrs::{Result, Runtime};

const BATCH: usize = 32;
const PARAMS: [(&str, &[usize]); 8] = [
    ("conv1_weight", &[20, 1, 5, 5]),
    ("conv1_bias", &[20]),
    ("conv2_weight", &[50, 20, 5, 5]),
    ("conv2_bias", &[50]),
    ("fc1_weight", &[500, 800]),
    ("fc1_bias", &[500]),
    ("fc2_weight", &[10, 500]),
    ("fc2_bias", &[10]),
];

/// Batches of a record file; pixels are divided by 255.
fn digits(name: &str) -> Result<PrefetchingIter> {
    let path = format!("{}/../../data/digits/digits_{name}.rec", env!("CARGO_MANIFEST_DIR"));
    ImageRecordIter::builder(path, [1, 28, 28], BATCH).scale(1.0 / 255.0).shuffle(1).build_prefetching()
}

/// Class probabilities of a batch of images; `label` matters to the gradient alone.
fn lenet(nd: &Imperative, params: &[NdArray], image: &NdArray, label: &NdArray) -> Result<NdArray> {
    let halved = Attrs::from([("pool_type", "max"), ("kernel", "(2, 2)"), ("stride", "(2, 2)")]);
    let mut x = image.clone();
    for (layer, filters) in ["20", "50"].into_iter().enumerate() {
        let attrs = Attrs::from([("kernel", "(5, 5)"), ("num_filter", filters)]);
        x = nd.convolution(&x, &params[2 * layer], Some(&params[2 * layer + 1]), &attrs)?;
        x = nd.pooling(&nd.tanh(&x)?, &halved)?;
    }
    x = nd.tanh(&nd.fully_connected(&x, &params[4], Some(&params[5]), 500)?)?;
    x = nd.fully_connected(&x, &params[6], Some(&params[7]), 10)?;
    Ok(nd.invoke("SoftmaxOutput", &Attrs::new(), &[&x, label])?.remove(0))
}

/// The batch as arrays.
fn arrays(runtime: &Runtime, batch: &DataBatch) -> Result<[NdArray; 2]> {
    let [image, label] = [&batch.data[0], &batch.labels[0]];
    let array =
        |t: &mxrs::format::Dense| NdArray::from_bytes(runtime.arrays(), t.shape().clone(), t.dtype(), t.bytes());
    Ok([array(image)?, array(label)?])
}

fn main() -> Result<()> {
    let runtime = Runtime::from_env()?;
    let nd = runtime.imperative()?;
    let xavier = Initializer::xavier(2.0);
    let param = |(name, shape): &(&str, &[usize])| {
        let shape: Shape = shape.iter().copied().collect();
        NdArray::from_slice(runtime.arrays(), shape.clone(), &xavier.values(name, None, &shape, 1)?)
    };
    let params: Vec<NdArray> = PARAMS.iter().map(param).collect::<Result<_>>()?;
    let named: Vec<(&str, &NdArray)> = PARAMS.iter().map(|(name, _)| *name).zip(&params).collect();
    let sgd = runtime.optimizer("sgd", &[("learning_rate", "0.05"), ("momentum", "0.9"), ("wd", "0.0001")])?;
    let mut trainer = Trainer::new(&nd, &named, Box::new(Updater::new(sgd)))?;
    let (mut train, mut val) = (digits("train")?, digits("val")?);
    let mut accuracy = metric::create("accuracy", &[])?;
    for epoch in 0..10 {
        while let Some(batch) = train.next_batch()? {
            let [image, label] = arrays(&runtime, &batch)?;
            let probabilities = {
                let _recorded = autograd::record();
                lenet(&nd, &params, &image, &label)?
            };
            nd.backward(&[&probabilities], &[], BackwardOptions::default())?;
            trainer.step(BATCH)?;
        }
        train.reset()?;
        accuracy.reset();
        while let Some(batch) = val.next_batch()? {
            let [image, label] = arrays(&runtime, &batch)?;
            accuracy.update(&[&label], &[&lenet(&nd, &params, &image, &label)?], batch.pad)?;
        }
        val.reset()?;
        println!("epoch {epoch}: accuracy on images it has not seen {:.4}", accuracy.get()?[0].1);
    }
    Ok(())
}
