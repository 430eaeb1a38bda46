//! Packing: orders the prepare steps, which make constants, and plans the memory of the values that only prepare steps
//! read.
//!
//! A constant may be made in two steps. For instance, a normalization is folded into a weight, and the result is copied to
//! the layout of a kernel. The result of the first step is needed only until the second has run. Such *passing* values
//! share one block of memory, which is planned like the temporary values of a run. The steps are ordered so that few
//! passing values are alive at the same time. Therefore a passing value is lost soon after it is made. To run a step that
//! reads a passing value, the step that makes the value has to run again first.
//!
//! - Needs the prepare steps in an order in which each comes after the steps whose outputs it reads, as `lower` leaves
//!   them.
//! - Promises the same steps in an order that keeps few passing values alive, and memory for each value.
//! - Switch: none, because a program with constants cannot run without memory for them.

use super::state::ProgramState;
use crate::program::{Origin, Program, Step, ValueId};
use mxrs_graph::{EntryId, EntryKind, MemoryPlan, Placement, PlanEntry, PlanOptions, PlanStep, plan_memory};
use mxrs_types::{Device, Result};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Orders the prepare steps and plans their memory.
///
/// # Errors
/// Returns the errors of the planner.
pub fn run(state: &ProgramState, _: &PlanOptions) -> Result<Option<ProgramState>> {
    if state.program.prepare.is_empty() {
        return Ok(None);
    }
    let order = demand_order(&state.program);
    let program = match order.is_sorted() {
        true => state.program.clone(),
        // Programs are large. The program is copied only if the order changes.
        false => {
            let prepare = order.iter().map(|step| state.program.prepare[*step].clone()).collect();
            Arc::new(Program { prepare, ..Program::clone(&state.program) })
        }
    };
    let preparation = Preparation::new(&program)?;
    Ok(Some(state.with_preparation(program, preparation)))
}

/// The prepare steps in an order in which each step comes as soon as possible after the steps whose outputs it reads.
fn demand_order(program: &Program) -> Vec<usize> {
    let maker = makers(program);
    let passing = passing(program);
    let mut is_placed = vec![false; program.prepare.len()];
    let mut order = Vec::with_capacity(program.prepare.len());
    for last in 0..program.prepare.len() {
        if !program.prepare[last].outputs.iter().any(|value| passing.contains(value)) {
            place(last, &program.prepare, &maker, &mut is_placed, &mut order);
        }
    }
    // The remaining steps make values that no step needs.
    (0..program.prepare.len()).for_each(|step| place(step, &program.prepare, &maker, &mut is_placed, &mut order));
    order
}

/// Appends a step to the order, after the steps that make its inputs.
fn place(
    last: usize,
    steps: &[Step],
    maker: &FxHashMap<ValueId, usize>,
    is_placed: &mut [bool],
    order: &mut Vec<usize>,
) {
    // Steps that wait for their inputs, each with the number of its inputs that have been visited.
    let mut open = vec![(last, 0)];
    while let Some((step, seen)) = open.pop() {
        if is_placed[step] {
            continue;
        }
        match steps[step].inputs.get(seen) {
            Some(value) => {
                open.push((step, seen + 1));
                open.extend(maker.get(value).filter(|made| !is_placed[**made]).map(|made| (*made, 0)));
            }
            None => {
                is_placed[step] = true;
                order.push(step);
            }
        }
    }
}

/// For each packed value, the prepare step that makes it.
pub fn makers(program: &Program) -> FxHashMap<ValueId, usize> {
    let steps = program.prepare.iter().enumerate();
    steps.flat_map(|(at, step)| step.outputs.iter().map(move |value| (*value, at))).collect()
}

/// Passing values: prepare steps make them, and only prepare steps read them.
fn passing(program: &Program) -> FxHashSet<ValueId> {
    let read_there = program.prepare.iter().flat_map(|step| step.inputs.iter().copied());
    let mut passing: FxHashSet<ValueId> = read_there.collect();
    passing.retain(|value| program.values[*value].origin == Origin::Packed);
    let kept = program.steps.iter().flat_map(|step| step.inputs.iter().chain(&step.outputs)).chain(&program.outputs);
    for value in kept {
        passing.remove(value);
    }
    passing
}

