//! Runs the passes of [`PASSES`], and undoes optional passes if binding succeeds only without them.

use super::{Context, GraphState, Outcome, PASSES, Pass, PassReport, Run, Typed, Wanted, optional_pass_names};
use crate::bind::Known;
use crate::lower::Bound;
use crate::options::BindOptions;
use crate::program::Program;
use crate::program_passes::{Planned, ProgramState};
use mxrs_graph::{Graph, NodeId, expand_control_flow};
use mxrs_types::{Error, PartialShape, Result};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::time::Instant;

/// A bound graph before it has memory.
pub struct Lowered {
    /// The graph after the last graph pass.
    pub graph: Arc<Graph>,
    /// The program of the graph as `lower` made it. Another memory plan can start from it ([`plan_program`]).
    pub program: Arc<Program>,
    /// The program after the last pass, with its memory plan.
    pub planned: Planned,
    /// The gradients that the graph computes, in the order of the arguments.
    pub gradients: Vec<Wanted>,
    /// The gradient that the caller gives for each head; `None` if the program does not read it.
    pub head_grads: Vec<Option<Wanted>>,
    /// What each pass did, from `infer` on.
    pub passes: Vec<PassReport>,
}

/// Runs the passes before `infer`. The caller allocates arrays for the resulting graph. Variables keep their order and
/// names; heads keep their order, and may have other names. `given` are the known shapes of variables, and `has_gradient`
/// says whether gradients will be computed. Both matter only to control flow.
///
/// # Errors
/// Returns an error if [`BindOptions::without_passes`] names an unknown or necessary pass, or if the type of mixed precision
/// is not a half-precision float. Returns the errors of [`expand_control_flow`].
pub fn prepare_graph(
    graph: &Graph,
    given: &[(&str, PartialShape)],
    has_gradient: bool,
    options: &BindOptions,
) -> Result<(Graph, Vec<PassReport>)> {
    check_names(options)?;
    let (mut graph, mut reports) = (graph.clone(), Vec::new());
    for pass in PASSES.iter().filter(|pass| matches!(pass.run, Run::ControlFlow | Run::Symbol(_))) {
        let (before, start) = (graph.n_nodes(), Instant::now());
        let run = || match pass.run {
            Run::ControlFlow if graph.has_control_flow() => {
                expand_control_flow(&graph, &options.ops, given.iter().cloned(), has_gradient).map(Some)
            }
            Run::Symbol(run) => run(&graph, options),
            _ => Ok(None),
        };
        let outcome = if pass.is_off(options) {
            Outcome::Off
        } else {
            match run() {
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

/// Runs the passes from `infer` on: lowers the graph and plans its memory.
///
/// # Errors
/// Returns an error if no backend runs some operator, an operator is not differentiable, a budget of bytes cannot be met, or
/// sizes overflow.
pub fn lower_graph(
    graph: &Arc<Graph>,
    known: &Known,
    bound: &FxHashMap<NodeId, Bound>,
    context: &Context<'_>,
) -> Result<Lowered> {
    let graph = GraphState::new(graph.clone(), Typed { known: known.clone(), bound: bound.clone() });
    let mut driver = Driver { context, graph: Some(graph), program: None, lowered: None, reports: Vec::new() };
    driver.run(|pass| matches!(pass.run, Run::Infer))?;
    let Driver { graph: Some(state), program: Some(program), lowered: Some(lowered), reports, .. } = driver else {
        return Err(Error::invalid("lowering", "no program", "a program"));
    };
    Ok(Lowered {
        gradients: state.gradients.to_vec(),
        head_grads: state.head_grads(),
        graph: Arc::new(state.graph.graph),
        program: lowered,
        planned: program.into_planned(&context.options.plan)?,
        passes: reports,
    })
}

/// Runs the program passes alone, for a program that was lowered before.
///
/// # Errors
/// Returns an error if the program contradicts itself or sizes overflow.
pub fn plan_program(program: Arc<Program>, options: &BindOptions) -> Result<Planned> {
    let context = Context::new(options, false, false);
    let program = Some(ProgramState::new(program));
    let mut driver = Driver { context: &context, graph: None, program, lowered: None, reports: Vec::new() };
    driver.run(|pass| matches!(pass.run, Run::Program(_)))?;
    match driver.program {
        Some(program) => program.into_planned(&options.plan),
        None => Err(Error::invalid("planning", "no program", "a program")),
    }
}

/// The state between two passes.
struct Driver<'a> {
    context: &'a Context<'a>,
    /// The graph; `None` if only a program is given.
    graph: Option<GraphState>,
    /// The program; `None` before `lower`.
    program: Option<ProgramState>,
    /// The program as `lower` made it.
    lowered: Option<Arc<Program>>,
    reports: Vec<PassReport>,
}

/// The state before a pass that changed it.
enum Saved {
    Graph(Box<GraphState>),
    Program(Box<ProgramState>),
}

impl Driver<'_> {
    /// Runs the passes from the first one that `is_first` accepts to the end of the list.
    fn run(&mut self, is_first: impl Fn(&Pass) -> bool) -> Result<()> {
        let options = self.context.options;
        // For each optional pass that changed the state: its position and the state before it.
        let mut undo: Vec<(usize, Saved)> = Vec::new();
        let mut undone = vec![false; PASSES.len()];
        let first = PASSES.iter().position(is_first).unwrap_or(PASSES.len());
        let mut next = first;
        while let Some(pass) = PASSES.get(next) {
            let (before, start) = (self.n_nodes(), Instant::now());
            let outcome = match pass {
                _ if undone[next] => Outcome::Undone,
                _ if pass.is_off(options) => Outcome::Off,
                _ => match self.pass(pass) {
                    Ok(None) => Outcome::Unchanged,
                    Ok(Some(old)) => {
                        if pass.is_optional(options) {
                            undo.push((next, old));
                        }
                        Outcome::Changed
                    }
                    Err(error) if pass.is_optional(options) => Outcome::failed(pass.name, &error),
                    Err(error) => {
                        let Some((position, old)) = undo.pop() else { return Err(error) };
                        tracing::warn!(%error, "`{}` failed; pass `{}` is undone", pass.name, PASSES[position].name);
                        self.restore(old);
                        next = position;
                        undone[position] = true;
                        self.reports.truncate(position - first);
                        continue;
                    }
                },
            };
            let known_time = match pass.run {
                // The caller has already inferred shapes and types, because it needs them to allocate arrays.
                Run::Infer => Some(self.context.infer_time),
                // The time may be known already: an earlier pass, or the report of one with `trace_passes`, may have lowered
                // this graph or planned this program.
                Run::Lower => self.graph.as_ref().and_then(GraphState::lowering_time),
                Run::PlanMemory => self.program.as_ref().and_then(ProgramState::planning_time),
                Run::ControlFlow | Run::Symbol(_) | Run::Graph(_) | Run::Program(_) => None,
            };
            let time = known_time.unwrap_or_else(|| start.elapsed());
            let report = PassReport::new(pass, outcome, [before, self.n_nodes()], time);
            self.report(report)?;
            next += 1;
        }
        Ok(())
    }

    /// Runs one pass. Returns the state before it, if the pass has changed the state.
    fn pass(&mut self, pass: &Pass) -> Result<Option<Saved>> {
        match (&pass.run, &mut self.graph, &mut self.program) {
            (Run::Graph(run), Some(graph), _) => {
                let new = run(graph, self.context)?;
                Ok(new.map(|new| Saved::Graph(Box::new(std::mem::replace(graph, new)))))
            }
            (Run::Lower, Some(graph), program) => {
                let lowered = Arc::new(graph.take_program(self.context)?);
                *program = Some(ProgramState::new(lowered.clone()));
                self.lowered = Some(lowered);
                Ok(None)
            }
            (Run::PlanMemory, _, Some(program)) => program.plan(&self.context.options.plan).map(|_| None),
            (Run::Program(run), _, Some(program)) => {
                let new = run(program, &self.context.options.plan)?;
                Ok(new.map(|new| Saved::Program(Box::new(std::mem::replace(program, new)))))
            }
            _ => Ok(None),
        }
    }

    fn restore(&mut self, old: Saved) {
        match old {
            Saved::Program(old) => self.program = Some(*old),
            Saved::Graph(old) => (self.graph, self.program, self.lowered) = (Some(*old), None, None),
        }
    }

    fn n_nodes(&self) -> usize {
        self.graph.as_ref().map_or(0, |state| state.graph.graph.n_nodes())
    }

    /// Stores a report. It includes the sizes of the program if [`BindOptions::trace_passes`] is set.
    fn report(&mut self, report: PassReport) -> Result<()> {
        let Some(graph) = &self.graph else { return Ok(()) };
        let report = report.with_graph(self.context.options, || Arc::new(graph.graph.graph.clone()));
        self.reports.push(match &self.program {
            Some(program) => report.with_program(program, self.context.options)?,
            None => report.with_lowered(graph, self.context)?,
        });
        Ok(())
    }
}
