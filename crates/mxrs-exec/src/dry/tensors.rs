//! The tensors in the arena: when each is alive and where it lies.

use crate::program::Program;
use mxrs_graph::memory::Storage;
use mxrs_graph::{MemoryPlan, Placement};
use mxrs_types::Device;

/// The purpose of a tensor in the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TensorKind {
    /// The tensor is made and used in the forward half.
    Forward,
    /// The tensor is made in the forward half and kept for the gradient.
    Kept,
    /// The tensor is computed a second time, for the gradient.
    Recomputed,
    /// The tensor is made in the gradient half.
    Gradient,
    /// The tensor is scratch memory of one kernel.
    Workspace,
}

/// One piece of memory in the arena. It belongs to one tensor, or to several tensors one after the other, if steps run in
/// place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedTensor {
    /// Name of the step that makes the tensor.
    pub name: String,
    /// The device of the arena.
    pub device: Device,
    /// First byte in the arena.
    pub offset_bytes: usize,
    /// Size of the tensor in bytes.
    pub size_bytes: usize,
    /// Index of the first step that uses the tensor.
    pub first: usize,
    /// Index of the last step that uses the tensor; the last step of the program if the tensor is an output.
    pub last: usize,
    /// Purpose of the tensor.
    pub kind: TensorKind,
}

/// The tensors of a program, ordered by their first step.
pub fn of(program: &Program, plan: &MemoryPlan) -> Vec<PlannedTensor> {
    let mut tensors: Vec<PlannedTensor> = Vec::new();
    // For each value, the index of its tensor.
    let mut of_value: Vec<Option<usize>> = vec![None; program.values.len()];
    let mut in_place = plan.inplace.iter().peekable();
    for (index, step) in program.steps.iter().enumerate() {
        let onto = program.sums.iter().find(|sum| sum.step == index).map(|sum| sum.onto);
        let read: Vec<usize> = step.inputs.iter().map(|value| program.base(*value)).chain(onto).collect();
        for (position, value) in read.iter().enumerate() {
            if let Some(tensor) = of_value[*value].filter(|_| !step.ignored_inputs.contains(&position)) {
                tensors[tensor].last = index;
            }
        }
        while let Some(pair) = in_place.next_if(|pair| pair.step == index) {
            of_value[step.outputs[pair.output]] = of_value[read[pair.input]];
        }
        let kind = match (step.is_clone, index < program.n_forward) {
            (true, _) => TensorKind::Recomputed,
            (false, true) => TensorKind::Forward,
            (false, false) => TensorKind::Gradient,
        };
        let made = step.outputs.iter().map(|value| program.base(*value));
        let made = made.filter_map(|value| match plan.placements[value] {
            Placement::Storage(id) => Some((Some(value), id, program.values[value].desc.size_bytes(), kind)),
            _ => None,
        });
        let scratch = plan.scratch[index].map(|id| (None, id, step.scratch_bytes, TensorKind::Workspace));
        for (value, id, size_bytes, kind) in made.chain(scratch) {
            if value.is_some_and(|value| of_value[value].is_some()) {
                continue;
            }
            if let Some(value) = value {
                of_value[value] = Some(tensors.len());
            }
            let Storage { device, offset_bytes, .. } = plan.storages[id.index()];
            tensors.push(PlannedTensor {
                name: step.name.clone(),
                device,
                offset_bytes,
                size_bytes,
                first: index,
                last: index,
                kind,
            });
        }
    }
    for value in &program.outputs {
        if let Some(tensor) = of_value[*value] {
            tensors[tensor].last = program.steps.len().saturating_sub(1);
        }
    }
    for tensor in &mut tensors {
        if tensor.kind == TensorKind::Forward && tensor.last >= program.n_forward {
            tensor.kind = TensorKind::Kept;
        }
    }
    tensors
}

/// The most bytes of tensors, workspaces excluded, that are alive at one of `n_steps` steps.
pub fn peak(tensors: &[PlannedTensor], n_steps: usize) -> usize {
    let (mut born, mut died) = (vec![0usize; n_steps + 1], vec![0usize; n_steps + 1]);
    for tensor in tensors.iter().filter(|t| t.kind != TensorKind::Workspace) {
        born[tensor.first] += tensor.size_bytes;
        died[tensor.last + 1] += tensor.size_bytes;
    }
    let change = |live: &mut usize, (born, died): (&usize, &usize)| {
        *live = *live - died + born;
        Some(*live)
    };
    born.iter().zip(&died).scan(0, change).max().unwrap_or(0)
}
