//! Products of multi-head attention.

pub mod interleaved;
