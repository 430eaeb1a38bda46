//! The table of functions of one number. A line declares an operator `out[i] = f(data[i])`; everything else follows from it:
//! the definition, the gradient of every order, the reference kernel, the kernel of `mxrs-backend-cpu`, the samples and the
//! row in the manual.
//!
//! A line holds: a type name, MXNet's name and aliases, a summary, the range of the samples, and the formula. Then follow
//! the gradient and options:
//!
//! - `by_data(g, x) = …` or `by_out(g, y) = …`: the gradient of data, from the gradient `g` of out and from data or out. It
//!   is one kernel, of the operator `_backward_<name>`. Without either, the gradient is zero.
//! - `with calls`: the formula of the gradient is a single operation, so it becomes a call of the operator for that
//!   operation, without an operator `_backward_<name>`.
//! - `int(x) = …`: the formula for integers, of which results keep the low bits. Without it, integers are computed in
//!   floats, truncated, and saturate.
//! - `with follows`: mixed precision computes the function in the type of its input. `with float16` and `with bfloat16`: it
//!   does so in this type only. `with special`: the function is accurate to 1e-5 only.
//!
//! A new function is one line here, a line of `mxrs-onnx/src/export/list.rs`, and a recording.

use super::{Real, Slope, UnaryFn, unary_op};
use mxrs_op::{Accuracy, OpDef, OpParams, Precision};
use std::f64::consts::{FRAC_2_SQRT_PI, LN_2, LN_10, PI};

/// A computation that is made for one function of the table.
pub trait UnaryVisitor {
    /// The result.
    type Out;
    /// Makes the computation for the function `F`.
    fn visit<F: UnaryFn>(self) -> Self::Out;
}

macro_rules! table {
    ($($type:ident $name:literal [$($alias:literal),*] $summary:literal on($low:literal, $high:literal)
        ($x:ident) = $value:expr
        $(, by_data($g:ident, $saved:ident) = $back:expr)?
        $(, by_out($og:ident, $out:ident) = $oback:expr)?
        $(, int($i:ident) = $integer:expr)?
        $(, with $option:ident)*;)*
    ) => {
        $(#[doc = concat!("`", $name, "`: ", $summary, ".")]
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $type;

        impl UnaryFn for $type {
            const NAME: &'static str = $name;
            const ALIASES: &'static [&'static str] = &[$($alias),*];
            const SUMMARY: &'static str = concat!("out = ", $summary);
            const BACKWARD: &'static str = concat!("_backward_", $name);
            const BACKWARD_SUMMARY: &'static str = concat!("gradient of ", $name);
            const DOMAIN: (f64, f64) = ($low, $high);
            $(const SLOPE: Slope = { let _ = stringify!($g); Slope::OfData };)?
            $(const SLOPE: Slope = { let _ = stringify!($og); Slope::OfOutput };)?
            $(const IS_EXACT: bool = { let _ = stringify!($i); true };)?
            $(table!(@$option);)*

            #[inline(always)]
            fn value<T: Real>($x: T) -> T {
                $value
            }
            $(#[inline(always)]
            fn integer($i: i64) -> i64 {
                $integer
            })?
            $(#[inline(always)]
            fn back<T: Real>($g: T, $saved: T) -> T {
                $back
            })?
            $(#[inline(always)]
            fn back<T: Real>($og: T, $out: T) -> T {
                $oback
            })?
        })*

        /// Functions that define the operators of the table, in its order.
        pub const DEFINITIONS: &[fn() -> OpDef] = &[$(unary_op::define::<$type>),*];

        /// Calls `visitor` with the function whose operator, or whose gradient's operator, has this name; `None` if the
        /// table has none.
        pub fn visit<V: UnaryVisitor>(name: &str, visitor: V) -> Option<V::Out> {
            match name {
                $(<$type as UnaryFn>::NAME | <$type as UnaryFn>::BACKWARD => Some(visitor.visit::<$type>()),)*
                _ => None,
            }
        }
    };
    (@follows) => { const PRECISION: fn(&OpParams) -> Precision = Precision::follows; };
    (@float16) => { const PRECISION_FLOAT16: Option<fn(&OpParams) -> Precision> = Some(Precision::follows); };
    (@bfloat16) => {
        const PRECISION: fn(&OpParams) -> Precision = Precision::follows;
        const PRECISION_FLOAT16: Option<fn(&OpParams) -> Precision> = Some(Precision::float32);
    };
    (@special) => { const ACCURACY: Accuracy = Accuracy::Special; };
    (@calls) => { const IS_BY_CALLS: bool = true; };
}

