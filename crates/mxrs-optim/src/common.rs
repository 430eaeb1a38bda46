//! Settings and counts that all optimizers have: learning rate, weight decay, factors, and counts of updates.

use crate::schedule::LrScheduler;
use crate::settings::Range;
use crate::{Multipliers, Settings};
use indexmap::IndexMap;
use mxrs_types::Result;
use std::sync::Arc;

/// Settings and counts of every optimizer.
#[derive(Clone)]
pub struct Common {
    /// The learning rate; `None` for the learning rate of the schedule, or 0.01 without a schedule.
    pub learning_rate: Option<f64>,
    /// Weight decay.
    pub wd: f64,
    /// Factor of the gradients; usually one over the batch size.
    pub rescale_grad: f64,
    /// Each element of a gradient is limited to ± this bound; `None` or 0 for no limit.
    pub clip_gradient: Option<f64>,
    /// Whether half-precision weights have a master weight in single precision.
    pub multi_precision: bool,
    /// The largest number of weights that one call updates, for optimizers that can update several; `None` for the value of
    /// `Invoke::n_aggregated` (`MXNET_OPTIMIZER_AGGREGATION_SIZE`).
    pub aggregate_num: Option<usize>,
    /// Factors of learning rate and weight decay, by parameter.
    pub mult: Multipliers,
    /// The number of updates from which the count of each parameter starts.
    pub begin_num_update: u64,
    /// How often the most often updated parameter has been updated so far.
    pub num_update: u64,
    counts: IndexMap<String, u64>,
    scheduler: Option<Arc<dyn LrScheduler>>,
    /// Whether these updates repeat those of another copy of the parameters, on another device. Changes of the learning rate
    /// were then logged already.
    pub(crate) repeats: bool,
}

impl Default for Common {
    fn default() -> Self {
        Self {
            learning_rate: None,
            wd: 0.0,
            rescale_grad: 1.0,
            clip_gradient: None,
            multi_precision: false,
            aggregate_num: None,
            mult: Multipliers::default(),
            begin_num_update: 0,
            num_update: 0,
            counts: IndexMap::new(),
            scheduler: None,
            repeats: false,
        }
    }
}

impl Common {
    /// Reads the settings that all optimizers have. `learning_rate` is the default of this optimizer, if it has one.
    ///
    /// # Errors
    /// Fails if a setting is not a number or is out of range.
    pub fn read(settings: &Settings<'_>, learning_rate: Option<f64>) -> Result<Self> {
        let begin_num_update = settings.value("begin_num_update", 0u64, Range::Any)?;
        Ok(Self {
            learning_rate: settings.value("learning_rate", learning_rate, Range::Finite)?,
            wd: settings.value("wd", 0.0, Range::NotNegative)?,
            rescale_grad: settings.value("rescale_grad", 1.0, Range::Finite)?,
            clip_gradient: settings.value("clip_gradient", None, Range::NotNegative)?,
            multi_precision: settings.value("multi_precision", false, Range::Any)?,
            begin_num_update,
            num_update: begin_num_update,
            ..Self::default()
        })
    }

    /// Takes learning rates from a schedule. If the optimizer has a learning rate of its own, given or its default, this
    /// rate replaces the `base_lr` of the schedule, and a warning is logged, as in MXNet.
    pub fn set_scheduler(&mut self, scheduler: Arc<dyn LrScheduler>) {
        self.scheduler = Some(match self.learning_rate {
            Some(lr) if lr != scheduler.base_lr() => {
                let base = scheduler.base_lr();
                tracing::warn!("the learning rate of the optimizer, {lr}, replaces that of its schedule, {base}");
                scheduler.rebased(lr)
            }
            _ => scheduler,
        });
    }

    /// The schedule of the learning rate, if there is one.
    pub fn scheduler(&self) -> Option<&Arc<dyn LrScheduler>> {
        self.scheduler.as_ref()
    }

