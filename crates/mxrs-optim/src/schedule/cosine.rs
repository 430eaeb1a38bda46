//! Learning rates that fall along half a cosine wave.

use super::poly::{check_end, done};
use super::{LrScheduler, Warmup, from_warmup};
use mxrs_types::{Error, Result};

/// A schedule that falls from the first rate to `final_lr` at `max_update`, as `(1 + cos(π t)) / 2`, where `t` grows from 0
/// at the end of the warm-up to 1 at `max_update`.
#[derive(Clone, Debug, PartialEq)]
pub struct Cosine {
    warmup: Warmup,
    max_update: u64,
    final_lr: f64,
}

impl Cosine {
    /// Makes a schedule; MXNet's default is a final rate of 0.
    ///
    /// # Errors
    /// Fails if the schedule ends at or before the end of the warm-up, if `final_lr` is not finite, or if [`Warmup::check`]
    /// refuses the rates.
    pub fn new(max_update: u64, final_lr: f64, warmup: Warmup) -> Result<Self> {
        if !final_lr.is_finite() {
            return Err(Error::invalid("final_lr of a schedule", final_lr, "a finite number"));
        }
        Ok(Self { warmup: check_end(max_update, warmup)?, max_update, final_lr })
    }
}

impl LrScheduler for Cosine {
    fn lr(&self, num_update: u64) -> f64 {
        self.warmup.lr(num_update).unwrap_or_else(|| {
            let angle = std::f64::consts::PI * done(num_update, self.max_update, &self.warmup);
            self.final_lr + (self.warmup.base_lr - self.final_lr) * (1.0 + angle.cos()) / 2.0
        })
    }

    from_warmup!();

    fn describe(&self) -> (&'static str, Vec<(&'static str, String)>) {
        let mut all = self.warmup.describe();
        all.push(("max_update", self.max_update.to_string()));
        all.push(("final_lr", self.final_lr.to_string()));
        ("CosineScheduler", all)
    }
}
