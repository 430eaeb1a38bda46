//! Callbacks of the training loop: after each batch and after each epoch. They log MXNet's lines as `tracing` events of
//! level info.
//!
//! Read next: `speedometer.rs` for one of the callbacks.

mod checkpoint;
mod log;
mod monitor;
mod progress;
mod speedometer;

pub use checkpoint::{Checkpoints, do_checkpoint, module_checkpoint};
pub use log::{LogTrainMetric, LogValidationMetrics, log_train_metric};
pub use monitor::{Monitor, MonitorOptions, Statistic};
pub use progress::ProgressBar;
pub use speedometer::Speedometer;

use crate::metric::EvalMetric;
use crate::module::Module;
use mxrs_types::Result;
use std::time::Duration;

/// Arguments of a callback after a batch.
pub struct BatchEnd<'a> {
    /// The epoch, from 0.
    pub epoch: u64,
    /// The batch within the epoch, from 0.
    pub nbatch: u64,
    /// How long the loop waited for the data iterator. In training it waits for the next batch while this one is
    /// computed; otherwise it waits for this batch.
    pub waited: Duration,
    /// The loss scale of the next batch of training; `None` if losses are not scaled.
    pub loss_scale: Option<f64>,
    /// The metric, already updated with this batch.
    pub metric: Option<&'a mut dyn EvalMetric>,
}

/// Called after each batch.
pub trait BatchEndCallback: Send {
    /// Called after each batch.
    ///
    /// # Errors
    /// Returns an error to end the training.
    fn batch_end(&mut self, at: &mut BatchEnd<'_>) -> Result<()>;
}

impl<F: FnMut(&mut BatchEnd<'_>) -> Result<()> + Send> BatchEndCallback for F {
    fn batch_end(&mut self, at: &mut BatchEnd<'_>) -> Result<()> {
        self(at)
    }
}

/// Arguments of a callback after an epoch.
pub struct EpochEnd<'a> {
    /// The epoch, from 0.
    pub epoch: u64,
    /// The network with its current parameters.
    pub module: &'a Module,
    /// Training metrics of the epoch.
    pub train: &'a [(String, f64)],
    /// Validation metrics; empty before validation.
    pub validation: &'a [(String, f64)],
}

/// Called after each epoch.
pub trait EpochEndCallback: Send {
    /// Called after an epoch's batches, before validation.
    ///
    /// # Errors
    /// Returns an error to end the training.
    fn epoch_end(&mut self, at: &EpochEnd<'_>) -> Result<()>;

    /// Called after validation, if there is one.
    ///
    /// # Errors
    /// Returns an error to end the training.
    fn validation_end(&mut self, _at: &EpochEnd<'_>) -> Result<()> {
        Ok(())
    }
}

impl<F: FnMut(&EpochEnd<'_>) -> Result<()> + Send> EpochEndCallback for F {
    fn epoch_end(&mut self, at: &EpochEnd<'_>) -> Result<()> {
        self(at)
    }
}

/// The callbacks of [`Module::fit`].
#[derive(Default)]
pub struct Callbacks {
    /// Called after each batch of training.
    pub batch_end: Vec<Box<dyn BatchEndCallback>>,
    /// Called after each epoch.
    pub epoch_end: Vec<Box<dyn EpochEndCallback>>,
    /// Called after each batch of validation.
    pub eval_batch_end: Vec<Box<dyn BatchEndCallback>>,
    /// Prints statistics of tensors.
    pub monitor: Option<Monitor>,
}

/// A number as C's `%.<digits>f` prints it.
pub(crate) fn fixed(value: f64, digits: usize) -> String {
    if value.is_nan() {
        "nan".into()
    } else if value.is_infinite() {
        if value > 0.0 { "inf".into() } else { "-inf".into() }
    } else {
        format!("{value:.digits$}")
    }
}

#[cfg(test)]
mod tests {
    use super::fixed;

    #[test]
    fn numbers_are_printed_as_in_c() {
        assert_eq!(fixed(0.5, 6), "0.500000");
        assert_eq!(fixed(f64::NAN, 6), "nan");
        assert_eq!(fixed(f64::NEG_INFINITY, 2), "-inf");
        assert_eq!(fixed(1910.414, 2), "1910.41");
    }
}
