//! Reductions over axes.

pub mod argmax;
pub mod max;
pub mod mean;
pub mod sum;
