//! Conversions between element types, and copies.
//!
//! Conversion to a float rounds to nearest even. Conversion of a float to an integer truncates and saturates; conversion of
//! an integer to a shorter one keeps the low bits. A bool is 1 unless the value is 0.

use super::half_precision::HalfFloat;
use super::loops::{cast, cast_mut};
use super::{Run, Step, StepCall, StepResult};
use crate::level::{Level, Loop};
use half::{bf16, f16};
use mxrs_types::{DType, Float};

struct ConvertLoop<'a, A, B, F>(F, &'a [A], &'a mut [B]);

impl<A, B, F: Fn(&[A], &mut [B])> Loop for ConvertLoop<'_, A, B, F> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        (self.0)(self.1, self.2);
    }
}

/// Makes a `Run`, a function of bytes, from a conversion of slices.
fn run<A: bytemuck::Pod, B: bytemuck::Pod>(
    level: Level,
    convert: impl Fn(&[A], &mut [B]) + Copy + Send + Sync + 'static,
) -> Run {
    Box::new(move |inputs, out| level.run(ConvertLoop(convert, cast(inputs[0]), cast_mut(out))))
}

/// Makes a conversion between two types of numbers with Rust's `as`.
macro_rules! plain {
    ($level:expr, $a:ident, $to:expr) => {{
        macro_rules! to {
            ($b:ident) => {
                run::<$a, $b>($level, |x, out| out.iter_mut().zip(x).for_each(|(out, x)| *out = *x as $b))
            };
        }
        match $to {
            DType::F32 => to!(f32),
            DType::F64 => to!(f64),
            DType::U8 => to!(u8),
            DType::I8 => to!(i8),
            DType::I32 => to!(i32),
            DType::I64 => to!(i64),
            DType::F16 => run::<$a, f16>($level, |x, out| {
                out.iter_mut().zip(x).for_each(|(out, x)| *out = <f16 as Float>::from_f64(*x as f64));
            }),
            DType::BF16 => run::<$a, bf16>($level, |x, out| {
                out.iter_mut().zip(x).for_each(|(out, x)| *out = <bf16 as Float>::from_f64(*x as f64));
            }),
            DType::Bool => run::<$a, u8>($level, |x, out| {
                out.iter_mut().zip(x).for_each(|(out, x)| *out = u8::from(*x != (0 as $a)));
            }),
            _ => return None,
        }
    }};
}

/// The conversion from one dtype to another; `None` for dtypes that are not converted.
fn conversion(level: Level, from: DType, to: DType) -> Option<Run> {
    // A 16-bit float is converted to types other than f32 in two steps, first to f32, which is exact.
    let by_f32 = |widen: Run| {
        let narrow = conversion(level, DType::F32, to)?;
        Some(Box::new(move |inputs: &[&[u8]], out: &mut [u8]| in_steps(&widen, &narrow, to, inputs[0], out)) as Run)
    };
    Some(match (from, to) {
        _ if from == to && from != DType::Bool => copy(),
        (DType::F16, DType::F32) => run::<f16, f32>(level, HalfFloat::widen),
        (DType::BF16, DType::F32) => run::<bf16, f32>(level, HalfFloat::widen),
        (DType::F32, DType::F16) => run::<f32, f16>(level, HalfFloat::narrow),
        (DType::F32, DType::BF16) => run::<f32, bf16>(level, HalfFloat::narrow),
        (DType::F16, _) => return by_f32(run::<f16, f32>(level, HalfFloat::widen)),
        (DType::BF16, _) => return by_f32(run::<bf16, f32>(level, HalfFloat::widen)),
        (DType::F32, _) => plain!(level, f32, to),
        (DType::F64, _) => plain!(level, f64, to),
        (DType::U8 | DType::Bool, _) => plain!(level, u8, to),
        (DType::I8, _) => plain!(level, i8, to),
        (DType::I32, _) => plain!(level, i32, to),
        (DType::I64, _) => plain!(level, i64, to),
        _ => return None,
    })
}

/// Runs two conversions one after another: first to `f32`, then to the type `to`.
fn in_steps(widen: &Run, narrow: &Run, to: DType, from: &[u8], out: &mut [u8]) {
    const PIECE: usize = 256;
    let mut wide = [0.0f32; PIECE];
    for (from, out) in from.chunks(2 * PIECE).zip(out.chunks_mut(PIECE * to.size_of())) {
        let wide: &mut [u8] = bytemuck::cast_slice_mut(&mut wide[..from.len() / 2]);
        widen(&[from], wide);
        narrow(&[wide], out);
    }
}

/// Makes a `Run`, a function of bytes, that copies its input.
pub fn copy() -> Run {
    Box::new(|inputs, out| out.copy_from_slice(inputs[0]))
}

/// Returns the `Step` (the function of slices) of a conversion or copy; `None` for other operators.
pub fn step(call: &StepCall<'_>) -> Option<StepResult> {
    let from = call.dtype();
    match call.name {
        "_copy" => Some(Ok(Step::of_first(1, copy()))),
        "Cast" | "amp_cast" | "_backward_cast" => Some(
            conversion(call.level, from, call.output)
                .map(|run| Step::of_first(1, run))
                .ok_or_else(|| format!("no conversion from {from} to {}", call.output)),
        ),
        _ => None,
    }
}
