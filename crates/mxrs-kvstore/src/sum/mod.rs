//! Sums of arrays of one shape, element by element, in the order of additions that MXNet's stores use.

mod arithmetic;
mod rows;
mod store;
mod threads;

pub use arithmetic::{Order, SUMMED, is_summed};
pub(crate) use arithmetic::{check_dtype, sum_range};
pub(crate) use rows::{RowUnion, copy_rows, sum_rows};
pub use threads::SumThreads;

#[cfg(test)]
mod tests;
