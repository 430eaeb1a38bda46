//! Functions of one element with parameters, one entry each: a name, aliases, the parameters, a summary, and the formula. The
//! gradient follows from the formula (see `families/formula`). `with float16`: mixed precision in float16 computes in the type
//! of the input.
//!
//! `_contrib_round_ste` and `_contrib_sign_ste` pass `ograd` on as it is (straight-through estimators), and
//! `_contrib_gradientmultiplier` passes it on times its scalar. `_scatter_plus_scalar` and `_scatter_minus_scalar` differ from
//! `_plus_scalar` and `_minus_scalar` only for sparse tensors, which are not built.

use crate::families::formula::{self, Emit, Formula, Number, Tensors};
use crate::families::unary;
use crate::families::with_scalar::ScalarParams;
use crate::inference::unify_all;
use crate::numeric;
use mxrs_op::param::{NoParams, Parameters};
use mxrs_op::{Accuracy, OpDef, OpParams, Precision, Sample, op_params};
use mxrs_types::{DType, PartialShape, Result, Shape};
use std::marker::PhantomData;

op_params! {
    /// Parameters of `hard_sigmoid`.
    pub struct HardSigmoidParams for "hard_sigmoid" {
        /// Slope between the bounds.
        alpha: f32 = 0.2,
        /// Value at 0.
        beta: f32 = 0.5,
    }
}

op_params! {
    /// Parameters of `smooth_l1`.
    pub struct SmoothL1Params for "smooth_l1" {
        /// The square of its inverse is where the parabola ends and the straight lines begin.
        scalar: f32 = 1.0,
    }
}

op_params! {
    /// Parameters of `_contrib_quadratic`.
    pub struct QuadraticParams for "_contrib_quadratic" {
        /// Factor of the square.
        a: f32 = 0.0,
        /// Factor of the element.
        b: f32 = 0.0,
        /// Constant.
        c: f32 = 0.0,
    }
}

op_params! {
    /// Parameters of `_npi_nan_to_num`.
    pub struct NanToNumParams for "_npi_nan_to_num" {
        /// Accepted for compatibility with MXNet; the result is always a new array.
        copy: bool = true,
        /// Replaces NaN.
        nan: f64 = 0.0,
        /// Replaces infinity; the largest number of the type if absent.
        posinf: Option<f64> = None,
        /// Replaces minus infinity; the lowest number of the type if absent.
        neginf: Option<f64> = None,
    }
}

/// The properties in which the operators that are defined here differ from each other.
trait Each: Sized + 'static {
    type Params: Parameters;
    const NAME: &'static str;
    const ALIASES: &'static [&'static str];
    const SUMMARY: &'static str;
    const BACKWARD: &'static str;
    /// Whether mixed precision in float16 computes in the type of the input.
    const FOLLOWS_IN_FLOAT16: bool;

    /// The value for an element of a tensor with this shape and type.
    fn value<T: Number>(params: &Self::Params, x: T, shape: &Shape, dtype: DType) -> T;
    /// Parameters of the samples.
    fn attrs() -> &'static [(&'static str, &'static str)];
}

struct Of<E>(PhantomData<E>);

impl<E: Each> Formula for Of<E> {
    type Params = E::Params;
    const NAME: &'static str = E::NAME;
    const ALIASES: &'static [&'static str] = E::ALIASES;
    const SUMMARY: &'static str = E::SUMMARY;
    const BACKWARD: &'static str = E::BACKWARD;
    const ACCURACY: Accuracy = Accuracy::Elementwise;
    const PRECISION_FLOAT16: Option<fn(&OpParams) -> Precision> =
        if E::FOLLOWS_IN_FLOAT16 { Some(Precision::follows) } else { None };

    fn infer_shape(_: &E::Params, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        unify_all(inputs, outputs, "data")
    }

    fn part<T: Number>(params: &E::Params, tensors: &Tensors<'_, T>, part: usize, emit: Emit<'_, T>) -> Result<()> {
        emit(0, part, E::value(params, tensors.at(0, part), &tensors.inputs[0], tensors.dtype));
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        let mut samples = unary::samples(-4.0, 4.0);
        samples.retain(|sample| sample.name != "scalar");
        samples.iter_mut().for_each(|sample| sample.attrs = E::attrs().iter().copied().collect());
        samples
    }
}

