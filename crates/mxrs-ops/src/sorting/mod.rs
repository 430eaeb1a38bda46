//! Operators that order elements.

pub mod argsort;
pub mod shuffle;
pub mod sort;
pub mod topk;
