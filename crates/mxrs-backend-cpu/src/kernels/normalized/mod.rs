//! Layer, instance and group normalization, and their gradients, of groups whose elements are neighbors.
//!
//! A group is read from memory once: for its mean. The other passes over it find it in a cache. Up to 1024 elements are
//! added up in the type of the computation, in 32 partial sums; further sums are made in `f64`. The gradients of gamma and
//! beta are added up in an order that depends only on the shape, so that results have the same bits on any number of
//! threads.

mod backward;
mod forward;

use crate::chunks::{CHUNK, each};
use crate::kernels::batch_norm::join;
use crate::kernels::rows::{LANES, Sum, add_pairs_to_lanes, join_lanes};
use crate::level::Level;
use crate::number::{Element, Float, Number, Stored};
use crate::plan::{Planned, row_major};
use crate::stream::{AHEAD, prefetch_at};
use crate::tensors::Source;
use half::{bf16, f16};
use mxrs_op::{KernelArgs, OpCall};
use mxrs_ops::norms::group_norm::GroupNormParams;
use mxrs_ops::norms::instance_norm::InstanceNormParams;
use mxrs_ops::norms::layer_norm::LayerNormParams;
use mxrs_types::{DType, Result};
use std::ops::Range;

/// A planned normalization or gradient.
#[derive(Clone, Copy)]
struct Problem {
    /// Number of groups.
    n_groups: usize,
    /// Number of elements of a group.
    size: usize,
    /// Number of elements of gamma.
    n_gamma: usize,
    /// Whether each element of a group has an element of gamma of its own. Otherwise all elements of a group share one.
    is_per_element: bool,
    eps: f64,
    /// Whether the third output is the variance, and not the square root of the variance plus `eps`.
    is_variance: bool,
    level: Level,
    dtype: DType,
}

/// Plans `LayerNorm`, `InstanceNorm`, `GroupNorm`, or a gradient of these.
pub fn plan(call: &OpCall<'_>, level: Level) -> Option<Planned> {
    let name = call.op.name.strip_prefix("_backward_");
    let (op, data) = (name.unwrap_or(call.op.name), if name.is_some() { 1 } else { 0 });
    let is_per_element = match op {
        "LayerNorm" => true,
        "InstanceNorm" | "GroupNorm" => false,
        _ => return None,
    };
    let (shape, dtype) = (&call.inputs[data].shape, call.inputs[data].dtype);
    let last = shape.ndim().saturating_sub(1);
    let gamma = if data == 0 { 1 } else { 2 };
    let (n_gamma, n_elements) = (call.inputs[gamma].shape.n_elements(), shape.n_elements());
    let (size, eps) = match op {
        "LayerNorm" => {
            let p = call.params.get::<LayerNormParams>();
            if shape.axis(i64::from(p.axis)) != Ok(last) {
                return Some(Err(format!("no kernel for LayerNorm along axis {} of {shape}", p.axis)));
            }
            (shape[last], p.eps)
        }
        "InstanceNorm" => (shape[2..].iter().product(), call.params.get::<InstanceNormParams>().eps),
        _ => (shape[1..].iter().product::<usize>() / n_gamma.max(1), call.params.get::<GroupNormParams>().eps),
    };
    if let Some(other) = call.inputs.iter().chain(call.outputs).find(|desc| desc.dtype != dtype) {
        return Some(Err(format!("{} of {dtype} with {}", call.op.name, other.dtype)));
    }
    if n_elements == 0 {
        return Some(Err("there are no elements to normalize".into()));
    }
    let (eps, is_variance) = (f64::from(eps), op == "InstanceNorm");
    let n_groups = n_elements / size;
    let p = Problem { n_groups, size, n_gamma, is_per_element, eps, is_variance, level, dtype };
    let run: Run = match (dtype, data) {
        (DType::F32, 0) => forward::run::<f32>,
        (DType::F64, 0) => forward::run::<f64>,
        (DType::F16, 0) => forward::run::<f16>,
        (DType::BF16, 0) => forward::run::<bf16>,
        (DType::F32, _) => backward::run::<f32>,
        (DType::F64, _) => backward::run::<f64>,
        (DType::F16, _) => backward::run::<f16>,
        (DType::BF16, _) => backward::run::<bf16>,
        _ => return Some(Err(format!("{} of {dtype}", call.op.name))),
    };
    let scratch_bytes = if data == 0 { 0 } else { backward::scratch_bytes(&p) };
    Some(Ok(row_major(call, scratch_bytes, move |args| run(args, &p))))
}

/// A function that runs a call.
type Run = fn(&KernelArgs<'_>, &Problem) -> Result<()>;

impl Problem {
    /// The elements of a group.
    fn group(&self, group: usize) -> Range<usize> {
        group * self.size..(group + 1) * self.size
    }
}

/// The elements of the input gamma or beta, in the type of the computation.
fn widened<I: Stored>(args: &KernelArgs<'_>, input: usize, n: usize) -> Vec<I::Wide> {
    let source = Source::<I>::of(args, input);
    // SAFETY: gamma and beta share no memory with an output: their shapes differ from those of the outputs, or the operators
    // do not allow it.
    unsafe { source.slice(0..n) }.iter().map(|x| x.wide()).collect()
}

/// Number of elements that are summed in the type of the computation before the sum is added in `f64`.
const PIECE: usize = 1024;

/// The mean of a group and the sum of squared distances from it.
struct Moments {
    mean: f64,
    squares: f64,
}

/// Computes the moments of a group piece by piece, and prefetches the elements that follow each piece.
#[inline(always)]
fn moments<I: Stored>(x: &[I]) -> Moments {
    let (mut count, mut mean, mut squares) = (0.0, 0.0, 0.0);
    for piece in x.chunks(PIECE) {
        prefetch_around(piece.as_ptr().wrapping_add(AHEAD / size_of::<I>()), piece.len());
        let n = piece.len() as f64;
        let average = I::Wide::from_f64(in_lanes(piece, piece, |sum, x, _| sum.plus(x)) / n);
        let spread = in_lanes(piece, piece, |sum, x, _| {
            let distance = x.minus(average);
            distance.mul_add(distance, sum)
        });
        join((&mut count, &mut mean, &mut squares), n, [average.widen(), spread]);
    }
    Moments { mean, squares }
}

/// Prefetches `n` elements from an address on, which may be any address.
#[inline(always)]
fn prefetch_around<T>(at: *const T, n: usize) {
    for chunk in 0..n.div_ceil(CHUNK) {
        prefetch_at::<T, CHUNK>(at.wrapping_add(chunk * CHUNK));
    }
}

/// Adds up elements of two slices of the same length by `add`, in several sums that do not depend on each other.
#[inline(always)]
fn in_lanes<I: Stored>(a: &[I], b: &[I], add: impl Fn(I::Wide, I::Wide, I::Wide) -> I::Wide) -> f64 {
    let mut sums = [I::Wide::ZERO; LANES];
    add_pairs_to_lanes(&mut sums, a, b, |sum, a, b| add(sum, a.wide(), b.wide()));
    join_lanes::<I::Wide, Sum>(each(0.0, |l| sums[l].widen()))
}
