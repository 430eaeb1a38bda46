//! Learning rates that change during training. They are functions of the number of the update, without other state, so that
//! a resumed training has exactly the same rates.
//!
//! The first update is number 1. Every schedule may begin with a warm-up: before update `warmup_steps`, the rate rises in
//! equal steps from `warmup_begin_lr` (mode `linear`) or stays at `warmup_begin_lr` (mode `constant`).

mod cosine;
mod factor;
mod poly;
mod read;
mod shifted;
mod warmup;

pub use cosine::Cosine;
pub use factor::{Factor, MultiFactor};
pub use poly::Poly;
pub use read::from_description;
pub use shifted::Shifted;
pub use warmup::{Warmup, WarmupMode};

use std::fmt::Debug;
use std::sync::Arc;

/// A learning rate for every update.
pub trait LrScheduler: Debug + Send + Sync {
    /// The learning rate at an update.
    fn lr(&self, num_update: u64) -> f64;

    /// The learning rate at the end of the warm-up.
    fn base_lr(&self) -> f64;

    /// The same schedule with another `base_lr`.
    fn rebased(&self, base_lr: f64) -> Arc<dyn LrScheduler>;

    /// Whether the rate changes in steps, not gradually, at this point of the training. The optimizer logs changes in
    /// steps.
    fn has_steps(&self, num_update: u64) -> bool {
        let _ = num_update;
        false
    }

    /// The name and the settings of the schedule, for a file of states.
    fn describe(&self) -> (&'static str, Vec<(&'static str, String)>);
}

/// The methods of [`LrScheduler`] that follow from a schedule's [`Warmup`]. The argument `steps` is for schedules whose rate
/// changes in steps.
macro_rules! from_warmup {
    () => {
        fn base_lr(&self) -> f64 {
            self.warmup.base_lr
        }

        fn rebased(&self, base_lr: f64) -> std::sync::Arc<dyn $crate::schedule::LrScheduler> {
            let warmup = $crate::schedule::Warmup { base_lr, ..self.warmup };
            std::sync::Arc::new(Self { warmup, ..self.clone() })
        }
    };
    (steps) => {
        from_warmup!();

        fn has_steps(&self, num_update: u64) -> bool {
            num_update >= self.warmup.steps
        }
    };
}
use from_warmup;

/// Formats a number as C's `%0.5e` does: `1.00000e-01`.
pub fn exponential(value: f64) -> String {
    let text = format!("{value:.5e}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
    format!("{mantissa}e{sign}{digits:0>2}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_c_does() {
        assert_eq!(exponential(0.1), "1.00000e-01");
        assert_eq!(exponential(1e-8), "1.00000e-08");
        assert_eq!(exponential(250.0), "2.50000e+02");
        assert_eq!(exponential(1e-120), "1.00000e-120");
    }
}
