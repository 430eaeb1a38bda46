//! Callbacks that log metrics.

use super::{BatchEnd, BatchEndCallback, fixed};
use mxrs_types::Result;

/// Prints `Iter[0] Batch[50] Train-accuracy=0.200000` every `period` batches.
pub struct LogTrainMetric {
    period: u64,
    auto_reset: bool,
}

/// Prints the training metric every `period` batches. With `auto_reset` the metric is reset after each print.
pub fn log_train_metric(period: u64, auto_reset: bool) -> LogTrainMetric {
    LogTrainMetric { period: period.max(1), auto_reset }
}

impl BatchEndCallback for LogTrainMetric {
    fn batch_end(&mut self, at: &mut BatchEnd<'_>) -> Result<()> {
        let Some(metric) = at.metric.as_mut().filter(|_| at.nbatch.is_multiple_of(self.period)) else { return Ok(()) };
        for (name, value) in metric.get()? {
            tracing::info!("Iter[{}] Batch[{}] Train-{name}={}", at.epoch, at.nbatch, fixed(value, 6));
        }
        if self.auto_reset {
            metric.reset_local();
        }
        Ok(())
    }
}

/// Prints `Epoch[0] Validation-accuracy=0.401234`. [`Module::fit`](crate::Module::fit) prints this line without a callback.
#[derive(Clone, Copy, Debug, Default)]
pub struct LogValidationMetrics;

impl LogValidationMetrics {
    /// Prints these values.
    pub fn log(epoch: u64, values: &[(String, f64)]) {
        for (name, value) in values {
            tracing::info!("Epoch[{epoch}] Validation-{name}={}", fixed(*value, 6));
        }
    }
}

impl BatchEndCallback for LogValidationMetrics {
    fn batch_end(&mut self, at: &mut BatchEnd<'_>) -> Result<()> {
        if let Some(metric) = at.metric.as_mut() {
            Self::log(at.epoch, &metric.get()?);
        }
        Ok(())
    }
}
