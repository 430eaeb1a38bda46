//! The reference for training over several contexts. It computes the parts of each batch one after another on one device,
//! adds their gradients in the documented order of a store, and applies the optimizer.

use super::CPU;
use mxrs::data::ImageRecordIter;
use mxrs::env::MapSource;
use mxrs::exec::{Executor, GradReq, GradRequests, Imperative};
use mxrs::ndarray::NdArray;
use mxrs::optim::{Parameter, Sgd, Updater};
use mxrs::types::Shape;
use mxrs::{Model, Runtime};

/// Images per batch. It is not divisible by 3 or 4, so the parts differ.
pub const BATCH: usize = 14;

/// The number of images in each part: MXNet's `_split_input_slice`.
pub fn parts(n: usize) -> &'static [usize] {
    match n {
        1 => &[14],
        2 => &[7, 7],
        3 => &[5, 5, 4],
        _ => &[4, 4, 4, 2],
    }
}

/// Images and labels of the first batches of the digits.
pub fn batches(n: usize) -> Vec<(Vec<f32>, Vec<f32>)> {
    let records = ImageRecordIter::builder(mxrs_tests::digits("digits_train.rec"), [1, 28, 28], BATCH);
    let batches = records.scale(1.0 / 255.0).build().unwrap().take(n);
    batches.map(|batch| batch.unwrap()).map(|batch| (batch.data, batch.labels)).collect()
}

/// The optimizer of all runs. Its learning rate is large, so that a wrong gradient shows.
pub fn sgd() -> Sgd {
    Sgd { lr: 0.05, momentum: 0.9, wd: 1e-3, ..Sgd::default() }
}

/// The order in which a store adds the gradients of the parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fold {
    /// The store `local`: the sums of groups of up to four are added to the first gradient, `a0 += ((a1 + a2) + a3) + a4`.
    GroupsOfFour,
    /// The store `device`: from left to right.
    LeftToRight,
    /// The store `device` with a reduction tree, found by backtracking for devices that cannot copy to each other directly.
    /// Four devices are the leaves 0 1 2 3 of the tree, and three are the leaves 0 0 1 2. So the sums are `(a + b) + (c +
    /// d)` and `a + (b + c)`.
    Tree,
    /// The store `device` with gradients that are compressed to two bits per element. The number is the threshold.
    TwoBit(f32),
}

impl Fold {
    /// The sum of one element over the parts. `values` are the gradients, and `residuals` the compression residuals, of this
    /// element in each part.
    fn fold(self, values: &[f32], residuals: &mut [f32]) -> f32 {
        match (self, values) {
            (_, [one]) => *one,
            (Self::GroupsOfFour, [first, others @ ..]) => others.chunks(4).fold(*first, |sum, group| {
                let group = group[1..].iter().fold(group[0], |sum, value| sum + value);
                sum + group
            }),
            (Self::LeftToRight, [first, others @ ..]) => others.iter().fold(*first, |sum, value| sum + value),
            (Self::Tree, [a, b]) => a + b,
            (Self::Tree, [a, b, c]) => a + (b + c),
            (Self::Tree, [a, b, c, d]) => (a + b) + (c + d),
            (Self::TwoBit(threshold), values) => {
                let sent = values.iter().zip(residuals).map(|(value, residual)| {
                    *residual += value;
                    let sent = if *residual >= threshold {
                        threshold
                    } else if *residual <= -threshold {
                        -threshold
                    } else {
                        0.0
                    };
                    *residual -= sent;
                    sent
                });
                sent.collect::<Vec<f32>>().into_iter().reduce(|sum, sent| sum + sent).unwrap()
            }
            (fold, values) => panic!("{fold:?} of {} values", values.len()),
        }
    }
}

/// The bits of all weights, and of the auxiliary states of each part.
pub type Expected = (Vec<(String, Vec<u32>)>, Vec<Vec<(String, Vec<u32>)>>);

/// A part of the batch, with an executor that has its own copy of the parameters.
struct Part {
    executor: Executor,
    begin: usize,
    n: usize,
}

fn bits(array: &NdArray) -> Vec<u32> {
    array.to_vec::<f32>().unwrap().into_iter().map(f32::to_bits).collect()
}

