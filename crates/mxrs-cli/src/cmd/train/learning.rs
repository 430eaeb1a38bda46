//! The optimizer that the flags describe, and the schedule of its learning rate.

use super::plan::Plan;
use crate::exit::{Failure, Outcome};
use mxrs::Runtime;
use mxrs::optim::Optimizer;
use mxrs::optim::schedule::{LrScheduler, MultiFactor, Poly, Shifted, Warmup};
use std::sync::Arc;

/// Optimizers that use `--mom`.
const WITH_MOMENTUM: [&str; 5] = ["sgd", "nag", "signum", "dcasgd", "lbsgd"];

/// The learning rate for every update.
#[derive(Clone)]
pub struct Schedule {
    base: f64,
    scheduler: Option<Arc<dyn LrScheduler>>,
    epoch_size: u64,
}

/// An epoch and the number of updates before it. Learning rates count epochs and updates from there, because earlier epochs
/// may have had another number of batches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Anchor {
    /// The epoch, from 0.
    pub epoch: u64,
    /// Number of updates before this epoch.
    pub num_update: u64,
}

impl Schedule {
    /// The schedule that the flags describe. Its steps are at epochs of `epoch_size` updates each.
    ///
    /// # Errors
    /// [`Failure::Usage`] if the steps are not a list of epochs.
    pub fn new(plan: &Plan, epoch_size: u64) -> Outcome<Self> {
        let training = &plan.training;
        let constant = Self { base: plan.lr, scheduler: None, epoch_size };
        if training.lr_factor >= 1.0 {
            return Ok(constant);
        }
        let text = training.lr_step_epochs.as_deref().unwrap_or(plan.defaults.lr_step_epochs);
        let wrong = || {
            let expected = "epochs separated by commas, such as 30,60, or pow2";
            Failure::Usage(format!("--lr-step-epochs: `{text}` is not {expected}"))
        };
        if let Some(power) = text.strip_prefix("pow") {
            let power: f64 = power.trim_start_matches(['-', ' ']).parse().map_err(|_| wrong())?;
            let poly = Poly::new(plan.num_epochs.saturating_mul(epoch_size), power, 0.0, Warmup::none(plan.lr))
                .map_err(|_| wrong())?;
            return Ok(Self { scheduler: Some(Arc::new(poly)), ..constant });
        }
        let epochs: Result<Vec<u64>, _> = text.split(',').map(|epoch| epoch.trim().parse::<u64>()).collect();
        let (past, ahead): (Vec<u64>, Vec<u64>) =
            epochs.map_err(|_| wrong())?.into_iter().partition(|epoch| *epoch == 0);
        // Steps at epoch 0 take effect before the first update.
        let base = past.iter().fold(plan.lr, |rate, _| rate * training.lr_factor);
        let constant = Self { base, ..constant };
        let steps: Vec<u64> = ahead.into_iter().map(|epoch| epoch.saturating_mul(epoch_size)).collect();
        if steps.is_empty() {
            return Ok(constant);
        }
        let factors = MultiFactor::new(steps, training.lr_factor, Warmup::none(base)).map_err(|_| wrong())?;
        Ok(Self { scheduler: Some(Arc::new(factors)), ..constant })
    }

    /// The rate of update number `num_update`, counted from 1, if all epochs have `epoch_size` updates.
    pub fn lr(&self, num_update: u64) -> f64 {
        self.scheduler.as_ref().map_or(self.base, |scheduler| scheduler.lr(num_update))
    }

    /// The schedule for an optimizer that counts updates from the anchor; `None` if the rate is constant.
    fn anchored(&self, anchor: Anchor) -> Option<Arc<dyn LrScheduler>> {
        let schedule = self.scheduler.clone()?;
        let by_epochs = anchor.epoch.saturating_mul(self.epoch_size);
        if anchor.num_update == by_epochs {
            return Some(schedule);
        }
        Some(Arc::new(Shifted { schedule, from: anchor.num_update, to: by_epochs }))
    }
}

/// Settings of the optimizer `lbsgd` for large batches, from the flags. `begin` is the epoch from which `lbsgd` counts
/// updates.
fn large_batch(plan: &Plan, begin: u64, epoch_size: u64) -> Vec<(&'static str, String)> {
    let training = &plan.training;
    let batch_size = plan.batch_size as u64;
    let batch_scale = training.macrobatch_size.unwrap_or(0).max(batch_size).div_ceil(batch_size);
    vec![
        ("updates_per_epoch", epoch_size.max(1).to_string()),
        ("begin_epoch", begin.to_string()),
        ("batch_scale", batch_scale.to_string()),
        ("warmup_strategy", training.warmup_strategy.clone().unwrap_or_else(|| "linear".into())),
        ("warmup_epochs", training.warmup_epochs.unwrap_or(5).to_string()),
        ("num_epochs", plan.num_epochs.to_string()),
    ]
}

