//! Nadam: Adam with Nesterov's momentum, after Dozat, ICLR 2016 workshop.
//!
//! `h = clip(g + wd · w)` and moments as in Adam. With `mu(t) = beta1 · (1 - 0.5 · 0.96^(t · schedule_decay))` and the
//! product P of mu over all updates so far, `w -= lr · m / (sqrt(var / (1 - beta2^t)) + epsilon)` for
//! `m = (1 - mu(t)) · h / (1 - P) + mu(t + 1) · mean / (1 - P · mu(t + 1))`. As in MXNet the product runs over the updates
//! of all parameters, so it depends on their number.

use super::{correction, described, interleaved};
use crate::call::Call;
use crate::{Common, Optimizer, Param, Settings};
use mxrs_exec::Imperative;
use mxrs_types::Result;

/// MXNet's `Nadam`; lr is 0.001.
#[derive(Clone, Debug)]
pub struct Nadam {
    common: Common,
    beta1: f64,
    beta2: f64,
    epsilon: f64,
    schedule_decay: f64,
    m_schedule: f64,
}

impl Nadam {
    /// Reads beta1 (0.9), beta2 (0.999), epsilon (1e-8) and schedule_decay (0.004).
    ///
    /// # Errors
    /// A setting that is no number or out of range.
    pub fn read(settings: &Settings<'_>) -> Result<Self> {
        Ok(Self {
            common: Common::read(settings, Some(0.001))?,
            beta1: settings.decay_or("beta1", 0.9)?,
            beta2: settings.decay_or("beta2", 0.999)?,
            epsilon: settings.positive_or("epsilon", 1e-8)?,
            schedule_decay: settings.positive_or("schedule_decay", 0.004)?,
            m_schedule: 1.0,
        })
    }
}

impl Optimizer for Nadam {
    described!("nadam", beta1, beta2, epsilon, schedule_decay);

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

    fn update(&mut self, nd: &Imperative, batch: &mut [Param<'_>]) -> Result<()> {
        for param in batch.iter() {
            let t = self.common.count(param.name);
            let mu = |t: u64| self.beta1 * (1.0 - 0.5 * 0.96f64.powf(t as f64 * self.schedule_decay));
            let (now, next) = (mu(t), mu(t + 1));
            self.m_schedule *= now;
            let call = Call::of("_nadam_update", &self.common)
                .rates(&self.common, param.name)
                .with("by_grad", (1.0 - now) / (1.0 - self.m_schedule))
                .with("by_mean", next / (1.0 - self.m_schedule * next))
                .with("by_var", 1.0 / correction(self.beta2, t))
                .with("beta1", self.beta1)
                .with("beta2", self.beta2)
                .with("rest1", 1.0 - self.beta1)
                .with("rest2", 1.0 - self.beta2)
                .with("epsilon", self.epsilon);
            let inputs = interleaved(&[*param]);
            call.into(nd, &inputs, &[param.weight])?;
        }
        Ok(())
    }
}
