//! Products over axes, sums and products that skip NaN, and sums of squares: `prod`, `nansum`, `nanprod`, `_square_sum`. `[a, b]`
//! over axis 1 gives `[a]`.
//!
//! Gradient: the derivative. Skipped elements have the gradient 0.
//!
//! MXNet: the same names; its `_square_sum` has a kernel only for row-sparse data. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64; integers wrap.

use crate::families::folded::{self, Folded};
use crate::families::formula::Number;
use crate::families::reduction::{self, ReduceParams};
use mxrs_op::{OpDef, Sample};
use mxrs_types::Result;

macro_rules! reductions {
    ($($type:ident $name:literal $summary:literal $integers:expr, ($values:ident) = $value:expr;)*) => {
        $(
            struct $type;

            impl Folded for $type {
                type Params = ReduceParams;
                const NAME: &'static str = $name;
                const SUMMARY: &'static str = $summary;
                const BACKWARD: &'static str = concat!("_backward_", $name);
                const INPUTS: &'static [&'static str] = &["data"];
                const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "data"];
                const IS_NUMPY: bool = false;
                const INTEGERS: Option<fn(&[i64]) -> i64> = Some($integers);

                fn axes(params: &ReduceParams, ndim: usize) -> Result<(Vec<bool>, bool)> {
                    Ok((params.reduced(ndim)?, params.keepdims))
                }
                fn fold<T: Number>(_: &ReduceParams, $values: &[T]) -> T {
                    $value
                }
                fn samples() -> Vec<Sample> {
                    (reduction::define($name).samples)()
                }
            }
        )*

        /// Functions that define the operators.
        pub const DEFINITIONS: &[fn() -> OpDef] = &[$(folded::define::<$type>),*];
    };
}

reductions! {
    Prod "prod" "product over axes"
        |values| values.iter().fold(1, |all: i64, x| all.wrapping_mul(*x)),
        (values) = values.iter().fold(T::of(1.0), |all, x| all * *x);
    NanSum "nansum" "sum over axes without NaN"
        |values| values.iter().fold(0, |sum: i64, x| sum.wrapping_add(*x)),
        (values) = numbers(values).fold(T::of(0.0), |sum, x| sum + x);
    NanProd "nanprod" "product over axes without NaN"
        |values| values.iter().fold(1, |all: i64, x| all.wrapping_mul(*x)),
        (values) = numbers(values).fold(T::of(1.0), |all, x| all * x);
    SquareSum "_square_sum" "sum of squares over axes"
        |values| values.iter().fold(0, |sum: i64, x| sum.wrapping_add(x.wrapping_mul(*x))),
        (values) = values.iter().fold(T::of(0.0), |sum, x| sum + *x * *x);
}

fn numbers<T: Number>(values: &[T]) -> impl Iterator<Item = T> {
    values.iter().copied().filter(|x| !x.value().is_nan())
}
