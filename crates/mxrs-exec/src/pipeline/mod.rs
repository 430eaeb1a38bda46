//! The order in which a graph is bound: [`PASSES`] lists every graph pass, and [`lower_graph`] runs them.
//!
//! Passes before `infer` see the graph as the caller gave it; their result decides which arrays are bound. The passes after
//! it see shapes and types, and `lower` makes the program that the program passes then improve ([`crate::planned`]).
//!
//! There is one policy of falling back. An optional pass that fails is logged and skipped. If a pass that is needed fails,
//! or lowering does, the last optional pass that changed the graph is undone, and binding resumes behind it, without it.
//! So the passes are undone from the last to the first, and the error is returned if none is left.

mod report;
mod state;

pub use report::{Outcome, PassReport};
pub use state::{Context, ForwardGraph, GraphState, LoweredGraph, Typed, Wanted};

use crate::bind::Known;
use crate::graph_passes::{autocast, call_pairs, eliminate, fuse, gradient, partition, recompute, widen};
use crate::lower::Bound;
use crate::options::{BindOptions, Recompute};
use crate::program::Program;
use mxrs_graph::{Graph, NodeId};
use mxrs_types::{Error, Result};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::time::Instant;

/// One step of binding.
pub struct Pass {
    /// The name by which [`BindOptions::without_passes`] and `mxrs plan` know the pass.
    pub name: &'static str,
    /// The setting that switches the pass, or what the pass does if it has none.
    pub switch: &'static str,
    run: Run,
}

