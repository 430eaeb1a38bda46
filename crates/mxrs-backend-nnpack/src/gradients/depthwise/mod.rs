//! Gradients of the data and of the weights of depthwise convolutions, in which each channel has a window of its own. Both
//! work on 16 channels at a time, with any stride and dilation.

mod data;
mod weight;

use super::{Chosen, GradientContext};
use crate::choose::UNMEASURED;
use crate::layouts::{PackedForm, blocked};
use crate::problem::ConvProblem;
use data::DepthwiseData;
use mxrs_types::Layout;
use weight::DepthwiseWeight;

/// Chooses the gradient of the data of `p`.
pub fn data(p: &ConvProblem, context: &GradientContext<'_>) -> Chosen {
    let (p, isa, threads) = (*p, context.options.isa, context.threads);
    let weight = PackedForm::Depthwise.layout([p.k, 1, p.kh, p.kw]);
    Chosen {
        algorithm: Box::new(move || Ok(Box::new(DepthwiseData::new(p, isa, threads)))),
        what: "data_gradient_depthwise".into(),
        layouts: [blocked([p.n, p.k, p.oh, p.ow]), weight, blocked([p.n, p.c, p.h, p.w])],
        cost: UNMEASURED,
    }
}

/// Chooses the gradient of the weights of `p`.
pub fn weight(p: &ConvProblem, context: &GradientContext<'_>) -> Chosen {
    let (p, isa, threads) = (*p, context.options.isa, context.threads);
    Chosen {
        algorithm: Box::new(move || Ok(Box::new(DepthwiseWeight::new(p, isa, threads)))),
        what: "weight_gradient_depthwise".into(),
        layouts: [blocked([p.n, p.k, p.oh, p.ow]), blocked([p.n, p.c, p.h, p.w]), Layout::RowMajor],
        cost: UNMEASURED,
    }
}
