//! Logs speed and metrics every `frequent` batches.

use super::{BatchEnd, BatchEndCallback, fixed};
use mxrs_types::Result;
use std::time::{Duration, Instant};

/// Prints `Epoch[0] Batch [0-50]\tSpeed: 1910.41 samples/sec\taccuracy=0.200000` every `frequent` batches. The `tracing`
/// event has two more fields: `data_seconds`, for which the loop waited for data, and `compute_seconds`, the rest of the
/// time.
pub struct Speedometer {
    batch_size: usize,
    frequent: u64,
    auto_reset: bool,
    since: Option<Instant>,
    last: u64,
    waited: Duration,
}

impl Speedometer {
    /// A speedometer that prints every 50 batches, with the metric of those 50 batches.
    pub fn new(batch_size: usize) -> Self {
        Self::every(batch_size, 50, true)
    }

    /// Prints every `frequent` batches. With `auto_reset` the metrics are those since the last print, otherwise those of the
    /// epoch so far.
    pub fn every(batch_size: usize, frequent: u64, auto_reset: bool) -> Self {
        Self { batch_size, frequent: frequent.max(1), auto_reset, since: None, last: 0, waited: Duration::ZERO }
    }
}

impl BatchEndCallback for Speedometer {
    fn batch_end(&mut self, at: &mut BatchEnd<'_>) -> Result<()> {
        let count = at.nbatch;
        if self.last > count {
            self.since = None;
        }
        self.last = count;
        let Some(since) = self.since else {
            self.begin();
            return Ok(());
        };
        self.waited += at.waited;
        if !count.is_multiple_of(self.frequent) {
            return Ok(());
        }
        let Some(metric) = at.metric.as_mut() else {
            let (speed, data_seconds, compute_seconds) = self.measured(since);
            tracing::info!(
                data_seconds,
                compute_seconds,
                "Iter[{}] Batch [{count}]\tSpeed: {} samples/sec",
                at.epoch,
                fixed(speed, 2)
            );
            self.begin();
            return Ok(());
        };
        // Reading the metric waits until the batches are computed. The time is measured after that, so that it includes the
        // computation.
        let values = metric.get()?;
        let from = if self.auto_reset { count.saturating_sub(self.frequent) } else { 0 };
        if self.auto_reset {
            metric.reset_local();
        }
        let (speed, data_seconds, compute_seconds) = self.measured(since);
        let values: String = values.iter().map(|(name, value)| format!("\t{name}={}", fixed(*value, 6))).collect();
        let speed = fixed(speed, 2);
        tracing::info!(
            data_seconds,
            compute_seconds,
            "Epoch[{}] Batch [{from}-{count}]\tSpeed: {speed} samples/sec{values}",
            at.epoch
        );
        self.begin();
        Ok(())
    }
}

impl Speedometer {
    fn begin(&mut self) {
        (self.since, self.waited) = (Some(Instant::now()), Duration::ZERO);
    }

    /// Samples per second, seconds of waiting for data, and the rest of the seconds.
    fn measured(&self, since: Instant) -> (f64, f64, f64) {
        let (all, waited) = (since.elapsed().as_secs_f64(), self.waited.as_secs_f64());
        (self.frequent as f64 * self.batch_size as f64 / all, waited, (all - waited).max(0.0))
    }
}