enum Run {
    /// Rewrites the graph before shapes are known.
    Symbol(fn(&Graph, &BindOptions) -> Result<Option<Graph>>),
    /// Infers shapes and types.
    Infer,
    /// Rewrites the graph with shapes and types.
    Graph(fn(&GraphState, &Context<'_>) -> Result<Option<GraphState>>),
    /// Chooses kernels and layouts and folds constants.
    Lower,
}

const fn symbol(
    name: &'static str,
    switch: &'static str,
    run: fn(&Graph, &BindOptions) -> Result<Option<Graph>>,
) -> Pass {
    Pass { name, switch, run: Run::Symbol(run) }
}

const fn graph(
    name: &'static str,
    switch: &'static str,
    run: fn(&GraphState, &Context<'_>) -> Result<Option<GraphState>>,
) -> Pass {
    Pass { name, switch, run: Run::Graph(run) }
}

/// Every pass of binding, in order.
pub const PASSES: &[Pass] = &[
    symbol("autocast", "BindOptions::autocast", autocast::autocast),
    symbol("eliminate-common", "MXNET_ELIMINATE_COMMON_EXPR", eliminate::forward),
    Pass { name: "infer", switch: "always: shapes and types", run: Run::Infer },
    graph("widen", "BindOptions::half_products", widen::run),
    graph("gradient", "BindOptions::gradients", gradient::run),
    graph("eliminate-common-gradient", "MXNET_ELIMINATE_COMMON_EXPR", eliminate::training),
    graph("wide-sums", "BindOptions::autocast", autocast::wide_sums),
    graph("call-pairs", "MXNET_USE_FUSION", call_pairs::run),
    graph("recompute", "MXRS_REMAT", recompute::run),
    graph("partition", "MXNET_SUBGRAPH_BACKEND", partition::run),
    graph("fuse", "MXNET_USE_FUSION", fuse::run),
    Pass { name: "lower", switch: "always: kernels, layouts, constants", run: Run::Lower },
];

impl Pass {
    /// Whether binding may go on without the pass.
    pub fn is_optional(&self, options: &BindOptions) -> bool {
        match self.name {
            "infer" | "lower" | "gradient" => false,
            // The caller has asked for another type, or for a limit: an answer without it would be wrong.
            "autocast" => options.autocast.is_none(),
            "recompute" => !matches!(options.recompute, Recompute::Budget(_)),
            _ => true,
        }
    }

    fn is_off(&self, options: &BindOptions) -> bool {
        options.without_passes.iter().any(|name| name == self.name)
    }
}

/// A bound graph before it has memory.
pub struct Lowered {
    /// The graph after the last pass.
    pub graph: Arc<Graph>,
    /// Its program.
    pub program: Program,
    /// The gradients that it computes, in the order of the arguments.
    pub gradients: Vec<Wanted>,
    /// The gradient that the caller gives for each head; `None` if the program does not read it.
    pub head_grads: Vec<Option<Wanted>>,
    /// What each pass did, from `infer` on.
    pub passes: Vec<PassReport>,
}

/// Runs the passes that come before inference: the result is the graph to give arrays to. Variables keep their order and
/// names; heads keep their order, and may have other names.
///
/// # Errors
/// Returns an error if [`BindOptions::without_passes`] names an unknown or necessary pass, or if the type of mixed precision
/// is not a half-precision float.
pub fn prepare_graph(graph: &Graph, options: &BindOptions) -> Result<(Graph, Vec<PassReport>)> {
    check_names(options)?;
    let (mut graph, mut reports) = (graph.clone(), Vec::new());
    for pass in PASSES {
        let Run::Symbol(run) = pass.run else { continue };
        let (before, start) = (graph.n_nodes(), Instant::now());
        let outcome = if pass.is_off(options) {
            Outcome::Off
        } else {
            match run(&graph, options) {
                Ok(Some(new)) => {
                    graph = new;
                    Outcome::Changed
                }
                Ok(None) => Outcome::Unchanged,
                Err(error) if pass.is_optional(options) => Outcome::failed(pass.name, &error),
                Err(error) => return Err(error),
            }
        };
        let report = PassReport::new(pass, outcome, [before, graph.n_nodes()], start.elapsed());
        reports.push(report.with_graph(options, || Arc::new(graph.clone())));
    }
    Ok((graph, reports))
}

fn check_names(options: &BindOptions) -> Result<()> {
    let is_optional = |name: &String| optional_pass_names(options).any(|pass| pass == name);
    match options.without_passes.iter().find(|name| !is_optional(name)) {
        None => Ok(()),
        Some(name) => {
            let optional: Vec<&str> = optional_pass_names(options).collect();
            let expected = format!("an optional pass: {}", optional.join(", "));
            Err(Error::invalid("pass to leave out", name, expected))
        }
    }
}

/// Runs the passes that come after inference, and lowers the graph.
///
/// # Errors
/// Returns an error if no backend runs some operator, an operator is not differentiable, or a budget of bytes cannot be met.
pub fn lower_graph(
    graph: &Arc<Graph>,
    known: &Known,
    bound: &FxHashMap<NodeId, Bound>,
    context: &Context<'_>,
) -> Result<Lowered> {
    let options = context.options;
    let mut state = GraphState::new(graph.clone(), Typed { known: known.clone(), bound: bound.clone() });
    let mut reports: Vec<PassReport> = Vec::new();
    // States before the optional passes that changed the graph, with the positions of these passes.
    let mut undo: Vec<(usize, GraphState)> = Vec::new();
    let mut undone = vec![false; PASSES.len()];
    let first = PASSES.iter().position(|pass| matches!(pass.run, Run::Infer)).unwrap_or(0);
    let mut next = first;
    while let Some(pass) = PASSES.get(next) {
        let (before, start) = (state.graph.graph.n_nodes(), Instant::now());
        let result = match pass.run {
            _ if undone[next] => Ok(Err(Outcome::Undone)),
            _ if pass.is_off(options) => Ok(Err(Outcome::Off)),
            Run::Graph(run) => run(&state, context).map(|new| new.ok_or(Outcome::Unchanged)),
            Run::Lower => state.lowered(context).map(|_| Err(Outcome::Unchanged)),
            Run::Infer | Run::Symbol(_) => Ok(Err(Outcome::Unchanged)),
        };
        let outcome = match result {
            Ok(Ok(new)) => {
                let old = std::mem::replace(&mut state, new);
                if pass.is_optional(options) {
                    undo.push((next, old));
                }
                Outcome::Changed
            }
            Ok(Err(outcome)) => outcome,
            Err(error) if pass.is_optional(options) => Outcome::failed(pass.name, &error),
            Err(error) => {
                let Some((position, old)) = undo.pop() else { return Err(error) };
                tracing::warn!(%error, "`{}` failed; pass `{}` is undone", pass.name, PASSES[position].name);
                (state, next) = (old, position);
                undone[position] = true;
                reports.truncate(position - first);
                continue;
            }
        };
        let time = match pass.run {
            // An earlier pass, or the trace, may have lowered this graph already.
            Run::Lower => state.lowering_time().unwrap_or_else(|| start.elapsed()),
            _ => start.elapsed(),
        };
        let report = PassReport::new(pass, outcome, [before, state.graph.graph.n_nodes()], time);
        let report = report.with_graph(options, || Arc::new(state.graph.graph.clone()));
        reports.push(report.with_figures(&state, context)?);
        next += 1;
    }
    state.lowered(context)?;
    let (gradients, head_grads) = (state.gradients.to_vec(), state.head_grads());
    let (graph, program) = state.into_program();
    let Some(program) = program else { return Err(Error::invalid("lowering", "no program", "a program")) };
    Ok(Lowered { graph: Arc::new(graph), program, gradients, head_grads, passes: reports })
}

/// The names of all passes, in order.
pub fn pass_names() -> impl Iterator<Item = &'static str> {
    PASSES.iter().map(|pass| pass.name)
}

/// The names of the passes that [`BindOptions::without_passes`] may leave out, in order.
pub fn optional_pass_names(options: &BindOptions) -> impl Iterator<Item = &'static str> {
    PASSES.iter().filter(|pass| pass.is_optional(options)).map(|pass| pass.name)
}
