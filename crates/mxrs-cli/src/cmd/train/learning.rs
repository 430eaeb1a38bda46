//! The optimizer of the flags, and how its learning rate changes.

use super::plan::Plan;
use crate::exit::{Failure, Outcome};
use mxrs::Runtime;
use mxrs::optim::Optimizer;
use mxrs::optim::schedule::{LrScheduler, MultiFactor, Poly, Warmup};
use std::sync::Arc;

/// Optimizers that take `--mom`.
const WITH_MOMENTUM: [&str; 5] = ["sgd", "nag", "signum", "dcasgd", "lbsgd"];

/// The learning rate of every update.
#[derive(Clone)]
pub struct Schedule {
    base: f64,
    scheduler: Option<Arc<dyn LrScheduler>>,
    epoch_size: u64,
}

/// Updates that were made before an epoch. Epochs before it may have had others than those from it on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Anchor {
    /// The epoch, from 0.
    pub epoch: u64,
    /// Updates before its first.
    pub num_update: u64,
}

/// A schedule by epochs of `epoch_size` updates each, for an optimizer that has counted others before the anchor.
#[derive(Debug)]
struct Anchored {
    schedule: Arc<dyn LrScheduler>,
    anchor: Anchor,
    epoch_size: u64,
}

impl Anchored {
    /// The number that the optimizer's update has where all epochs are of one size.
    fn by_epochs(&self, num_update: u64) -> u64 {
        let since = num_update.saturating_sub(self.anchor.num_update);
        self.anchor.epoch.saturating_mul(self.epoch_size).saturating_add(since)
    }
}

impl LrScheduler for Anchored {
    fn lr(&self, num_update: u64) -> f64 {
        self.schedule.lr(self.by_epochs(num_update))
    }

    fn base_lr(&self) -> f64 {
        self.schedule.base_lr()
    }

    fn rebased(&self, base_lr: f64) -> Arc<dyn LrScheduler> {
        Arc::new(Self { schedule: self.schedule.rebased(base_lr), ..*self })
    }

    fn has_steps(&self, num_update: u64) -> bool {
        self.schedule.has_steps(self.by_epochs(num_update))
    }

    fn describe(&self) -> (&'static str, Vec<(&'static str, String)>) {
        self.schedule.describe()
    }
}

impl Schedule {
    /// From the flags; steps are epochs, of `epoch_size` updates each.
    ///
    /// # Errors
    /// [`Failure::Usage`] for steps that are no list of epochs.
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
        // Steps that lie behind when training begins count too.
        let base = past.iter().fold(plan.lr, |rate, _| rate * training.lr_factor);
        let constant = Self { base, ..constant };
        let steps: Vec<u64> = ahead.into_iter().map(|epoch| epoch.saturating_mul(epoch_size)).collect();
        if steps.is_empty() {
            return Ok(constant);
        }
        let factors = MultiFactor::new(steps, training.lr_factor, Warmup::none(base)).map_err(|_| wrong())?;
        Ok(Self { scheduler: Some(Arc::new(factors)), ..constant })
    }

    /// The rate of this update, where all epochs are of one size; the first is number 1.
    pub fn lr(&self, num_update: u64) -> f64 {
        self.scheduler.as_ref().map_or(self.base, |scheduler| scheduler.lr(num_update))
    }

    /// For an optimizer that counts from there, if rates change at all.
    fn anchored(&self, anchor: Anchor) -> Option<Arc<dyn LrScheduler>> {
        let schedule = self.scheduler.clone()?;
        let epoch_size = self.epoch_size;
        if anchor.num_update == anchor.epoch.saturating_mul(epoch_size) {
            return Some(schedule);
        }
        Some(Arc::new(Anchored { schedule, anchor, epoch_size }))
    }
}

/// Settings of `lbsgd` by the flags of large batches; `begin` is the epoch that its updates are counted from.
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

/// Warns of flags that another optimizer than `lbsgd` does not have.
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
/// [`Failure::Usage`] for a name that is none, or a setting that it refuses.
pub fn optimizer(runtime: &Runtime, plan: &Plan, schedule: &Schedule, anchor: Anchor) -> Outcome<Box<dyn Optimizer>> {
    let training = &plan.training;
    let mut parameters = vec![
        // The schedule's, which a step at epoch 0 has changed already.
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

    /// Rates that the optimizer has at these updates.
    fn rates(flags: &[&str], anchor: Anchor, updates: [u64; 3]) -> [f64; 3] {
        let runtime = Runtime::builder().build().unwrap();
        let optimizer = optimizer(&runtime, &plan(flags), &schedule(flags), anchor).ok().unwrap();
        updates.map(|update| optimizer.common().lr_at(update))
    }

    #[track_caller]
    fn assert_close(got: &[f64], want: &[f64]) {
        assert!(got.iter().zip(want).all(|(got, want)| (got - want).abs() < 1e-12), "{got:?}, not {want:?}");
    }

    /// `lr *= lr_factor` for every step up to the first epoch, then `MultiFactorScheduler`: what MXNet's `fit.py` does.
    #[test]
    fn steps_that_lie_behind_count() {
        for (steps, want) in [("0,3", [0.1, 0.1, 0.01]), ("0", [0.1; 3]), ("0,0", [0.01; 3]), ("3", [1.0, 1.0, 0.1])] {
            let flags = ["--lr-step-epochs", steps];
            assert_close(&[1, 30, 31].map(|update| schedule(&flags).lr(update)), &want);
            assert_close(&rates(&flags, Anchor::default(), [1, 30, 31]), &want);
        }
    }

    /// The optimizer has counted 7 updates in two epochs; from the third on they are of 10.
    #[test]
    fn steps_are_at_their_epochs_whatever_epochs_were_before() {
        let anchor = Anchor { epoch: 2, num_update: 7 };
        assert_close(&rates(&["--lr-step-epochs", "2,3"], anchor, [8, 17, 18]), &[0.1, 0.1, 0.01]);
        assert_close(&rates(&["--lr-step-epochs", "0,3"], anchor, [8, 17, 18]), &[0.1, 0.1, 0.01]);
        let power = ["--num-epochs", "4", "--lr-step-epochs", "pow2"];
        assert_close(&rates(&power, anchor, [7, 17, 27]), &[0.25, 0.0625, 0.0]);
        // Counted as epochs of 10 are.
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
