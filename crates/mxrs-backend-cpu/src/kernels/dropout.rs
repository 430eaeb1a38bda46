//! Dropout and its gradient.
//!
//! Element `i` of the mask keeps its data if uniform number `i` of the call is below `1 - p`, as in the reference. Product
//! and mask are each rounded once, so results have the reference's bits on any number of threads.

use super::philox::fill_uniform;
use crate::level::Level;
use crate::number::Element;
use crate::plan::{Build, Planned, row_major};
use crate::split::{in_element_ranges, in_rows};
use crate::tensors::{Mode, PIECE, Scratch, Sink, Source};
use crate::walk::{Axes, broadcast, coalesce};
use half::{bf16, f16};
use mxrs_op::{KernelArgs, OpCall, RandomCall, View};
use mxrs_ops::nn::dropout::DropoutParams;
use mxrs_types::{DType, Error, Float};
use std::ops::Range;

/// A float type that masks can have.
trait Masked: Element {
    fn of(value: f64) -> Self;
    fn times_mask(self, mask: Self) -> Self;
}

macro_rules! masked {
    ($($t:ident: $of:expr, $product:expr;)*) => {$(
        impl Masked for $t {
            fn of(value: f64) -> Self {
                $of(value)
            }
            #[inline(always)]
            fn times_mask(self, mask: Self) -> Self {
                $product(self, mask)
            }
        }
    )*};
}
masked! {
    f32: |value| value as f32, |x, mask| x * mask;
    f64: |value| value, |x, mask| x * mask;
    // The product of two 16-bit floats is exact in f32.
    f16: <f16 as Float>::from_f64, |x: f16, mask: f16| f16::from_f32(x.to_f32() * mask.to_f32());
    bf16: <bf16 as Float>::from_f64, |x: bf16, mask: bf16| bf16::from_f32(x.to_f32() * mask.to_f32());
}

/// Plans `Dropout`, and plans `_backward_Dropout` if the call drops elements.
pub fn plan(call: &OpCall<'_>, level: Level) -> Option<Planned> {
    macro_rules! by_type {
        ($t:ident => $make:expr) => {
            match call.inputs[0].dtype {
                DType::F32 => {
                    type $t = f32;
                    Ok($make)
                }
                DType::F64 => {
                    type $t = f64;
                    Ok($make)
                }
                DType::F16 => {
                    type $t = f16;
                    Ok($make)
                }
                DType::BF16 => {
                    type $t = bf16;
                    Ok($make)
                }
                dtype => Err(format!("{} on {dtype}", call.op.name)),
            }
        };
    }
    match call.op.name {
        "Dropout" if (call.op.view)(call.params, call.is_train) == View::No => {
            Some(by_type!(T => forward::<T>(call, level)))
        }
        "Dropout" => Some(by_type!(T => keep_all::<T>(call))),
        "_backward_Dropout" => Some(by_type!(T => backward::<T>(call))),
        _ => None,
    }
}

/// The loop nest over data and a mask that may be shared along axes.
fn axes_of(call: &OpCall<'_>, mask: &[usize]) -> Axes<2> {
    let shape = &call.inputs[0].shape;
    coalesce(broadcast([shape, mask], shape))
}

/// Computes `out = x · mask`.
fn product<T: Masked>(args: &KernelArgs<'_>, axes: &Axes<2>, mask: Source<'_, T>, out: &Sink<'_, T>) {
    let x = Source::<T>::of(args, 0);
    let step = axes.last().map_or(0, |inner| inner.strides[1]);
    in_rows(args.team, axes, &|start, len, [_, from]| {
        let fill = |piece: Range<usize>, to: &mut [T]| {
            // SAFETY: rows are disjoint and each belongs to one thread. Data may be in the output's memory; then this
            // piece is read before it is written. The operator does not allow the mask in the output's memory.
            let x = unsafe { x.slice(piece.clone()) };
            if step == 0 {
                // SAFETY: the operator does not allow the mask in an output's memory, so nothing writes it.
                let mask = unsafe { mask.at(from) };
                to.iter_mut().zip(x).for_each(|(to, x)| *to = x.times_mask(mask));
            } else {
                let at = from + piece.start - start;
                // SAFETY: the operator does not allow the mask in an output's memory, so nothing writes it.
                let mask = unsafe { mask.slice(at..at + piece.len()) };
                to.iter_mut().zip(x).zip(mask).for_each(|((to, x), mask)| *to = x.times_mask(*mask));
            }
        };
        // SAFETY: rows are disjoint and each belongs to one thread; `fill` reads only its own piece of data.
        unsafe { out.write(start..start + len, fill) };
    });
}

fn backward<T: Masked>(call: &OpCall<'_>) -> Build {
    let (axes, dtype) = (axes_of(call, &call.inputs[1].shape), call.outputs[0].dtype);
    row_major(call, 0, move |args| {
        let out = Sink::<T>::of(args, 0, dtype)?;
        product(args, &axes, Source::of(args, 1), &out);
        Ok(())
    })
}

