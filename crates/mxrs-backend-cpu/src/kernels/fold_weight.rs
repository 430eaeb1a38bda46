//! `_bn_fold_weight`: scales a weight channel by channel. This runs once, when a network is prepared for inference.

use crate::level::{Level, Loop};
use crate::number::Element;
use crate::plan::{Build, Planned, out_of_place};
use crate::pointwise::HalfFloat;
use crate::split::in_ranges;
use crate::tensors::{Sink, Source};
use half::bf16;
use mxrs_op::OpCall;
use mxrs_ops::fused::fold_weight::{FoldParams, NAME};
use mxrs_types::DType;

/// Number of elements that are widened at a time.
const PIECE: usize = 256;

/// Plans `_bn_fold_weight` for f32 and bfloat16 weights; gamma and the variance are f32.
pub fn plan(call: &OpCall<'_>, level: Level) -> Option<Planned> {
    if call.op.name != NAME {
        return None;
    }
    Some(match call.inputs[0].dtype {
        DType::F32 => Ok(folded::<f32>(call, level)),
        DType::BF16 => Ok(folded::<bf16>(call, level)),
        other => Err(format!("{NAME} of {other}")),
    })
}

fn folded<T: Scaled + Element>(call: &OpCall<'_>, level: Level) -> Build {
    let FoldParams { eps, fix_gamma } = *call.params.get();
    let dtype = call.outputs[0].dtype;
    let channels = call.inputs[2].shape.n_elements();
    let each = call.inputs[0].shape.n_elements() / channels.max(1);
    out_of_place(call, 0, move |args| {
        let (weight, out) = (Source::<T>::of(args, 0), Sink::<T>::of(args, 0, dtype)?);
        let (gamma, var) = (Source::<f32>::of(args, 1), Source::<f32>::of(args, 2));
        in_ranges(args.team, channels, each, &|range| {
            for c in range {
                // SAFETY: `c < channels`, the length of gamma and variance, and nothing writes an input, because the kernel
                // never runs in place (`out_of_place`). Each channel's range of the output belongs to one thread.
                unsafe {
                    let gamma = if fix_gamma { 1.0 } else { f64::from(gamma.at(c)) };
                    let scale = gamma / (f64::from(var.at(c)) + eps).sqrt();
                    out.write(c * each..(c + 1) * each, |at, to| {
                        level.run(ScaleLoop { from: weight.slice(at), to, scale });
                    });
                }
            }
        });
        Ok(())
    })
}

/// An element type that is scaled in `f64`.
trait Scaled: Copy {
    fn scaled(from: &[Self], to: &mut [Self], scale: f64);
}

impl Scaled for f32 {
    #[inline(always)]
    fn scaled(from: &[Self], to: &mut [Self], scale: f64) {
        to.iter_mut().zip(from).for_each(|(to, x)| *to = (f64::from(*x) * scale) as f32);
    }
}

impl Scaled for bf16 {
    #[inline(always)]
    fn scaled(from: &[Self], to: &mut [Self], scale: f64) {
        let mut wide = [0.0f32; PIECE];
        for (from, to) in from.chunks(PIECE).zip(to.chunks_mut(PIECE)) {
            let wide = &mut wide[..from.len()];
            Self::widen(from, wide);
            wide.iter_mut().for_each(|x| *x = (f64::from(*x) * scale) as f32);
            Self::narrow(wide, to);
        }
    }
}

struct ScaleLoop<'a, T> {
    from: &'a [T],
    to: &'a mut [T],
    scale: f64,
}

impl<T: Scaled> Loop for ScaleLoop<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        T::scaled(self.from, self.to, self.scale);
    }
}
