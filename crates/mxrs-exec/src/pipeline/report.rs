//! Reports about passes.

use super::{Context, GraphState, Pass};
use crate::options::BindOptions;
use crate::program::Program;
use crate::program_passes::ProgramState;
use crate::program_passes::plan_memory::{arena_bytes, plan};
use mxrs_graph::{Graph, MemoryPlan, PlanOptions};
use mxrs_types::{Error, Result};
use std::sync::Arc;
use std::time::Duration;

/// How a pass ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The pass rewrote the graph or the program, or planned a part of it.
    Changed,
    /// The pass ran and left everything as it was.
    Unchanged,
    /// The caller left the pass out ([`BindOptions::without_passes`]).
    Off,
    /// The pass failed and was skipped. The log has the error.
    Failed,
    /// The pass was undone because binding failed with it. The log has the error.
    Undone,
}

impl Outcome {
    /// Logs the error of an optional pass.
    pub(super) fn failed(name: &str, error: &Error) -> Self {
        tracing::warn!(%error, "pass `{name}` failed and is skipped");
        Self::Failed
    }

    /// The word that tables print.
    pub fn word(self) -> &'static str {
        match self {
            Self::Changed => "changed",
            Self::Unchanged => "unchanged",
            Self::Off => "off",
            Self::Failed => "failed",
            Self::Undone => "undone",
        }
    }
}

/// What a pass did to a graph or a program.
#[derive(Clone, Debug)]
pub struct PassReport {
    /// Name of the pass.
    pub name: &'static str,
    /// The setting that switches the pass.
    pub switch: &'static str,
    /// How the pass ended.
    pub outcome: Outcome,
    /// Nodes before and after the pass.
    pub n_nodes: [usize; 2],
    /// Time that the pass took.
    pub time: Duration,
    /// Number of steps of the program after the pass, including views. Known only with [`BindOptions::trace_passes`], from
    /// `infer` on. For a pass before `lower`, the program is the one that the graph would become if it were lowered right
    /// after this pass.
    pub n_steps: Option<usize>,
    /// Number of the [steps](Self::n_steps) that run a kernel.
    pub n_kernels: Option<usize>,
    /// Bytes of the arena of the program whose [steps](Self::n_steps) are counted, without the effect of later passes.
    pub arena_bytes: Option<usize>,
    /// Bytes of the packed constants of the program whose [steps](Self::n_steps) are counted. `None` for passes before
    /// `pack`.
    pub packed_bytes: Option<usize>,
    /// The graph after the pass. Kept only with [`BindOptions::trace_passes`].
    pub graph: Option<Arc<Graph>>,
}

impl PassReport {
    pub(super) fn new(pass: &Pass, outcome: Outcome, n_nodes: [usize; 2], time: Duration) -> Self {
        Self {
            name: pass.name,
            switch: pass.switch,
            outcome,
            n_nodes,
            time,
            n_steps: None,
            n_kernels: None,
            arena_bytes: None,
            packed_bytes: None,
            graph: None,
        }
    }

    pub(super) fn with_graph(self, options: &BindOptions, graph: impl FnOnce() -> Arc<Graph>) -> Self {
        Self { graph: options.trace_passes.then(graph), ..self }
    }

    /// Adds the numbers of steps and bytes of the program that the graph would become if it were lowered now.
    pub(super) fn with_lowered(self, state: &GraphState, context: &Context<'_>) -> Result<Self> {
        if !context.options.trace_passes {
            return Ok(self);
        }
        // Lowering may fail at this point because of a call without a kernel, even if a later pass replaces that call.
        // Then no numbers are added.
        let Ok((program, _)) = state.lowered(context) else { return Ok(self) };
        Ok(self.with_figures(program, &plan(program, &quiet(context.options))?))
    }

    /// Adds the numbers of steps and bytes of a program.
    pub(super) fn with_program(self, state: &ProgramState, options: &BindOptions) -> Result<Self> {
        if !options.trace_passes {
            return Ok(self);
        }
        let packed_bytes = state.preparation.as_ref().map(|preparation| preparation.bytes(&state.program));
        let report = Self { packed_bytes, ..self };
        Ok(report.with_figures(&state.program, state.plan(&quiet(options))?))
    }

    fn with_figures(self, program: &Program, plan: &MemoryPlan) -> Self {
        let n_kernels = program.steps.iter().filter(|step| !step.is_view()).count();
        let (n_steps, arena_bytes) = (Some(program.steps.len()), Some(arena_bytes(plan)));
        Self { n_steps, n_kernels: Some(n_kernels), arena_bytes, ..self }
    }
}

fn quiet(options: &BindOptions) -> PlanOptions {
    PlanOptions { verbose: false, ..options.plan }
}
