//! A progress bar over the batches of an epoch.

use super::{BatchEnd, BatchEndCallback};
use mxrs_types::Result;

/// Prints `[====----] 50%` after each batch.
pub struct ProgressBar {
    total: u64,
    length: usize,
}

impl ProgressBar {
    /// A bar of 80 characters for epochs of `total` batches.
    pub fn new(total: u64) -> Self {
        Self::with_length(total, 80)
    }

    /// A bar of `length` characters.
    pub fn with_length(total: u64, length: usize) -> Self {
        Self { total: total.max(1), length }
    }

    fn line(&self, count: u64) -> String {
        let share = count as f64 / self.total as f64;
        let filled = ((self.length as f64 * share).round_ties_even() as usize).min(self.length);
        format!("[{}{}] {}%\r", "=".repeat(filled), "-".repeat(self.length - filled), (100.0 * share).ceil())
    }
}

impl BatchEndCallback for ProgressBar {
    fn batch_end(&mut self, at: &mut BatchEnd<'_>) -> Result<()> {
        tracing::info!("{}", self.line(at.nbatch));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::ProgressBar;

    #[test]
    fn the_bar_fills() {
        let bar = ProgressBar::with_length(4, 8);
        assert_eq!(bar.line(0), "[--------] 0%\r");
        assert_eq!(bar.line(2), "[====----] 50%\r");
        assert_eq!(bar.line(4), "[========] 100%\r");
        assert_eq!(bar.line(5), "[========] 125%\r", "more batches than were announced");
        assert_eq!(ProgressBar::with_length(3, 8).line(1), "[===-----] 34%\r");
    }
}
