//! AdaGrad: `h = clip(g)`, `history += h²`, `w -= lr · (h / sqrt(history + eps) + wd · w)`; `GroupAdaGrad` has only one
//! `history` per row of a matrix, `history += mean(h²)`, and no weight decay. Duchi, Hazan and Singer, JMLR 12 (2011).

use super::{PerWeight, Rule, described, interleaved, optimizer};
use crate::call::Call;
use crate::{Optimizer, Param, State};
use mxrs_ndarray::{Invoke, NdArray};
use mxrs_types::{Error, Result};

optimizer! {
    /// MXNet's `AdaGrad`: steps divided by the root of the sum of all squared gradients.
    pub struct AdaGrad["adagrad", lr = 0.01, text None, Rule::new] {
        /// Added to the denominator. Default: 1e-7.
        eps: f64 = 1e-7, NotNegative;
    }
}

impl PerWeight for Rule<AdaGrad> {
    fn slots(&self) -> Vec<&'static str> {
        vec!["hist"]
    }

    fn call(&self, param: &Param<'_>, _: u64) -> Call {
        Call::of("_adagrad_update", &self.common).rates(&self.common, param.name).with("epsilon", self.config.eps)
    }
}

optimizer! {
    /// MXNet's `GroupAdaGrad`: one learning rate for every row of a matrix.
    pub struct GroupAdaGrad["groupadagrad", lr = 0.01, text None, Rule::new] {
        /// Added to the denominator. Default: 1e-5.
        eps: f64 = 1e-5, NotNegative;
    }
}

impl Optimizer for Rule<GroupAdaGrad> {
    described!();

    fn slots(&self) -> Vec<&'static str> {
        vec!["hist"]
    }

    fn create_state(&self, nd: &dyn Invoke, _: usize, weight: &NdArray) -> Result<State> {
        let [rows, _] = weight.shape()[..] else {
            return Err(Error::shape("optimizer groupadagrad", "weight", "a matrix", weight.shape()));
        };
        let history = NdArray::zeros_on(nd.context(), [rows, 1], weight.dtype(), weight.device())?;
        Ok(State { slots: vec![("hist", history)], ..State::none() })
    }

    fn update(&mut self, nd: &dyn Invoke, batch: &mut [Param<'_>]) -> Result<()> {
        for param in batch.iter() {
            self.common.count(param.name);
            let wd = self.common.wd(param.name);
            if wd != 0.0 {
                return Err(Error::invalid(format!("weight decay of `{}` with groupadagrad", param.name), wd, "0"));
            }
            let call = Call::of("_contrib_group_adagrad_update", &self.common)
                .with("lr", self.common.lr(param.name))
                .with("epsilon", self.config.eps);
            call.into(nd, &interleaved(&[*param]), &[param.weight])?;
        }
        Ok(())
    }
}
