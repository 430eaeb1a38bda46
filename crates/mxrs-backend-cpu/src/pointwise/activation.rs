//! `Activation` and its gradient.

use super::loops::{functions, map, zip};
use super::unary::{Relu, Sigmoid, Tanh, TanhBack};
use super::{Step, StepCall, StepResult, for_floats};
use crate::number::Float;
use mxrs_ops::nn::activation::{ActType, ActivationParams};

functions! {
    /// `ln(1 + e^x)`.
    SoftRelu<T: Float>(x) = x.larger(T::ZERO).plus(x.magnitude().negative().exp().ln_1p());
    /// `x / (1 + |x|)`.
    SoftSign<T: Float>(x) = x.over(T::from_f64(1.0).plus(x.magnitude()));
    /// Gradient of ReLU, from the result of ReLU. It multiplies by a slope of 0, which turns an infinite gradient into
    /// NaN.
    SlopeOfRelu<T: Float>(g, y) = g.times(if y > T::ZERO {
        T::from_f64(1.0)
    } else if y.is_nan() {
        y
    } else {
        T::ZERO
    });
    /// Gradient of sigmoid, from the result of sigmoid.
    SlopeOfSigmoid<T: Float>(g, y) = g.times(y.times(T::from_f64(1.0).minus(y)));
    /// Gradient of softrelu, from the result of softrelu.
    SlopeOfSoftRelu<T: Float>(g, y) = g.times(y.negative().exp_m1().negative());
    /// Gradient of softsign, from the argument of softsign.
    SlopeOfSoftSign<T: Float>(g, x) = {
        let root = T::from_f64(1.0).over(T::from_f64(1.0).plus(x.magnitude()));
        g.times(root.times(root))
    };
}

/// Returns the `Step` (the function of slices) of an activation or of its gradient; `None` for other operators.
pub fn step(call: &StepCall<'_>) -> Option<StepResult> {
    let level = call.level;
    let act_type = || call.params.get::<ActivationParams>().act_type;
    let (n_inputs, run) = match call.name {
        "Activation" => (
            1,
            match act_type() {
                ActType::Relu => for_floats!(call, 1, T => map::<T>(level, Relu)),
                ActType::Sigmoid => for_floats!(call, 1, T => map::<T>(level, Sigmoid)),
                ActType::Tanh => for_floats!(call, 1, T => map::<T>(level, Tanh)),
                ActType::SoftRelu => for_floats!(call, 1, T => map::<T>(level, SoftRelu)),
                ActType::SoftSign => for_floats!(call, 1, T => map::<T>(level, SoftSign)),
            },
        ),
        "_backward_Activation" => (
            2,
            match act_type() {
                ActType::Relu => for_floats!(call, 2, T => zip::<T>(level, SlopeOfRelu)),
                ActType::Sigmoid => for_floats!(call, 2, T => zip::<T>(level, SlopeOfSigmoid)),
                ActType::Tanh => for_floats!(call, 2, T => zip::<T>(level, TanhBack)),
                ActType::SoftRelu => for_floats!(call, 2, T => zip::<T>(level, SlopeOfSoftRelu)),
                ActType::SoftSign => for_floats!(call, 2, T => zip::<T>(level, SlopeOfSoftSign)),
            },
        ),
        _ => return None,
    };
    Some(run.map(|run| Step::of_first(n_inputs, run)))
}
