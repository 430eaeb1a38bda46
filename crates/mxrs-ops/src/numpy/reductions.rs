//! NumPy's reductions: `_np_sum`, `_np_prod`, `_np_max`, `_np_min`, `_npi_mean`, `_npi_std`, `_npi_var`, `_np_any`, `_np_all`.
//!
//! `[a, b]` over axis 1 gives `[a]`; over all axes the result is a scalar. The mean of integers is float32; the sum and the
//! product of bools are int64; `any` and `all` give bools. If several elements equal the maximum or minimum of their group,
//! each gets the whole `ograd`, as in MXNet.
//!
//! Gradient: the derivative of the formula. MXNet's gradient of `_npi_std` and `_npi_var` is zero, and its product of no
//! elements is 0 instead of 1.

use crate::dtypes::{FLOATS, MOVABLE, dtype_of};
use crate::families::folded::{self, Folded, of_axes};
use crate::families::formula::Number;
use crate::families::np_reduced::{ExtremeParams, SpreadParams, SumParams, TruthParams, refuse_initial, samples};
use mxrs_op::{OpDef, Sample};
use mxrs_types::{DType, Result};

macro_rules! reductions {
    ($($type:ident($params:ident) $name:literal [$($alias:literal),*] $summary:literal, {
        $($item:item)*
    })*) => {
        $(
            struct $type;

            impl Folded for $type {
                type Params = $params;
                const NAME: &'static str = $name;
                const ALIASES: &'static [&'static str] = &[$($alias),*];
                const SUMMARY: &'static str = $summary;
                const BACKWARD: &'static str = concat!("_backward_numpy", $name);

                fn axes(params: &$params, ndim: usize) -> Result<(Vec<bool>, bool)> {
                    Ok((of_axes(&params.axis, ndim)?, params.keepdims))
                }
                fn samples() -> Vec<Sample> {
                    samples()
                }
                $($item)*
            }
        )*

        /// Functions that define the operators.
        pub const DEFINITIONS: &[fn() -> OpDef] = &[$(folded::define::<$type>),*];
    };
}

