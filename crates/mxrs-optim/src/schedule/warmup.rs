//! The warm-up at the start of a schedule.

use mxrs_types::{Error, Result};

/// How the rate changes during the warm-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WarmupMode {
    /// The rate rises in equal steps.
    #[default]
    Linear,
    /// The rate stays at its first value.
    Constant,
}

/// The warm-up of a schedule, and the rate that the warm-up ends with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Warmup {
    /// Rate at the end of the warm-up.
    pub base_lr: f64,
    /// Number of updates of the warm-up.
    pub steps: u64,
    /// Rate at update 0.
    pub begin_lr: f64,
    /// How the rate changes from `begin_lr` to `base_lr`.
    pub mode: WarmupMode,
}

impl Default for Warmup {
    fn default() -> Self {
        Self { base_lr: 0.01, steps: 0, begin_lr: 0.0, mode: WarmupMode::Linear }
    }
}

impl Warmup {
    /// No warm-up: the rate is `base_lr` from the start.
    pub fn none(base_lr: f64) -> Self {
        Self { base_lr, ..Self::default() }
    }

    /// The rate at an update of the warm-up; `None` after the warm-up.
    pub fn lr(&self, num_update: u64) -> Option<f64> {
        (num_update < self.steps).then(|| match self.mode {
            WarmupMode::Linear => {
                self.begin_lr + (self.base_lr - self.begin_lr) * num_update as f64 / self.steps as f64
            }
            WarmupMode::Constant => self.begin_lr,
        })
    }

    /// Checks the rates.
    ///
    /// # Errors
    /// Fails if a rate is not finite, or if `begin_lr` is above `base_lr`.
    pub fn check(self) -> Result<Self> {
        for (what, lr) in [("base_lr", self.base_lr), ("warmup_begin_lr", self.begin_lr)] {
            if !lr.is_finite() {
                return Err(Error::invalid(format!("{what} of a schedule"), lr, "a finite number"));
            }
        }
        if self.begin_lr > self.base_lr {
            let expected = format!("at most base_lr, {}", self.base_lr);
            return Err(Error::invalid("warmup_begin_lr of a schedule", self.begin_lr, expected));
        }
        Ok(self)
    }

    /// The names and values of the warm-up's settings, as texts.
    pub(super) fn describe(&self) -> Vec<(&'static str, String)> {
        let mode = if self.mode == WarmupMode::Linear { "linear" } else { "constant" };
        vec![
            ("base_lr", self.base_lr.to_string()),
            ("warmup_steps", self.steps.to_string()),
            ("warmup_begin_lr", self.begin_lr.to_string()),
            ("warmup_mode", mode.to_string()),
        ]
    }
}
