//! Gradient descent that compensates delays: `h = clip(g)`, `d = lr · (h + wd · w + lamda · h² · (w - prev))`,
//! `prev = w`, `w -= d`; with momentum `mom = momentum · mom - d`, `w += mom`. Zheng et al., arXiv:1609.08326.

use super::{described, interleaved};
use crate::call::Call;
use crate::{Common, Optimizer, Param, Settings, State};
use mxrs_exec::Imperative;
use mxrs_ndarray::NdArray;
use mxrs_types::Result;

/// MXNet's `DCASGD`.
#[derive(Clone, Debug)]
pub struct DcAsgd {
    common: Common,
    momentum: f64,
    lamda: f64,
}

impl DcAsgd {
    /// Reads momentum (0) and lamda (0.04).
    ///
    /// # Errors
    /// A setting that is no number or out of range.
    pub fn read(settings: &Settings<'_>) -> Result<Self> {
        Ok(Self {
            common: Common::read(settings, None)?,
            momentum: settings.positive_or("momentum", 0.0)?,
            lamda: settings.number_or("lamda", 0.04)?,
        })
    }
}

impl Optimizer for DcAsgd {
    described!("dcasgd", momentum, lamda);

    fn slots(&self) -> Vec<&'static str> {
        if self.momentum > 0.0 { vec!["mom", "prev"] } else { vec!["prev"] }
    }

    fn create_state(&self, nd: &Imperative, _: usize, weight: &NdArray) -> Result<State> {
        let mut slots = Vec::new();
        for slot in self.slots() {
            let array = NdArray::zeros(nd.context(), weight.shape().clone(), weight.dtype())?;
            if slot == "prev" {
                array.copy_from_array(weight)?;
            }
            slots.push((slot, array));
        }
        Ok(State { slots, ..State::none() })
    }

    fn update(&mut self, nd: &Imperative, batch: &mut [Param<'_>]) -> Result<()> {
        for param in batch.iter() {
            self.common.count(param.name);
            let op = if self.momentum > 0.0 { "_dcasgd_mom_update" } else { "_dcasgd_update" };
            let call = Call::of(op, &self.common)
                .rates(&self.common, param.name)
                .with("momentum", self.momentum)
                .with("lamda", self.lamda);
            let inputs = interleaved(&[*param]);
            call.into(nd, &inputs, &[param.weight])?;
        }
        Ok(())
    }
}
