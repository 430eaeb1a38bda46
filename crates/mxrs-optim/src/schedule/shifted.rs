//! A schedule that counts updates from another number than the optimizer. It is for trainings whose earlier epochs had other
//! numbers of updates.

use super::LrScheduler;
use std::sync::Arc;

/// The name of the setting for [`Shifted::from`] in a description.
pub(super) const FROM: &str = "counted_from";
/// The name of the setting for [`Shifted::to`] in a description.
pub(super) const TO: &str = "counted_as";

/// A schedule for an optimizer that has counted `from` updates where the schedule has counted `to`.
///
/// ```
/// use mxrs_optim::schedule::{LrScheduler, MultiFactor, Shifted, Warmup};
/// use std::sync::Arc;
///
/// // The rate falls after update 30. This training has made 7 updates in the place of the first 20.
/// let steps = MultiFactor::new(vec![30], 0.5, Warmup::none(1.0))?;
/// let schedule = Shifted { schedule: Arc::new(steps), from: 7, to: 20 };
/// assert_eq!([17, 18].map(|update| schedule.lr(update)), [1.0, 0.5]);
/// # Ok::<(), mxrs_types::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Shifted {
    /// The schedule that counts updates in its own way.
    pub schedule: Arc<dyn LrScheduler>,
    /// The number of updates that the optimizer has counted at some point of the training.
    pub from: u64,
    /// The number of updates that the schedule has counted at the same point.
    pub to: u64,
}

impl Shifted {
    fn counted(&self, num_update: u64) -> u64 {
        self.to.saturating_add(num_update.saturating_sub(self.from))
    }
}

impl LrScheduler for Shifted {
    fn lr(&self, num_update: u64) -> f64 {
        self.schedule.lr(self.counted(num_update))
    }

    fn base_lr(&self) -> f64 {
        self.schedule.base_lr()
    }

    fn rebased(&self, base_lr: f64) -> Arc<dyn LrScheduler> {
        Arc::new(Self { schedule: self.schedule.rebased(base_lr), ..*self })
    }

    fn has_steps(&self, num_update: u64) -> bool {
        self.schedule.has_steps(self.counted(num_update))
    }

    /// The name and the settings of the inner schedule, and both numbers.
    fn describe(&self) -> (&'static str, Vec<(&'static str, String)>) {
        let (name, mut settings) = self.schedule.describe();
        settings.extend([(FROM, self.from.to_string()), (TO, self.to.to_string())]);
        (name, settings)
    }
}
