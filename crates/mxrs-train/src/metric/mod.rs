//! Evaluation metrics: values and printed names are MXNet's.
//!
//! [`EvalMetric::update`] returns at once: what it counts is counted by an engine task that reads labels and predictions in
//! place, after whoever writes them and before whoever overwrites them. [`EvalMetric::get`] waits for the numbers. Rows that
//! only fill a batch up are not counted.
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
//! Read next: `accuracy.rs` for one metric, `deferred.rs` for what they share.

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

/// Which labels and predictions a metric looks at when they come with names; all where nothing is said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Names of predictions.
    pub outputs: Option<Vec<String>>,
    /// Names of labels.
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

/// A quality of predictions, collected over batches. There are two sums: one since [`reset`](Self::reset), which is an
/// epoch in [`Module::fit`](crate::Module::fit), and one since [`reset_local`](Self::reset_local), which is what callbacks
/// print.
pub trait EvalMetric: Send {
    /// The printed name.
    fn name(&self) -> String;

    /// Counts a batch: as many predictions as labels, in order. The last `pad` rows of each are not counted.
    ///
    /// # Errors
    /// Another number of labels than of predictions; what is wrong with their shapes or values may come with the next
    /// [`get`](Self::get) instead.
    fn update(&mut self, labels: &[&NdArray], preds: &[&NdArray], pad: usize) -> Result<()>;

    /// The value of each metric in it since the last reset of any kind; NaN where nothing was counted.
    ///
    /// # Errors
    /// Shapes or labels that do not fit, and whatever kept a prediction from being computed.
    fn get(&mut self) -> Result<Vec<(String, f64)>>;

    /// As [`get`](Self::get), since the last [`reset`](Self::reset).
    ///
    /// # Errors
    /// As [`get`](Self::get).
    fn get_global(&mut self) -> Result<Vec<(String, f64)>>;

    /// Starts from nothing.
    fn reset(&mut self);

    /// Starts what [`get`](Self::get) tells from nothing, and keeps what [`get_global`](Self::get_global) tells.
    fn reset_local(&mut self);

    /// Which labels and predictions it looks at.
    fn wanted(&self) -> Wanted {
        Wanted::default()
    }

    /// As [`update`](Self::update), with those of them that it [wants](Self::wanted).
    ///
    /// # Errors
    /// A name that is not there; and as [`update`](Self::update).
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
