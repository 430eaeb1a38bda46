//! Learning rates that are multiplied by a factor, either every `step` updates or after given updates.

use super::{LrScheduler, Warmup, from_warmup};
use mxrs_types::{Error, Result};

/// A rate that is multiplied by `factor` after every `step` updates, down to a smallest rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Factor {
    warmup: Warmup,
    step: u64,
    factor: f64,
    stop_factor_lr: f64,
}

fn check_factor(factor: f64) -> Result<()> {
    if factor <= 1.0 && factor.is_finite() {
        return Ok(());
    }
    Err(Error::invalid("factor of a schedule", factor, "at most 1, so that rates fall"))
}

impl Factor {
    /// Makes a schedule; MXNet's defaults are factor 1 and a smallest rate of 1e-8.
    ///
    /// # Errors
    /// Fails if the step is 0, if the factor is above 1, or if [`Warmup::check`] refuses the rates.
    pub fn new(step: u64, factor: f64, stop_factor_lr: f64, warmup: Warmup) -> Result<Self> {
        check_factor(factor)?;
        if step < 1 {
            return Err(Error::invalid("step of a schedule", step, "1 or more"));
        }
        Ok(Self { warmup: warmup.check()?, step, factor, stop_factor_lr })
    }
}

impl LrScheduler for Factor {
    fn lr(&self, num_update: u64) -> f64 {
        if let Some(lr) = self.warmup.lr(num_update) {
            return lr;
        }
        let mut lr = self.warmup.base_lr;
        for _ in 0..num_update.saturating_sub(1) / self.step {
            let before = lr;
            lr *= self.factor;
            if lr < self.stop_factor_lr {
                return self.stop_factor_lr;
            }
            if lr == before {
                break;
            }
        }
        lr
    }

    from_warmup!(steps);

    fn describe(&self) -> (&'static str, Vec<(&'static str, String)>) {
        let mut all = self.warmup.describe();
        all.push(("step", self.step.to_string()));
        all.push(("factor", self.factor.to_string()));
        all.push(("stop_factor_lr", self.stop_factor_lr.to_string()));
        ("FactorScheduler", all)
    }
}

/// A rate that is multiplied by `factor` after each of the updates in `steps`.
#[derive(Clone, Debug, PartialEq)]
pub struct MultiFactor {
    warmup: Warmup,
    steps: Vec<u64>,
    factor: f64,
}

impl MultiFactor {
    /// Makes a schedule.
    ///
    /// # Errors
    /// Fails if there are no steps, if the steps do not increase, if the factor is above 1, or if [`Warmup::check`] refuses
    /// the rates.
    pub fn new(steps: Vec<u64>, factor: f64, warmup: Warmup) -> Result<Self> {
        check_factor(factor)?;
        let rises = steps.windows(2).all(|pair| pair[0] < pair[1]);
        if steps.first().is_none_or(|first| *first < 1) || !rises {
            return Err(Error::invalid("steps of a schedule", format!("{steps:?}"), "rising numbers from 1 on"));
        }
        Ok(Self { warmup: warmup.check()?, steps, factor })
    }
}

impl LrScheduler for MultiFactor {
    fn lr(&self, num_update: u64) -> f64 {
        if let Some(lr) = self.warmup.lr(num_update) {
            return lr;
        }
        let passed = self.steps.iter().filter(|step| num_update > **step);
        passed.fold(self.warmup.base_lr, |lr, _| lr * self.factor)
    }

    from_warmup!(steps);

    fn describe(&self) -> (&'static str, Vec<(&'static str, String)>) {
        let mut all = self.warmup.describe();
        all.push(("step", format!("{:?}", self.steps)));
        all.push(("factor", self.factor.to_string()));
        ("MultiFactorScheduler", all)
    }
}
