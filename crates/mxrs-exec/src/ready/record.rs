//! What a profiler learns about the steps of a program: names, shapes, kernels and costs.
//!
//! The labels are made when a run of the program is recorded for the first time, because they take time and memory that
//! other runs do not need.

use crate::dry::tensors::{self, TensorKind};
use crate::program::Program;
use crate::program_passes::plan_memory::arena_bytes_on;
use crate::report::{StepReport, step_reports};
use crate::segment;
use mxrs_graph::MemoryPlan;
use mxrs_trace::{Kinds, Label, Rectangle, SpanInfo, SpanKind, details, note_plan};
use std::fmt::Display;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// How the runs of a program are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordAs {
    /// As operators of a graph: a span for each step, inside a span for the segment.
    Graph,
    /// As the call of one operator: one span for all steps.
    Call,
}

impl RecordAs {
    /// The kinds of records. The runs are recorded if the profiler has at least one of these kinds on.
    pub fn kinds(self) -> Kinds {
        match self {
            Self::Graph => Kinds::SYMBOLIC,
            Self::Call => Kinds::IMPERATIVE,
        }
    }
}

/// The labels of a program. Ready programs of one planned program share them.
pub struct Labels {
    program: Arc<Program>,
    plan: Arc<MemoryPlan>,
    made: OnceLock<Made>,
    is_plan_noted: OnceLock<()>,
}

struct Made {
    prepare: Vec<SpanInfo>,
    steps: Vec<SpanInfo>,
    call: SpanInfo,
}

impl Labels {
    /// The labels of a program; none is made yet.
    pub fn new(program: &Arc<Program>, plan: &Arc<MemoryPlan>) -> Self {
        let (program, plan) = (program.clone(), plan.clone());
        Self { program, plan, made: OnceLock::new(), is_plan_noted: OnceLock::new() }
    }

    /// Gives the memory plan to the profiler, once: one plan for each device that has an arena.
    pub fn note_plan(&self) {
        self.is_plan_noted.get_or_init(|| {
            let Some(last) = self.program.steps.len().checked_sub(1) else { return };
            let of_program = tensors::of(&self.program, &self.plan);
            let half = if self.program.n_forward <= last { "training" } else { "inference" };
            let forward = self.program.n_forward.checked_sub(1).map_or("", |at| &self.program.steps[at].name);
            for device in self.program.devices() {
                let arena_bytes = arena_bytes_on(&self.plan, device) as u64;
                let here = of_program.iter().filter(|tensor| tensor.device == device);
                let rectangles = here.map(|tensor| Rectangle {
                    name: match tensor.kind {
                        TensorKind::Workspace => format!("workspace of {}", tensor.name),
                        _ => tensor.name.clone(),
                    },
                    offset: tensor.offset_bytes as u64,
                    bytes: tensor.size_bytes as u64,
                    first_step: tensor.first as u64,
                    last_step: tensor.last as u64,
                });
                let (name, rectangles) = (format!("{half} of {forward} on {device}"), rectangles.collect());
                let n_steps = self.program.steps.len() as u64;
                note_plan(mxrs_trace::MemoryPlan { name, arena_bytes, n_steps, rectangles });
            }
        });
    }

    fn made(&self) -> &Made {
        self.made.get_or_init(|| {
            let mut prepare: Vec<StepReport> = step_reports(&self.program);
            let steps = prepare.split_off(self.program.prepare.len());
            let infos = |reports: &[StepReport]| reports.iter().map(step_info).collect();
            Made { prepare: infos(&prepare), steps: infos(&steps), call: call_info(&steps) }
        })
    }

    /// The span that the profiler records for a run of the step.
    pub fn step(&self, step: usize) -> SpanInfo {
        self.made().steps[step]
    }

    /// The span that the profiler records for a run of the prepare step.
    pub fn prepare(&self, step: usize) -> SpanInfo {
        self.made().prepare[step]
    }

    /// The span that the profiler records for all steps together, which are one call of an operator.
    pub fn call(&self) -> SpanInfo {
        self.made().call
    }

    /// The span that the profiler records for a segment with these steps. It has the name that the task of the segment has
    /// in the engine.
    pub fn segment(&self, steps: &Range<usize>) -> SpanInfo {
        let steps = &self.program.steps[steps.clone()];
        let device = steps.first().map_or(self.program.device, |first| first.device);
        SpanInfo { device, ..SpanInfo::new(SpanKind::Segment, Label::of(&segment::name(steps))) }
    }
}

fn step_info(step: &StepReport) -> SpanInfo {
    let (inputs, outputs) = (step.inputs.join(", "), step.outputs.join(", "));
    let mut pairs: Vec<(&str, &dyn Display)> = vec![("node", &step.name), ("kernel", &step.kernel)];
    if !step.backend.is_empty() {
        pairs.push(("backend", &step.backend));
    }
    let flops = flops(step);
    costs(&mut pairs, &flops, &step.bytes);
    if step.is_prepare {
        pairs.push(("prepare", &"when a constant has changed"));
    }
    // The longest texts come last, because the end of the text is cut off if it does not fit a label.
    pairs.extend([("inputs", &inputs as &dyn Display), ("outputs", &outputs)]);
    let info = SpanInfo::new(SpanKind::Symbolic, Label::of(&step.op));
    SpanInfo { device: step.device, details: details(&pairs), ..info }
}

/// A call of one operator, which may need further steps that copy to and from other layouts.
fn call_info(steps: &[StepReport]) -> SpanInfo {
    let Some(main) = steps.iter().max_by_key(|step| (step.multiply_adds, step.bytes)) else {
        return SpanInfo::new(SpanKind::Imperative, Label::NONE);
    };
    let (flops, bytes) = (steps.iter().map(flops).sum(), steps.iter().map(|step| step.bytes).sum());
    let (inputs, outputs) = (main.inputs.join(", "), main.outputs.join(", "));
    let mut pairs: Vec<(&str, &dyn Display)> = vec![("kernel", &main.kernel)];
    if !main.backend.is_empty() {
        pairs.push(("backend", &main.backend));
    }
    costs(&mut pairs, &flops, &bytes);
    pairs.extend([("inputs", &inputs as &dyn Display), ("outputs", &outputs)]);
    let info = SpanInfo::new(SpanKind::Imperative, Label::of(&main.op));
    SpanInfo { device: main.device, details: details(&pairs), ..info }
}

/// Floating-point operations: a multiply-add is two.
fn flops(step: &StepReport) -> u64 {
    step.multiply_adds.saturating_mul(2)
}

fn costs<'a>(pairs: &mut Vec<(&'a str, &'a dyn Display)>, flops: &'a u64, bytes: &'a usize) {
    if *flops > 0 {
        pairs.push(("flops", flops));
    }
    pairs.push(("bytes", bytes));
}
