//! Learning rates that fall as a power of the remaining part of the training.

use super::{LrScheduler, Warmup, from_warmup};
use mxrs_types::{Error, Result};

/// A schedule that falls from the first rate to `final_lr` at `max_update`, as `(1 - t)^pwr`, where `t` grows from 0 at the
/// end of the warm-up to 1 at `max_update`.
#[derive(Clone, Debug, PartialEq)]
pub struct Poly {
    warmup: Warmup,
    max_update: u64,
    pwr: f64,
    final_lr: f64,
}

/// Checks that `max_update` comes after the end of the warm-up.
pub(super) fn check_end(max_update: u64, warmup: Warmup) -> Result<Warmup> {
    if max_update < 1 || max_update <= warmup.steps {
        let expected = format!("1 or more, and more than the {} updates of the warm-up", warmup.steps);
        return Err(Error::invalid("max_update of a schedule", max_update, expected));
    }
    warmup.check()
}

/// How much of the schedule after the warm-up is done, from 0 to 1.
pub(super) fn done(num_update: u64, max_update: u64, warmup: &Warmup) -> f64 {
    let passed = num_update.min(max_update).saturating_sub(warmup.steps);
    passed as f64 / (max_update - warmup.steps) as f64
}

impl Poly {
    /// Makes a schedule; MXNet's defaults are power 2 and a final rate of 0.
    ///
    /// # Errors
    /// Fails if the schedule ends at or before the end of the warm-up, if the power or `final_lr` is not finite, or if
    /// [`Warmup::check`] refuses the rates.
    pub fn new(max_update: u64, pwr: f64, final_lr: f64, warmup: Warmup) -> Result<Self> {
        if !pwr.is_finite() || !final_lr.is_finite() {
            return Err(Error::invalid(
                "pwr and final_lr of a schedule",
                format!("{pwr}, {final_lr}"),
                "finite numbers",
            ));
        }
        Ok(Self { warmup: check_end(max_update, warmup)?, max_update, pwr, final_lr })
    }
}

impl LrScheduler for Poly {
    fn lr(&self, num_update: u64) -> f64 {
        self.warmup.lr(num_update).unwrap_or_else(|| {
            let left = 1.0 - done(num_update, self.max_update, &self.warmup);
            self.final_lr + (self.warmup.base_lr - self.final_lr) * left.powf(self.pwr)
        })
    }

    from_warmup!();

    fn describe(&self) -> (&'static str, Vec<(&'static str, String)>) {
        let mut all = self.warmup.describe();
        all.push(("max_update", self.max_update.to_string()));
        all.push(("pwr", self.pwr.to_string()));
        all.push(("final_lr", self.final_lr.to_string()));
        ("PolyScheduler", all)
    }
}
