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
}

impl Schedule {
    /// From the flags; steps are epochs, of `epoch_size` updates each.
    ///
    /// # Errors
    /// [`Failure::Usage`] for steps that are no list of epochs.
    pub fn new(plan: &Plan, epoch_size: u64) -> Outcome<Self> {
        let training = &plan.training;
        let constant = Self { base: plan.lr, scheduler: None };
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

    /// The rate of this update; the first is number 1.
    pub fn lr(&self, num_update: u64) -> f64 {
        self.scheduler.as_ref().map_or(self.base, |scheduler| scheduler.lr(num_update))
    }
}

/// Settings of `lbsgd` by the flags of large batches; `begin` is the epoch that training goes on from.
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

/// The optimizer of the flags. A checkpoint without states stands for `begin` epochs of `epoch_size` updates.
///
/// # Errors
/// [`Failure::Usage`] for a name that is none, or a setting that it refuses.
pub fn optimizer(
    runtime: &Runtime,
    plan: &Plan,
    schedule: &Schedule,
    begin: u64,
    epoch_size: u64,
) -> Outcome<Box<dyn Optimizer>> {
    let training = &plan.training;
    let mut parameters = vec![
        ("learning_rate", plan.lr.to_string()),
        ("wd", training.wd.unwrap_or(plan.defaults.wd).to_string()),
        ("multi_precision", "True".to_owned()),
        ("begin_num_update", begin.saturating_mul(epoch_size).to_string()),
    ];
    if WITH_MOMENTUM.contains(&training.optimizer.to_lowercase().as_str()) {
        parameters.push(("momentum", training.mom.unwrap_or(plan.defaults.mom).to_string()));
    }
    if training.optimizer.eq_ignore_ascii_case("lbsgd") {
        parameters.extend(large_batch(plan, begin, epoch_size));
    } else {
        warn_of_large_batch(plan);
    }
    let parameters: Vec<(&str, &str)> = parameters.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let mut optimizer = runtime
        .optimizer(&training.optimizer, &parameters)
        .map_err(|error| Failure::Usage(format!("--optimizer: {error}")))?;
    if let Some(scheduler) = &schedule.scheduler {
        optimizer.common_mut().set_scheduler(scheduler.clone());
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

    fn schedule(flags: &[&str]) -> Schedule {
        let line = <Line as clap::Parser>::parse_from(["train", "--lr", "1"].iter().chain(flags));
        Schedule::new(&Plan::new(Kind::Imagenet, &line.flags).ok().unwrap(), 10).ok().unwrap()
    }

    /// `lr *= lr_factor` for every step up to the first epoch, then `MultiFactorScheduler`: what MXNet's `fit.py` does.
    #[test]
    fn steps_that_lie_behind_count() {
        let late = schedule(&["--lr-step-epochs", "0,3"]);
        let rates = [1, 30, 31].map(|update| late.lr(update));
        assert!(rates.iter().zip([0.1, 0.1, 0.01]).all(|(got, want)| (got - want).abs() < 1e-12), "{rates:?}");
        assert!((schedule(&["--lr-step-epochs", "0"]).lr(1) - 0.1).abs() < 1e-12);
    }

    #[test]
    fn epochs_beyond_all_counting_never_come() {
        let far = "18446744073709551615";
        assert_eq!(schedule(&["--lr-step-epochs", far]).lr(1000), 1.0);
        assert!(schedule(&["--num-epochs", far, "--lr-step-epochs", "pow2"]).lr(1000) > 0.99);
    }
}