macro_rules! operators {
    ($($type:ident $name:literal [$($alias:literal),*] ($params:ident: $of:ident) $summary:literal
        $(with $option:ident)?
        on [$(($key:literal, $text:literal)),*] ($x:ident, $shape:ident, $dtype:ident) = $value:expr;)*) => {
        $(struct $type;

        impl Each for $type {
            type Params = $of;
            const NAME: &'static str = $name;
            const ALIASES: &'static [&'static str] = &[$($alias),*];
            const SUMMARY: &'static str = $summary;
            const BACKWARD: &'static str = concat!("_backward_", $name);
            const FOLLOWS_IN_FLOAT16: bool = operators!(@$($option)?);

            fn value<T: Number>($params: &$of, $x: T, $shape: &Shape, $dtype: DType) -> T {
                $value
            }
            fn attrs() -> &'static [(&'static str, &'static str)] {
                &[$(($key, $text)),*]
            }
        })*

        /// Functions that define the operators.
        pub const DEFINITIONS: &[fn() -> OpDef] = &[$(formula::define::<Of<$type>>),*];
    };
    (@) => { false };
    (@float16) => { true };
}

operators! {
    HardSigmoid "hard_sigmoid" [] (params: HardSigmoidParams) "out = min(max(alpha * data + beta, 0), 1)"
        with float16 on [("alpha", "0.3")] (x, _shape, _dtype) = {
            let y = T::of(f64::from(params.alpha)) * x + T::of(f64::from(params.beta));
            match y.value() {
                value if value <= 0.0 => T::of(0.0),
                value if value >= 1.0 => T::of(1.0),
                _ => y,
            }
        };
    SmoothL1 "smooth_l1" ["_npx_smooth_l1"] (params: SmoothL1Params)
        "out = (scalar * data)^2 / 2 next to 0, |data| - 1 / (2 * scalar^2) elsewhere"
        on [("scalar", "1.5")] (x, _shape, _dtype) = {
            let square = f64::from(params.scalar) * f64::from(params.scalar);
            // NaN takes the first branch, as in MXNet, and has the gradient NaN.
            match x.value().abs() > 1.0 / square {
                false => T::of(0.5 * square) * x * x,
                true => x.abs() - T::of(0.5 / square),
            }
        };
    Quadratic "_contrib_quadratic" [] (params: QuadraticParams) "out = a * data^2 + b * data + c"
        with float16 on [("a", "2"), ("b", "-1"), ("c", "0.5")] (x, _shape, _dtype) = {
            let [a, b, c] = [params.a, params.b, params.c].map(|factor| T::of(f64::from(factor)));
            (a * x + b) * x + c
        };
    DivSqrtDim "_contrib_div_sqrt_dim" [] (_params: NoParams) "out = data / (size of the last axis)^(1/2)"
        with float16 on [] (x, shape, _dtype) = x / T::of((shape.last().copied().unwrap_or(1) as f64).sqrt());
    GradientMultiplier "_contrib_gradientmultiplier" [] (params: ScalarParams) "out = data; the gradient is multiplied"
        with float16 on [("scalar", "0.5")] (x, _shape, _dtype) = x.apply(x.value(), params.scalar);
    RoundSte "_contrib_round_ste" ["_sparse__contrib_round_ste"] (_params: NoParams)
        "out = data rounded, with the gradient of data"
        on [] (x, _shape, _dtype) = x.apply(x.value().round(), 1.0);
    SignSte "_contrib_sign_ste" ["_sparse__contrib_sign_ste"] (_params: NoParams)
        "out = -1, 0 or 1, with the gradient of data"
        on [] (x, _shape, _dtype) = x.apply(numeric::sign(x.value()), 1.0);
    ScatterPlus "_scatter_plus_scalar" [] (params: ScalarParams) "out = data + scalar"
        with float16 on [("scalar", "3")] (x, _shape, _dtype) = x + T::of(params.scalar);
    ScatterMinus "_scatter_minus_scalar" [] (params: ScalarParams) "out = data - scalar"
        with float16 on [("scalar", "3")] (x, _shape, _dtype) = x - T::of(params.scalar);
    NanToNum "_npi_nan_to_num" [] (params: NanToNumParams) "out = data with numbers in place of NaN and infinity"
        on [("nan", "2")] (x, _shape, dtype) = {
            let lowest = numeric::lowest(dtype);
            match x.value() {
                value if value.is_nan() => T::of(params.nan),
                f64::INFINITY => T::of(params.posinf.unwrap_or(-lowest)),
                f64::NEG_INFINITY => T::of(params.neginf.unwrap_or(lowest)),
                _ => x,
            }
        };
}
