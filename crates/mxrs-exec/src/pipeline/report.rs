//! What a pass did.

use super::{Context, GraphState, Pass};
use crate::options::BindOptions;
use crate::planned::planned_arena_bytes;
use mxrs_graph::Graph;
use mxrs_types::{Error, Result};
use std::sync::Arc;
use std::time::Duration;

/// How a pass ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The pass rewrote the graph.
    Changed,
    /// The pass ran and left the graph as it was.
    Unchanged,
    /// The caller left the pass out ([`BindOptions::without_passes`]).
    Off,
    /// The pass failed and was skipped. The log has the error.
    Failed,
    /// The pass was undone because the graph could not be lowered with it. The log has the error.
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

/// What a pass did to a graph.
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
    /// Time the pass took.
    pub time: Duration,
    /// Kernels of the graph after the pass, lowered as it then is. Known only with [`BindOptions::trace_passes`], from
    /// `infer` on.
    pub n_kernels: Option<usize>,
    /// Bytes of its arena, if the kernels are known.
    pub arena_bytes: Option<usize>,
    /// The graph after the pass. Kept only with [`BindOptions::trace_passes`].
    pub graph: Option<Arc<Graph>>,
}

impl PassReport {
    pub(super) fn new(pass: &Pass, outcome: Outcome, n_nodes: [usize; 2], time: Duration) -> Self {
        let (name, switch) = (pass.name, pass.switch);
        Self { name, switch, outcome, n_nodes, time, n_kernels: None, arena_bytes: None, graph: None }
    }

    pub(super) fn with_graph(self, options: &BindOptions, graph: impl FnOnce() -> Arc<Graph>) -> Self {
        Self { graph: options.trace_passes.then(graph), ..self }
    }

    pub(super) fn with_figures(self, state: &GraphState, context: &Context<'_>) -> Result<Self> {
        if !context.options.trace_passes {
            return Ok(self);
        }
        // Lowering may fail here where a later pass would replace the call that has no kernel.
        let Ok((program, _)) = state.lowered(context) else { return Ok(self) };
        let n_kernels = program.steps.iter().filter(|step| !step.is_view()).count();
        let arena_bytes = planned_arena_bytes(program, &context.options.plan)?;
        Ok(Self { n_kernels: Some(n_kernels), arena_bytes: Some(arena_bytes), ..self })
    }
}
