//! Speed and metrics, every so many batches.

use super::{BatchEnd, BatchEndCallback, fixed};
use mxrs_types::Result;
use std::time::Instant;

/// Prints `Epoch[0] Batch [0-50]\tSpeed: 1910.41 samples/sec\taccuracy=0.200000` every `frequent` batches.
pub struct Speedometer {
    batch_size: usize,
    frequent: u64,
    auto_reset: bool,
    since: Option<Instant>,
    last: u64,
}

impl Speedometer {
    /// Every 50 batches, and the metric of those 50.
    pub fn new(batch_size: usize) -> Self {
        Self::every(batch_size, 50, true)
    }

    /// Every `frequent` batches. With `auto_reset` metrics are those since the last print, else those of the epoch so far.
    pub fn every(batch_size: usize, frequent: u64, auto_reset: bool) -> Self {
        Self { batch_size, frequent: frequent.max(1), auto_reset, since: None, last: 0 }
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
            self.since = Some(Instant::now());
            return Ok(());
        };
        if !count.is_multiple_of(self.frequent) {
            return Ok(());
        }
        let Some(metric) = at.metric.as_mut() else {
            let speed = self.speed(since);
            tracing::info!("Iter[{}] Batch [{count}]\tSpeed: {} samples/sec", at.epoch, fixed(speed, 2));
            self.since = Some(Instant::now());
            return Ok(());
        };
        // The metric waits for the batches: their time is part of it.
        let values = metric.get()?;
        let from = if self.auto_reset { count.saturating_sub(self.frequent) } else { 0 };
        if self.auto_reset {
            metric.reset_local();
        }
        let speed = self.speed(since);
        let values: String = values.iter().map(|(name, value)| format!("\t{name}={}", fixed(*value, 6))).collect();
        tracing::info!("Epoch[{}] Batch [{from}-{count}]\tSpeed: {} samples/sec{values}", at.epoch, fixed(speed, 2));
        self.since = Some(Instant::now());
        Ok(())
    }
}

impl Speedometer {
    fn speed(&self, since: Instant) -> f64 {
        self.frequent as f64 * self.batch_size as f64 / since.elapsed().as_secs_f64()
    }
}
