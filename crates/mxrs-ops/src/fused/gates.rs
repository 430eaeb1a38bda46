//! Recognizes sigmoid and its piecewise linear form, alone or as a factor of their own argument, in chains of calls.
//!
//! | calls on `x` | function |
//! |---|---|
//! | `sigmoid(x)` | `sigmoid` |
//! | `x * sigmoid(x)` | `silu` |
//! | `clip(x * a + b, 0, 1)`, or with a factor that makes the upper bound 1 | `hard_sigmoid` |
//! | `x * hard_sigmoid(x)` | `hard_swish` |
//!
//! The piecewise linear forms are written in several ways: with `hard_sigmoid`, or with scalars before and after the clip,
//! as in `x * clip(x + 3, 0, 6) / 6`.

use crate::elemwise::clip::ClipParams;
use crate::nn::activation::{ActType, ActivationParams};
use mxrs_op::Member;

/// Operators of the calls of which a sigmoid consists.
pub(super) const SIGMOIDS: &[&str] =
    &["sigmoid", "Activation", "hard_sigmoid", "clip", "_mul_scalar", "_div_scalar", "_plus_scalar"];

/// Largest difference from 1 of the upper bound of a piecewise linear sigmoid, which is a product of rounded numbers.
const ROUNDING: f64 = 1e-6;

/// A sigmoid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Sigmoid {
    /// `1 / (1 + e^-x)`.
    Smooth,
    /// `clip(slope * x + offset, 0, 1)`.
    Hard { slope: f64, offset: f64 },
}

impl Sigmoid {
    /// The function that these calls compute, one after another; `None` if it is not a sigmoid.
    pub(super) fn of(calls: &[Member<'_>]) -> Option<Self> {
        let is_smooth = |call: &Member<'_>| match call.op.name {
            "Activation" => call.params.get::<ActivationParams>().act_type == ActType::Sigmoid,
            name => name == "sigmoid",
        };
        match calls {
            [only] if is_smooth(only) => Some(Self::Smooth),
            [only] if only.op.name == "hard_sigmoid" => {
                let number = |key, default| only.attrs.get(key).map_or(Some(default), |text| text.parse().ok());
                Some(Self::Hard { slope: number("alpha", 0.2)?, offset: number("beta", 0.5)? })
            }
            _ => Self::of_scalars(calls),
        }
    }

    /// The piecewise linear sigmoid that these calls with scalars and one clip compute.
    fn of_scalars(calls: &[Member<'_>]) -> Option<Self> {
        let (mut slope, mut offset, mut high) = (1.0, 0.0, None);
        for call in calls {
            let scalar = || call.attrs.get("scalar")?.parse::<f64>().ok();
            let factor = match call.op.name {
                "_mul_scalar" => scalar()?,
                "_div_scalar" => 1.0 / scalar()?,
                "_plus_scalar" if high.is_none() => {
                    offset += scalar()?;
                    1.0
                }
                "clip" if high.is_none() => {
                    let ClipParams { a_min, a_max } = call.params.get();
                    if *a_min != 0.0 {
                        return None;
                    }
                    high = Some(f64::from(*a_max));
                    1.0
                }
                _ => return None,
            };
            (slope, offset, high) = (slope * factor, offset * factor, high.map(|high| high * factor));
        }
        let is_one = high.is_some_and(|high: f64| (high - 1.0).abs() < ROUNDING);
        is_one.then_some(Self::Hard { slope, offset })
    }

    /// The parameters of an epilogue that applies this function, or `x` times this function if `is_gate`.
    pub(super) fn attrs(self, is_gate: bool) -> Vec<(&'static str, String)> {
        let word = |alone: &str, gate: &str| if is_gate { gate.to_owned() } else { alone.to_owned() };
        match self {
            Self::Smooth => vec![("act", word("sigmoid", "silu"))],
            Self::Hard { slope, offset } => vec![
                ("act", word("hard_sigmoid", "hard_swish")),
                ("slope", slope.to_string()),
                ("offset", offset.to_string()),
            ],
        }
    }
}
