//! The input of the memory planner.

use crate::EntryId;
use mxrs_types::Device;

/// One step of a program: the run of a kernel. Steps are in execution order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanStep {
    /// Entries read, in the kernel's order.
    pub inputs: Vec<EntryId>,
    /// Entries written, in the kernel's order.
    pub outputs: Vec<EntryId>,
    /// Pairs (input position, output position) that may share memory. The caller must list only pairs with equal element
    /// count, element size and layout. The planner compares sizes in bytes and devices itself.
    pub inplace: Vec<(usize, usize)>,
    /// Pairs (input position, output position) where the output *is* the input's memory, unchanged, so that later steps may
    /// still read the input.
    pub identity: Vec<(usize, usize)>,
    /// The positions of inputs whose content is never read.
    pub ignored_inputs: Vec<usize>,
    /// The kernel's scratch memory in bytes.
    pub scratch_bytes: usize,
}

/// The origin of an entry's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// The planner provides the memory.
    Planned,
    /// The caller provides the memory: inputs, parameters, given outputs.
    External,
    /// The memory is allocated at run time, because its size is unknown until then.
    Dynamic,
}

/// One entry as the planner sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanEntry {
    /// The size in bytes, including padding of the layout.
    pub size_bytes: usize,
    /// The device of the memory.
    pub device: Device,
    /// The origin of the memory.
    pub kind: EntryKind,
}

/// Options of the planner; the defaults are those of an empty environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanOptions {
    /// `MXNET_EXEC_ENABLE_INPLACE`: use the declared in-place pairs.
    pub enable_inplace: bool,
    /// `NNVM_EXEC_MATCH_RANGE`: `Some(n)` tries exactly the documented ranges up to `n` (0: no reuse of released
    /// memory); `None` tries the ranges up to [`Self::DEFAULT_MATCH_RANGE`] and the offset planner.
    pub match_range: Option<u32>,
    /// `MXNET_EXEC_NUM_TEMP`, already limited to the number of workers: the number of colors of the pool. If it exceeds
    /// 1, the offset planner is not used.
    pub num_colors: u32,
    /// `NNVM_AUTO_SEARCH_MATCH_RANGE`: whether smaller match ranges are tried too; `false` tries only [`Self::match_range`].
    pub auto_search: bool,
    /// Whether the offset planner may be used if no match range is set. The steps of its plans must run in order.
    pub allow_offset: bool,
    /// Whether the pool may be used. If not, the offset plan is chosen even if it is larger. If the offset planner may not
    /// be used either, the pool is used nevertheless.
    pub allow_pool: bool,
    /// `MXNET_MEM_PLAN_VERBOSE_LOGGING`: one log line per entry.
    pub verbose: bool,
}

impl PlanOptions {
    /// The documented default of `NNVM_EXEC_MATCH_RANGE`.
    pub const DEFAULT_MATCH_RANGE: u32 = 16;
}

impl Default for PlanOptions {
    fn default() -> Self {
        Self {
            enable_inplace: true,
            match_range: None,
            num_colors: 1,
            auto_search: true,
            allow_offset: true,
            allow_pool: true,
            verbose: false,
        }
    }
}

/// An output that takes over its input's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InplacePair {
    /// Number of the step.
    pub step: usize,
    /// Position of the input among the inputs of the step.
    pub input: usize,
    /// Position of the output among the outputs of the step.
    pub output: usize,
    /// Whether the pair was declared as an identity.
    pub is_identity: bool,
}
