//! Planning without binding: the memory and the steps of a graph, found before any array exists.

pub(crate) mod tensors;

pub use tensors::{PlannedTensor, TensorKind};

use crate::bind::{Given, known, seeds};
use crate::device::on_device;
use crate::lower::Bound;
use crate::options::BindOptions;
use crate::pipeline::{Context, PassReport, lower_graph, plan_program, prepare_graph};
use crate::program::{Origin, Program};
use crate::program_passes::Planned;
use crate::program_passes::plan_memory::{arena_bytes, planned_tensor_bytes};
use crate::report::{DeviceBytes, FusedReport, StepReport, device_bytes, step_reports};
use mxrs_graph::memory::PlanReport;
use mxrs_graph::{Graph, PlanOptions};
use mxrs_op::TensorDesc;
use mxrs_types::{Device, Result, Shape};
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// The memory and the steps that a graph would need.
#[derive(Clone, Debug)]
pub struct PlannedGraph {
    /// The steps of a run in order, without prepare steps.
    pub steps: Vec<StepReport>,
    /// The number of steps that belong to the forward half.
    pub n_forward: usize,
    /// Names of the additions that are made in place: the step that computes the second term adds it to the first, so the
    /// addition itself is not a step.
    pub inplace_adds: Vec<String>,
    /// Number of calls that compute a value a second time.
    pub n_recomputed: usize,
    /// Multiply-adds of recomputed steps divided by the multiply-adds of all other steps: an estimate of the extra time.
    /// For steps that are limited by memory bandwidth, the estimate is too small.
    pub recomputed_work: f64,
    /// The report of the memory planner.
    pub report: PlanReport,
    /// Bytes of the arenas, on all devices together.
    pub arena_bytes: usize,
    /// Bytes on each device, the default device first.
    pub devices: Vec<DeviceBytes>,
    /// Bytes of tensors that are copied between devices, unless they are bound arrays or outputs.
    pub crossing_bytes: usize,
    /// The most bytes of tensors that are alive at one step, without scratch memory.
    pub activation_bytes: usize,
    /// The most bytes of scratch memory that one step uses.
    pub workspace_bytes: usize,
    /// Bytes of all bound arrays: arguments, auxiliary states and head gradients.
    pub bound_bytes: usize,
    /// Bytes of parameters, auxiliary states included.
    pub parameter_bytes: usize,
    /// Bytes of inputs, labels and head gradients.
    pub input_bytes: usize,
    /// Bytes of output arrays.
    pub output_bytes: usize,
    /// Bytes of gradient arrays.
    pub gradient_bytes: usize,
    /// Bytes of packed constants.
    pub packed_bytes: usize,
    /// Calls that each replace several calls of the graph.
    pub fused: Vec<FusedReport>,
    /// All tensors in the arena.
    pub tensors: Vec<PlannedTensor>,
}

impl PlannedGraph {
    /// Arenas, arrays and packed constants together, in bytes.
    pub fn total_bytes(&self) -> usize {
        let arrays = self.bound_bytes + self.output_bytes + self.gradient_bytes + self.crossing_bytes;
        self.arena_bytes + arrays + self.packed_bytes
    }
}

/// Chooses kernels and layouts and plans memory as [`Executor::simple_bind`](crate::Executor::simple_bind) would, for
/// inference or (with [`BindOptions::gradients`]) a training step, and allocates nothing.
///
/// # Errors
/// Returns the errors of `simple_bind`, except for errors of allocation.
pub fn plan_graph(
    graph: &Graph,
    inputs: &[(&str, Shape)],
    options: &BindOptions,
    is_train: bool,
) -> Result<PlannedGraph> {
    DryGraph::new(graph, inputs, options, is_train)?.plan(&options.plan)
}

/// A graph with kernels and layouts, but without memory. Any number of plans can be made from it.
pub struct DryGraph {
    /// The program as lowering made it. Every plan starts from it.
    program: Arc<Program>,
    /// The plan made with the options given to `new`.
    planned: Planned,
    options: BindOptions,
    /// For each bound array, whether it is a parameter. The list ends before the head gradients, which are not parameters.
    is_parameter: Vec<bool>,
    /// The number of outputs of the graph. In the list of output arrays, gradient arrays follow the outputs.
    n_outputs: usize,
    passes: Vec<PassReport>,
}

