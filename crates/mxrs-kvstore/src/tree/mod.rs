//! Trees along which values of several devices are summed, made from the links between the devices.
//!
//! There is one tree for each device as root. A large array is cut into slices, and each slice is summed along the tree of
//! another device, so that all links work at the same time.

mod backtrack;
mod chain;
mod form;
mod kernighan_lin;
mod links;
mod plan;
mod postprocess;
mod score;

pub use form::{Tree, depth_for};
pub use links::{LinkFacts, Links};
pub use plan::{Plans, Send, SumPlan, TreeOptions};

#[cfg(test)]
mod tests;