/// The memory of the prepare steps.
pub struct Preparation {
    memory: MemoryPlan,
    /// Values that are kept after preparation, each in separate memory.
    pub kept: Vec<ValueId>,
    /// For each prepare step, the bound arrays that it depends on, directly or through earlier steps.
    pub sources: Vec<Vec<usize>>,
    /// For each prepare step, the steps that make the passing values that it reads.
    passed_by: Vec<Vec<usize>>,
    /// Bytes that the passing values and workspaces share, on all devices together.
    shared_bytes: usize,
}

impl Preparation {
    /// Plans the memory of the prepare steps.
    ///
    /// # Errors
    /// Returns an error if sizes overflow.
    pub fn new(program: &Program) -> Result<Self> {
        let passing = passing(program);
        let entry = |(value, v): (usize, &crate::program::Value)| PlanEntry {
            size_bytes: v.desc.size_bytes(),
            device: v.device,
            kind: if passing.contains(&value) { EntryKind::Planned } else { EntryKind::External },
        };
        let entries: Vec<PlanEntry> = program.values.iter().enumerate().map(entry).collect();
        let ids = |values: &[ValueId]| values.iter().map(|&v| EntryId::new(v)).collect();
        let step = |step: &Step| PlanStep {
            inputs: ids(&step.inputs),
            outputs: ids(&step.outputs),
            scratch_bytes: step.scratch_bytes,
            ..PlanStep::default()
        };
        let steps: Vec<PlanStep> = program.prepare.iter().map(step).collect();
        let memory = plan_memory(&steps, &entries, &[], &PlanOptions::default())?;
        let maker = makers(program);
        let passed_by = |step: &Step| {
            let passed = step.inputs.iter().filter(|value| passing.contains(value));
            passed.filter_map(|value| maker.get(value).copied()).collect()
        };
        let is_kept = |value: &ValueId| program.values[*value].origin == Origin::Packed && !passing.contains(value);
        Ok(Self {
            shared_bytes: memory.arenas.iter().map(|(_, bytes)| bytes).sum(),
            memory,
            kept: (0..program.values.len()).filter(is_kept).collect(),
            sources: sources(program, &maker),
            passed_by: program.prepare.iter().map(passed_by).collect(),
        })
    }

    /// Bytes that the passing values and workspaces of a device share.
    pub fn shared_bytes(&self, device: Device) -> usize {
        self.memory.arenas.iter().filter(|(of, _)| *of == device).map(|(_, bytes)| bytes).sum()
    }

    /// Offset of a passing value in the shared memory of its device; `None` for any other value.
    pub fn offset(&self, value: ValueId) -> Option<usize> {
        match self.memory.placements.get(value)? {
            Placement::Storage(id) => Some(self.memory.storages[id.index()].offset_bytes),
            _ => None,
        }
    }

    /// Offset of a step's workspace in the shared memory of its device.
    pub fn scratch_offset(&self, step: usize) -> Option<usize> {
        let storage = self.memory.scratch.get(step).copied().flatten()?;
        Some(self.memory.storages[storage.index()].offset_bytes)
    }

    /// Marks the steps that make passing values for steps that are marked as needed.
    pub fn need_makers(&self, is_needed: &mut [bool]) {
        for step in (0..is_needed.len()).rev() {
            if is_needed[step] {
                self.passed_by[step].iter().for_each(|made| is_needed[*made] = true);
            }
        }
    }

    /// Bytes of all kept values, passing values and workspaces on a device.
    pub fn bytes_on(&self, program: &Program, device: Device) -> usize {
        let values = self.kept.iter().map(|value| &program.values[*value]).filter(|value| value.device == device);
        self.shared_bytes(device) + values.map(|value| value.desc.size_bytes()).sum::<usize>()
    }

    /// Bytes of all kept values, passing values and workspaces together.
    pub fn bytes(&self, program: &Program) -> usize {
        self.shared_bytes + self.kept.iter().map(|value| program.values[*value].desc.size_bytes()).sum::<usize>()
    }
}

