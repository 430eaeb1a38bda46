//! Concatenation in place: each step that makes a part writes it directly into the whole, and the concatenation copies
//! nothing.
//!
//! - Needs a program without a gradient. Each image (the elements at one position of the first axis) of each part has
//!   to [lie in one piece](super::parts) in the whole, beginning at a cache line. If there are several images, the
//!   kernel that makes the part has to be able to write images [with a distance](mxrs_op::Kernel::strided). A part is
//!   copied if another step reads it too, or if its kernel cannot write images with a distance. If no part can be made
//!   in place, the concatenation stays as it is.
//! - Promises the same bits in an arena that is not larger. Memory is planned for several sets of concatenations: first
//!   all, then those that need no copy, then sets that grow one concatenation at a time, the largest first.
//! - Switch: [`PlanOptions::enable_inplace`], on by default.

use super::copy_images::CopyImages;
use super::parts::{Place, places};
use super::plan_memory::{arena_bytes, plan};
use super::state::ProgramState;
use crate::program::{Action, Origin, Program, Step, Value, ValueId};
use mxrs_graph::PlanOptions;
use mxrs_op::{Combines, Kernel, TensorDesc};
use mxrs_types::Result;
use std::sync::Arc;

/// The backend name in reports for copies of single parts.
const COPIER: &str = "exec";
/// The most concatenations that are tried one by one. Each trial plans the memory once.
const MOST_TRIED: usize = 16;

/// Which concatenations are done in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    /// Concatenations with at least one part in place.
    SomeParts,
    /// Concatenations with all parts in place.
    AllParts,
}

/// How a part gets into the whole.
enum How {
    /// The step `by` writes the part into the whole, with the kernel `with`, or with its own kernel if that is `None`.
    Made { by: usize, with: Option<Arc<dyn Kernel>> },
    /// The part is copied into the whole.
    Copied,
}

/// A concatenation that can be done in place.
struct Concatenation {
    /// Index of the step of the concatenation.
    step: usize,
    /// The place of each part in the whole, and how the part is put into it.
    parts: Vec<(Place, How)>,
}

/// Does concatenations in place if the arena does not grow.
///
/// # Errors
/// Returns the errors of the planner.
pub fn run(state: &ProgramState, options: &PlanOptions) -> Result<Option<ProgramState>> {
    let program = &*state.program;
    let candidates = if options.enable_inplace { candidates(program) } else { Vec::new() };
    if candidates.is_empty() {
        return Ok(None);
    }
    let quiet = PlanOptions { verbose: false, ..*options };
    let limit = arena_bytes(state.plan(&quiet)?);
    let fitting = |which: Which, steps: &[usize]| {
        let Some(changed) = in_place(program, which, steps) else { return Ok(None) };
        let memory = plan(&changed, &quiet)?;
        let bytes = arena_bytes(&memory);
        if bytes > limit {
            let n = steps.len();
            tracing::debug!("{n} concatenations in place ({which:?}) would need {bytes} bytes instead of {limit}");
        }
        Ok((bytes <= limit).then(|| state.with_plan(changed, memory)))
    };
    for which in [Which::SomeParts, Which::AllParts] {
        if let Some(state) = fitting(which, &candidates)? {
            return Ok(Some(state));
        }
    }
    let (mut taken, mut best) = (Vec::new(), None);
    for step in candidates.into_iter().take(MOST_TRIED) {
        taken.push(step);
        match fitting(Which::SomeParts, &taken)? {
            Some(state) => best = Some(state),
            None => _ = taken.pop(),
        }
    }
    Ok(best)
}

/// The steps of the concatenations that can be done in place, the largest first.
fn candidates(program: &Program) -> Vec<usize> {
    let is_inference = program.n_forward == program.steps.len() && program.sums.is_empty();
    if !is_inference || !program.steps.iter().any(|step| step.combines == Combines::Concatenation) {
        return Vec::new();
    }
    let uses = Uses::of(program);
    let can = |(at, step): (usize, &Step)| concatenation(program, (at, step), &uses, Which::SomeParts).map(|_| at);
    let mut candidates: Vec<usize> = program.steps.iter().enumerate().filter_map(can).collect();
    let size = |at: usize| program.values[program.steps[at].outputs[0]].desc.size_bytes();
    candidates.sort_by_key(|at| std::cmp::Reverse(size(*at)));
    candidates
}

/// The program in which the concatenations at these steps are done in place, or `None` if that is possible for none of
/// them.
fn in_place(program: &Program, which: Which, steps: &[usize]) -> Option<Program> {
    let uses = Uses::of(program);
    // Goes from the last step to the first, so that outer concatenations come before inner ones. A value that is a part of
    // an outer concatenation has no memory of its own in which its own parts could lie.
    let mut is_part = vec![false; program.values.len()];
    let mut found = Vec::new();
    for (at, step) in program.steps.iter().enumerate().rev().filter(|(at, _)| steps.contains(at)) {
        let concatenation = concatenation(program, (at, step), &uses, which);
        let Some(concatenation) = concatenation.filter(|_| !is_part[step.outputs[0]]) else { continue };
        for (part, (_, how)) in step.inputs.iter().zip(&concatenation.parts) {
            is_part[*part] |= matches!(how, How::Made { .. });
        }
        found.push(concatenation);
    }
    (!found.is_empty()).then(|| rewritten(program, found))
}

