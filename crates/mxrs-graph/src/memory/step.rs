//! What the planner is given.

use crate::EntryId;
use mxrs_types::Device;

/// One step of a program: a kernel run. Steps are in execution order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanStep {
    /// Entries read, in the kernel's order.
    pub inputs: Vec<EntryId>,
    /// Entries written, in the kernel's order.
    pub outputs: Vec<EntryId>,
    /// Pairs (input position, output position) that may share memory. List only pairs of equal element count, item
    /// size and layout; the planner compares bytes and devices itself.
    pub inplace: Vec<(usize, usize)>,
    /// Pairs whose output *is* the input's memory, so that later readers of the input do no harm.
    pub identity: Vec<(usize, usize)>,
    /// Positions of inputs whose content is never read.
    pub ignored_inputs: Vec<usize>,
    /// Temporary memory of the kernel, in bytes.
    pub scratch_bytes: usize,
}

/// Where an entry's memory comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// To be planned.
    Planned,
    /// The caller's memory: inputs, parameters, given outputs.
    External,
    /// Size unknown until run time.
    Dynamic,
}

/// One entry as the planner sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanEntry {
    /// Bytes, padding of the layout included.
    pub size_bytes: usize,
    /// Where it must live.
    pub device: Device,
    /// Who provides it.
    pub kind: EntryKind,
}

/// Switches of the planner; the defaults are those of an empty environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanOptions {
    /// `MXNET_EXEC_ENABLE_INPLACE`: use the declared pairs.
    pub enable_inplace: bool,
    /// `NNVM_EXEC_MATCH_RANGE`: `Some(n)` runs exactly the documented sweep up to `n` (0: no sharing by release);
    /// `None` lets the sweep up to [`Self::DEFAULT_MATCH_RANGE`] and the offset planner compete.
    pub match_range: Option<u32>,
    /// `MXNET_EXEC_NUM_TEMP`, already capped by the number of workers: colors of the pool. More than one excludes the
    /// offset planner.
    pub num_colors: u32,
    /// `NNVM_AUTO_SEARCH_MATCH_RANGE`: `false` tries only the range itself.
    pub auto_search: bool,
    /// Whether the offset planner may compete when no range is set: its steps must run in order.
    pub allow_offset: bool,
    /// Whether the pool may compete. Without it offsets are taken whatever they cost, where they may compete at all;
    /// elsewhere the pool is what there is.
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

/// An output that has been given its input's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InplacePair {
    /// Step.
    pub step: usize,
    /// Input position.
    pub input: usize,
    /// Output position.
    pub output: usize,
    /// Whether it was declared an identity.
    pub is_identity: bool,
}
