//! The optimizers: one file each, with formula, settings and defaults.
//!
//! Words used by all: `g = rescale_grad · grad`; `clip(x)` limits x to ±`clip_gradient`; lr and wd are those of the
//! parameter; t is the number of its update, from 1. Defaults are MXNet 1.9.1's; where none is given, lr is 0.01.

mod adadelta;
mod adagrad;
mod adam;
mod adamax;
mod adamw;
mod dcasgd;
mod ftml;
mod ftrl;
mod lamb;
mod lars;
mod lbsgd;
mod nadam;
mod nag;
mod rmsprop;
mod sgd;
mod sgld;
mod signum;
mod test;

pub use adadelta::AdaDelta;
pub use adagrad::{AdaGrad, GroupAdaGrad};
pub use adam::Adam;
pub use adamax::Adamax;
pub use adamw::AdamW;
pub use dcasgd::DcAsgd;
pub use ftml::Ftml;
pub use ftrl::Ftrl;
pub use lamb::Lamb;
pub use lars::Lars;
pub use lbsgd::LbSgd;
pub use nadam::Nadam;
pub use nag::Nag;
pub use rmsprop::RmsProp;
pub use sgd::Sgd;
pub use sgld::Sgld;
pub use signum::Signum;
pub use test::Test;

/// The parts of [`crate::Optimizer`] that are the same for all: name, common settings, own settings as texts.
macro_rules! described {
    ($name:literal, $($setting:ident),* $(,)?) => {
        fn name(&self) -> &'static str {
            $name
        }

        fn common(&self) -> &crate::Common {
            &self.common
        }

        fn common_mut(&mut self) -> &mut crate::Common {
            &mut self.common
        }

        fn settings(&self) -> Vec<(&'static str, String)> {
            vec![$((stringify!($setting), format!("{:?}", self.$setting))),*]
        }
    };
}
pub(crate) use described;

/// Weights that one call of most operators takes.
pub(crate) const MOST_WEIGHTS: usize = 60;

/// What numbers come to: `1 - beta^t`.
pub(crate) fn correction(beta: f64, t: u64) -> f64 {
    1.0 - beta.powi(i32::try_from(t).unwrap_or(i32::MAX))
}

/// Inputs of a call that updates several weights: of each in turn the weight, the gradient, and what `states` names.
pub(crate) fn interleaved<'a>(batch: &[crate::Param<'a>]) -> Vec<&'a mxrs_ndarray::NdArray> {
    let of = |param: &crate::Param<'a>| {
        let state = param.state;
        [param.weight, param.grad].into_iter().chain(state.all().map(|(_, array)| array)).collect::<Vec<_>>()
    };
    batch.iter().flat_map(of).collect()
}

/// The weights of a batch.
pub(crate) fn weights<'a>(batch: &[crate::Param<'a>]) -> Vec<&'a mxrs_ndarray::NdArray> {
    batch.iter().map(|param| param.weight).collect()
}

/// Whether the batch has master weights; a batch has one type, so either all have or none.
pub(crate) fn has_masters(batch: &[crate::Param<'_>]) -> bool {
    batch.iter().any(|param| param.state.master.is_some())
}

/// Numbers of the weights of a batch as a tensor of single precision.
pub(crate) fn vector(
    nd: &mxrs_exec::Imperative,
    values: impl Iterator<Item = f64>,
) -> mxrs_types::Result<mxrs_ndarray::NdArray> {
    let values: Vec<f32> = values.map(|value| value as f32).collect();
    mxrs_ndarray::NdArray::from_slice(nd.context(), [values.len()], &values)
}
