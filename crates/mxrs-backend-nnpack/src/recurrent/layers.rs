//! All layers forward.

use super::cells::{self, Cells};
use super::operands;
use super::places::Places;
use super::problem::Problem;
use super::steps::{Rows, Steps, pack_for_states, packed_at};
use crate::convolve::{Convolve, part};
use crate::matrix::{MatrixProblem, MatrixProduct, Order, Strides};
use mxrs_processor::Isa;
use mxrs_sync::Team;

/// The memory of a running call.
pub struct Memory {
    /// The data: `[steps][batch][features]`.
    pub data: *const f32,
    /// The vector of parameters.
    pub parameters: *const f32,
    /// The first states and the first cell states of all layers and directions. The latter are null if there are none.
    pub first: [*const f32; 2],
    /// The output of the last layer: `[steps][batch][directions * hidden]`. Null if it is not wanted.
    pub out: *mut f32,
    /// The last states and the last cell states. Null if they are not wanted.
    pub last: [*mut f32; 2],
    /// Scratch memory, divided as [`Places`] says.
    pub scratch: *mut f32,
}

// SAFETY: sharing only copies the addresses. The memory behind them is accessed in unsafe functions, whose contracts exclude
// conflicting accesses.
unsafe impl Sync for Memory {}

/// One step of one direction of a layer.
#[derive(Clone, Copy, Debug)]
pub struct At {
    /// The layer.
    pub layer: usize,
    /// The direction.
    pub direction: usize,
    /// The time.
    pub t: usize,
}

/// The forward pass, prepared.
pub struct Layers {
    /// Sizes of the call.
    pub p: Problem,
    /// The parts of the scratch memory.
    pub places: Places,
    /// The products of the input with the weights of one gate: in the first layer, and in the others.
    inputs: Vec<MatrixProduct>,
    steps: Steps,
    cells: cells::Function,
}

impl Layers {
    /// Prepares the pass. `work` is the number of bytes that other products need.
    pub fn new(p: Problem, is_gradient: bool, isa: Isa, work: usize) -> Self {
        let inputs: Vec<MatrixProduct> = (0..p.layers.min(2))
            .map(|layer| {
                let (n, inside) = (p.n_features(layer), Order::StepsInside);
                let problem =
                    MatrixProblem { rows: p.rows(), columns: p.hidden, steps: n, left: inside, right: inside };
                let strides = Strides { left: n, right: n, result: p.gate_line() };
                MatrixProduct::with_strides(problem, strides, isa, p.threads)
            })
            .collect();
        let work = inputs.iter().map(Convolve::scratch_bytes).fold(work, usize::max).div_ceil(size_of::<f32>());
        let places = Places::new(&p, is_gradient, work);
        Self { p, places, inputs, steps: Steps::of_states(&p, isa), cells: cells::forward(p.mode, isa) }
    }

    /// Bytes of scratch memory.
    pub fn scratch_bytes(&self) -> usize {
        self.places.len * size_of::<f32>()
    }

    /// Computes all layers.
    ///
    /// # Safety
    /// The memory must be that of a running call of this problem.
    pub unsafe fn run(&self, m: &Memory, team: &Team) {
        for layer in 0..self.p.layers {
            for direction in 0..self.p.directions {
                // SAFETY: the contract of this function.
                unsafe { self.multiply_input(m, layer, direction, team) }
            }
            // SAFETY: the directions have gates, states and packed weights of their own, and write different columns of the
            // output.
            let each = |direction: usize| unsafe { self.direction(m, layer, direction, team) };
            if self.p.at_once() {
                team.run(self.p.directions, &each);
            } else {
                (0..self.p.directions).for_each(each);
            }
        }
    }

    /// The rows that a layer reads: the data, or the output of the layer before.
    ///
    /// # Safety
    /// As for [`Self::run`].
    pub unsafe fn source(&self, m: &Memory, layer: usize) -> *const f32 {
        match layer.checked_sub(1) {
            None => m.data,
            // SAFETY: the position lies in the scratch memory.
            Some(before) => unsafe { m.scratch.add(self.places.output(before)) },
        }
    }

