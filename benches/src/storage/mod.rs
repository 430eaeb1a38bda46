//! Memory pools compared: our pools, glibc's malloc and mimalloc on the same calls. Nothing touches the memory.
//!
//! Read next: [`heap`] for who takes part, [`replay`] for traces, [`hit`] for the single warm call.

pub mod heap;
pub mod hit;
pub mod replay;

pub use heap::{Choice, Heap};