    /// Sets the learning rate.
    ///
    /// # Errors
    /// Fails if the number is not finite, or if there is a schedule, which determines the learning rate.
    pub fn set_learning_rate(&mut self, lr: f64) -> Result<()> {
        if self.scheduler.is_some() {
            return Err(mxrs_types::Error::invalid("learning rate", lr, "none, as there is a schedule"));
        }
        if !lr.is_finite() {
            return Err(mxrs_types::Error::invalid("learning rate", lr, "a finite number"));
        }
        self.learning_rate = Some(lr);
        Ok(())
    }

    /// The learning rate at update number `num_update`.
    pub fn lr_at(&self, num_update: u64) -> f64 {
        self.scheduler.as_ref().map_or(self.learning_rate.unwrap_or(0.01), |schedule| schedule.lr(num_update))
    }

    /// The learning rate of the last update; before the first update, the learning rate of the first update.
    pub fn lr_now(&self) -> f64 {
        self.lr_at(self.num_update)
    }

    /// The learning rate of a parameter in the current update.
    pub fn lr(&self, name: &str) -> f64 {
        self.lr_now() * self.mult.lr(name)
    }

    /// The weight decay of a parameter.
    pub fn wd(&self, name: &str) -> f64 {
        self.wd * self.mult.wd(name)
    }

    /// Counts an update of a parameter. Returns the number of this update; the first one has the number `begin_num_update +
    /// 1`.
    pub fn count(&mut self, name: &str) -> u64 {
        let count = match self.counts.get_mut(name) {
            Some(count) => count,
            None => self.counts.entry(name.to_string()).or_insert(self.begin_num_update),
        };
        *count += 1;
        let count = *count;
        if count > self.num_update {
            let before = self.num_update;
            self.num_update = count;
            self.log_change(before);
        }
        count
    }

    /// Logs that the schedule changed the learning rate.
    fn log_change(&self, before: u64) {
        let has_steps = |schedule: &&Arc<dyn LrScheduler>| schedule.has_steps(self.num_update) && !self.repeats;
        let Some(schedule) = self.scheduler.as_ref().filter(has_steps) else {
            return;
        };
        let lr = schedule.lr(self.num_update);
        if lr != schedule.lr(before) {
            let update = self.num_update;
            tracing::info!("Update[{update}]: Change learning rate to {}", crate::schedule::exponential(lr));
        }
    }

    /// The number of updates of each parameter so far.
    pub fn counts(&self) -> &IndexMap<String, u64> {
        &self.counts
    }

    /// Replaces the counts of updates by those of the training to resume.
    pub fn set_counts(&mut self, num_update: u64, counts: IndexMap<String, u64>) {
        self.num_update = num_update;
        self.counts = counts;
    }

    /// The bound of gradients, if there is one.
    pub fn clip(&self) -> Option<f64> {
        self.clip_gradient.filter(|bound| *bound > 0.0)
    }
}

impl std::fmt::Debug for Common {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Common")
            .field("learning_rate", &self.learning_rate)
            .field("wd", &self.wd)
            .field("num_update", &self.num_update)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::{MultiFactor, Warmup};

    /// Learning rates at updates 1, 30 and 31 of a schedule that multiplies by 0.1 after update 30.
    fn rates(learning_rate: Option<f64>, base_lr: f64) -> [f64; 3] {
        let mut common = Common { learning_rate, ..Common::default() };
        let steps = MultiFactor::new(vec![30], 0.1, Warmup::none(base_lr)).unwrap();
        common.set_scheduler(Arc::new(steps));
        [1, 30, 31].map(|update| common.lr_at(update))
    }

    /// `Optimizer.__init__` of MXNet 1.9.1 sets `lr_scheduler.base_lr = learning_rate` if a learning rate is given.
    /// MXNet's `fit.py` multiplies `--lr` by the factor of each schedule step that comes before the first epoch of this
    /// training, and passes the product to the optimizer and the schedule.
    #[test]
    fn an_own_learning_rate_is_what_the_schedule_starts_from() {
        assert_eq!(rates(None, 0.1), [0.1, 0.1, 0.1 * 0.1]);
        assert_eq!(rates(Some(0.1), 0.1), [0.1, 0.1, 0.1 * 0.1]);
        assert_eq!(rates(Some(1.0), 0.1), [1.0, 1.0, 0.1], "a step at epoch 0 that only the schedule has is undone");
    }
}
