//! Functions of one element that `Activation` also uses, and `clip` with its gradient.

use super::loops::{Binary, Unary, functions, map, zip};
use super::{Step, StepCall, StepResult, for_floats};
use crate::number::Float;
use mxrs_ops::elemwise::clip::ClipParams;

functions! {
    /// `max(x, 0)`; NaN stays NaN.
    Relu<T: Float>(x) = x.larger(T::ZERO);
    /// `1 / (1 + e^-x)`.
    Sigmoid<T: Float>(x) = x.sigmoid();
    /// Hyperbolic tangent.
    Tanh<T: Float>(x) = x.tanh();
    /// Gradient of tanh, from the result of tanh.
    TanhBack<T: Float>(g, y) = g.times(y.negative().mul_add(y, T::from_f64(1.0)));
}

/// `x` limited to the bounds; NaN stays NaN.
#[derive(Clone, Copy)]
struct Clip<T> {
    low: T,
    high: T,
}

impl<T: Float + 'static> Unary<T> for Clip<T> {
    #[inline(always)]
    fn at(self, x: T) -> T {
        let clipped = if x < self.low { self.low } else { x };
        if x > self.high { self.high } else { clipped }
    }
}

/// Gradient of clip, from the argument of clip.
#[derive(Clone, Copy)]
struct ClipBack<T>(Clip<T>);

impl<T: Float + 'static> Binary<T> for ClipBack<T> {
    #[inline(always)]
    fn at(self, g: T, x: T) -> T {
        let inside = if x < self.0.low { T::ZERO } else { g };
        if x > self.0.high { T::ZERO } else { inside }
    }
}

fn clip<T: Float>(call: &StepCall<'_>) -> Clip<T> {
    let ClipParams { a_min, a_max } = call.params.get();
    Clip { low: T::from_f64(f64::from(*a_min)), high: T::from_f64(f64::from(*a_max)) }
}

/// Returns the `Step` (the function of slices) of `clip` or of its gradient; `None` for other operators.
pub fn step(call: &StepCall<'_>) -> Option<StepResult> {
    let level = call.level;
    let one = |run: Result<_, String>| run.map(|run| Step::of_first(1, run));
    let two = |run: Result<_, String>| run.map(|run| Step::of_first(2, run));
    Some(match call.name {
        "clip" => one(for_floats!(call, 1, T => map::<T>(level, clip::<T>(call)))),
        "_backward_clip" => two(for_floats!(call, 2, T => zip::<T>(level, ClipBack(clip::<T>(call))))),
        _ => return None,
    })
}
