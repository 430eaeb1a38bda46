//! Trains LeNet on handwritten digits call by call: records the computation, computes gradients, and updates the parameters.
//!
//! ```text
//! cargo run --release -p mxrs-example-digits --bin lenet
//! ```

use mxrs::data::{ImageRecordIter, PrefetchingIter};
use mxrs::format::Dense;
use mxrs::layers::{Conv2d, FullyConnected, Pool2d, SoftmaxOutput};
use mxrs::ndarray::NdArray;
use mxrs::prelude::*;
use mxrs::train::metric::EvalMetric;
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

/// Class probabilities of a batch of images. `label` affects only the gradient.
fn lenet(params: &[Array], image: &Array, label: &Array) -> Result<Array> {
    let mut x = image.clone();
    for (layer, num_filter) in [20, 50].into_iter().enumerate() {
        let conv = Conv2d { kernel: [5, 5], num_filter, ..Conv2d::default() };
        x = x.apply(&conv, &[&params[2 * layer], &params[2 * layer + 1]])?;
        x = x.tanh()?.apply(&Pool2d::max([2, 2]), &[])?;
    }
    x = x.apply(&FullyConnected::new(500), &[&params[4], &params[5]])?.tanh()?;
    x = x.apply(&FullyConnected::new(10), &[&params[6], &params[7]])?;
    x.apply(&SoftmaxOutput::default(), &[label])
}

/// Images and labels of the batch as arrays.
fn arrays(nd: &Imperative, batch: &DataBatch) -> Result<[Array; 2]> {
    let array = |t: &Dense| Ok(nd.wrap(&NdArray::from_bytes(nd.context(), t.shape().clone(), t.dtype(), t.bytes())?));
    Ok([array(&batch.data[0])?, array(&batch.labels[0])?])
}

fn main() -> Result<()> {
    let runtime = Runtime::from_env()?;
    let nd = runtime.imperative()?;
    let xavier = Initializer::xavier(2.0);
    let param = |(name, shape): &(&str, &[usize])| {
        let shape: Shape = shape.iter().copied().collect();
        nd.array(shape.clone(), &xavier.values(name, None, &shape, 1)?)
    };
    let params: Vec<Array> = PARAMS.iter().map(param).collect::<Result<_>>()?;
    let named = PARAMS.iter().zip(&params).map(|((name, _), param)| Ok((*name, param.as_nd()?)));
    let named: Vec<(&str, &NdArray)> = named.collect::<Result<_>>()?;
    let sgd = Sgd { lr: 0.05, momentum: 0.9, wd: 1e-4, ..Sgd::default() };
    let mut trainer = Trainer::new(&nd, &named, sgd)?;
    let (mut train, mut val) = (digits("train")?, digits("val")?);
    let mut accuracy = metric::create("accuracy", &[])?;
    for epoch in 0..10 {
        while let Some(batch) = train.next_batch()? {
            let [image, label] = arrays(&nd, &batch)?;
            let probabilities = {
                let _recorded = autograd::record();
                lenet(&params, &image, &label)?
            };
            probabilities.backward()?;
            trainer.step(BATCH)?;
        }
        train.reset()?;
        accuracy.reset();
        while let Some(batch) = val.next_batch()? {
            let [image, label] = arrays(&nd, &batch)?;
            let probabilities = lenet(&params, &image, &label)?;
            accuracy.update(&[label.as_nd()?], &[probabilities.as_nd()?], batch.pad)?;
        }
        val.reset()?;
        println!("epoch {epoch}: accuracy on images it has not seen {:.4}", accuracy.get()?[0].1);
    }
    Ok(())
}