reductions! {
    Sum(SumParams) "_np_sum" [] "sum over axes", {
        const DTYPES: &'static [DType] = MOVABLE;
        const IGNORED_IN_BACKWARD: &'static [usize] = &[1];
        const INTEGERS: Option<fn(&[i64]) -> i64> = Some(|values| values.iter().fold(0, |sum: i64, x| sum.wrapping_add(*x)));
        fn check(params: &SumParams) -> Result<()> { refuse_initial(params.initial) }
        fn out_dtype(params: &SumParams, data: DType) -> DType { params.dtype_of_sum(data) }
        fn fold<T: Number>(_: &SumParams, values: &[T]) -> T { sum(values) }
    }
    Prod(SumParams) "_np_prod" ["_np_product"] "product over axes", {
        const DTYPES: &'static [DType] = MOVABLE;
        const INTEGERS: Option<fn(&[i64]) -> i64> = Some(|values| values.iter().fold(1, |all: i64, x| all.wrapping_mul(*x)));
        fn check(params: &SumParams) -> Result<()> { refuse_initial(params.initial) }
        fn out_dtype(params: &SumParams, data: DType) -> DType { params.dtype_of_sum(data) }
        fn fold<T: Number>(_: &SumParams, values: &[T]) -> T { values.iter().fold(T::of(1.0), |all, x| all * *x) }
    }
    Mean(SumParams) "_npi_mean" [] "mean over axes", {
        const DTYPES: &'static [DType] = MOVABLE;
        const IGNORED_IN_BACKWARD: &'static [usize] = &[1];
        fn check(params: &SumParams) -> Result<()> { refuse_initial(params.initial) }
        fn out_dtype(params: &SumParams, data: DType) -> DType {
            params.dtype.map_or(if data.is_float() { data } else { DType::F32 }, dtype_of)
        }
        fn fold<T: Number>(_: &SumParams, values: &[T]) -> T { mean(values) }
    }
    Max(ExtremeParams) "_np_max" ["_np_amax"] "maximum over axes", {
        const INTEGERS: Option<fn(&[i64]) -> i64> = Some(|values| values.iter().copied().max().unwrap_or(i64::MIN));
        fn check(params: &ExtremeParams) -> Result<()> { refuse_initial(params.initial) }
        fn fold<T: Number>(_: &ExtremeParams, values: &[T]) -> T {
            extreme(values, f64::NEG_INFINITY, crate::numeric::max_nan)
        }
    }
    Min(ExtremeParams) "_np_min" ["_np_amin"] "minimum over axes", {
        const INTEGERS: Option<fn(&[i64]) -> i64> = Some(|values| values.iter().copied().min().unwrap_or(i64::MAX));
        fn check(params: &ExtremeParams) -> Result<()> { refuse_initial(params.initial) }
        fn fold<T: Number>(_: &ExtremeParams, values: &[T]) -> T {
            extreme(values, f64::INFINITY, crate::numeric::min_nan)
        }
    }
    Std(SpreadParams) "_npi_std" [] "standard deviation over axes", {
        const DTYPES: &'static [DType] = FLOATS;
        const N_HIDDEN: usize = 1;
        fn out_dtype(params: &SpreadParams, data: DType) -> DType { params.dtype.map_or(data, dtype_of) }
        fn fold<T: Number>(params: &SpreadParams, values: &[T]) -> T {
            let variance = variance(params, values);
            // The derivative of the square root at 0 is infinite. A constant 0 gives these elements the gradient 0 instead.
            if variance.value() == 0.0 { T::of(0.0) } else { variance.sqrt() }
        }
    }
    Var(SpreadParams) "_npi_var" [] "variance over axes", {
        const DTYPES: &'static [DType] = FLOATS;
        const N_HIDDEN: usize = 1;
        fn out_dtype(params: &SpreadParams, data: DType) -> DType { params.dtype.map_or(data, dtype_of) }
        fn fold<T: Number>(params: &SpreadParams, values: &[T]) -> T { variance(params, values) }
    }
    Any(TruthParams) "_np_any" ["_np_sometrue"] "whether any element over axes is not 0", {
        const DTYPES: &'static [DType] = MOVABLE;
        const INPUTS: &'static [&'static str] = &["data"];
        const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "data"];
        const DIFFERENTIATED: &'static [usize] = &[];
        fn out_dtype(_: &TruthParams, _: DType) -> DType { DType::Bool }
        fn fold<T: Number>(_: &TruthParams, values: &[T]) -> T {
            T::of(f64::from(values.iter().any(|x| x.value() != 0.0)))
        }
    }
    All(TruthParams) "_np_all" [] "whether all elements over axes are not 0", {
        const DTYPES: &'static [DType] = MOVABLE;
        const INPUTS: &'static [&'static str] = &["data"];
        const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "data"];
        const DIFFERENTIATED: &'static [usize] = &[];
        fn out_dtype(_: &TruthParams, _: DType) -> DType { DType::Bool }
        fn fold<T: Number>(_: &TruthParams, values: &[T]) -> T {
            T::of(f64::from(values.iter().all(|x| x.value() != 0.0)))
        }
    }
}

fn sum<T: Number>(values: &[T]) -> T {
    values.iter().fold(T::of(0.0), |sum, x| sum + *x)
}

fn mean<T: Number>(values: &[T]) -> T {
    sum(values) / T::of(values.len() as f64)
}

fn variance<T: Number>(params: &SpreadParams, values: &[T]) -> T {
    let mean = mean(values);
    let squares = values.iter().fold(T::of(0.0), |sum, x| sum + (*x - mean) * (*x - mean));
    squares / T::of(values.len() as f64 - f64::from(params.ddof))
}

/// The extreme value, with the derivative 1 with respect to each element that has it.
fn extreme<T: Number>(values: &[T], none: f64, further: fn(f64, f64) -> f64) -> T {
    let found = values.iter().fold(none, |found, x| further(found, x.value()));
    let equal = values.iter().filter(|x| x.value() == found);
    equal.fold(T::of(found), |result, x| result + (*x - T::of(x.value())))
}
