//! Texts of attribute values, in MXNet's spelling.

use super::{ActType, DropoutMode, Normalization, PoolConvention, PoolType};
use mxrs_op::param::Choice;

/// An attribute value that can be written in Python's spelling.
pub(super) trait Value {
    fn text(&self) -> String;
}

macro_rules! numbers {
    ($($number:ty)+) => { $(
        impl Value for $number {
            fn text(&self) -> String {
                self.to_string()
            }
        }
    )+ };
}
numbers!(u32 i32 i64 usize f32 f64);

impl Value for bool {
    fn text(&self) -> String {
        if *self { "True" } else { "False" }.to_owned()
    }
}

macro_rules! words {
    ($($choice:ty)+) => { $(
        impl Value for $choice {
            fn text(&self) -> String {
                self.to_word().to_owned()
            }
        }
    )+ };
}
words!(ActType DropoutMode Normalization PoolConvention PoolType);

fn tuple<T: Value>(items: &[T]) -> String {
    match items {
        [one] => format!("({},)", one.text()),
        many => format!("({})", many.iter().map(T::text).collect::<Vec<_>>().join(", ")),
    }
}

impl<const N: usize> Value for [usize; N] {
    fn text(&self) -> String {
        tuple(self)
    }
}

impl Value for Vec<i64> {
    fn text(&self) -> String {
        tuple(self)
    }
}

impl Value for Vec<usize> {
    fn text(&self) -> String {
        tuple(self)
    }
}
