//! Checks of declared gradients: a [`Tape`] differentiates calls without a graph, and its results are compared with
//! central differences.
//!
//! For each sample, in `f64`, the forward call runs on the reference kernel. The declared gradient records its calls, which
//! also run on reference kernels (inputs that they ignore have no memory). The checks are:
//! - every gradient has the shape and element type of its input, in all float types of the operator;
//! - it agrees with the central difference of `Σ head · output` over the visible outputs, for random heads;
//! - it is linear in the heads (or, for a loss that ignores them, does not depend on them);
//! - it is bit-equal if only one input's gradient is requested.
//!
//! Elements at which the function has a kink or jumps (the one-sided differences differ) are counted and not compared.
//! For samples with NaN or infinities, and those that are not in `f64`, only the first check is made. Random calls draw
//! the same numbers every time.
//!
//! ```
//! use mxrs_op::{Gradient, OpDef, OpSet, Sample, elements};
//! use mxrs_testkit::gradient::{self, Options};
//! use mxrs_types::DType;
//!
//! let double = OpDef {
//!     dtypes: &[DType::F64],
//!     samples: || vec![Sample::new("small", [] as [(&str, &str); 0], &[&[2, 3]])],
//!     reference: Some(|_, inputs, outputs, _| {
//!         let x = elements::read_f64(inputs[0].bytes, DType::F64);
//!         let doubled: Vec<f64> = x.iter().map(|x| 2.0 * x).collect();
//!         elements::write_f64(&doubled, DType::F64, outputs[0].bytes);
//!         Ok(())
//!     }),
//!     // Doubling is its own gradient.
//!     gradient: Gradient::By(|_, scope| {
//!         let head = scope.out_grad(0)?;
//!         Ok(vec![Some(scope.call_one("double", &[head])?)])
//!     }),
//!     ..OpDef::new("double")
//! };
//! let ops = OpSet::new([double])?;
//! let report = gradient::check(&ops, ops.get("double")?, &Options::default());
//! report.assert_ok();
//! assert!(report.n_compared() > 0);
//! # Ok::<(), mxrs_types::Error>(())
//! ```
//!
//! Read next: [`Tape`] for how a call is differentiated, `numeric.rs` for the central differences.

mod first;
mod numeric;
mod report;
mod scope;
mod second;
mod subject;
mod tape;

pub use report::{Checked, GradientReport};
pub use tape::Tape;

use crate::Tolerance;
use mxrs_op::{OpDef, OpParams, OpSet, Sample};
use mxrs_types::{DType, Shape};
use std::sync::Arc;
use subject::Subject;

/// Half the distance between the two points of a central difference.
pub const EPS: f64 = 1e-6;

/// The tolerance between a gradient and the central difference.
pub const TOLERANCE: Tolerance = Tolerance { rtol: 1e-5, atol: 1e-7 };

/// A tensor in the form in which a loss function receives it.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbers {
    /// Shape of the tensor.
    pub shape: Shape,
    /// Elements in row-major order.
    pub values: Vec<f64>,
}

/// The loss whose gradient a loss operator computes, as a function of its parameters, inputs and visible outputs.
pub type LossFn = fn(&OpParams, &[Numbers], &[Numbers]) -> f64;

/// Special properties of an operator's gradient.
#[derive(Clone, Copy, Default)]
pub struct Options {
    /// The loss, if the operator's gradient is that of a loss and ignores head gradients.
    pub loss: Option<LossFn>,
    /// Inputs whose gradient is defined as zero, such as labels. Gradients of auxiliary states are always zero.
    pub stopped: &'static [usize],
}

/// Checks the first derivative on every sample.
pub fn check(ops: &OpSet, op: &Arc<OpDef>, options: &Options) -> GradientReport {
    over_samples(op, |sample| check_sample(ops, op, sample, options))
}

/// Checks the second derivative on every sample.
pub fn check_second_order(ops: &OpSet, op: &Arc<OpDef>, options: &Options) -> GradientReport {
    over_samples(op, |sample| check_sample_second_order(ops, op, sample, options))
}

fn over_samples(op: &OpDef, one: impl Fn(&Sample) -> Result<Checked, String>) -> GradientReport {
    let mut report = GradientReport::default();
    for sample in (op.samples)() {
        report.add(op.name, sample.name, one(&sample));
    }
    report
}

/// Checks the first derivative on one sample, which need not be one of the operator's own.
///
/// # Errors
/// Returns a sentence that describes the difference.
pub fn check_sample(ops: &OpSet, op: &Arc<OpDef>, sample: &Sample, options: &Options) -> Result<Checked, String> {
    let others = op.dtypes.iter().filter(|d| d.is_float() && **d != DType::F64);
    for dtype in others.filter(|_| sample.inputs.first().is_some_and(|i| i.dtype.is_none())) {
        let subject = Subject::new(ops, op, sample, *dtype, options)?;
        first::shapes(&subject).map_err(|e| format!("{dtype}: {e}"))?;
    }
    first::check(&Subject::new(ops, op, sample, DType::F64, options)?)
}

/// Checks the second derivative on one sample, with respect to inputs and head gradients.
///
/// # Errors
/// Returns a sentence that describes the difference.
pub fn check_sample_second_order(
    ops: &OpSet,
    op: &Arc<OpDef>,
    sample: &Sample,
    options: &Options,
) -> Result<Checked, String> {
    second::check(&Subject::new(ops, op, sample, DType::F64, options)?)
}

#[cfg(test)]
mod tests;
