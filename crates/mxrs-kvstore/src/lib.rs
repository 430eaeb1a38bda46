//! Key-value stores.
#![allow(unsafe_code)]
mod compression;
mod key;
mod name;
mod sum;
pub mod tree;

pub use compression::{Compression, DEFAULT_THRESHOLD};
pub use key::Key;
pub use name::{Family, NAMES, StoreType};
pub use sum::{Order, SUMMED, SumThreads, is_summed};