/// Warns of flags for large batches, which only `lbsgd` uses.
fn warn_of_large_batch(plan: &Plan) {
    let training = &plan.training;
    for (flag, is_given) in [
        ("--macrobatch-size", training.macrobatch_size.is_some_and(|size| size > 0)),
        ("--warmup-epochs", training.warmup_epochs.is_some()),
        ("--warmup-strategy", training.warmup_strategy.is_some()),
    ] {
        if is_given {
            tracing::warn!("{flag} is without effect: it is for --optimizer lbsgd");
        }
    }
}

/// The optimizer of the flags, which counts updates from the anchor.
///
/// # Errors
/// [`Failure::Usage`] if no optimizer has the name in `--optimizer`, or if the optimizer refuses a setting.
pub fn optimizer(runtime: &Runtime, plan: &Plan, schedule: &Schedule, anchor: Anchor) -> Outcome<Box<dyn Optimizer>> {
    let training = &plan.training;
    let mut parameters = vec![
        // The base rate of the schedule, which is already reduced by steps at epoch 0.
        ("learning_rate", schedule.base.to_string()),
        ("wd", training.wd.unwrap_or(plan.defaults.wd).to_string()),
        ("multi_precision", "True".to_owned()),
        ("begin_num_update", anchor.num_update.to_string()),
    ];
    if WITH_MOMENTUM.contains(&training.optimizer.to_lowercase().as_str()) {
        parameters.push(("momentum", training.mom.unwrap_or(plan.defaults.mom).to_string()));
    }
    if training.optimizer.eq_ignore_ascii_case("lbsgd") {
        parameters.extend(large_batch(plan, anchor.epoch, schedule.epoch_size));
    } else {
        warn_of_large_batch(plan);
    }
    let parameters: Vec<(&str, &str)> = parameters.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let mut optimizer = runtime
        .optimizer(&training.optimizer, &parameters)
        .map_err(|error| Failure::Usage(format!("--optimizer: {error}")))?;
    if let Some(scheduler) = schedule.anchored(anchor) {
        optimizer.common_mut().set_scheduler(scheduler);
    }
    Ok(optimizer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::train::{Flags, Kind};

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        flags: Flags,
    }

    fn plan(flags: &[&str]) -> Plan {
        let line = <Line as clap::Parser>::parse_from(["train", "--lr", "1"].iter().chain(flags));
        Plan::new(Kind::Imagenet, &line.flags).ok().unwrap()
    }

    fn schedule(flags: &[&str]) -> Schedule {
        Schedule::new(&plan(flags), 10).ok().unwrap()
    }

    /// The learning rates that the optimizer uses for these updates.
    fn rates(flags: &[&str], anchor: Anchor, updates: [u64; 3]) -> [f64; 3] {
        let runtime = Runtime::builder().build().unwrap();
        let optimizer = optimizer(&runtime, &plan(flags), &schedule(flags), anchor).ok().unwrap();
        updates.map(|update| optimizer.common().lr_at(update))
    }

    #[track_caller]
    fn assert_close(got: &[f64], want: &[f64]) {
        assert!(got.iter().zip(want).all(|(got, want)| (got - want).abs() < 1e-12), "{got:?}, not {want:?}");
    }

    /// MXNet's `fit.py` computes `lr *= lr_factor` for every step up to the first epoch, and then uses
    /// `MultiFactorScheduler`.
    #[test]
    fn steps_that_lie_behind_count() {
        for (steps, want) in [("0,3", [0.1, 0.1, 0.01]), ("0", [0.1; 3]), ("0,0", [0.01; 3]), ("3", [1.0, 1.0, 0.1])] {
            let flags = ["--lr-step-epochs", steps];
            assert_close(&[1, 30, 31].map(|update| schedule(&flags).lr(update)), &want);
            assert_close(&rates(&flags, Anchor::default(), [1, 30, 31]), &want);
        }
    }

    /// The optimizer has counted 7 updates in two epochs; from the third epoch on, each epoch has 10 updates.
    #[test]
    fn steps_are_at_their_epochs_whatever_epochs_were_before() {
        let anchor = Anchor { epoch: 2, num_update: 7 };
        assert_close(&rates(&["--lr-step-epochs", "2,3"], anchor, [8, 17, 18]), &[0.1, 0.1, 0.01]);
        assert_close(&rates(&["--lr-step-epochs", "0,3"], anchor, [8, 17, 18]), &[0.1, 0.1, 0.01]);
        let power = ["--num-epochs", "4", "--lr-step-epochs", "pow2"];
        assert_close(&rates(&power, anchor, [7, 17, 27]), &[0.25, 0.0625, 0.0]);
        // 20 updates in two epochs are 10 per epoch, so this anchor changes nothing.
        let same = Anchor { epoch: 2, num_update: 20 };
        assert_close(&rates(&["--lr-step-epochs", "3"], same, [21, 30, 31]), &[1.0, 1.0, 0.1]);
    }

    #[test]
    fn epochs_beyond_all_counting_never_come() {
        let far = "18446744073709551615";
        assert_eq!(schedule(&["--lr-step-epochs", far]).lr(1000), 1.0);
        assert!(schedule(&["--num-epochs", far, "--lr-step-epochs", "pow2"]).lr(1000) > 0.99);
    }
}
