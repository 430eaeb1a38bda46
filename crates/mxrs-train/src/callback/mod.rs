//! What is called while training: after each batch, after each epoch. Log lines are MXNet's, and go through `tracing` as
//! information.
//!
//! Read next: `speedometer.rs` for one of them.

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

/// What is known when a batch is done.
pub struct BatchEnd<'a> {
    /// The epoch, from 0.
    pub epoch: u64,
    /// The batch in it, from 0.
    pub nbatch: u64,
    /// How long the loop waited for the iterator: in training for the batch after this one, else for this one.
    pub waited: Duration,
    /// The metric being collected.
    pub metric: Option<&'a mut dyn EvalMetric>,
}

/// Called after each batch.
pub trait BatchEndCallback: Send {
    /// Called after each batch.
    ///
    /// # Errors
    /// Whatever should end the training.
    fn batch_end(&mut self, at: &mut BatchEnd<'_>) -> Result<()>;
}

impl<F: FnMut(&mut BatchEnd<'_>) -> Result<()> + Send> BatchEndCallback for F {
    fn batch_end(&mut self, at: &mut BatchEnd<'_>) -> Result<()> {
        self(at)
    }
}

/// What is known when an epoch is done.
pub struct EpochEnd<'a> {
    /// The epoch, from 0.
    pub epoch: u64,
    /// The network as it is now.
    pub module: &'a Module,
    /// Metrics of the epoch.
    pub train: &'a [(String, f64)],
    /// Those of the validation, once it ran.
    pub validation: &'a [(String, f64)],
}

/// Called after each epoch.
pub trait EpochEndCallback: Send {
    /// Called after an epoch's batches, before validation.
    ///
    /// # Errors
    /// Whatever should end the training.
    fn epoch_end(&mut self, at: &EpochEnd<'_>) -> Result<()>;

    /// Called after validation, where there is one.
    ///
    /// # Errors
    /// Whatever should end the training.
    fn validation_end(&mut self, _at: &EpochEnd<'_>) -> Result<()> {
        Ok(())
    }
}

impl<F: FnMut(&EpochEnd<'_>) -> Result<()> + Send> EpochEndCallback for F {
    fn epoch_end(&mut self, at: &EpochEnd<'_>) -> Result<()> {
        self(at)
    }
}

/// Everything that is called while [`Module::fit`] runs.
#[derive(Default)]
pub struct Callbacks {
    /// After each batch of training.
    pub batch_end: Vec<Box<dyn BatchEndCallback>>,
    /// After each epoch.
    pub epoch_end: Vec<Box<dyn EpochEndCallback>>,
    /// After each batch of validation.
    pub eval_batch_end: Vec<Box<dyn BatchEndCallback>>,
    /// Looks at tensors.
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
