//! Concatenations in place: whoever makes a part writes it where it belongs in the whole, and the call that joins them copies
//! nothing.
//!
//! That is done where each image of each part [lies in one piece](crate::parts) in the whole, at a cache line, and the kernel that
//! makes the part can write images [apart](mxrs_op::Kernel::strided) where there are several. A part that somebody else reads too, or
//! that no such kernel makes, is copied alone; where none can be made in place, and in programs with a gradient, the concatenation
//! stays as it is. A program is planned in several ways; parts are made in place where that needs no larger arena.

use crate::copy_images::CopyImages;
use crate::parts::{Place, places};
use crate::program::{Action, Origin, Program, Step, Value, ValueId};
use mxrs_op::{Kernel, TensorDesc};
use std::sync::Arc;

const CONCAT: &str = "Concat";
/// Who copies single parts, for reports.
const COPIER: &str = "exec";

/// Which concatenations are done in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parts {
    /// Those of which some parts can.
    Some,
    /// Those of which all parts can.
    All,
}

/// How a part gets to its place.
enum How {
    /// The step that makes it writes there, with this kernel if not with its own.
    Made { by: usize, with: Option<Arc<dyn Kernel>> },
    /// By a copy.
    Copied,
}

/// A concatenation that is done in place.
struct Joint {
    /// Its step.
    step: usize,
    /// Of each part.
    parts: Vec<(Place, How)>,
}

/// Steps of the concatenations that can be done in place, the largest first.
pub fn joints(program: &Program) -> Vec<usize> {
    let is_inference = program.n_forward == program.steps.len() && program.sums.is_empty();
    if !is_inference || !program.steps.iter().any(|step| step.op == CONCAT) {
        return Vec::new();
    }
    let uses = Uses::of(program);
    let is_joint = |(at, step): (usize, &Step)| joint(program, (at, step), &uses, Parts::Some).map(|_| at);
    let mut joints: Vec<usize> = program.steps.iter().enumerate().filter_map(is_joint).collect();
    let size = |at: usize| program.values[program.steps[at].outputs[0]].desc.size_bytes();
    joints.sort_by_key(|at| std::cmp::Reverse(size(*at)));
    joints
}

/// The program without the copies of the concatenations at these steps, `None` where there is nothing to leave out.
pub fn joined(program: &Program, which: Parts, steps: &[usize]) -> Option<Program> {
    let uses = Uses::of(program);
    // The last one first: what is a part itself has no memory of its own for its parts to be in.
    let mut is_part = vec![false; program.values.len()];
    let mut joints = Vec::new();
    for (at, step) in program.steps.iter().enumerate().rev().filter(|(at, _)| steps.contains(at)) {
        let Some(joint) = joint(program, (at, step), &uses, which).filter(|_| !is_part[step.outputs[0]]) else {
            continue;
        };
        for (part, (_, how)) in step.inputs.iter().zip(&joint.parts) {
            is_part[*part] |= matches!(how, How::Made { .. });
        }
        joints.push(joint);
    }
    (!joints.is_empty()).then(|| rewritten(program, joints))
}

/// The program with these concatenations, the last one first, done in place.
fn rewritten(program: &Program, mut joints: Vec<Joint>) -> Program {
    let mut joined = program.clone();
    let mut copies: Vec<(usize, Step)> = Vec::new();
    while let Some(Joint { step: at, parts }) = joints.pop() {
        let whole = program.steps[at].outputs[0];
        for (position, (place, how)) in parts.into_iter().enumerate() {
            let Place { offset_bytes, desc, image_bytes, images: (n, image), .. } = place;
            let origin = Origin::Part { whole, offset_bytes };
            let part = program.steps[at].inputs[position];
            match how {
                How::Made { by, with } => {
                    joined.values[part] = Value { desc, origin };
                    if let Some(kernel) = with {
                        joined.steps[by].action = Action::Run(kernel);
                    }
                }
                How::Copied => {
                    joined.values.push(Value { desc, origin });
                    let to = joined.values.len() - 1;
                    joined.steps[at].inputs[position] = to;
                    let copy = CopyImages { n, image, distance: image_bytes.unwrap_or(image) };
                    let name = format!("{}_arg{position}", program.steps[at].name);
                    copies.push((at, Step::copy(name, (COPIER, Action::Run(Arc::new(copy))), vec![part], vec![to])));
                }
            }
        }
        let step = &mut joined.steps[at];
        (step.action, step.backend, step.scratch_bytes) = (Action::View, "", 0);
        step.inplace.clear();
    }
    let values = &joined.values;
    let is_part = |value: &ValueId| matches!(values[*value].origin, Origin::Part { .. });
    for step in &mut joined.steps {
        let outputs = &step.outputs;
        step.inplace.retain(|(_, output)| !is_part(&outputs[*output]));
    }
    let mut copies = copies.into_iter().peekable();
    let mut steps = Vec::with_capacity(joined.steps.len());
    for (at, step) in joined.steps.into_iter().enumerate() {
        while let Some((_, copy)) = copies.next_if(|(before, _)| *before == at) {
            steps.push(copy);
        }
        steps.push(step);
    }
    joined.n_forward = steps.len();
    joined.steps = steps;
    joined
}

/// Who makes and reads each value.
struct Uses {
    n_readers: Vec<usize>,
    /// Step that makes it with a kernel.
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
fn joint(program: &Program, (at, step): (usize, &Step), uses: &Uses, which: Parts) -> Option<Joint> {
    let [whole] = step.outputs[..] else { return None };
    if step.op != CONCAT || step.is_view() || step.inputs.len() < 2 {
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
    let is_enough = if which == Parts::All { n_made == parts.len() } else { n_made > 0 };
    is_enough.then_some(Joint { step: at, parts })
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
