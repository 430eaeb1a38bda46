//! Functions of one element, and their gradients.

use super::loops::{Binary, Unary, functions, map, zip};
use super::{Step, StepCall, StepResult, for_floats, for_numbers};
use crate::number::{Float, Number};
use mxrs_ops::elemwise::clip::ClipParams;

functions! {
    /// `max(x, 0)`; NaN stays NaN.
    Relu<T: Number>(x) = x.larger(T::ZERO);
    /// `-x`.
    Negative<T: Number>(x) = x.negative();
    /// `|x|`.
    Abs<T: Number>(x) = x.magnitude();
    /// `x²`.
    Square<T: Number>(x) = x.times(x);
    /// `√x`.
    Sqrt<T: Float>(x) = x.sqrt();
    /// `e^x`.
    Exp<T: Float>(x) = x.exp();
    /// Natural logarithm.
    Log<T: Float>(x) = x.ln();
    /// `1 / (1 + e^-x)`.
    Sigmoid<T: Float>(x) = x.sigmoid();
    /// Hyperbolic tangent.
    Tanh<T: Float>(x) = x.tanh();

    /// Gradient of ReLU, from the result of ReLU.
    ReluBack<T: Float>(g, y) = if y > T::ZERO { g } else if y.is_nan() { y } else { T::ZERO };
    /// Gradient of abs, from the argument of abs.
    AbsBack<T: Float>(g, x) = g.times(if x > T::ZERO {
        T::from_f64(1.0)
    } else if x < T::ZERO {
        T::from_f64(-1.0)
    } else {
        T::ZERO
    });
    /// Gradient of the square, from the argument of the square.
    SquareBack<T: Float>(g, x) = T::from_f64(2.0).times(g).times(x);
    /// Gradient of the square root, from the result of the square root.
    SqrtBack<T: Float>(g, y) = g.times(T::from_f64(0.5)).over(y);
    /// Gradient of sigmoid, from the result of sigmoid.
    SigmoidBack<T: Float>(g, y) = g.times(y).times(T::from_f64(1.0).minus(y));
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

/// Returns the `Step` (the function of slices) that computes a function of one element, or its gradient; `None` for
/// other operators.
pub fn step(call: &StepCall<'_>) -> Option<StepResult> {
    let level = call.level;
    let one = |run: Result<_, String>| run.map(|run| Step::of_first(1, run));
    let two = |run: Result<_, String>| run.map(|run| Step::of_first(2, run));
    Some(match call.name {
        "relu" => for_numbers!(call, 1, T => map::<T>(level, Relu)),
        "negative" => for_numbers!(call, 1, T => map::<T>(level, Negative)),
        "abs" => for_numbers!(call, 1, T => map::<T>(level, Abs)),
        "square" => for_numbers!(call, 1, T => map::<T>(level, Square)),
        "sqrt" => one(for_floats!(call, 1, T => map::<T>(level, Sqrt))),
        "exp" => one(for_floats!(call, 1, T => map::<T>(level, Exp))),
        "log" => one(for_floats!(call, 1, T => map::<T>(level, Log))),
        "sigmoid" => one(for_floats!(call, 1, T => map::<T>(level, Sigmoid))),
        "tanh" => one(for_floats!(call, 1, T => map::<T>(level, Tanh))),
        "clip" => one(for_floats!(call, 1, T => map::<T>(level, clip::<T>(call)))),
        "_backward_relu" => two(for_floats!(call, 2, T => zip::<T>(level, ReluBack))),
        "_backward_abs" => two(for_floats!(call, 2, T => zip::<T>(level, AbsBack))),
        "_backward_square" => two(for_floats!(call, 2, T => zip::<T>(level, SquareBack))),
        "_backward_sqrt" => two(for_floats!(call, 2, T => zip::<T>(level, SqrtBack))),
        "_backward_sigmoid" => two(for_floats!(call, 2, T => zip::<T>(level, SigmoidBack))),
        "_backward_tanh" => two(for_floats!(call, 2, T => zip::<T>(level, TanhBack))),
        "_backward_clip" => two(for_floats!(call, 2, T => zip::<T>(level, ClipBack(clip::<T>(call))))),
        _ => return None,
    })
}
