//! What the timing programs in `benches/` share. Run them with `cargo bench -p mxrs-benches`.
//!
//! Knows no peer: ratios against other frameworks are made by `tests/mxnet/compare_networks.py --speed` beside
//! `mxrs score`, in one run on one machine.
//!
//! ```
//! let graph = mxrs_benches::chain(10);
//! assert_eq!(graph.n_nodes(), 11);
//! ```
//!
//! Read next: `benches/engine.rs`.

pub mod traces;

use mxrs_graph::{Graph, NameManager, Symbol, SymbolCall};

/// A chain of additions of one to the variable `x`.
///
/// # Panics
/// When the catalogue lacks `_plus_scalar`, which its own tests exclude.
pub fn chain(length: usize) -> Graph {
    let ops = mxrs_ops::catalogue();
    let op = ops.get("_plus_scalar").expect("in the catalogue");
    let mut names = NameManager::new();
    let mut x = Symbol::variable("x");
    for _ in 0..length {
        x = SymbolCall::new(op).attr("scalar", 1).input(&x).build(&mut names).expect("a well-formed call");
    }
    x.graph().expect("a well-formed graph")
}
