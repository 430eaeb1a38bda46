//! Program passes: steps of binding that rewrite the lowered program. `pipeline/mod.rs` lists them in order and runs them.
//!
//! A pass reads a state and returns a new one, or `None` if it has nothing to change. It neither logs failures nor falls
//! back: the pipeline does both. Each file says what its pass needs, what it promises, and what switches it off.

pub mod add_in_place;
pub mod concat_in_place;
pub mod copy_images;
pub mod fuse_add;
pub mod pack;
mod parts;
pub mod plan_memory;
mod state;

pub use state::{Planned, ProgramState};