/// The program in which the concatenations `found`, listed from the last step to the first, are done in place.
fn rewritten(program: &Program, mut found: Vec<Concatenation>) -> Program {
    let mut changed = program.clone();
    let mut copies: Vec<(usize, Step)> = Vec::new();
    while let Some(Concatenation { step: at, parts }) = found.pop() {
        let whole = program.steps[at].outputs[0];
        let device = program.values[whole].device;
        for (position, (place, how)) in parts.into_iter().enumerate() {
            let Place { offset_bytes, desc, image_bytes, images: (n, image), .. } = place;
            let origin = Origin::Part { whole, offset_bytes };
            let part = program.steps[at].inputs[position];
            match how {
                How::Made { by, with } => {
                    changed.values[part] = Value { desc, origin, device };
                    if let Some(kernel) = with {
                        changed.steps[by].action = Action::Run(kernel);
                    }
                }
                How::Copied => {
                    changed.values.push(Value { desc, origin, device });
                    let to = changed.values.len() - 1;
                    changed.steps[at].inputs[position] = to;
                    let copy = CopyImages { n, image, distance: image_bytes.unwrap_or(image) };
                    let name = format!("{}_arg{position}", program.steps[at].name);
                    copies
                        .push((at, Step::copy(name, (COPIER, Action::CopyImages(copy)), device, vec![part], vec![to])));
                }
            }
        }
        let step = &mut changed.steps[at];
        (step.action, step.backend, step.scratch_bytes) = (Action::View, "", 0);
        step.inplace.clear();
    }
    let values = &changed.values;
    let is_part = |value: &ValueId| matches!(values[*value].origin, Origin::Part { .. });
    for step in &mut changed.steps {
        let outputs = &step.outputs;
        step.inplace.retain(|(_, output)| !is_part(&outputs[*output]));
    }
    let mut copies = copies.into_iter().peekable();
    let mut steps = Vec::with_capacity(changed.steps.len());
    for (at, step) in changed.steps.into_iter().enumerate() {
        while let Some((_, copy)) = copies.next_if(|(before, _)| *before == at) {
            steps.push(copy);
        }
        steps.push(step);
    }
    changed.n_forward = steps.len();
    changed.steps = steps;
    changed
}

/// The maker and the readers of each value.
struct Uses {
    n_readers: Vec<usize>,
    /// For each value, the step that makes it with a kernel.
    maker: Vec<Option<usize>>,
}

impl Uses {
    fn of(program: &Program) -> Self {
        let mut uses = Self { n_readers: vec![0; program.values.len()], maker: vec![None; program.values.len()] };
        for (at, step) in program.steps.iter().enumerate() {
            step.inputs.iter().for_each(|value| uses.n_readers[*value] += 1);
            let n_plain = step.outputs.len() - step.n_rewrites;
            if !step.is_view() {
                step.outputs[..n_plain].iter().for_each(|value| uses.maker[*value] = Some(at));
            }
        }
        program.outputs.iter().for_each(|value| uses.n_readers[*value] += 1);
        uses
    }
}

/// How a concatenation is done in place, if it can be.
fn concatenation(program: &Program, (at, step): (usize, &Step), uses: &Uses, which: Which) -> Option<Concatenation> {
    let [whole] = step.outputs[..] else { return None };
    if step.combines != Combines::Concatenation || step.is_view() || step.inputs.len() < 2 {
        return None;
    }
    if program.values[whole].origin != Origin::Temporary || uses.n_readers[whole] == 0 {
        return None;
    }
    let descs: Vec<&TensorDesc> = step.inputs.iter().map(|part| &program.values[*part].desc).collect();
    let places = places(&program.values[whole].desc, &descs)?;
    let parts: Vec<_> = step
        .inputs
        .iter()
        .zip(places)
        .map(|(part, place)| {
            let how = how(program, *part, &place, uses);
            (place, how)
        })
        .collect();
    let n_made = parts.iter().filter(|(_, how)| matches!(how, How::Made { .. })).count();
    let is_enough = if which == Which::AllParts { n_made == parts.len() } else { n_made > 0 };
    is_enough.then_some(Concatenation { step: at, parts })
}

fn how(program: &Program, part: ValueId, place: &Place, uses: &Uses) -> How {
    let is_private = program.values[part].origin == Origin::Temporary && uses.n_readers[part] == 1;
    let Some(by) = uses.maker[part].filter(|_| is_private && place.is_aligned) else { return How::Copied };
    let Some(image_bytes) = place.image_bytes else { return How::Made { by, with: None } };
    let kernel = match &program.steps[by].action {
        Action::Run(kernel) if program.steps[by].outputs.len() == 1 => kernel.clone().strided(image_bytes),
        _ => None,
    };
    kernel.map_or(How::Copied, |kernel| How::Made { by, with: Some(kernel) })
}