table! {
    Abs "abs" ["_sparse_abs"] "|data|" on(-4.0, 4.0) (x) = x.abs(),
        by_data(g, x) = g * x.sign(), int(x) = x.wrapping_abs(), with follows;
    Sign "sign" ["_sparse_sign"] "-1, 0 or 1" on(-4.0, 4.0) (x) = x.sign(), int(x) = x.signum(), with float16;
    Round "round" ["_sparse_round"] "data rounded, halves away from zero" on(-4.0, 4.0) (x) = x.round(), int(x) = x, with float16;
    Rint "rint" ["_sparse_rint"] "data rounded, halves down" on(-4.0, 4.0) (x) = x.rint(), int(x) = x, with float16;
    Ceil "ceil" ["_sparse_ceil"] "data rounded up" on(-4.0, 4.0) (x) = x.ceil(), int(x) = x, with float16;
    Floor "floor" ["_sparse_floor"] "data rounded down" on(-4.0, 4.0) (x) = x.floor(), int(x) = x, with float16;
    Trunc "trunc" ["_sparse_trunc"] "data rounded toward zero" on(-4.0, 4.0) (x) = x.trunc(), int(x) = x, with float16;
    Fix "fix" ["_sparse_fix"] "data rounded toward zero" on(-4.0, 4.0) (x) = x.trunc(), int(x) = x, with float16;
    Square "square" ["_sparse_square"] "data * data" on(-4.0, 4.0) (x) = x * x,
        by_data(g, x) = T::of(2.0) * g * x, int(x) = x.wrapping_mul(x), with bfloat16;
    Sqrt "sqrt" ["_sparse_sqrt"] "data^(1/2)" on(0.05, 4.0) (x) = x.sqrt(),
        by_out(g, y) = g * T::of(0.5) / y, with follows;
    Cbrt "cbrt" ["_sparse_cbrt"] "data^(1/3)" on(0.05, 4.0) (x) = x.cbrt(), by_out(g, y) = g / (T::of(3.0) * y * y), with float16;
    Rsqrt "rsqrt" ["_sparse_rsqrt"] "1 / data^(1/2)" on(0.05, 4.0) (x) = T::one() / x.sqrt(),
        by_data(g, x) = g * T::of(-0.5) / (x * x.sqrt());
    Rcbrt "rcbrt" [] "1 / data^(1/3)" on(0.05, 4.0) (x) = T::one() / x.cbrt(),
        by_data(g, x) = g * T::of(-1.0 / 3.0) / (x * x.cbrt());
    Reciprocal "reciprocal" [] "1 / data" on(0.05, 4.0) (x) = T::one() / x, by_data(g, x) = -g / (x * x);
    Exp "exp" ["_sparse_exp"] "e^data" on(-4.0, 4.0) (x) = x.exp(), by_out(g, y) = g * y, with calls;
    ExpM1 "expm1" ["_sparse_expm1"] "e^data - 1" on(-4.0, 4.0) (x) = x.exp_m1(), by_data(g, x) = g * x.exp();
    Log "log" ["_sparse_log"] "ln(data)" on(0.05, 4.0) (x) = x.ln(), by_data(g, x) = g / x, with calls;
    Log1p "log1p" ["_sparse_log1p"] "ln(1 + data)" on(-0.9, 4.0) (x) = x.ln_1p(), by_data(g, x) = g / (T::one() + x);
    Log2 "log2" ["_sparse_log2"] "log2(data)" on(0.05, 4.0) (x) = x.log2(), by_data(g, x) = g / (x * T::of(LN_2));
    Log10 "log10" ["_sparse_log10"] "log10(data)" on(0.05, 4.0) (x) = x.log10(), by_data(g, x) = g / (x * T::of(LN_10));
    Sin "sin" ["_sparse_sin"] "sin(data)" on(-4.0, 4.0) (x) = x.sin(), by_data(g, x) = g * x.cos(), with float16;
    Cos "cos" ["_sparse_cos"] "cos(data)" on(-4.0, 4.0) (x) = x.cos(), by_data(g, x) = -g * x.sin(), with float16;
    Tan "tan" ["_sparse_tan"] "tan(data)" on(-1.4, 1.4) (x) = x.tan(), by_out(g, y) = g * (y * y + T::one());
    ArcSin "arcsin" ["_sparse_arcsin"] "arcsin(data)" on(-0.9, 0.9) (x) = x.asin(),
        by_data(g, x) = g / ((T::one() - x) * (T::one() + x)).sqrt();
    ArcCos "arccos" ["_sparse_arccos"] "arccos(data)" on(-0.9, 0.9) (x) = x.acos(),
        by_data(g, x) = -g / ((T::one() - x) * (T::one() + x)).sqrt();
    ArcTan "arctan" ["_sparse_arctan"] "arctan(data)" on(-4.0, 4.0) (x) = x.atan(),
        by_data(g, x) = g / (x * x + T::one()), with float16;
    Sinh "sinh" ["_sparse_sinh"] "sinh(data)" on(-4.0, 4.0) (x) = x.sinh(), by_data(g, x) = g * x.cosh();
    Cosh "cosh" ["_sparse_cosh"] "cosh(data)" on(-4.0, 4.0) (x) = x.cosh(), by_data(g, x) = g * x.sinh();
    Tanh "tanh" ["_sparse_tanh"] "tanh(data)" on(-4.0, 4.0) (x) = x.tanh(),
        by_out(g, y) = g * ((T::one() - y) * (T::one() + y)), with follows;
    ArcSinh "arcsinh" ["_sparse_arcsinh"] "arcsinh(data)" on(-4.0, 4.0) (x) = x.asinh(),
        by_data(g, x) = g / x.hypot(T::one()), with float16;
    ArcCosh "arccosh" ["_sparse_arccosh"] "arccosh(data)" on(1.1, 4.0) (x) = x.acosh(),
        by_data(g, x) = g / ((x - T::one()) * (x + T::one())).sqrt(), with float16;
    ArcTanh "arctanh" ["_sparse_arctanh"] "arctanh(data)" on(-0.9, 0.9) (x) = x.atanh(),
        by_data(g, x) = g / ((T::one() - x) * (T::one() + x));
    Degrees "degrees" ["_sparse_degrees"] "data * 180 / pi" on(-4.0, 4.0) (x) = x * T::of(180.0 / PI),
        by_data(g, _x) = g * T::of(180.0 / PI), with calls, with float16;
    Radians "radians" ["_sparse_radians"] "data * pi / 180" on(-4.0, 4.0) (x) = x * T::of(PI / 180.0),
        by_data(g, _x) = g * T::of(PI / 180.0), with calls, with float16;
    Negative "negative" ["_sparse_negative"] "-data" on(-4.0, 4.0) (x) = -x,
        by_data(g, _x) = -g, int(x) = x.wrapping_neg(), with calls, with float16;
    Relu "relu" ["_sparse_relu"] "max(data, 0)" on(-4.0, 4.0) (x) = x.larger(T::zero()),
        by_out(g, y) = y.exceeds(T::zero()).choose(g, T::zero().or_nan_of(y)), int(x) = x.max(0), with follows;
    Sigmoid "sigmoid" ["_sparse_sigmoid"] "1 / (1 + e^-data)" on(-4.0, 4.0) (x) = x.sigmoid(),
        by_out(g, y) = g * y * (T::one() - y), with float16;
    Softsign "softsign" [] "data / (1 + |data|)" on(-4.0, 4.0) (x) = x / (T::one() + x.abs()),
        by_data(g, x) = g / (T::one() + x.abs()).squared(), with float16;
    Erf "erf" ["_npx_erf"] "the error function of data" on(-3.0, 3.0) (x) = x.erf(),
        by_data(g, x) = g * T::of(FRAC_2_SQRT_PI) * (-(x * x)).exp(), with special, with float16;
    ErfInv "erfinv" ["_npx_erfinv"] "the inverse of erf" on(-0.9, 0.9) (x) = x.erf_inv(),
        by_out(g, y) = g * T::of(1.0 / FRAC_2_SQRT_PI) * (y * y).exp(), with special;
    Gamma "gamma" ["_npx_gamma", "_sparse_gamma"] "the gamma function of data" on(0.5, 4.0) (x) = x.gamma(),
        by_data(g, x) = g * x.gamma() * x.digamma(), with special;
    GammaLn "gammaln" ["_npx_gammaln", "_sparse_gammaln"] "ln |gamma(data)|" on(0.5, 4.0) (x) = x.ln_gamma(),
        by_data(g, x) = g * x.digamma(), with special;
    LogicalNot "logical_not" [] "1 where data is 0, else 0" on(-4.0, 4.0) (x) = x.not(), int(x) = i64::from(x == 0), with float16;
}