    /// Computes the input's part of all gates, with the biases.
    ///
    /// # Safety
    /// As for [`Self::run`]; no other thread uses the memory of products or the gates of this direction.
    unsafe fn multiply_input(&self, m: &Memory, layer: usize, direction: usize, team: &Team) {
        let (p, places) = (&self.p, &self.places);
        let weights = p.weights(layer, direction);
        let (n, size) = (p.hidden, p.hidden * p.n_features(layer));
        // SAFETY: the positions of weights lie in the parameters, and those of `places` in the scratch memory. The bias has
        // `hidden` values. The product writes the rows of one gate, and its scratch memory counts in `work`.
        unsafe {
            let bias = m.scratch.add(places.bias);
            let gates = m.scratch.add(places.gates(layer, direction));
            for gate in 0..p.gates() {
                let of_input = m.parameters.add(weights.input_bias + gate * n);
                let of_state = m.parameters.add(weights.state_bias + gate * n);
                for i in 0..n {
                    // The state's part of the new gate of a GRU has a bias of its own.
                    let more = if p.is_new_of_gru(gate) { 0.0 } else { *of_state.add(i) };
                    *bias.add(i) = *of_input.add(i) + more;
                }
                let weight = m.parameters.add(weights.input + gate * size);
                let sources = [self.source(m, layer), weight, bias.cast_const()];
                let to = gates.add(gate * p.padded());
                self.inputs[layer.min(1)].run_on(&operands(sources, to, m.scratch.add(places.work)), team);
            }
        }
    }

    /// Computes all steps of one direction, whose gates hold the input's part.
    ///
    /// # Safety
    /// As for [`Self::run`]; no other thread uses gates, states and packed weight of this direction, or its columns of the
    /// output.
    unsafe fn direction(&self, m: &Memory, layer: usize, direction: usize, team: &Team) {
        let p = &self.p;
        let (units, threads) = (p.units(), p.step_threads());
        let at = |t: usize| At { layer, direction, t };
        let [first_slot, _] = p.slots(direction, p.time(direction, 0));
        let [_, last_slot] = p.slots(direction, p.time(direction, p.steps - 1));
        // SAFETY: the slots are those of the states of this direction.
        unsafe { self.put_first_states(m, at(0), first_slot) }
        team.run(threads, &|k| {
            for unit in part(units, threads, k) {
                // SAFETY: the weight of the state lies in the parameters. `part` gives each unit to one thread.
                unsafe {
                    let weight = m.parameters.add(p.weights(layer, direction).state);
                    pack_for_states(p, weight, m.scratch.add(self.places.packed(direction)), unit);
                }
            }
        });
        for i in 0..p.steps {
            let at = at(p.time(direction, i));
            team.run(threads, &|k| {
                // SAFETY: the weight is packed, the step before is complete, and `part` gives each unit to one thread.
                part(units, threads, k).for_each(|unit| unsafe { self.step(m, at, unit) });
            });
        }
        // SAFETY: the slots are those of the states of this direction, whose steps are complete.
        unsafe { self.get_last_states(m, at(0), last_slot) }
    }

    /// The states and the cell states of one direction of a layer.
    ///
    /// # Safety
    /// As for [`Self::run`].
    unsafe fn states(&self, m: &Memory, at: At) -> [*mut f32; 2] {
        let [states, cells] = [self.places.states(at.layer, at.direction), self.places.cells(at.layer, at.direction)];
        // SAFETY: the positions lie in the scratch memory.
        unsafe { [m.scratch.add(states), m.scratch.add(cells)] }
    }

    /// Copies the first states to their slot.
    ///
    /// # Safety
    /// As for [`Self::direction`].
    unsafe fn put_first_states(&self, m: &Memory, at: At, slot: usize) {
        let p = &self.p;
        let which = at.layer * p.directions + at.direction;
        for (kind, from) in m.first.into_iter().enumerate().filter(|(_, from)| !from.is_null()) {
            for n in 0..p.batch {
                // SAFETY: the input has `hidden` values for each direction, layer and sequence; a slot has a row for each
                // sequence.
                unsafe {
                    let to = self.states(m, at)[kind].add((slot * p.batch + n) * p.line());
                    to.copy_from_nonoverlapping(from.add((which * p.batch + n) * p.hidden), p.hidden);
                    to.add(p.hidden).write_bytes(0, p.line() - p.hidden);
                }
            }
        }
    }

