//! NumPy's functions of one number: the functions in `tables/unary.rs` under other names, called twins here, and functions
//! whose results are bools. Integers are computed in floats, truncated, and saturate, as in MXNet.

use crate::dtypes::{MOVABLE, NUMBERS};
use crate::families::twins;
use crate::families::unary as family;
use crate::numeric;
use crate::tables::unary::*;
use crate::tables::{UnaryFn, unary_definition};
use mxrs_op::{Gradient, InputNames, OpDef, Pointwise, Precision};
use mxrs_types::DType;

macro_rules! twins {
    ($($name:literal [$($alias:literal),*] $input:literal = $function:ident;)*) => {
        /// The operators, each with the older one whose function it is.
        pub const TWINS: &[(&str, &str)] = &[$(($name, <$function as UnaryFn>::NAME)),*];

        /// Functions that define the twins.
        pub const DEFINITIONS: &[fn() -> OpDef] =
            &[$(|| twin::<$function>($name, &[$($alias),*], &[$input])),*];
    };
}

twins! {
    "_npi_absolute" ["_npi_abs"] "x" = Abs;
    "_npi_arccos" [] "x" = ArcCos;
    "_npi_arccosh" [] "x" = ArcCosh;
    "_npi_arcsin" [] "x" = ArcSin;
    "_npi_arcsinh" [] "x" = ArcSinh;
    "_npi_arctan" [] "x" = ArcTan;
    "_npi_arctanh" [] "x" = ArcTanh;
    "_npi_cbrt" [] "x" = Cbrt;
    "_npi_ceil" [] "x" = Ceil;
    "_npi_cos" [] "x" = Cos;
    "_npi_cosh" [] "x" = Cosh;
    "_npi_degrees" [] "x" = Degrees;
    "_npi_exp" [] "x" = Exp;
    "_npi_expm1" [] "x" = ExpM1;
    "_npi_fix" [] "x" = Fix;
    "_npi_floor" [] "x" = Floor;
    "_npi_log" [] "x" = Log;
    "_npi_log10" [] "x" = Log10;
    "_npi_log1p" [] "x" = Log1p;
    "_npi_log2" [] "x" = Log2;
    "_npi_negative" [] "x" = Negative;
    "_npi_radians" [] "x" = Radians;
    "_npi_reciprocal" [] "x" = Reciprocal;
    "_npi_rint" [] "x" = Rint;
    "_npi_sign" [] "x" = Sign;
    "_npi_sin" [] "x" = Sin;
    "_npi_sinh" [] "x" = Sinh;
    "_npi_sqrt" [] "x" = Sqrt;
    "_npi_square" [] "x" = Square;
    "_npi_tan" [] "x" = Tan;
    "_npi_tanh" [] "x" = Tanh;
    "_npi_trunc" [] "x" = Trunc;
    "_npx_relu" [] "data" = Relu;
    "_npx_sigmoid" [] "data" = Sigmoid;
}

/// Defines an operator with the function, the gradient and the kernels of an older one.
fn twin<F: UnaryFn>(name: &'static str, aliases: &'static [&'static str], inputs: &'static [&'static str]) -> OpDef {
    // The older operator declares the operator of the gradient, which both share.
    OpDef {
        name,
        aliases,
        inputs: InputNames::Fixed(inputs),
        precision: Precision::float32,
        precision_float16: None,
        companions: Vec::new,
        same_as: Some(twins::of_unary),
        ..unary_definition::<F>()
    }
}

macro_rules! predicates {
    ($($define:ident $name:literal $summary:literal ($x:ident) = $value:expr;)*) => {
        $(fn $define() -> OpDef {
            OpDef {
                summary: $summary,
                dtypes: MOVABLE,
                reference: Some(|_, inputs, outputs, _| {
                    let is_true = |$x: f64| f64::from($value);
                    let values: Vec<f64> = numeric::read(&inputs[0]).into_iter().map(is_true).collect();
                    numeric::write(&mut outputs[0], &values);
                    Ok(())
                }),
                ..predicate($name)
            }
        })*

        /// Functions that define the operators whose results are bools.
        pub const PREDICATES: &[fn() -> OpDef] = &[$($define),*];
    };
}

predicates! {
    logical_not "_npi_logical_not" "whether data is 0" (x) = x == 0.0;
    is_nan "_npi_isnan" "whether data is NaN" (x) = x.is_nan();
    is_inf "_npi_isinf" "whether data is infinite" (x) = x.is_infinite();
    is_posinf "_npi_isposinf" "whether data is positive infinity" (x) = x == f64::INFINITY;
    is_neginf "_npi_isneginf" "whether data is negative infinity" (x) = x == f64::NEG_INFINITY;
    is_finite "_npi_isfinite" "whether data is finite" (x) = x.is_finite();
}

fn predicate(name: &'static str) -> OpDef {
    OpDef {
        inputs: InputNames::Fixed(&["x"]),
        inplace: &[],
        pointwise: Pointwise::No,
        gradient: Gradient::Zero,
        infer_dtype: |_, _, outputs| crate::inference::learn_dtype(&mut outputs[0], DType::Bool, "output"),
        ..family::define(name)
    }
}

/// Defines the operator `_npi_bitwise_not`: all bits of an integer inverted; of a bool, the other bool.
pub fn define_bitwise_not() -> OpDef {
    const INTEGERS: &[DType] = &[DType::I32, DType::U8, DType::I8, DType::I64, DType::Bool];
    OpDef {
        summary: "all bits inverted",
        inputs: InputNames::Fixed(&["x"]),
        dtypes: INTEGERS,
        gradient: Gradient::Zero,
        reference: Some(|_, inputs, outputs, _| {
            let is_bool = inputs[0].desc.dtype == DType::Bool;
            let inverted = |x: i64| if is_bool { i64::from(x == 0) } else { !x };
            let values: Vec<i64> = numeric::read_integers(&inputs[0]).into_iter().map(inverted).collect();
            numeric::write_integers(&mut outputs[0], &values);
            Ok(())
        }),
        ..family::define("_npi_bitwise_not")
    }
}

/// Defines the operator `_npi_around`.
pub mod around {
    use super::*;
    use mxrs_op::{Sample, op_params};

    op_params! {
        /// Parameters of `_npi_around`.
        pub struct AroundParams for "_npi_around" {
            /// Number of decimal digits to keep; negative numbers round before the decimal point.
            decimals: i32 = 0,
        }
    }

    /// Defines the operator `_npi_around`: data rounded to decimal digits, halves to even digits.
    pub fn define() -> OpDef {
        OpDef {
            summary: "data rounded to decimal digits",
            inputs: InputNames::Fixed(&["x"]),
            dtypes: NUMBERS,
            gradient: Gradient::Zero,
            reference: Some(|params, inputs, outputs, _| {
                let decimals = params.get::<AroundParams>().decimals;
                let unit = 10f64.powi(decimals.saturating_abs());
                let round = |x: f64| {
                    if decimals < 0 { (x / unit).round_ties_even() * unit } else { (x * unit).round_ties_even() / unit }
                };
                numeric::map_float(inputs, outputs, round);
                Ok(())
            }),
            samples: || {
                vec![
                    Sample::plain("whole", &[&[3, 5]]),
                    Sample::new("digits", [("decimals", "2")], &[&[2, 3]]),
                    Sample::new("tens", [("decimals", "-1")], &[&[4]]).fill(0, mxrs_op::Fill::Uniform(-99.0, 99.0)),
                    Sample::plain("empty", &[&[0, 3]]),
                ]
            },
            ..family::define("_npi_around").params::<AroundParams>()
        }
    }
}
