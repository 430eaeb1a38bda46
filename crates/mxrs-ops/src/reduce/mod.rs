//! Reductions over axes.

pub mod argmax;
pub mod argmin;
pub mod count_sketch;
pub mod getnnz;
pub mod histogram;
pub mod max;
pub mod mean;
pub mod min;
pub mod norm;
pub mod products;
pub mod sum;
