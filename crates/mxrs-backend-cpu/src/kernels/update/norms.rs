//! Sums of squares of several arrays (`multi_sum_sq`), and whether all their elements are finite (`all_finite`,
//! `multi_all_finite`).
//!
//! The elements of all arrays are shared among the threads in units of fixed size. The results of the units are combined in
//! order, so that their bits do not depend on the number of threads.

use super::PIECE;
use super::io::{Io, Types};
use crate::kernels::rows::{Fold, LANES, SumOfSquares, fold_ahead, fold_into, join_lanes};
use crate::level::Level;
use crate::plan::{Build, Planned, row_major};
use crate::split::Tensors;
use crate::tensors::Scratch;
use mxrs_op::{KernelArgs, OpCall};
use mxrs_types::DType;
use std::ops::Range;

/// Number of elements of a unit, a multiple of [`PIECE`].
const UNIT: usize = 8 * PIECE;

/// Plans the call.
pub fn plan(call: &OpCall<'_>, level: Level) -> Planned {
    let types = Types::of(call)?;
    if call.outputs[0].dtype != DType::F32 {
        return Err(format!("{} to {}", call.op.name, call.outputs[0].dtype));
    }
    Ok(match call.op.name {
        "multi_sum_sq" => build::<SumOfSquares>(call, types, level, |sums, results| {
            results.iter_mut().zip(sums).for_each(|(result, sum)| *result = *sum as f32);
        }),
        _ => build::<Unfinite>(call, types, level, |counts, results| {
            results[0] = f32::from(u8::from(counts.iter().all(|carries| carries & SIGN == 0)));
        }),
    })
}

/// The bits of the exponent of an `f32`, and the lowest of these bits.
const EXPONENT: u32 = 0x7F80_0000;
const LOWEST: u32 = 0x0080_0000;
/// The sign bit, which is the bit above the exponent.
const SIGN: u32 = 0x8000_0000;

/// Finds infinite numbers and NaN. Their exponents consist of ones, so that adding one carries into the bit above.
#[derive(Clone, Copy)]
struct Unfinite;

impl Fold<f32> for Unfinite {
    type Part = u32;
    const EMPTY: u32 = 0;
    #[inline(always)]
    fn add(part: u32, x: f32) -> u32 {
        part | ((x.to_bits() & EXPONENT) + LOWEST)
    }
    #[inline(always)]
    fn join(a: u32, b: u32) -> u32 {
        a | b
    }
}

/// Builds a kernel that folds each array, and then computes the output from the results of the arrays.
fn build<F: Fold<f32>>(
    call: &OpCall<'_>,
    types: Types,
    level: Level,
    finish: impl Fn(&[F::Part], &mut [f32]) + Send + Sync + 'static,
) -> Build {
    let arrays = Tensors::new(call.inputs.iter().map(|desc| desc.shape.n_elements()).collect(), UNIT);
    let n_results = call.outputs[0].shape.n_elements();
    row_major(call, arrays.n_units() * size_of::<F::Part>(), move |args| {
        let io = types.io(args, level)?;
        let folded = folded::<F>(&io, args, &arrays, level);
        let mut results = vec![0.0; n_results];
        finish(&folded, &mut results);
        for (start, results) in (0..n_results).step_by(PIECE).zip(results.chunks(PIECE)) {
            // SAFETY: the threads of the team have finished, and no input is in the output's memory.
            unsafe { io.store(0, start..start + results.len(), results) };
        }
        Ok(())
    })
}

/// The result of each array.
fn folded<F: Fold<f32>>(io: &Io<'_>, args: &KernelArgs<'_>, arrays: &Tensors, level: Level) -> Vec<F::Part> {
    let parts = Scratch::<F::Part>::of(args, 0, arrays.n_units());
    arrays.in_units(args.team, &|array, unit, at| {
        // SAFETY: each unit belongs to one thread, and nothing writes the inputs.
        unsafe { parts.slice(unit..unit + 1)[0] = fold_unit::<F>(io, array, at, level) };
    });
    let of = |array: usize| {
        // SAFETY: the threads of the team have finished.
        let parts = unsafe { parts.written().slice(arrays.units(array)) };
        parts.iter().fold(F::EMPTY, |sum, part| F::join(sum, *part))
    };
    (0..arrays.len()).map(of).collect()
}

/// Folds a unit of an array.
///
/// # Safety
/// No thread may write these elements of the array.
unsafe fn fold_unit<F: Fold<f32>>(io: &Io<'_>, array: usize, at: Range<usize>, level: Level) -> F::Part {
    let mut lanes = [F::EMPTY; LANES];
    if io.is_f32(array) {
        let mut unused = [0.0; PIECE];
        // SAFETY: the caller guarantees that no thread writes these elements.
        fold_ahead::<f32, F>(level, &mut lanes, unsafe { io.read(array, at, &mut unused) });
        return join_lanes::<f32, F>(lanes);
    }
    let mut buffer = [0.0f32; PIECE];
    for start in at.clone().step_by(PIECE) {
        // SAFETY: the caller guarantees that no thread writes these elements.
        let piece = unsafe { io.read(array, start..at.end.min(start + PIECE), &mut buffer) };
        fold_into::<f32, F>(level, &mut lanes, piece);
    }
    join_lanes::<f32, F>(lanes)
}
