//! Training: metrics, callbacks, the module and its loop, checkpoints that training resumes from, losses.
//!
//! Read next: [`metric`] for how well a network does.

pub mod metric;
