//! The start of a schedule: a rate that rises to the one training begins with.

use mxrs_types::{Error, Result};

/// How the rate goes while it warms up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WarmupMode {
    /// Up in equal steps.
    #[default]
    Linear,
    /// As it is at the start.
    Constant,
}

/// First rate of a schedule, and how it gets there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Warmup {
    /// Rate once warm.
    pub base_lr: f64,
    /// Updates before that.
    pub steps: u64,
    /// Rate at update 0.
    pub begin_lr: f64,
    /// How the rate goes from there.
    pub mode: WarmupMode,
}

impl Default for Warmup {
    fn default() -> Self {
        Self { base_lr: 0.01, steps: 0, begin_lr: 0.0, mode: WarmupMode::Linear }
    }
}

impl Warmup {
    /// No warming up.
    pub fn none(base_lr: f64) -> Self {
        Self { base_lr, ..Self::default() }
    }

    /// The rate at an update, while it is warming up.
    pub fn lr(&self, num_update: u64) -> Option<f64> {
        (num_update < self.steps).then(|| match self.mode {
            WarmupMode::Linear => {
                self.begin_lr + (self.base_lr - self.begin_lr) * num_update as f64 / self.steps as f64
            }
            WarmupMode::Constant => self.begin_lr,
        })
    }

    /// Checks the numbers.
    ///
    /// # Errors
    /// Rates that are not finite; a start above the rate once warm.
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

    /// Settings as texts.
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
