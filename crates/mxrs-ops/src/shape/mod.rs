//! Operators that move, concatenate or reshape elements without computing.

pub mod concat;
pub mod expand_dims;
pub mod flatten;
pub mod pick;
pub mod reshape;
pub mod slice_axis;
pub mod squeeze;
pub mod transpose;
