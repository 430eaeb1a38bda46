//! What the timing programs share: the criterion benches in `benches/`, and the programs that run peers and mxrs in
//! turn.
//!
//! # Comparing with peers
//!
//! ```text
//! cargo xtask compare engine   MXNet 1.9.1's engine (its wheel's C interface) and ours; rayon and a static graph beside
//! cargo xtask compare memory   networks in MXNet 1.9.1 and here: bytes planned, bytes resident; recomputation
//! cargo xtask compare score    inference of networks here, in MXNet, OpenVINO, ONNX Runtime, PyTorch, tract and Candle
//! cargo xtask compare storage  our pools, glibc's malloc and mimalloc on the same traces
//! cargo xtask compare team     our team, OpenMP (libgomp) and rayon on loops of a few microseconds
//! ```
//!
//! Each builds one program of `src/bin` in release and runs it. What they have in common:
//!
//! - Speed is a ratio within one run. The contestants take turns, round by round ([`rounds`]), so that whatever else the
//!   machine does strikes all of them; a ratio is the median of the ratios of neighboring rounds ([`summary`]), and the
//!   spread, half the distance of the quartiles, stands next to it.
//! - A peer that is not on the machine is listed as "not measured" with the flag that helps, and skipped. The exit code says
//!   only whether something failed: no program here judges a number.
//! - The table goes to stdout (`--format json` for the same as JSON), progress to stderr. `--seconds` is the time to spend,
//!   `--pin` ties threads to CPUs.
//!
//! The criterion benches know no peer; run them with `cargo bench -p mxrs-benches`.
//!
//! ```
//! let graph = mxrs_benches::chain(10);
//! assert_eq!(graph.n_nodes(), 11);
//! ```
//!
//! Read next: [`engine`], `src/bin/compare_engine.rs`, `benches/engine.rs`.

// Three reasons only: peers are called through C interfaces, the counting allocator implements `GlobalAlloc`, and libc is
// asked for the processor time of the process, the CPUs of a thread, and to start, stop and continue children.
#![allow(unsafe_code)]

pub mod counting;
pub mod engine;
pub mod machine;
pub mod memory;
pub mod planning;
pub mod report;
pub mod rounds;
pub mod score;
pub mod storage;
pub mod summary;
pub mod team;
pub mod traces;

use mxrs_graph::{Graph, NameManager, Symbol, SymbolCall};

/// A chain of additions of one to the variable `x`.
///
/// # Panics
/// When the catalog lacks `_plus_scalar`, which its own tests exclude.
pub fn chain(length: usize) -> Graph {
    let ops = mxrs_ops::catalog();
    let op = ops.get("_plus_scalar").expect("in the catalog");
    let mut names = NameManager::new();
    let mut x = Symbol::variable("x");
    for _ in 0..length {
        x = SymbolCall::new(op).attr("scalar", 1).input(&x).build(&mut names).expect("a well-formed call");
    }
    x.graph().expect("a well-formed graph")
}