    /// Copies the last states to the outputs.
    ///
    /// # Safety
    /// As for [`Self::direction`].
    unsafe fn get_last_states(&self, m: &Memory, at: At, slot: usize) {
        let p = &self.p;
        let which = at.layer * p.directions + at.direction;
        for (kind, to) in m.last.into_iter().enumerate().filter(|(_, to)| !to.is_null()) {
            for n in 0..p.batch {
                // SAFETY: the output has `hidden` values for each direction, layer and sequence; a slot has a row for each
                // sequence.
                unsafe {
                    let from = self.states(m, at)[kind].add((slot * p.batch + n) * p.line());
                    to.add((which * p.batch + n) * p.hidden).copy_from_nonoverlapping(from, p.hidden);
                }
            }
        }
    }

    /// The first row of the gates of a step.
    ///
    /// # Safety
    /// As for [`Self::run`].
    pub unsafe fn gates(&self, m: &Memory, at: At) -> Rows<*mut f32> {
        let line = self.p.gate_line();
        // SAFETY: the step has rows in the gates of this direction.
        let at = unsafe { m.scratch.add(self.places.gates(at.layer, at.direction) + at.t * self.p.batch * line) };
        Rows { at, line }
    }

    /// The cells of a unit at a step, without gradients.
    ///
    /// # Safety
    /// As for [`Self::run`].
    pub unsafe fn cells(&self, m: &Memory, at: At, unit: usize) -> Cells {
        let p = &self.p;
        let (first, width, _) = p.unit(unit);
        let [before, after] = p.slots(at.direction, at.t).map(|slot| slot * p.batch * p.line() + first);
        // SAFETY: the unit, the step and its slots exist.
        unsafe {
            let states = self.states(m, at);
            let Rows { at: gates, line: gate_line } = self.gates(m, at);
            Cells {
                n: p.batch,
                width,
                gates: gates.add(first),
                gate_line,
                part: p.padded(),
                before: states.map(|states| states.add(before).cast_const()),
                after: states.map(|states| states.add(after)),
                running: [std::ptr::null_mut(); 2],
                line: p.line(),
            }
        }
    }

    /// Computes a unit at one step.
    ///
    /// # Safety
    /// As for [`Self::direction`]; the weight must be packed and the step before complete, and no other thread uses this unit.
    unsafe fn step(&self, m: &Memory, at: At, unit: usize) {
        let p = &self.p;
        let (first, width, n) = p.unit(unit);
        let [before, _] = p.slots(at.direction, at.t);
        // SAFETY: the unit is one of this call, so its columns lie in the gates and in the states; padding follows the last
        // hidden unit of each part. All positions lie in the memory of the call.
        unsafe {
            let cells = self.cells(m, at, unit);
            for row in 0..p.batch {
                let gates = cells.gates.add(row * cells.gate_line);
                if n < width {
                    (0..p.gates()).for_each(|gate| gates.add(gate * cells.part + n).write_bytes(0, width - n));
                }
                if let Some(new) = (0..p.gates()).find(|gate| p.is_new_of_gru(*gate)) {
                    let to = gates.add(p.state_part(new) * cells.part);
                    let bias = p.weights(at.layer, at.direction).state_bias + new * p.hidden + first;
                    to.copy_from_nonoverlapping(m.parameters.add(bias), n);
                    to.add(n).write_bytes(0, width - n);
                }
            }
            let states = self.states(m, at)[0].add(before * p.batch * p.line());
            let states = Rows { at: states.cast_const(), line: p.line() };
            for gate in 0..p.gates() {
                let panel = m.scratch.add(self.places.packed(at.direction) + packed_at(p, unit, gate));
                let to = Rows { at: cells.gates.add(p.state_part(gate) * cells.part), line: cells.gate_line };
                self.steps.add_to(states, panel, to, p.batch, width);
            }
            (self.cells)(&cells);
            self.put_output(m, at, unit, &cells);
        }
    }

    /// Copies the new states of a unit to the output of the layer, if it is wanted.
    ///
    /// # Safety
    /// As for [`Self::step`].
    unsafe fn put_output(&self, m: &Memory, at: At, unit: usize, cells: &Cells) {
        let p = &self.p;
        let (first, _, n) = p.unit(unit);
        // SAFETY: the output of the layer has `width` values for each step of each sequence, and the position of one that is
        // not the last lies in the scratch memory.
        unsafe {
            let is_last = at.layer + 1 == p.layers;
            let out = if is_last { m.out } else { m.scratch.add(self.places.output(at.layer)) };
            for row in (0..p.batch).filter(|_| !out.is_null()) {
                let to = out.add((at.t * p.batch + row) * p.width() + at.direction * p.hidden + first);
                to.copy_from_nonoverlapping(cells.after[0].add(row * cells.line), n);
            }
        }
    }
}
