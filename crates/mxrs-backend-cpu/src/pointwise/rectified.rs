//! Functions with parameters that are linear on one side: `LeakyReLU` without gamma, `hard_sigmoid`, `smooth_l1`, their
//! gradients, and the outputs of regression operators.

use super::convert::copy;
use super::loops::{Binary, Unary, map, zip};
use super::unary::Sigmoid;
use super::{Step, StepCall, StepResult, for_floats};
use crate::number::{Float, Number};
use mxrs_op::OpCall;
use mxrs_ops::elemwise::formulas::{HardSigmoidParams, SmoothL1Params};
use mxrs_ops::elemwise::leaky_relu::{LeakyReluParams, LeakyType, SELU_ALPHA, SELU_LAMBDA};

/// Whether a call has a [`Step`] in this file. The declaration of the operator does not show that: some operators are
/// pointwise only with some parameters, others are not declared pointwise.
pub fn takes(call: &OpCall<'_>) -> bool {
    match call.op.name {
        "LeakyReLU" | "_backward_LeakyReLU" => call.params.get::<LeakyReluParams>().act_type != LeakyType::PRelu,
        "hard_sigmoid" | "_backward_hard_sigmoid" | "smooth_l1" | "_backward_smooth_l1" => true,
        "LinearRegressionOutput" | "MAERegressionOutput" | "LogisticRegressionOutput" => true,
        _ => false,
    }
}

/// `x` above 0, `slope · x` elsewhere.
#[derive(Clone, Copy)]
struct Leaky<T>(T);

impl<T: Float + 'static> Unary<T> for Leaky<T> {
    #[inline(always)]
    fn at(self, x: T) -> T {
        if x > T::ZERO { x } else { self.0.times(x) }
    }
}

impl<T: Float + 'static> Binary<T> for Leaky<T> {
    #[inline(always)]
    fn at(self, g: T, x: T) -> T {
        if x > T::ZERO { g } else { self.0.times(g) }
    }
}

/// `above · x` above 0, `below · (e^x - 1)` elsewhere.
#[derive(Clone, Copy)]
struct Exponential<T> {
    above: T,
    below: T,
}

impl<T: Float + 'static> Unary<T> for Exponential<T> {
    #[inline(always)]
    fn at(self, x: T) -> T {
        if x > T::ZERO { self.above.times(x) } else { self.below.times(x.exp_m1()) }
    }
}

impl<T: Float + 'static> Binary<T> for Exponential<T> {
    #[inline(always)]
    fn at(self, g: T, x: T) -> T {
        g.times(if x > T::ZERO { self.above } else { self.below.times(x.exp()) })
    }
}

/// `x` times the probability that a number with the standard normal distribution is below `x`.
#[derive(Clone, Copy)]
struct Gelu;

impl<T: Float + 'static> Unary<T> for Gelu {
    #[inline(always)]
    fn at(self, x: T) -> T {
        x.times(x.normal_below())
    }
}

impl<T: Float + 'static> Binary<T> for Gelu {
    #[inline(always)]
    fn at(self, g: T, x: T) -> T {
        let density = T::from_f64(-0.5).times(x).times(x).exp().times(T::from_f64(1.0 / std::f64::consts::TAU.sqrt()));
        g.times(x.mul_add(density, x.normal_below()))
    }
}

/// `alpha · x + beta`, limited to 0 and 1.
#[derive(Clone, Copy)]
struct HardSigmoid<T> {
    alpha: T,
    beta: T,
}

impl<T: Float + 'static> HardSigmoid<T> {
    #[inline(always)]
    fn line(self, x: T) -> T {
        self.alpha.times(x).plus(self.beta)
    }
}

impl<T: Float + 'static> Unary<T> for HardSigmoid<T> {
    #[inline(always)]
    fn at(self, x: T) -> T {
        let y = self.line(x);
        let one = T::from_f64(1.0);
        let y = if y <= T::ZERO { T::ZERO } else { y };
        if y >= one { one } else { y }
    }
}

impl<T: Float + 'static> Binary<T> for HardSigmoid<T> {
    #[inline(always)]
    fn at(self, g: T, x: T) -> T {
        let y = self.line(x);
        let is_outside = (y <= T::ZERO) | (y >= T::from_f64(1.0));
        if is_outside { T::ZERO } else { g.times(self.alpha) }
    }
}

/// A parabola near 0, `|x|` less a constant elsewhere.
#[derive(Clone, Copy)]
struct SmoothL1<T> {
    /// The parabola is used below this magnitude.
    bound: T,
    square: T,
    half_square: T,
    less: T,
}