/// For each prepare step, the bound arrays that it depends on, directly or through earlier steps.
fn sources(program: &Program, maker: &FxHashMap<ValueId, usize>) -> Vec<Vec<usize>> {
    let mut found: Vec<BTreeSet<usize>> = Vec::with_capacity(program.prepare.len());
    for step in &program.prepare {
        let mut of_step = BTreeSet::new();
        for value in &step.inputs {
            if let Origin::Bound(index) = program.values[*value].origin {
                of_step.insert(index);
            }
            of_step.extend(maker.get(value).and_then(|made| found.get(*made)).into_iter().flatten().copied());
        }
        found.push(of_step);
    }
    found.into_iter().map(|of_step| of_step.into_iter().collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Action, Value};
    use mxrs_op::TensorDesc;
    use mxrs_types::{DType, Device};

    /// A program with values of 16 elements: first `n_bound` bound arrays, then `n_packed` packed values. `prepare` gives
    /// the inputs and the output of each prepare step. The only step of a run reads the values `read`.
    fn program(n_bound: usize, n_packed: usize, prepare: &[(&[usize], usize)], read: &[usize]) -> Program {
        let value = |origin| Value { desc: TensorDesc::dense([16], DType::F32), origin, device: Device::default() };
        let bound = (0..n_bound).map(|index| value(Origin::Bound(index)));
        let step = |inputs: &[usize], outputs: &[usize]| {
            Step::copy(
                format!("makes {outputs:?}"),
                ("", Action::View),
                Device::default(),
                inputs.to_vec(),
                outputs.to_vec(),
            )
        };
        Program {
            values: bound.chain((0..n_packed).map(|_| value(Origin::Packed))).collect(),
            prepare: prepare.iter().map(|(inputs, output)| step(inputs, &[*output])).collect(),
            steps: vec![step(read, &[])],
            ..Program::default()
        }
    }

    /// Runs the pass. Returns the outputs of the prepare steps in their new order, the program and its preparation.
    fn packed(program: Program) -> (Vec<usize>, Arc<Program>, Arc<Preparation>) {
        let state = ProgramState::new(Arc::new(program));
        let state = run(&state, &PlanOptions::default()).unwrap().unwrap();
        let order = state.program.prepare.iter().map(|step| step.outputs[0]).collect();
        (order, state.program, state.preparation.unwrap())
    }

    #[test]
    fn what_is_passed_on_shares_memory() {
        // There are two weights, values 0 and 1. Each is folded (values 2 and 3) and then packed (values 4 and 5).
        let program = program(2, 4, &[(&[0], 2), (&[1], 3), (&[2], 4), (&[3], 5)], &[4, 5]);
        let (order, program, preparation) = packed(program);
        assert_eq!(order, [2, 4, 3, 5]);
        assert_eq!(preparation.kept, [4, 5]);
        assert_eq!(preparation.offset(2), preparation.offset(3));
        assert_eq!(preparation.offset(4), None);
        assert_eq!((preparation.shared_bytes, preparation.bytes(&program)), (64, 3 * 64));
    }

    #[test]
    fn who_passes_on_runs_when_a_reader_does() {
        // Value 3 is made from array 0. Value 4 is made from 3 and array 1, value 5 from 3 and array 2.
        let steps: [(&[usize], usize); 3] = [(&[0], 3), (&[3, 1], 4), (&[3, 2], 5)];
        let needed = |read: &[usize], step: usize| {
            let preparation = Preparation::new(&program(3, 3, &steps, read)).unwrap();
            assert_eq!(preparation.sources, [vec![0], vec![0, 1], vec![0, 2]]);
            let mut is_needed = vec![false; 3];
            is_needed[step] = true;
            preparation.need_makers(&mut is_needed);
            is_needed
        };
        assert_eq!(needed(&[4, 5], 1), [true, true, false]);
        assert_eq!(needed(&[4, 5], 2), [true, false, true]);
        // Now a step of the run reads value 3, so value 3 is kept and need not be made again.
        assert_eq!(needed(&[3, 4, 5], 1), [false, true, false]);
    }

    #[test]
    fn values_that_no_step_reads_are_made_all_the_same() {
        let (order, _, preparation) = packed(program(1, 3, &[(&[0], 1), (&[1], 2), (&[1], 3)], &[3]));
        assert_eq!(order, [1, 2, 3]);
        // No step reads value 2, so it is not a passing value and has separate memory.
        assert_eq!(preparation.kept, [2, 3]);
    }
}
