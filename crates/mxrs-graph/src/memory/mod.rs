//! The memory planner: decides which entries share memory.
//!
//! The planner works on a neutral list of [steps](PlanStep) in execution order and on the sizes of entries, so the
//! planner does not know graphs or operators. A *tenant* is what needs one piece of memory: an entry, a chain of
//! entries that share memory in place, or the scratch memory of one step. A *storage* is a piece of memory that tenants
//! use one after another. Invariants of every plan (tests cite the numbers):
//! - P1 two entries share bytes only if their lifetimes are disjoint, or they belong to one in-place or identity chain;
//! - P2 external, dynamic and unreferenced entries are not planned;
//! - P3 a storage is at least as large as each of its tenants;
//! - P4 a storage has one device;
//! - P5 an input that is overwritten in place has no later reader (an identity does not overwrite);
//! - P6 equal input gives an equal plan;
//! - P7 results are bit-identical to those without any sharing;
//! - P8 the smallest plan is never larger than a plan without sharing;
//! - P9 no plan is smaller than the largest number of bytes alive at one step;
//! - P10 reuse causes no race if steps run in parallel: steps that list their storages as variables may run in any order
//!   that these variables allow. In an offset plan, a step must also list as written the storages whose bytes it takes over.
//!
//! There are two algorithms. The *pool* reproduces what the manual says about `NNVM_EXEC_MATCH_RANGE` and
//! `MXNET_EXEC_NUM_TEMP`: it searches a free list within a size range, tries several ranges, and colors the steps. The
//! *offset* planner places each tenant into the tightest gap between the tenants alive at the same time. It tries two
//! orders, largest tenants first and tenants of the fullest steps (those with the most live bytes) first, and keeps the
//! better result (Pisarchyk and Lee, arXiv:2001.03288). If the user sets nothing, the smallest plan wins; if a range is
//! set, the pool does exactly what was requested.
//!
//! Steps of an offset plan must run in order, or with additional dependencies; each storage of the pool corresponds to
//! one engine variable.

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
