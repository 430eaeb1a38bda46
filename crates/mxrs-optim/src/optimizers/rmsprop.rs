//! RMSProp: `h = clip(g + wd · w)`, `n = gamma1 · n + (1 - gamma1) · h²`, `w -= lr · h / sqrt(n + epsilon)`. Centered,
//! `m = gamma1 · m + (1 - gamma1) · h` (slot `g`), `delta = gamma2 · delta - lr · h / sqrt(n - m² + epsilon)`,
//! `w += delta`. The new weight is limited to ±`clip_weights`, where that is set.

use super::{described, interleaved};
use crate::call::Call;
use crate::{Common, Optimizer, Param, Settings};
use mxrs_exec::Imperative;
use mxrs_types::Result;

/// MXNet's `RMSProp`; lr is 0.001.
#[derive(Clone, Debug)]
pub struct RmsProp {
    common: Common,
    gamma1: f64,
    gamma2: f64,
    epsilon: f64,
    centered: bool,
    clip_weights: Option<f64>,
}

impl RmsProp {
    /// Reads gamma1 (0.9), gamma2 (0.9), epsilon (1e-8), centered (False) and clip_weights (None).
    ///
    /// # Errors
    /// A setting that is no number or out of range.
    pub fn read(settings: &Settings<'_>) -> Result<Self> {
        Ok(Self {
            common: Common::read(settings, Some(0.001))?,
            gamma1: settings.decay_or("gamma1", 0.9)?,
            gamma2: settings.positive_or("gamma2", 0.9)?,
            epsilon: settings.positive_or("epsilon", 1e-8)?,
            centered: settings.flag_or("centered", false)?,
            clip_weights: settings.positive("clip_weights")?.filter(|bound| *bound > 0.0),
        })
    }
}

impl Optimizer for RmsProp {
    described!("rmsprop", gamma1, gamma2, epsilon, centered, clip_weights);

    fn slots(&self) -> Vec<&'static str> {
        if self.centered { vec!["n", "g", "delta"] } else { vec!["n"] }
    }

    fn update(&mut self, nd: &Imperative, batch: &mut [Param<'_>]) -> Result<()> {
        for param in batch.iter() {
            self.common.count(param.name);
            let op = if self.centered { "rmspropalex_update" } else { "rmsprop_update" };
            let mut call = Call::of(op, &self.common)
                .rates(&self.common, param.name)
                .with("gamma1", self.gamma1)
                .with("epsilon", self.epsilon);
            if self.centered {
                call = call.with("gamma2", self.gamma2);
            }
            if let Some(bound) = self.clip_weights {
                call = call.with("clip_weights", bound);
            }
            let inputs = interleaved(&[*param]);
            call.into(nd, &inputs, &[param.weight])?;
        }
        Ok(())
    }
}