/// Builds the kernel of a call that drops no elements: it copies the data and fills the mask with ones.
fn keep_all<T: Masked>(call: &OpCall<'_>) -> Build {
    let (dtype, sizes) = (call.outputs[0].dtype, [0, 1].map(|i: usize| call.outputs[i].shape.n_elements()));
    row_major(call, 0, move |args| {
        let data = Source::<T>::of(args, 0);
        for (i, n) in sizes.into_iter().enumerate() {
            let out = Sink::<T>::of(args, i, dtype)?;
            in_element_ranges(args.team, n, &|range| {
                // SAFETY: ranges are disjoint and each belongs to one thread. Data may be in the output's memory; then
                // each piece is read before it is written.
                unsafe {
                    out.write(range, |piece, to| match i {
                        0 => to.copy_from_slice(data.slice(piece)),
                        _ => to.fill(T::of(1.0)),
                    });
                }
            });
        }
        Ok(())
    })
}

/// How a mask is computed.
#[derive(Clone, Copy)]
struct Rule<T> {
    random: RandomCall,
    /// An element is kept if its uniform number is below this value.
    keep: f32,
    /// The value of the mask for kept elements.
    scale: T,
}

impl<T: Masked> Rule<T> {
    /// Computes at most [`PIECE`] elements of the mask, starting at a multiple of 4.
    fn fill(self, level: Level, start: usize, to: &mut [T]) {
        let mut numbers = [0.0; PIECE];
        let numbers = &mut numbers[..to.len()];
        fill_uniform(level, self.random, start as u64, numbers);
        for (to, number) in to.iter_mut().zip(numbers) {
            *to = if *number < self.keep { self.scale } else { T::ZERO };
        }
    }
}

fn forward<T: Masked>(call: &OpCall<'_>, level: Level) -> Build {
    let (dtype, mask_shape) = (call.outputs[0].dtype, call.outputs[1].shape.clone());
    let keep = 1.0 - call.params.get::<DropoutParams>().p;
    let is_shared = mask_shape != call.inputs[0].shape;
    let (axes, n) = (axes_of(call, &mask_shape), mask_shape.n_elements());
    let scratch = if is_shared { n * size_of::<T>() } else { 0 };
    row_major(call, scratch, move |args| {
        let random =
            args.random.ok_or_else(|| Error::invalid("random numbers of Dropout", "none", "a seed and a number"))?;
        let rule = Rule { random, keep, scale: T::of(1.0 / f64::from(keep)) };
        let (out, mask) = (Sink::<T>::of(args, 0, dtype)?, Sink::<T>::of(args, 1, dtype)?);
        if is_shared {
            shared(args, level, rule, &axes, (&out, &mask), n);
        } else {
            of_each(args, level, rule, &out, &mask, n);
        }
        Ok(())
    })
}

/// Builds the kernel of a call whose mask has one element per element of data. It computes, stores and applies the mask
/// piece by piece.
fn of_each<T: Masked>(
    args: &KernelArgs<'_>,
    level: Level,
    rule: Rule<T>,
    out: &Sink<'_, T>,
    mask: &Sink<'_, T>,
    n: usize,
) {
    let x = Source::<T>::of(args, 0);
    in_element_ranges(args.team, n, &|range| {
        for start in range.clone().step_by(PIECE) {
            let piece = start..range.end.min(start + PIECE);
            let mut buffer = [T::ZERO; PIECE];
            let made = &mut buffer[..piece.len()];
            rule.fill(level, start, made);
            let made = &*made;
            // SAFETY: pieces are disjoint and each belongs to one thread. Data may be in the output's memory; then each
            // part is read before it is written.
            unsafe {
                mask.write(piece.clone(), |part, to| to.copy_from_slice(&made[part.start - start..][..part.len()]));
                out.write(piece, |part, to| {
                    let x = x.slice(part.clone());
                    let made = &made[part.start - start..];
                    to.iter_mut().zip(x).zip(made).for_each(|((to, x), mask)| *to = x.times_mask(*mask));
                });
            }
        }
    });
}

/// Builds the kernel of a call whose mask is shared along axes. It computes the whole mask first.
fn shared<T: Masked>(
    args: &KernelArgs<'_>,
    level: Level,
    rule: Rule<T>,
    axes: &Axes<2>,
    (out, mask): (&Sink<'_, T>, &Sink<'_, T>),
    n: usize,
) {
    let made = Scratch::<T>::of(args, 0, n);
    in_element_ranges(args.team, n, &|range| {
        for start in range.clone().step_by(PIECE) {
            let piece = start..range.end.min(start + PIECE);
            // SAFETY: pieces are disjoint, in scratch memory and in the mask, and each belongs to one thread.
            unsafe {
                let made = made.slice(piece.clone());
                rule.fill(level, start, made);
                mask.write(piece, |part, to| to.copy_from_slice(&made[part.start - start..][..part.len()]));
            }
        }
    });
    debug_assert!(mask.mode() != Mode::Copy, "a mask is in no input's memory");
    product(args, axes, made.written(), out);
}
