//! Elementwise operators, declared by tables: one line or entry for each function of one number and of two numbers.
//!
//! [`unary`] and [`binary`] hold the tables. A formula is written once, for any [`Real`] number; `real.rs` says what for.

pub mod binary;
mod binary_op;
mod real;
mod scalar_op;
mod special;
mod sym;
pub mod unary;
mod unary_op;

pub use binary::{BinaryVisitor, Form};
pub use real::Real;
pub use sym::Sym;
pub use unary::UnaryVisitor;

pub(crate) use binary_op::scatter_div;
pub(crate) use unary_op::define as unary_definition;

use mxrs_op::{Accuracy, Combines, OpParams, Precision};

/// What the gradient of a function of one number depends on, besides the gradient of its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slope {
    /// The gradient is zero.
    Zero,
    /// The gradient is a function of the argument.
    OfData,
    /// The gradient is a function of the result.
    OfOutput,
}

/// A function of one number, and the operator that applies it to every element.
pub trait UnaryFn: Copy + Default + Send + Sync + 'static {
    /// MXNet's name of the operator.
    const NAME: &'static str;
    /// Other names of the operator.
    const ALIASES: &'static [&'static str];
    /// Description in one line.
    const SUMMARY: &'static str;
    /// Name of the operator that computes the gradient.
    const BACKWARD: &'static str;
    /// Description of that operator.
    const BACKWARD_SUMMARY: &'static str;
    /// The range of the arguments in samples.
    const DOMAIN: (f64, f64);
    /// What the gradient depends on.
    const SLOPE: Slope = Slope::Zero;
    /// Whether the gradient is made of calls of operators instead of a call of [`Self::BACKWARD`].
    const IS_BY_CALLS: bool = false;
    /// Whether [`Self::integer`] computes integers. If not, they are computed in floats, truncated, and saturate.
    const IS_EXACT: bool = false;
    /// What mixed precision does with the operator.
    const PRECISION: fn(&OpParams) -> Precision = Precision::float32;
    /// What mixed precision in float16 does, if that differs from [`Self::PRECISION`].
    const PRECISION_FLOAT16: Option<fn(&OpParams) -> Precision> = None;
    /// How closely kernels agree with the formula.
    const ACCURACY: Accuracy = Accuracy::Elementwise;

    /// The value of the function.
    fn value<T: Real>(x: T) -> T;

    /// The value for an integer, of which the result keeps the low bits.
    #[inline(always)]
    fn integer(x: i64) -> i64 {
        Self::value(x as f64) as i64
    }

    /// The gradient of the argument, from the gradient `g` of the result and the argument or the result.
    #[inline(always)]
    fn back<T: Real>(g: T, saved: T) -> T {
        let _ = (g, saved);
        T::zero()
    }
}

/// Names of an operator of a tensor and a scalar.
#[derive(Clone, Copy, Debug)]
pub struct Scalar {
    /// MXNet's name.
    pub name: &'static str,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// Name of the operator that computes the gradient; `None` if the gradient is made of calls.
    pub back: Option<&'static str>,
}

/// A function of two numbers, and the operators that apply it.
pub trait BinaryFn: Copy + Default + Send + Sync + 'static {
    /// Description in one line.
    const SUMMARY: &'static str;
    /// The range of the arguments in samples.
    const DOMAIN: (f64, f64);
    /// Name and aliases of the operator of two tensors of equal shape.
    const PAIR: (&'static str, &'static [&'static str]);
    /// Name and aliases of the operator of two tensors that broadcast.
    const BROADCAST: (&'static str, &'static [&'static str]);
    /// The operator of a tensor and a scalar.
    const SCALAR: Scalar;
    /// The operator of a scalar and a tensor.
    const REVERSED: Option<Scalar> = None;
    /// Name of the operator that computes `f(scalar, data)`.
    const SWAPPED: &'static str;
    /// Whether the gradients are not zero.
    const HAS_GRADIENT: bool = false;
    /// Whether the operator of two tensors only adds them.
    const COMBINES: Combines = Combines::No;
    /// What mixed precision does with the operator of two tensors of equal shape, and with that of tensors that broadcast.
    const PRECISIONS: [fn(&OpParams) -> Precision; 2] = [Precision::widest; 2];
    /// What mixed precision in float16 does with the operators that [`Self::PRECISIONS`] is about.
    const PRECISIONS_FLOAT16: [fn(&OpParams) -> Precision; 2] = Self::PRECISIONS;
    /// Whether mixed precision in float16 computes the operator of a tensor and a scalar, and that of a scalar and a tensor, in
    /// the type of the tensor. They compute in float32 otherwise.
    const SCALARS_FOLLOW: [bool; 2] = [true; 2];

    /// The value of the function.
    fn value<T: Real>(a: T, b: T) -> T;

    /// The value for integers, of which the result keeps the low bits.
    fn integer(a: i64, b: i64) -> i64;

    /// The gradient of the left argument, from the gradient `g` of the result and both arguments.
    #[inline(always)]
    fn by_lhs<T: Real>(g: T, a: T, b: T) -> T {
        let _ = (g, a, b);
        T::zero()
    }

    /// The gradient of the right argument.
    #[inline(always)]
    fn by_rhs<T: Real>(g: T, a: T, b: T) -> T {
        let _ = (g, a, b);
        T::zero()
    }
}
