//! Which steps go to the engine together, and which arrays each push reads and writes.

use crate::program::{Origin, Program};
use std::collections::BTreeSet;
use std::ops::Range;

/// Steps pushed as one task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The steps.
    pub steps: Range<usize>,
    /// Its name for traces: that of its only step, or of the first and how many follow.
    pub name: String,
    /// Bound arrays it only reads.
    pub reads: Vec<usize>,
    /// Bound arrays it rewrites.
    pub rewrites: Vec<usize>,
    /// Output arrays it writes.
    pub outputs: Vec<usize>,
    /// Output arrays it only reads.
    pub reads_outputs: Vec<usize>,
}

/// Cuts `steps` of the program into segments of at most `limit` kernels each; views that run nothing do not count.
pub fn segments(program: &Program, steps: Range<usize>, limit: usize) -> Vec<Segment> {
    let mut found = Vec::new();
    let (mut begin, mut n_kernels) = (steps.start, 0);
    for step in steps.clone() {
        let counts = usize::from(!program.steps[step].is_view());
        if n_kernels + counts > limit.max(1) {
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

fn segment(program: &Program, steps: Range<usize>) -> Segment {
    let (mut reads, mut rewrites) = (BTreeSet::new(), BTreeSet::new());
    let (mut outputs, mut reads_outputs) = (BTreeSet::new(), BTreeSet::new());
    for step in &program.steps[steps.clone()] {
        for &value in &step.inputs {
            match program.values[value].origin {
                Origin::Bound(index) => reads.insert(index),
                Origin::Output(index) => reads_outputs.insert(index),
                _ => false,
            };
        }
        for &value in &step.outputs {
            match program.values[value].origin {
                Origin::Bound(index) => rewrites.insert(index),
                Origin::Output(index) => outputs.insert(index),
                _ => false,
            };
        }
    }
    let first = &program.steps[steps.start].name;
    let name = match steps.len() {
        1 => first.clone(),
        n => format!("{first} and {} more", n - 1),
    };
    Segment {
        name,
        reads: reads.difference(&rewrites).copied().collect(),
        rewrites: rewrites.into_iter().collect(),
        reads_outputs: reads_outputs.difference(&outputs).copied().collect(),
        outputs: outputs.into_iter().collect(),
        steps,
    }
}
