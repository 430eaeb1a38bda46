//! The memory planner: which entries share which bytes.
//!
//! It works on a neutral list of [steps](PlanStep) in execution order and on the sizes of entries, so it knows neither
//! graphs nor operators. What holds of every plan (the numbers are quoted by tests):
//! - P1 two entries share bytes only if their lifetimes are disjoint, or they belong to one in-place or identity chain;
//! - P2 external, dynamic and unreferenced entries are never planned;
//! - P3 a storage is at least as large as every tenant;
//! - P4 a storage has one device;
//! - P5 an input overwritten in place has no later reader (an identity's memory is not overwritten);
//! - P6 equal input gives an equal plan;
//! - P7 results are bit-identical to those without any sharing;
//! - P8 the smallest plan is never larger than without sharing;
//! - P9 it is never smaller than the peak of live bytes;
//! - P10 reuse never races when steps run in parallel: steps that list their storages as variables, and in an offset plan
//!   list as written the storages whose bytes they take over, may run in any order that those variables allow.
//!
//! Two algorithms. The *pool* reproduces what the manual says of `NNVM_EXEC_MATCH_RANGE` and `MXNET_EXEC_NUM_TEMP`: a
//! free list searched within a size range, a sweep over ranges, colors. The *offset* planner places tenants, largest
//! first (and fullest steps first, whichever packs better), into the tightest gap left by those alive at the same time
//! (Pisarchyk and Lee, arXiv:2001.03288). With nothing
//! set by the user, the smallest plan wins; with a range set, the pool does exactly what was asked.
//!
//! Steps of an offset plan must run in order, or with edges of their own; pool storages map to one engine variable each.

mod color;
mod occupied;
mod offset;
mod plan;
mod pool;
mod report;
mod step;
mod tenant;

pub use plan::{MemoryPlan, Placement, Storage, StorageId, plan_memory};
pub use report::{Algorithm, PlanReport, TriedRange};
pub use step::{EntryKind, InplacePair, PlanEntry, PlanOptions, PlanStep};

#[cfg(test)]
mod tests;
