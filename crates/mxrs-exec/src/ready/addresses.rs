//! Finds the addresses of the tensors of a program.

use super::memory::Memory;
use super::step::{ReadyStep, Tensor};
use crate::program::{Action, Origin, Program, Step, ValueId};
use crate::program_passes::Planned;
use mxrs_graph::memory::StorageId;
use mxrs_graph::{MemoryPlan, Placement};
use mxrs_ndarray::NdArray;
use mxrs_op::RawTensor;
use mxrs_types::{Device, WriteReq};

/// Index of a step, among the steps of a run or among the prepare steps.
#[derive(Clone, Copy)]
pub enum Position {
    Run(usize),
    Prepare(usize),
}

/// A program with the memory in which its values lie.
pub struct Addresses<'a> {
    program: &'a Program,
    plan: &'a MemoryPlan,
    memory: &'a Memory,
    bound: &'a [NdArray],
    outputs: &'a [NdArray],
}

impl<'a> Addresses<'a> {
    /// The addresses of the values in this memory. A kernel uses only the addresses on the device of its step.
    pub fn new(planned: &'a Planned, memory: &'a Memory, bound: &'a [NdArray], outputs: &'a [NdArray]) -> Self {
        Self { program: &planned.program, plan: &planned.plan, memory, bound, outputs }
    }

    /// Address of a storage in the arena of its device.
    fn in_arena(&self, id: StorageId) -> *mut u8 {
        let storage = &self.plan.storages[id.index()];
        let arena = self.memory.on(storage.device).arena.as_ref();
        arena.map_or(std::ptr::null_mut(), |block| block.as_ptr()).wrapping_add(storage.offset_bytes)
    }

    fn tensor(&self, value: ValueId) -> Tensor {
        let v = &self.program.values[value];
        let (ptr, len) = match v.origin {
            Origin::Part { whole, offset_bytes } => {
                (self.tensor(whole).as_ptr().wrapping_add(offset_bytes), v.desc.size_bytes())
            }
            Origin::Bound(index) => (self.bound[index].as_ptr(), v.desc.size_bytes()),
            Origin::Output(index) => (self.outputs[index].as_ptr(), v.desc.size_bytes()),
            Origin::Crossing(index) => (self.memory.crossings[index].as_ptr(), v.desc.size_bytes()),
            Origin::Packed => (self.memory.on(v.device).packed.place(value), v.desc.size_bytes()),
            Origin::Temporary => match self.plan.placements[value] {
                Placement::Storage(id) => (self.in_arena(id), v.desc.size_bytes()),
                // No step reads the value, so it has no memory. Its request is Null.
                _ => (std::ptr::null_mut(), 0),
            },
        };
        // SAFETY: the program that is being built owns the memory of each origin. The memory has at least `len` bytes: an
        // array that a step uses has the shape and dtype of the value, a packed block or an arena storage was made with the
        // size of the value, and a part ends within its whole. The head of `ready/mod.rs` says why this memory may be used
        // during runs.
        unsafe { RawTensor::new(ptr, len) }
    }

    /// A tensor without bytes, for inputs whose content is ignored.
    fn nothing(&self) -> Tensor {
        // SAFETY: the tensor has no bytes, so the pointer is never read or written.
        unsafe { RawTensor::new(std::ptr::null_mut(), 0) }
    }

    fn scratch(&self, step: usize, len_bytes: usize) -> Tensor {
        let at = self.plan.scratch.get(step).copied().flatten();
        let (ptr, len) = at.map_or((std::ptr::null_mut(), 0), |id| (self.in_arena(id), len_bytes));
        // SAFETY: the planner gave this step a storage of at least `len_bytes` in the arena; without a storage `len` is 0.
        unsafe { RawTensor::new(ptr, len) }
    }

    fn prepare_scratch(&self, step: usize, device: Device, len_bytes: usize) -> Tensor {
        let ptr = self.memory.on(device).packed.scratch(step);
        // SAFETY: the planner gave this prepare step `len_bytes` at this offset of a block that the ready program owns; if
        // it did not, the pointer is null and the length is 0. Prepare steps run one after another.
        unsafe { RawTensor::new(ptr, if ptr.is_null() { 0 } else { len_bytes }) }
    }

    /// Finds the addresses and requests of a step of a run or of the preparation.
    pub fn ready(&self, step: &Step, at: Position) -> ReadyStep {
        let position = match at {
            Position::Run(position) => Some(position),
            Position::Prepare(_) => None,
        };
        // The plan lists in-place pairs in the order of their steps.
        let pairs = position.map_or(&[][..], |p| {
            let first = self.plan.inplace.partition_point(|pair| pair.step < p);
            let n_pairs = self.plan.inplace[first..].partition_point(|pair| pair.step == p);
            &self.plan.inplace[first..first + n_pairs]
        });
        let is_inplace = |output: usize| pairs.iter().any(|pair| pair.output == output && !pair.is_identity);
        let n_plain = step.outputs.len() - step.n_rewrites;
        // Whether the content of the output is unused: no step reads the output, or all steps that read it ignore its
        // content.
        let is_unread = |output: usize| {
            let value = step.outputs[output];
            !step.is_output_used[output]
                || (self.program.values[value].origin == Origin::Temporary
                    && self.plan.placements[value] == Placement::Unreferenced)
        };
        let is_sum =
            |output: usize| self.program.sums.iter().any(|sum| Some(sum.step) == position && sum.output == output);
        let req = |output: usize| match (is_unread(output), self.program.values[step.outputs[output]].origin) {
            (true, _) => WriteReq::Null,
            (false, _) if is_sum(output) => WriteReq::Add,
            (false, Origin::Output(index)) => self.program.output_reqs[index],
            (false, _) if output >= n_plain || is_inplace(output) => WriteReq::Inplace,
            (false, _) => WriteReq::Write,
        };
        let input = |(position, &value): (usize, &ValueId)| {
            if step.ignored_inputs.contains(&position) { self.nothing() } else { self.tensor(value) }
        };
        ReadyStep {
            name: step.name.clone(),
            kernel: match &step.action {
                Action::Run(kernel) => Some(kernel.clone()),
                Action::CopyImages(images) => Some(images.kernel(self.memory.on(step.device).packed.copies())),
                Action::View | Action::Cross => None,
            },
            inputs: step.inputs.iter().enumerate().map(input).collect(),
            outputs: step.outputs.iter().map(|&v| self.tensor(v)).collect(),
            reqs: (0..step.outputs.len()).map(req).collect(),
            scratch: match at {
                Position::Run(position) => self.scratch(position, step.scratch_bytes),
                Position::Prepare(position) => self.prepare_scratch(position, step.device, step.scratch_bytes),
            },
            random: step.random,
            crosses: step.crosses(),
            desc: self.program.values[step.outputs[0]].desc.clone(),
        }
    }
}
