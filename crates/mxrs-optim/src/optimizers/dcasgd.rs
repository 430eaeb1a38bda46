//! Gradient descent that compensates for delayed gradients: `h = clip(g)`,
//! `d = lr · (h + wd · w + lamda · h² · (w - prev))`, `prev = w`, `w -= d`; with momentum `mom = momentum · mom - d`,
//! `w += mom`. Zheng et al., arXiv:1609.08326.

use super::{Rule, described, interleaved, optimizer};
use crate::call::Call;
use crate::{Optimizer, Param, State};
use mxrs_ndarray::{Invoke, NdArray};
use mxrs_types::Result;

optimizer! {
    /// MXNet's `DCASGD`: gradient descent that compensates for delayed gradients.
    pub struct DcAsgd["dcasgd", lr = 0.01, text None, Rule::new] {
        /// Momentum: the share of the last step that is added to the next one. Default: 0.
        momentum: f64 = 0.0, NotNegative;
        /// Strength of the compensation. Default: 0.04.
        lamda: f64 = 0.04, Finite;
    }
}

impl Optimizer for Rule<DcAsgd> {
    described!();

    fn slots(&self) -> Vec<&'static str> {
        if self.config.momentum > 0.0 { vec!["mom", "prev"] } else { vec!["prev"] }
    }

    fn create_state(&self, nd: &dyn Invoke, _: usize, weight: &NdArray) -> Result<State> {
        let mut slots = Vec::new();
        for slot in self.slots() {
            let array = NdArray::zeros_on(nd.context(), weight.shape().clone(), weight.dtype(), weight.device())?;
            if slot == "prev" {
                array.copy_from_array(weight)?;
            }
            slots.push((slot, array));
        }
        Ok(State { slots, ..State::none() })
    }

    fn update(&mut self, nd: &dyn Invoke, batch: &mut [Param<'_>]) -> Result<()> {
        for param in batch.iter() {
            self.common.count(param.name);
            let op = if self.config.momentum > 0.0 { "_dcasgd_mom_update" } else { "_dcasgd_update" };
            let call = Call::of(op, &self.common)
                .rates(&self.common, param.name)
                .with("momentum", self.config.momentum)
                .with("lamda", self.config.lamda);
            let inputs = interleaved(&[*param]);
            call.into(nd, &inputs, &[param.weight])?;
        }
        Ok(())
    }
}
