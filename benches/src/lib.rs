//! Code shared by the timing programs: the criterion benches in `benches/`, and the programs that run peers and mxrs in
//! alternating rounds.
//!
//! # Comparing with peers
//!
//! ```text
//! cargo xtask compare bandwidth  updates, reductions, softmax and normalization, and the bandwidth of memory
//! cargo xtask compare engine   MXNet 1.9.1's engine (its wheel's C interface) and ours; also rayon and a static graph
//! cargo xtask compare gemm     products of matrices: ours, OpenBLAS's and oneDNN's
//! cargo xtask compare kvstore  MXNet 1.9.1's key-value stores and ours on the gradients of a network
//! cargo xtask compare memory   networks in MXNet 1.9.1 and mxrs: bytes planned, bytes resident; recomputation
//! cargo xtask compare operators  single operators in mxrs, MXNet 1.9.1 and PyTorch, with and without gradients
//! cargo xtask compare score    networks in mxrs, MXNet, OpenVINO, ONNX Runtime, MNN, ncnn, PyTorch, tract and Candle
//! cargo xtask compare storage  our pools, glibc's malloc and mimalloc on the same traces
//! cargo xtask compare team     our team, OpenMP (libgomp) and rayon on loops of a few microseconds
//! ```
//!
//! Each command builds one program of `src/bin` in release mode and runs it. The programs have these rules in common:
//!
//! - Speed is a ratio within one run. The contestants run in alternating rounds ([`rounds`]), so that other load on the
//!   machine affects all of them. A ratio is the median of the ratios of neighboring rounds ([`summary`]). The spread next
//!   to it is half the distance between the quartiles.
//! - A peer that is not installed is skipped and listed as "not measured", with the flag that gives its path. The exit
//!   code reports only whether something failed; no program judges a number.
//! - The table goes to stdout (`--format json` prints the same as JSON), progress to stderr. `--seconds` is the time to
//!   spend, `--pin` ties threads to CPUs.
//!
//! `compare score` and `compare operators` install their peers from PyPI into the same virtual environments below cargo's
//! target folder, or below `--cache`; the first run needs some gigabytes for PyTorch. Some uses:
//!
//! ```text
//! cargo xtask compare score --peer mxrs,openvino,mnn,ncnn    some peers, the networks of MXNet's performance page
//! cargo xtask compare score --onnx --onednn                  networks as PyTorch exports them; mxrs built with oneDNN
//! cargo xtask compare score --onnx --network mobilenet-v2 --batch-size 1 --keep files    one of them; its files are kept
//! cargo xtask compare score --onnx --isa avx2                as on a processor without AVX-512, where peers have a switch
//! cargo xtask compare gemm --dtype bfloat16                  products whose right matrix is packed once, like weights
//! cargo xtask compare gemm --shape attention,dense           the products whose names contain a word
//! cargo xtask compare operators --filter softmax,random      the operators whose names or families contain a word
//! ```
//!
//! The networks of `--onnx` have random weights. A library whose outputs differ from PyTorch's has no speed in the report.
//!
//! The criterion benches do not measure peers. Run them with `cargo bench -p mxrs-benches`.
//!
//! ```
//! let graph = mxrs_benches::chain(10);
//! assert_eq!(graph.n_nodes(), 11);
//! ```
//!
//! Read next: [`engine`], `src/bin/compare_engine.rs`, `benches/engine.rs`.

// Unsafe code is needed for three reasons only: peers are called through C interfaces; the counting allocator implements
// `GlobalAlloc`; libc reports processor time, sets the CPUs of a thread, and starts, stops and continues child processes.
#![allow(unsafe_code)]

pub mod bandwidth;
pub mod counting;
pub mod engine;
pub mod gemm;
pub mod kvstore;
pub mod machine;
pub mod memory;
pub mod operators;
pub mod planning;
pub mod report;
pub mod rounds;
pub mod score;
pub mod storage;
pub mod summary;
pub mod team;
pub mod traces;

use mxrs_graph::{Graph, NameManager, Symbol, SymbolCall};

/// A graph that adds one to the variable `x`, `length` times in a row.
///
/// # Panics
/// Panics if the catalog lacks `_plus_scalar`, which its own tests exclude.
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