/// The weights after one step for each of these batches, with each batch divided into `n` parts. With `on_store`, the
/// optimizer updates separate copies of the weights, as a store does. This matters for batch normalization with `fix_gamma`:
/// it sets the executor's gamma to 1, but not the copy in the store.
pub fn train(name: &str, n: usize, fold: Fold, on_store: bool, batches: &[(Vec<f32>, Vec<f32>)]) -> Expected {
    let variables = MapSource::new([("MXNET_ENGINE_TYPE", "NaiveEngine"), ("OMP_NUM_THREADS", "1")]);
    let runtime = Runtime::builder().env(&variables).build().unwrap();
    let mut begin = 0;
    let parts = parts(n).iter().map(|&n| {
        let model = Model::load(&runtime, mxrs_tests::digits(name), 10).unwrap();
        let mut options = runtime.bind_options();
        let inputs = GradRequests::all(GradReq::Write).with("data", GradReq::Null);
        options.gradients = Some(inputs.with("softmax_label", GradReq::Null));
        let inputs = [("data", Shape::from([n, 1, 28, 28])), ("softmax_label", Shape::from([n]))];
        let executor = Executor::bind(model.graph(), runtime.arrays(), &inputs, model.params(), &options).unwrap();
        begin += n;
        Part { executor, begin: begin - n, n }
    });
    let parts: Vec<Part> = parts.collect();
    let names: Vec<String> = parts[0].executor.gradients().iter().map(|gradient| gradient.name.clone()).collect();
    let weight = |part: usize, name: &str| parts[part].executor.argument(name).unwrap();
    let stored = |name: &String| {
        let weight = weight(0, name);
        if on_store { weight.copy_to_device(runtime.arrays(), weight.device()).unwrap() } else { weight.clone() }
    };
    let stored: Vec<NdArray> = names.iter().map(stored).collect();
    let nd = Imperative::new(runtime.arrays(), &runtime.bind_options()).unwrap();
    let mut updater = Updater::new(sgd());
    updater.set_rescale_grad(1.0 / BATCH as f64);
    let sizes = names.iter().map(|name| weight(0, name).shape().n_elements());
    let mut residuals: Vec<Vec<Vec<f32>>> = sizes.map(|len| vec![vec![0.0; n]; len]).collect();
    for (images, labels) in batches {
        for part in &parts {
            let pixels = 28 * 28;
            let rows = &images[part.begin * pixels..(part.begin + part.n) * pixels];
            part.executor.argument("data").unwrap().copy_from(rows).unwrap();
            let label = part.executor.argument("softmax_label").unwrap();
            label.copy_from(&labels[part.begin..part.begin + part.n]).unwrap();
            part.executor.forward_train().unwrap();
            part.executor.backward(&[]).unwrap();
        }
        let params: Vec<Parameter> = names
            .iter()
            .zip(&mut residuals)
            .zip(&stored)
            .map(|((name, residuals), weight)| {
                let grads: Vec<Vec<f32>> =
                    parts.iter().map(|part| part.executor.gradient(name).unwrap().to_vec().unwrap()).collect();
                let sums: Vec<f32> = residuals
                    .iter_mut()
                    .enumerate()
                    .map(|(i, residuals)| {
                        let values: Vec<f32> = grads.iter().map(|grad| grad[i]).collect();
                        fold.fold(&values, residuals)
                    })
                    .collect();
                let weight = weight.clone();
                let grad = NdArray::from_slice(runtime.arrays(), weight.shape().clone(), &sums).unwrap();
                Parameter { name: name.clone(), weight, grad }
            })
            .collect();
        updater.update_all(&nd, &params).unwrap();
        for (name, stored) in names.iter().zip(&stored) {
            // If the store does not update, the optimizer updates the weights of part 0 directly, so they need no copy.
            for part in usize::from(!on_store)..n {
                weight(part, name).copy_from_array(stored).unwrap();
            }
        }
    }
    assert!(parts.iter().all(|part| part.executor.outputs()[0].device() == CPU));
    let weights = names.iter().map(|name| (name.clone(), bits(weight(0, name)))).collect();
    let is_aux = |name: &str| name.contains("moving");
    let aux = |part: &Part| {
        let aux = part.executor.arrays().iter().filter(|(name, _)| is_aux(name));
        aux.map(|(name, array)| (name.clone(), bits(array))).collect()
    };
    (weights, parts.iter().map(aux).collect())
}
