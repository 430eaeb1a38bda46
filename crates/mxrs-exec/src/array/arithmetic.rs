//! The operators `+`, `-`, `*` and `/` of arrays and numbers, elementwise and broadcasting.

use super::Array;
use crate::imperative::Imperative;
use mxrs_ndarray::NdArray;
use mxrs_types::Result;
use std::ops::{Add, Div, Mul, Neg, Sub};
use std::panic::Location;

type OfTwo = fn(&Imperative, &NdArray, &NdArray) -> Result<NdArray>;
type WithScalar = fn(&Imperative, &NdArray, f64) -> Result<NdArray>;

impl Array {
    /// An array that holds the result `made` of an operator. If `made` is an error, the operator and the source location
    /// `site` are added to it as context.
    fn computed(&self, operator: &str, site: &Location<'_>, made: Result<NdArray>) -> Self {
        Self::new(&self.nd, made.map_err(|error| error.context(format!("computing `{operator}` at {site}"))))
    }

    #[track_caller]
    fn with(&self, other: &Self, operator: &str, call: OfTwo) -> Self {
        match (&self.made, &other.made) {
            (Ok(a), Ok(b)) => self.computed(operator, Location::caller(), call(&self.nd, a, b)),
            (Err(_), _) => self.clone(),
            (_, Err(_)) => other.clone(),
        }
    }

    #[track_caller]
    fn with_scalar(&self, scalar: f64, operator: &str, call: WithScalar) -> Self {
        match &self.made {
            Ok(a) => self.computed(operator, Location::caller(), call(&self.nd, a, scalar)),
            Err(_) => self.clone(),
        }
    }
}

/// Implements one operator for pairs of arrays, and for an array and a number, each by value and by reference.
macro_rules! operator {
    ($trait:ident $method:ident $sign:literal $array:ident $scalar:ident $reversed:ident) => {
        operator!(@pairs $trait $method $sign $array: [Array, Array] [&Array, Array] [Array, &Array] [&Array, &Array]);
        operator!(@numbers $trait $method $sign $scalar $reversed: [Array] [&Array]);
    };
    (@pairs $trait:ident $method:ident $sign:literal $call:ident: $([$left:ty, $right:ty])+) => { $(
        impl $trait<$right> for $left {
            type Output = Array;

            #[track_caller]
            fn $method(self, other: $right) -> Array {
                Array::with(&self, &other, $sign, |nd, a, b| nd.$call(a, b))
            }
        }
    )+ };
    (@numbers $trait:ident $method:ident $sign:literal $scalar:ident $reversed:ident: $([$array:ty])+) => { $(
        impl $trait<f64> for $array {
            type Output = Array;

            #[track_caller]
            fn $method(self, scalar: f64) -> Array {
                Array::with_scalar(&self, scalar, $sign, |nd, a, scalar| nd.$scalar(a, scalar))
            }
        }

        impl $trait<$array> for f64 {
            type Output = Array;

            #[track_caller]
            fn $method(self, array: $array) -> Array {
                Array::with_scalar(&array, self, $sign, |nd, a, scalar| nd.$reversed(a, scalar))
            }
        }
    )+ };
}

operator!(Add add "+" add add_scalar add_scalar);
operator!(Sub sub "-" sub sub_scalar rsub_scalar);
operator!(Mul mul "*" mul mul_scalar mul_scalar);
operator!(Div div "/" div div_scalar rdiv_scalar);

impl Neg for &Array {
    type Output = Array;

    #[track_caller]
    fn neg(self) -> Array {
        self.with_scalar(-1.0, "-", |nd, a, _| nd.negative(a))
    }
}

impl Neg for Array {
    type Output = Array;

    #[track_caller]
    fn neg(self) -> Array {
        -&self
    }
}
