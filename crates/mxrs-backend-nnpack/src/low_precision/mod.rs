//! Kernels for numbers of 16 and 8 bits: bfloat16 at inference and, on matrix units, in training; quantized int8 and uint8 at
//! inference.
//!
//! Convolutions and fully-connected layers are products of rows with packed panels of weights ([`block`]), on matrix units
//! (AMX), on 512-bit instructions for bfloat16 and bytes, or on plain instructions. Images have channels last, so that the
//! values under a row of a window are contiguous, and windows are multiplied where they are ([`geometry`]). The operators
//! between them are loops over images with channels last.
//!
//! Errors: products of bfloat16 are exact in float32; a sum of `n` products differs from the exact one by at most `n · 2^-24`
//! of the sum of their absolute values, and the result is rounded once. Sums of bytes are exact.
//!
//! A value that is not finite may also reach neighbors of the outputs whose windows contain it, as with Winograd's algorithms:
//! the last step of a row of the window reaches into the next pixel, which is multiplied by zeros.
//!
//! In training, the gradient of the data is the same product with flipped weights ([`data_gradient`]); the gradient of the weights
//! has a product of its own (`weight_gradient`).
//!
//! Read next: [`block`] for the product, [`geometry`] for convolutions, [`layer`] for the kernel.

mod add;
mod affine;
mod between;
mod block;
mod column_sums;
mod columns;
mod data_gradient;
mod depthwise;
mod finish;
#[cfg(target_arch = "x86_64")]
mod finish512;
mod flipped;
mod geometry;
mod join;
mod layer;
mod level;
mod loops;
#[cfg(target_arch = "x86_64")]
mod matrix;
mod normalization;
mod number;
mod packing;
mod pooling;
mod pooling_gradient;
mod portable;
mod problem;
mod product;
mod quantized;
mod ranges;
mod real;
mod reorder;
pub mod requests;
mod split;
mod strip;
#[cfg(test)]
mod tests;
mod unit;
#[cfg(target_arch = "x86_64")]
mod vector;
#[cfg(target_arch = "x86_64")]
mod weight_gradient;

pub use reorder::Reorder;

use crate::NnpackOptions;
use crate::layouts::channels_last;
use mxrs_op::{OpCall, PlannedKernel, TensorDesc};
use mxrs_processor::Isa;
use mxrs_types::{Layout, Result};
use unit::{Factors, Unit};

/// What the kernels of this module need to know of the backend.
#[derive(Clone, Debug)]
pub struct Context {
    /// The instruction set.
    pub isa: Isa,
    /// Largest number of threads.
    pub threads: usize,
    /// All settings.
    pub options: NnpackOptions,
}

impl Context {
    /// Whether there are kernels for training in bfloat16: those for the gradients need matrix units.
    fn trains(&self) -> bool {
        Unit::of(Factors::Bf16, self.isa).is_matrix()
    }
}

/// A function that prepares a kernel.
pub type Build<'a> = Box<dyn FnOnce() -> Result<PlannedKernel> + 'a>;

/// The `look_at` function of a submodule, which handles the calls of some operators.
type Family = for<'a> fn(&'a OpCall<'a>, &Context) -> Option<Result<Build<'a>, String>>;

const FAMILIES: &[Family] = &[
    real::look_at,
    data_gradient::look_at,
    #[cfg(target_arch = "x86_64")]
    weight_gradient::look_at,
    normalization::look_at,
    pooling_gradient::look_at,
    column_sums::look_at,
    split::look_at,
    quantized::look_at,
    between::look_at,
    pooling::look_at,
    join::look_at,
    add::look_at,
];

/// Estimated time of a call relative to a vendor library.
pub const TIMES_LIBRARY: f64 = 1.1;

/// Returns the function that prepares the kernel of a call, or the reason why there is none. Returns `None` if the call is not
/// for this module.
pub fn look_at<'a>(call: &'a OpCall<'a>, context: &Context) -> Option<Result<Build<'a>, String>> {
    if call.inputs.is_empty() || call.outputs.is_empty() {
        return None;
    }
    FAMILIES.iter().find_map(|family| family(call, context))
}

/// The layout in which a loop over elements takes a tensor: its own if it has channels last, else row-major.
fn like(desc: &TensorDesc) -> Layout {
    match <[usize; 4]>::try_from(&desc.shape[..]) {
        Ok(sizes) if desc.layout == channels_last(sizes) => desc.layout.clone(),
        _ => Layout::RowMajor,
    }
}