impl<T: Float + 'static> Unary<T> for SmoothL1<T> {
    #[inline(always)]
    fn at(self, x: T) -> T {
        let magnitude = x.magnitude();
        if magnitude < self.bound { self.half_square.times(x).times(x) } else { magnitude.minus(self.less) }
    }
}

impl<T: Float + 'static> Binary<T> for SmoothL1<T> {
    #[inline(always)]
    fn at(self, g: T, x: T) -> T {
        let sign = if x > T::ZERO { g } else { g.negative() };
        let outside = if x.is_nan() { x } else { sign };
        if x.magnitude() < self.bound { g.times(self.square.times(x)) } else { outside }
    }
}

fn smooth<T: Float>(call: &StepCall<'_>) -> SmoothL1<T> {
    let scalar = f64::from(call.params.get::<SmoothL1Params>().scalar);
    let square = scalar * scalar;
    let of = T::from_f64;
    SmoothL1 { bound: of(1.0 / square), square: of(square), half_square: of(0.5 * square), less: of(0.5 / square) }
}

fn hard<T: Float>(call: &StepCall<'_>) -> HardSigmoid<T> {
    let params: &HardSigmoidParams = call.params.get();
    HardSigmoid { alpha: T::from_f64(f64::from(params.alpha)), beta: T::from_f64(f64::from(params.beta)) }
}

fn exponential<T: Float>(above: f64, below: f64) -> Exponential<T> {
    Exponential { above: T::from_f64(above), below: T::from_f64(below) }
}

/// Returns the `Step` (the function of slices) of a function of this file or of its gradient; `None` for other operators.
pub fn step(call: &StepCall<'_>) -> Option<StepResult> {
    let level = call.level;
    let leaky = || {
        let params: &LeakyReluParams = call.params.get();
        (params.act_type, f64::from(params.slope))
    };
    let selu = (SELU_LAMBDA, SELU_LAMBDA * SELU_ALPHA);
    let (n_inputs, run) = match call.name {
        "LeakyReLU" => (
            1,
            match leaky() {
                (LeakyType::Leaky, slope) => for_floats!(call, 1, T => map::<T>(level, Leaky(T::from_f64(slope)))),
                (LeakyType::Elu, slope) => for_floats!(call, 1, T => map::<T>(level, exponential::<T>(1.0, slope))),
                (LeakyType::Selu, _) => for_floats!(call, 1, T => map::<T>(level, exponential::<T>(selu.0, selu.1))),
                (LeakyType::Gelu, _) => for_floats!(call, 1, T => map::<T>(level, Gelu)),
                (LeakyType::PRelu | LeakyType::RRelu, _) => Err("LeakyReLU whose slopes are not parameters".into()),
            },
        ),
        "_backward_LeakyReLU" => (
            2,
            match leaky() {
                (LeakyType::Leaky, slope) => for_floats!(call, 2, T => zip::<T>(level, Leaky(T::from_f64(slope)))),
                (LeakyType::Elu, slope) => for_floats!(call, 2, T => zip::<T>(level, exponential::<T>(1.0, slope))),
                (LeakyType::Selu, _) => for_floats!(call, 2, T => zip::<T>(level, exponential::<T>(selu.0, selu.1))),
                (LeakyType::Gelu, _) => for_floats!(call, 2, T => zip::<T>(level, Gelu)),
                (LeakyType::PRelu | LeakyType::RRelu, _) => Err("LeakyReLU whose slopes are not parameters".into()),
            },
        ),
        "hard_sigmoid" => (1, for_floats!(call, 1, T => map::<T>(level, hard::<T>(call)))),
        "_backward_hard_sigmoid" => (2, for_floats!(call, 2, T => zip::<T>(level, hard::<T>(call)))),
        "smooth_l1" => (1, for_floats!(call, 1, T => map::<T>(level, smooth::<T>(call)))),
        "_backward_smooth_l1" => (2, for_floats!(call, 2, T => zip::<T>(level, smooth::<T>(call)))),
        "LinearRegressionOutput" | "MAERegressionOutput" | "BlockGrad" | "make_loss" | "_copyto" => (1, Ok(copy())),
        "LogisticRegressionOutput" => (1, for_floats!(call, 1, T => map::<T>(level, Sigmoid))),
        _ => return None,
    };
    Some(run.map(|run| Step::of_first(n_inputs, run)))
}
