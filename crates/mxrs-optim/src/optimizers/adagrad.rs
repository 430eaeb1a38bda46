//! AdaGrad: `h = clip(g)`, `history += h²`, `w -= lr · (h / sqrt(history + eps) + wd · w)`; with a history per row of a
//! matrix, `history += mean(h²)` and no decay, as `GroupAdaGrad`. Duchi, Hazan and Singer, JMLR 12 (2011).

use super::{described, interleaved};
use crate::call::Call;
use crate::{Common, Optimizer, Param, Settings, State};
use mxrs_exec::Imperative;
use mxrs_ndarray::NdArray;
use mxrs_types::{Error, Result};

/// MXNet's `AdaGrad`.
#[derive(Clone, Debug)]
pub struct AdaGrad {
    common: Common,
    eps: f64,
}

impl AdaGrad {
    /// Reads eps (1e-7).
    ///
    /// # Errors
    /// A setting that is no number or out of range.
    pub fn read(settings: &Settings<'_>) -> Result<Self> {
        Ok(Self { common: Common::read(settings, None)?, eps: settings.positive_or("eps", 1e-7)? })
    }
}

impl Optimizer for AdaGrad {
    described!("adagrad", eps);

    fn slots(&self) -> Vec<&'static str> {
        vec!["hist"]
    }

    fn update(&mut self, nd: &Imperative, batch: &mut [Param<'_>]) -> Result<()> {
        for param in batch.iter() {
            self.common.count(param.name);
            let call =
                Call::of("_adagrad_update", &self.common).rates(&self.common, param.name).with("epsilon", self.eps);
            let inputs = interleaved(&[*param]);
            call.into(nd, &inputs, &[param.weight])?;
        }
        Ok(())
    }
}

/// MXNet's `GroupAdaGrad`: one learning rate for every row of a matrix.
#[derive(Clone, Debug)]
pub struct GroupAdaGrad {
    common: Common,
    eps: f64,
}

impl GroupAdaGrad {
    /// Reads eps (1e-5).
    ///
    /// # Errors
    /// A setting that is no number or out of range.
    pub fn read(settings: &Settings<'_>) -> Result<Self> {
        Ok(Self { common: Common::read(settings, None)?, eps: settings.positive_or("eps", 1e-5)? })
    }
}

impl Optimizer for GroupAdaGrad {
    described!("groupadagrad", eps);

    fn slots(&self) -> Vec<&'static str> {
        vec!["hist"]
    }

    fn create_state(&self, nd: &Imperative, _: usize, weight: &NdArray) -> Result<State> {
        let [rows, _] = weight.shape()[..] else {
            return Err(Error::shape("optimizer groupadagrad", "weight", "a matrix", weight.shape()));
        };
        let history = NdArray::zeros(nd.context(), [rows, 1], weight.dtype())?;
        Ok(State { slots: vec![("hist", history)], ..State::none() })
    }

    fn update(&mut self, nd: &Imperative, batch: &mut [Param<'_>]) -> Result<()> {
        for param in batch.iter() {
            self.common.count(param.name);
            let wd = self.common.wd(param.name);
            if wd != 0.0 {
                return Err(Error::invalid(format!("weight decay of `{}` with groupadagrad", param.name), wd, "0"));
            }
            let call = Call::of("_contrib_group_adagrad_update", &self.common)
                .with("lr", self.common.lr(param.name))
                .with("epsilon", self.eps);
            call.into(nd, &interleaved(&[*param]), &[param.weight])?;
        }
        Ok(())
    }
}