impl DryGraph {
    /// Chooses kernels and layouts.
    ///
    /// # Errors
    /// Returns the errors of [`plan_graph`].
    pub fn new(graph: &Graph, inputs: &[(&str, Shape)], options: &BindOptions, is_train: bool) -> Result<Self> {
        let options = &*on_device(options)?;
        let seeds = seeds(inputs, &[], options);
        let (graph, mut passes) = prepare_graph(graph, &seeds, is_train && options.gradients.is_some(), options)?;
        let graph = &Arc::new(graph);
        let start = Instant::now();
        let known = known(graph, inputs, &[] as &[Given<'_>], options)?;
        let context = Context { infer_time: start.elapsed(), ..Context::new(options, is_train, is_train) };
        let is_input = |name: &str| inputs.iter().any(|(input, _)| *input == name);
        let is_constant = |id| !is_input(&graph.node(id).name) && !graph.is_label(id);
        let is_parameter: Vec<bool> = graph.variables().iter().map(|id| is_constant(*id)).collect();
        let bound = graph.variables().iter().zip(&is_parameter).enumerate();
        let bound = bound.map(|(index, (id, is_constant))| (*id, Bound { index, is_constant: *is_constant })).collect();
        let n_outputs = graph.heads().len();
        let lowered = lower_graph(graph, &known, &bound, &context)?;
        passes.extend(lowered.passes);
        let (program, planned, options) = (lowered.program, lowered.planned, options.clone());
        Ok(Self { program, planned, options, is_parameter, n_outputs, passes })
    }

    /// The report of each pass, in the order of the passes. Steps, bytes and graphs are included only with
    /// [`BindOptions::trace_passes`].
    pub fn passes(&self) -> &[PassReport] {
        &self.passes
    }

    /// Plans the memory: runs the program passes with these options. If the options equal those given to [`Self::new`], the
    /// plan made by `new` is returned.
    ///
    /// # Errors
    /// Returns an error if sizes overflow.
    pub fn plan(&self, options: &PlanOptions) -> Result<PlannedGraph> {
        if *options == self.options.plan {
            return Ok(self.describe(&self.planned));
        }
        let options = BindOptions { plan: *options, trace_passes: false, ..self.options.clone() };
        Ok(self.describe(&plan_program(self.program.clone(), &options)?))
    }

    /// Bytes of an arena that holds only the graph's own tensors. Not included are workspaces, and copies of parameters and
    /// of their gradients in the layouts of kernels. MXNet's planner counts only these tensors and leaves the rest to the
    /// operators.
    ///
    /// # Errors
    /// Returns the errors of [`Self::plan`].
    pub fn tensor_bytes(&self, options: &PlanOptions) -> Result<usize> {
        planned_tensor_bytes(&self.program, options)
    }

    fn describe(&self, Planned { program, plan, preparation, .. }: &Planned) -> PlannedGraph {
        let bytes = |of: &dyn Fn(Origin) -> bool| {
            program.values.iter().filter(|v| of(v.origin)).map(|v| v.desc.size_bytes()).sum::<usize>()
        };
        // Counts each output array once, although several values may be written to it in turn.
        let heads = |range: Range<usize>| -> usize {
            program.outputs[range].iter().map(|v| &program.values[*v].desc).map(TensorDesc::size_bytes).sum()
        };
        let is_parameter = |index: usize| self.is_parameter.get(index).copied().unwrap_or(false);
        let parameter_bytes = bytes(&|o| matches!(o, Origin::Bound(index) if is_parameter(index)));
        let input_bytes = bytes(&|o| matches!(o, Origin::Bound(index) if !is_parameter(index)));
        let work = |is_clone: bool| {
            program
                .steps
                .iter()
                .filter(|s| s.is_clone == is_clone)
                .map(|s| s.multiply_adds)
                .fold(0, u64::saturating_add)
        };
        let tensors = tensors::of(program, plan);
        let packed = |device: Device| (device, preparation.bytes_on(program, device));
        let packed: Vec<(Device, usize)> = program.devices().into_iter().map(packed).collect();
        let devices = device_bytes(program, plan, &packed);
        PlannedGraph {
            steps: step_reports(program).into_iter().filter(|s| !s.is_prepare).collect(),
            n_forward: program.n_forward,
            inplace_adds: program.additions().cloned().collect(),
            n_recomputed: program.steps.iter().filter(|s| s.is_clone).map(|s| s.n_calls).sum(),
            recomputed_work: work(true) as f64 / work(false).max(1) as f64,
            arena_bytes: arena_bytes(plan),
            crossing_bytes: devices.iter().map(|of| of.crossing_bytes).sum(),
            devices,
            activation_bytes: tensors::peak(&tensors, program.steps.len()),
            workspace_bytes: program.steps.iter().map(|s| s.scratch_bytes).max().unwrap_or(0),
            bound_bytes: parameter_bytes + input_bytes,
            parameter_bytes,
            input_bytes,
            output_bytes: heads(0..self.n_outputs.min(program.outputs.len())),
            gradient_bytes: heads(self.n_outputs.min(program.outputs.len())..program.outputs.len()),
            packed_bytes: preparation.bytes(program),
            report: plan.report.clone(),
            fused: program.fused.clone(),
            tensors,
        }
    }
}
