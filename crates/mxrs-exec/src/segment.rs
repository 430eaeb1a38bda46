//! Cuts a program into segments, determines which arrays each segment reads and writes, and pushes the segments to the
//! engine.
//!
//! Executors, cached graphs and imperative calls all push steps by [`push`]. So only this file has to make sure that a task
//! holds all arrays that its kernels use.

use crate::program::{Origin, Program, Step};
use mxrs_engine::{Engine, OpName, RunContext, Var};
use mxrs_ndarray::NdArray;
use mxrs_types::{Device, Result};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

/// Steps pushed as one task.
#[derive(Clone, Debug)]
pub struct Segment {
    /// The steps.
    pub steps: Range<usize>,
    /// The device of the steps.
    pub device: Device,
    /// Whether the only step copies between devices. Then no task runs the step, because the engine copies the arrays.
    pub crosses: bool,
    /// Name of the task in profiles and errors: the name of its only step, or the names of the first and the last step and
    /// the number of steps.
    pub name: OpName,
    /// Bound arrays that the steps only read.
    pub reads: Vec<usize>,
    /// Other bound arrays that the task holds for reading ([`Self::hold`]).
    held: Vec<usize>,
    /// Bound arrays that the steps rewrite.
    pub rewrites: Vec<usize>,
    /// Output arrays that the steps write.
    pub outputs: Vec<usize>,
    /// Output arrays that the steps only read.
    pub reads_outputs: Vec<usize>,
    /// Crossing arrays that the steps read.
    pub reads_crossings: Vec<usize>,
    /// Crossing arrays that the steps write.
    pub crossings: Vec<usize>,
}

impl Segment {
    /// Makes every task of this segment hold these bound arrays for reading, although its steps do not read them. They are
    /// held because this task or another executor makes constants from them.
    pub fn hold(&mut self, arrays: impl IntoIterator<Item = usize>) {
        let is_other = |index: &usize| !self.reads.contains(index) && !self.rewrites.contains(index);
        self.held = arrays.into_iter().filter(is_other).collect();
    }
}

/// Pushes one task for `device` that runs steps of a segment. The task holds the arrays that these steps use: `bound` and
/// `outputs` return the variable of a bound or output array by its index, and `crossings` are the crossing arrays. The task
/// also writes the variables `writes`: that of the temporary values, and others that `body` needs. `body` gets the context
/// of the task, which has a stream if the device has streams.
///
/// # Errors
/// Returns the errors of the engine; with `NaiveEngine` also the error of `body`.
pub fn push<'a>(
    (engine, device): (&'a Engine, Device),
    segment: &'a Segment,
    writes: impl IntoIterator<Item = &'a Var>,
    bound: impl Fn(usize) -> &'a Var,
    outputs: impl Fn(usize) -> &'a Var,
    crossings: &'a [NdArray],
    body: impl FnOnce(&RunContext) -> Result<()> + Send + 'static,
) -> Result<()> {
    engine
        .task(segment.name.clone())
        .device(device)
        .writes(writes)
        .reads(segment.reads.iter().chain(&segment.held).map(|index| bound(*index)))
        .reads(segment.reads_outputs.iter().map(|index| outputs(*index)))
        .writes(segment.rewrites.iter().map(|index| bound(*index)))
        .writes(segment.outputs.iter().map(|index| outputs(*index)))
        .reads(segment.reads_crossings.iter().map(|index| crossings[*index].var()))
        .writes(segment.crossings.iter().map(|index| crossings[*index].var()))
        .push(body)
}

/// Pushes one task for `device` that makes constants. `memory` is the variable of the memory that holds them.
///
/// # Errors
/// Returns the errors of [`push`].
pub fn push_prepare<'a>(
    (engine, device): (&'a Engine, Device),
    memory: &'a Var,
    bound: impl IntoIterator<Item = &'a Var>,
    body: impl FnOnce(&RunContext) -> Result<()> + Send + 'static,
) -> Result<()> {
    engine.task("prepare").device(device).reads(bound).write(memory).push(body)
}

/// Cuts `steps` of the program into segments of at most `limit` kernels each. Views run no kernel and do not count. A
/// segment has one device, and a copy between devices is a segment of its own.
pub fn segments(program: &Program, steps: Range<usize>, limit: usize) -> Vec<Segment> {
    let mut found = Vec::new();
    let (mut begin, mut n_kernels) = (steps.start, 0);
    let is_border = |step: usize| {
        let [before, after] = [step - 1, step].map(|step| &program.steps[step]);
        before.device != after.device || before.crosses() || after.crosses()
    };
    for step in steps.clone() {
        let counts = usize::from(!program.steps[step].is_view());
        if n_kernels + counts > limit.max(1) || (step > begin && is_border(step)) {
            found.push(segment(program, begin..step));
            (begin, n_kernels) = (step, 0);
        }
        n_kernels += counts;
    }
    if begin < steps.end {
        found.push(segment(program, begin..steps.end));
    }
    found
}

/// The name of a segment of these steps, in errors and profiles.
pub fn name(steps: &[Step]) -> String {
    match steps {
        [] => String::new(),
        [only] => only.name.clone(),
        [first, .., last] => format!("{} to {} ({} steps)", first.name, last.name, steps.len()),
    }
}

fn segment(program: &Program, steps: Range<usize>) -> Segment {
    let (mut reads, mut rewrites) = (BTreeSet::new(), BTreeSet::new());
    let (mut outputs, mut reads_outputs) = (BTreeSet::new(), BTreeSet::new());
    let (mut crossings, mut reads_crossings) = (BTreeSet::new(), BTreeSet::new());
    for step in &program.steps[steps.clone()] {
        for &value in &step.inputs {
            match program.values[value].origin {
                Origin::Bound(index) => reads.insert(index),
                Origin::Output(index) => reads_outputs.insert(index),
                Origin::Crossing(index) => reads_crossings.insert(index),
                _ => false,
            };
        }
        for &value in &step.outputs {
            match program.values[value].origin {
                Origin::Bound(index) => rewrites.insert(index),
                Origin::Output(index) => outputs.insert(index),
                Origin::Crossing(index) => crossings.insert(index),
                _ => false,
            };
        }
    }
    let (first, name) = (&program.steps[steps.start], name(&program.steps[steps.clone()]));
    // Every push clones the name, so the name is an `Arc`, which is cheap to clone.
    let name: Arc<str> = name.into();
    Segment {
        name: name.into(),
        device: first.device,
        crosses: first.crosses(),
        held: Vec::new(),
        reads: reads.difference(&rewrites).copied().collect(),
        rewrites: rewrites.into_iter().collect(),
        reads_outputs: reads_outputs.difference(&outputs).copied().collect(),
        outputs: outputs.into_iter().collect(),
        reads_crossings: reads_crossings.difference(&crossings).copied().collect(),
        crossings: crossings.into_iter().collect(),
        steps,
    }
}
