//! Graph passes: steps of binding that rewrite the graph. `pipeline/mod.rs` lists them in order and runs them.
//!
//! A pass reads a state and returns a new one, or `None` if it has nothing to change. It neither logs failures nor falls
//! back: the pipeline does both. Each file says what its pass needs, what it promises, and what switches it off.

pub mod autocast;
pub mod call_pairs;
pub mod eliminate;
pub mod fuse;
pub mod gradient;
pub mod partition;
pub mod place;
pub mod recompute;
pub mod widen;
