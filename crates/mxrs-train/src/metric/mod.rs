//! Evaluation metrics, with MXNet's values and printed names.
//!
//! [`EvalMetric::update`] does not wait: an engine task reads labels and predictions in place, after the tasks that write
//! them and before the tasks that overwrite them. [`EvalMetric::get`] waits for the values. Rows that are only padding of a
//! batch are not counted.
//!
//! ```
//! use mxrs_ndarray::{ArrayContext, NdArray};
//! use mxrs_train::metric;
//!
//! # use mxrs_engine::{Engine, EngineConfig};
//! # use mxrs_storage::{Storage, StorageConfig};
//! # fn main() -> mxrs_types::Result<()> {
//! # let context = ArrayContext::new(Engine::new(EngineConfig::default())?, Storage::new(StorageConfig::default())?);
//! let predictions = NdArray::from_slice(&context, [3, 2], &[0.3f32, 0.7, 0.0, 1.0, 0.4, 0.6])?;
//! let labels = NdArray::from_slice(&context, [3], &[0.0f32, 1.0, 1.0])?;
//! let mut accuracy = metric::create("acc", &[])?;
//! accuracy.update(&[&labels], &[&predictions], 0)?;
//! assert_eq!(accuracy.get()?, [("accuracy".to_string(), 2.0 / 3.0)]);
//! # Ok(())
//! # }
//! ```
//!
//! Read next: `accuracy.rs` for one metric, `deferred.rs` for the code that all metrics share.

mod accuracy;
mod binary;
mod composite;
mod cross_entropy;
mod custom;
mod deferred;
mod f1;
mod loss;
mod mcc;
mod pcc;
mod pearson;
mod perplexity;
mod registry;
mod regression;
mod top_k;
mod view;

pub use composite::CompositeEvalMetric;
pub use custom::CustomMetric;
pub use registry::{MetricOptions, create, create_all};
pub use view::View;

use mxrs_ndarray::NdArray;
use mxrs_types::{Error, Result};

/// Labels or predictions with their names.
pub type Named<'a> = [(&'a str, &'a NdArray)];

/// The labels and predictions that a metric uses, chosen by name; `None` means all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Names of the predictions that are used.
    pub outputs: Option<Vec<String>>,
    /// Names of the labels that are used.
    pub labels: Option<Vec<String>>,
}

impl Wanted {
    fn pick<'a>(names: Option<&Vec<String>>, from: &Named<'a>, what: &str) -> Result<Vec<&'a NdArray>> {
        let Some(names) = names else { return Ok(from.iter().map(|(_, array)| *array).collect()) };
        let find = |name: &String| {
            from.iter().find(|(known, _)| known == name).map(|(_, array)| *array).ok_or_else(|| {
                let known: Vec<&str> = from.iter().map(|(known, _)| *known).collect();
                Error::invalid(format!("{what} of a metric"), name, format!("one of {}", known.join(", ")))
            })
        };
        names.iter().map(find).collect()
    }
}

/// A measure of the quality of predictions, summed over batches. There are two sums: one since [`reset`](Self::reset), which
/// [`Module::fit`](crate::Module::fit) calls for each epoch, and one since [`reset_local`](Self::reset_local), which
/// callbacks print.
pub trait EvalMetric: Send {
    /// The printed name.
    fn name(&self) -> String;

    /// Counts a batch with one prediction for each label, in the same order. The last `pad` rows of each are not counted.
    ///
    /// # Errors
    /// Returns an error if the number of labels differs from the number of predictions. Errors in their shapes or values may
    /// be returned by the next [`get`](Self::get) instead.
    fn update(&mut self, labels: &[&NdArray], preds: &[&NdArray], pad: usize) -> Result<()>;

    /// Name and value of each contained metric. The value covers the batches since the last [`reset`](Self::reset) or
    /// [`reset_local`](Self::reset_local), whichever was later; NaN if nothing was counted.
    ///
    /// # Errors
    /// Returns an error if the shapes of labels and predictions do not match, if a label is invalid, or if a prediction could
    /// not be computed.
    fn get(&mut self) -> Result<Vec<(String, f64)>>;

    /// Like [`get`](Self::get), but since the last [`reset`](Self::reset).
    ///
    /// # Errors
    /// Fails as [`get`](Self::get) does.
    fn get_global(&mut self) -> Result<Vec<(String, f64)>>;

    /// Resets both sums.
    fn reset(&mut self);

    /// Resets the sum that [`get`](Self::get) returns, and keeps the sum that [`get_global`](Self::get_global) returns.
    fn reset_local(&mut self);

    /// The labels and predictions that the metric uses.
    fn wanted(&self) -> Wanted {
        Wanted::default()
    }

    /// Like [`update`](Self::update), but chooses from named labels and predictions those that the metric
    /// [uses](Self::wanted).
    ///
    /// # Errors
    /// Returns an error if a name does not exist, and in the cases of [`update`](Self::update).
    fn update_named(&mut self, labels: &Named<'_>, preds: &Named<'_>, pad: usize) -> Result<()> {
        let wanted = self.wanted();
        let labels = Wanted::pick(wanted.labels.as_ref(), labels, "label")?;
        let preds = Wanted::pick(wanted.outputs.as_ref(), preds, "output")?;
        self.update(&labels, &preds, pad)
    }
}

impl EvalMetric for Box<dyn EvalMetric> {
    fn name(&self) -> String {
        (**self).name()
    }
    fn update(&mut self, labels: &[&NdArray], preds: &[&NdArray], pad: usize) -> Result<()> {
        (**self).update(labels, preds, pad)
    }
    fn get(&mut self) -> Result<Vec<(String, f64)>> {
        (**self).get()
    }
    fn get_global(&mut self) -> Result<Vec<(String, f64)>> {
        (**self).get_global()
    }
    fn reset(&mut self) {
        (**self).reset();
    }
    fn reset_local(&mut self) {
        (**self).reset_local();
    }
    fn wanted(&self) -> Wanted {
        (**self).wanted()
    }
    fn update_named(&mut self, labels: &Named<'_>, preds: &Named<'_>, pad: usize) -> Result<()> {
        (**self).update_named(labels, preds, pad)
    }
}
