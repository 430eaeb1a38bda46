//! Compares memory pools: our pools, glibc's malloc and mimalloc on the same calls. The allocated memory is never accessed.
//!
//! Read next: [`heap`] for the allocators, [`replay`] for traces, [`hit`] for warm allocations of one size.

pub mod heap;
pub mod hit;
pub mod replay;

pub use heap::{Choice, Heap};
