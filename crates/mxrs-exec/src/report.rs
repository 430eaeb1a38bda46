//! Reports about a bound graph: its steps, kernels and memory.

use crate::choose::Refusal;
use crate::program::{Action, Program};
use crate::program_passes::plan_memory::arena_bytes_on;
use crate::tune::ChosenBy;
use mxrs_graph::MemoryPlan;
use mxrs_graph::memory::PlanReport;
use mxrs_op::FUSED_OP;
use mxrs_types::Device;

/// One step of a bound graph.
#[derive(Clone, Debug)]
pub struct StepReport {
    /// Name of the step's node.
    pub name: String,
    /// Name of the operator, or `reorder` for a copy to another layout.
    pub op: String,
    /// Backend of the kernel; empty for a view and for a copy between devices, which run no kernel.
    pub backend: &'static str,
    /// Name of the kernel.
    pub kernel: String,
    /// The device of the step.
    pub device: Device,
    /// For a copy between devices, the device of its input.
    pub source: Option<Device>,
    /// Dtype, shape and layout of each input, as text.
    pub inputs: Vec<String>,
    /// Dtype, shape and layout of each output, as text.
    pub outputs: Vec<String>,
    /// Number of calls of the graph that the step runs: more than one for a fused call.
    pub n_calls: usize,
    /// Multiply-adds, by the operator's own estimate; 0 for copies.
    pub multiply_adds: u64,
    /// Bytes of all inputs and outputs together; 0 for views, which move nothing.
    pub bytes: usize,
    /// Whether the step is a prepare step, which runs only after a constant changed.
    pub is_prepare: bool,
    /// How the kernel was chosen.
    pub chosen_by: ChosenBy,
    /// Backends that refused the call, with reasons.
    pub refusals: Vec<Refusal>,
}

/// The memory of a bound graph on one device, without the arrays that are bound to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceBytes {
    /// The device.
    pub device: Device,
    /// Bytes of the arena, which holds temporaries.
    pub arena_bytes: usize,
    /// Bytes of packed and computed constants.
    pub packed_bytes: usize,
    /// Bytes of tensors that are copied to or from other devices, unless they are bound arrays or outputs.
    pub crossing_bytes: usize,
}

/// The memory on each device of a program. `packed` gives the bytes of constants on each device.
pub(crate) fn device_bytes(program: &Program, plan: &MemoryPlan, packed: &[(Device, usize)]) -> Vec<DeviceBytes> {
    let crossing = |device: Device| {
        let values = program.crossings.iter().map(|value| &program.values[*value]);
        values.filter(|value| value.device == device).map(|value| value.desc.size_bytes()).sum()
    };
    let of = |(device, packed_bytes): &(Device, usize)| DeviceBytes {
        device: *device,
        arena_bytes: arena_bytes_on(plan, *device),
        packed_bytes: *packed_bytes,
        crossing_bytes: crossing(*device),
    };
    packed.iter().map(of).collect()
}

/// A call that replaces several others (see [`BindOptions::patterns`](crate::BindOptions::patterns)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FusedReport {
    /// Name of the node of the call: the name of the last node that the call replaces.
    pub name: String,
    /// Operator of the fused call.
    pub op: &'static str,
    /// Name of the pattern that matched.
    pub pattern: &'static str,
    /// Names of the calls that the fused call replaces, in order.
    pub replaced: Vec<String>,
}

/// Report about a bound graph: its steps and its memory.
#[derive(Clone, Debug)]
pub struct ExecutorReport {
    /// Steps in order, prepare steps first.
    pub steps: Vec<StepReport>,
    /// The report of the memory planner.
    pub plan: PlanReport,
    /// Bytes of the arenas, which hold temporaries, on all devices together.
    pub arena_bytes: usize,
    /// Bytes of packed and computed constants, on all devices together.
    pub packed_bytes: usize,
    /// Bytes on each device, the default device first.
    pub devices: Vec<DeviceBytes>,
    /// Names of the additions that are made in place: the step that computes the second term adds it to the first, so the
    /// addition itself is not a step.
    pub inplace_adds: Vec<String>,
    /// Calls that each replace several calls of the graph, at inference.
    pub fused: Vec<FusedReport>,
}

impl ExecutorReport {
    /// Number of fused calls.
    pub fn n_fused(&self) -> usize {
        self.fused().count()
    }

    /// Number of calls of the graph that were fused.
    pub fn n_fused_calls(&self) -> usize {
        self.fused().map(|step| step.n_calls).sum()
    }

    fn fused(&self) -> impl Iterator<Item = &StepReport> {
        self.steps.iter().filter(|step| step.op == FUSED_OP)
    }
}

pub(crate) fn step_reports(program: &Program) -> Vec<StepReport> {
    let text = |ids: &[usize]| ids.iter().map(|&v| program.values[v].desc.to_string()).collect();
    let report = |is_prepare: bool| {
        move |step: &crate::program::Step| StepReport {
            name: step.name.clone(),
            op: step.op.clone(),
            backend: step.backend,
            kernel: match &step.action {
                Action::Run(kernel) => kernel.name().into(),
                Action::CopyImages(_) => "part".into(),
                Action::View => "view".into(),
                Action::Cross => "copy".into(),
            },
            device: step.device,
            source: step.crosses().then(|| program.values[step.inputs[0]].device),
            inputs: text(&step.inputs),
            outputs: text(&step.outputs),
            n_calls: step.n_calls,
            multiply_adds: step.multiply_adds,
            bytes: match &step.action {
                Action::View => 0,
                _ => step.inputs.iter().chain(&step.outputs).map(|&v| program.values[v].desc.size_bytes()).sum(),
            },
            is_prepare,
            chosen_by: step.chosen_by,
            refusals: step.refusals.clone(),
        }
    };
    program.prepare.iter().map(report(true)).chain(program.steps.iter().map(report(false))).collect()
}
