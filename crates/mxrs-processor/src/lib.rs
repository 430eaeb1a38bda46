//! The processor that runs this program: its instruction sets ([`Isa`]), further features ([`Feature`]), its identity
//! ([`Processor`]), the sizes of its caches ([`Caches`]), its peak speed ([`peak_ops`]) and the bandwidth of its memory
//! ([`peak_bandwidth`]).
//!
//! Only this crate asks the processor what it has. The crate does not know operators, kernels or their costs: a backend
//! asks which instructions there are and decides what to do with them.
//!
//! ```
//! use mxrs_processor::{Isa, Processor, peak_flops};
//! use mxrs_sync::Team;
//! use std::time::Duration;
//!
//! println!("{}", Processor::here());
//! // The widest instruction set that this processor has; kernels can also be made for narrower ones.
//! let best = Isa::best();
//! assert_eq!(Isa::available().last(), Some(&best));
//! // The speed that kernels are compared with, measured on one thread with these instructions.
//! let flops = peak_flops(&Team::serial(), Duration::from_millis(1));
//! println!("{}: {:.0} GFLOP/s", best.name(), flops / 1e9);
//! # assert!(flops > 0.0);
//! ```
//!
//! Read next: `isa.rs` for what each instruction set demands of a processor, `feature.rs` for instructions that only some
//! loops need.
#![allow(unsafe_code)]
// This crate needs unsafe code for two reasons. `peak.rs` measures loops compiled for instructions that it has detected
// on this processor. `matrix_units.rs` asks the operating system for the permission to use them, by a system call.

mod bandwidth;
mod caches;
mod feature;
mod isa;
mod limit;
mod matrix_units;
mod peak;
mod processor;

pub use bandwidth::{bandwidth_in, peak_bandwidth};
pub use caches::Caches;
pub use feature::{Feature, feature_names};
pub use isa::{Isa, Set};
pub use limit::limit;
pub use matrix_units::MatrixUnits;
pub use peak::{peak_flops, peak_ops};
pub use processor::Processor;
