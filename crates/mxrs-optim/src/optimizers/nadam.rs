//! Nadam: Adam with Nesterov's momentum, after Dozat, ICLR 2016 workshop.
//!
//! `h = clip(g + wd · w)`, and the moments `mean` and `var` are those of Adam. With
//! `mu(t) = beta1 · (1 - 0.5 · 0.96^(t · schedule_decay))` and the product P of mu over all updates so far,
//! `w -= lr · m / (sqrt(var / (1 - beta2^t)) + epsilon)` for
//! `m = (1 - mu(t)) · h / (1 - P) + mu(t + 1) · mean / (1 - P · mu(t + 1))`. As in MXNet the product runs over the updates
//! of all parameters, so it depends on their number.

use super::{correction, described, interleaved, optimizer};
use crate::call::Call;
use crate::{Common, Optimizer, Param};
use mxrs_ndarray::Invoke;
use mxrs_types::Result;

optimizer! {
    /// MXNet's `Nadam`: Adam with Nesterov's momentum.
    pub struct Nadam["nadam", lr = 0.001, text Some(0.001), NadamRule::new] {
        /// Decay rate of the moving average of the gradient: the share of its old value in the new one. Default: 0.9.
        beta1: f64 = 0.9, Fraction;
        /// Decay rate of the moving average of the squared gradient: the share of its old value in the new one.
        /// Default: 0.999.
        beta2: f64 = 0.999, Fraction;
        /// Added to the denominator. Default: 1e-8.
        epsilon: f64 = 1e-8, NotNegative;
        /// How fast `mu` grows with the number of the update. Default: 0.004.
        schedule_decay: f64 = 0.004, NotNegative;
    }
}

/// The optimizer Nadam: its settings, and the product of `mu`.
#[derive(Clone, Debug)]
struct NadamRule {
    common: Common,
    config: Nadam,
    /// The product of `mu` over all updates so far.
    m_schedule: f64,
}

impl NadamRule {
    fn new(common: Common, config: Nadam) -> Self {
        Self { common, config, m_schedule: 1.0 }
    }
}

impl Optimizer for NadamRule {
    described!();

    fn slots(&self) -> Vec<&'static str> {
        vec!["mean", "var"]
    }

    fn scalars(&self) -> Vec<(&'static str, f64)> {
        vec![("m_schedule", self.m_schedule)]
    }

    fn set_scalar(&mut self, name: &str, value: f64) -> Result<()> {
        if name != "m_schedule" {
            return Err(mxrs_types::Error::invalid("number of optimizer nadam", name, "m_schedule"));
        }
        self.m_schedule = value;
        Ok(())
    }

    fn update(&mut self, nd: &dyn Invoke, batch: &mut [Param<'_>]) -> Result<()> {
        for param in batch.iter() {
            let t = self.common.count(param.name);
            let mu = |t: u64| self.config.beta1 * (1.0 - 0.5 * 0.96f64.powf(t as f64 * self.config.schedule_decay));
            let (now, next) = (mu(t), mu(t + 1));
            self.m_schedule *= now;
            let call = Call::of("_nadam_update", &self.common)
                .rates(&self.common, param.name)
                .with("by_grad", (1.0 - now) / (1.0 - self.m_schedule))
                .with("by_mean", next / (1.0 - self.m_schedule * next))
                .with("by_var", 1.0 / correction(self.config.beta2, t))
                .with("beta1", self.config.beta1)
                .with("beta2", self.config.beta2)
                .with("rest1", 1.0 - self.config.beta1)
                .with("rest2", 1.0 - self.config.beta2)
                .with("epsilon", self.config.epsilon);
            let inputs = interleaved(&[*param]);
            call.into(nd, &inputs, &[param.weight])?;
        }
        Ok(())
    }
}
