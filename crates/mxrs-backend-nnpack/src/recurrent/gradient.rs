//! The kernel of `_backward_RNN`: all layers forward, then back.

use super::cells;
use super::layers::{At, Layers, Memory};
use super::operands;
use super::problem::Problem;
use super::steps::{Rows, Steps, pack_for_gates, packed_at};
use crate::convolve::{Convolve, part};
use crate::low_precision::requests::{Written, meet};
use crate::matrix::{MatrixProblem, MatrixProduct, Order, Strides};
use mxrs_op::{Kernel, KernelArgs};
use mxrs_processor::Isa;
use mxrs_sync::Team;
use mxrs_types::Result;

/// A planned call.
pub struct Backward {
    name: String,
    written: Vec<Written>,
    layers: Layers,
    steps: Steps,
    cells: cells::Function,
    /// The gradient of the input, in the first layer and in the others.
    to_input: Vec<MatrixProduct>,
    /// The gradient of the input's weight of one gate, in the first layer and in the others.
    to_weight: Vec<MatrixProduct>,
    /// The gradient of the state's weight of one gate.
    to_state_weight: MatrixProduct,
}

/// The gradients of the outputs, and the results.
struct Grads {
    /// The gradient of the output.
    out: *const f32,
    /// The gradients of the last states and of the last cell states. Null if these are not outputs.
    last: [*const f32; 2],
    data: *mut f32,
    parameters: *mut f32,
    /// The gradients of the first states and of the first cell states. The latter are null if there are none.
    first: [*mut f32; 2],
}

// SAFETY: sharing only copies the addresses. The memory behind them is accessed in unsafe functions, whose contracts exclude
// conflicting accesses.
unsafe impl Sync for Grads {}

impl Backward {
    /// Prepares the kernel, which has the name `name` in traces.
    pub fn new(name: String, written: Vec<Written>, p: Problem, isa: Isa) -> Self {
        let (inside, outside) = (Order::StepsInside, Order::StepsOutside);
        let kinds = 0..p.layers.min(2);
        let n_gates = p.gates() * p.hidden;
        let to_input = |layer: usize| {
            let n = p.n_features(layer);
            let problem = MatrixProblem { rows: p.rows(), columns: n, steps: n_gates, left: inside, right: outside };
            let left = if p.is_padded() { n_gates } else { p.gate_line() };
            MatrixProduct::with_strides(problem, Strides { left, right: n, result: n }, isa, p.threads)
        };
        let of_weight = |n: usize, right: usize| {
            let problem = MatrixProblem { rows: p.hidden, columns: n, steps: p.rows(), left: outside, right: outside };
            MatrixProduct::with_strides(problem, Strides { left: p.gate_line(), right, result: n }, isa, p.threads)
        };
        let to_input: Vec<MatrixProduct> = kinds.clone().map(to_input).collect();
        let to_weight: Vec<MatrixProduct> = kinds.map(|i| of_weight(p.n_features(i), p.n_features(i))).collect();
        let to_state_weight = of_weight(p.hidden, p.line());
        let products = to_input.iter().chain(&to_weight).chain([&to_state_weight]);
        let work = products.map(Convolve::scratch_bytes).fold(0, usize::max);
        Self {
            name,
            written,
            layers: Layers::new(p, true, isa, work),
            steps: Steps::of_gates(&p, isa),
            cells: cells::backward(p.mode, isa),
            to_input,
            to_weight,
            to_state_weight,
        }
    }

    /// Bytes of scratch memory.
    pub fn scratch_bytes(&self) -> usize {
        self.layers.scratch_bytes()
    }

    /// Goes back over all layers, which were computed forward.
    ///
    /// # Safety
    /// The memory must be that of a running call of this problem, with the gates and states of all layers.
    unsafe fn back(&self, m: &Memory, g: &Grads, team: &Team) {
        let p = &self.layers.p;
        for layer in (0..p.layers).rev() {
            // SAFETY: the directions have gates, gradients and packed weights of their own.
            let each = |direction: usize| unsafe { self.direction(m, g, layer, direction, team) };
            if p.at_once() {
                team.run(p.directions, &each);
            } else {
                (0..p.directions).for_each(each);
            }
            for direction in 0..p.directions {
                // SAFETY: the gates hold the gradients of their sums. The gradient of the output of this layer is no longer
                // needed, so that of its input may take its place.
                unsafe {
                    self.weights(m, g, layer, direction, team);
                    self.input(m, g, layer, direction, team);
                }
            }
        }
    }

    /// Goes back over all steps of one direction.
    ///
    /// # Safety
    /// As for [`Self::back`]; no other thread uses gates, gradients and packed weight of this direction.
    unsafe fn direction(&self, m: &Memory, g: &Grads, layer: usize, direction: usize, team: &Team) {
        let p = &self.layers.p;
        let (units, threads) = (p.units(), p.step_threads());
        let at = |t: usize| At { layer, direction, t };
        // SAFETY: the contract of this function.
        unsafe { self.put_last(m, g, at(0)) }
        team.run(threads, &|k| {
            for unit in part(units, threads, k) {
                // SAFETY: the weight of the state lies in the parameters. `part` gives each unit to one thread.
                unsafe {
                    let weight = m.parameters.add(p.weights(layer, direction).state);
                    pack_for_gates(p, weight, m.scratch.add(self.layers.places.packed(direction)), unit);
                }
            }
        });
        // The step that was made before, which is later in the order of the direction.
        let mut later = None;
        for i in (0..p.steps).rev() {
            let at = at(p.time(direction, i));
            team.run(threads, &|k| {
                // SAFETY: the weight is packed, the gates of the step before are complete, and `part` gives each unit to
                // one thread.
                part(units, threads, k).for_each(|unit| unsafe { self.step(m, g, at, later, unit) });
            });
            later = Some(at);
        }
        team.run(threads, &|k| {
            for unit in part(units, threads, k) {
                // SAFETY: as in the loop above.
                later.into_iter().for_each(|at| unsafe { self.multiply(m, at, unit) });
            }
        });
        // SAFETY: the gradients of all units are complete.
        unsafe { self.get_first(m, g, at(0)) }
    }

    /// The gradients of the state and of the cell state.
    ///
    /// # Safety
    /// As for [`Self::back`].
    unsafe fn running(&self, m: &Memory, direction: usize) -> [*mut f32; 2] {
        // SAFETY: the positions lie in the scratch memory.
        self.layers.places.running(direction).map(|at| unsafe { m.scratch.add(at) })
    }

    /// Copies the gradients of the last states, or zeros.
    ///
    /// # Safety
    /// As for [`Self::direction`].
    unsafe fn put_last(&self, m: &Memory, g: &Grads, at: At) {
        let p = &self.layers.p;
        let which = at.layer * p.directions + at.direction;
        // SAFETY: the gradients have a row for each sequence, and those of the last states have `hidden` values for each
        // direction, layer and sequence.
        unsafe {
            for (to, from) in self.running(m, at.direction).into_iter().zip(g.last) {
                to.write_bytes(0, p.batch * p.line());
                for n in (0..p.batch).filter(|_| !from.is_null()) {
                    let from = from.add((which * p.batch + n) * p.hidden);
                    to.add(n * p.line()).copy_from_nonoverlapping(from, p.hidden);
                }
            }
        }
    }

    /// Copies the gradients of the first states to the results.
    ///
    /// # Safety
    /// As for [`Self::direction`].
    unsafe fn get_first(&self, m: &Memory, g: &Grads, at: At) {
        let p = &self.layers.p;
        let which = at.layer * p.directions + at.direction;
        // SAFETY: as in `put_last`.
        unsafe {
            for (from, to) in self.running(m, at.direction).into_iter().zip(g.first) {
                for n in (0..p.batch).filter(|_| !to.is_null()) {
                    let to = to.add((which * p.batch + n) * p.hidden);
                    to.copy_from_nonoverlapping(from.add(n * p.line()), p.hidden);
                }
            }
        }
    }

    /// Adds the products of the gradients of the gates at a step to the gradient of the state before, in one unit.
    ///
    /// # Safety
    /// As for [`Self::direction`]; no other thread uses the gradient of this unit, or writes gates of the step.
    unsafe fn multiply(&self, m: &Memory, at: At, unit: usize) {
        let p = &self.layers.p;
        let (first, width, _) = p.unit(unit);
        // SAFETY: the gates and the gradient have a row for each sequence; the unit's panel is packed.
        unsafe {
            let Rows { at: gates, line } = self.layers.gates(m, at);
            let panel = m.scratch.add(self.layers.places.packed(at.direction) + packed_at(p, unit, 0));
            let to = Rows { at: self.running(m, at.direction)[0].add(first), line: p.line() };
            self.steps.add_to(Rows { at: gates.cast_const(), line }, panel, to, p.batch, width);
        }
    }

    /// Goes back one step in one unit: completes the gradient of the new state, and computes those of the gates.
    ///
    /// # Safety
    /// As for [`Self::direction`]; the gates of the step `later` must be complete, and no other thread uses this unit.
    unsafe fn step(&self, m: &Memory, g: &Grads, at: At, later: Option<At>, unit: usize) {
        let p = &self.layers.p;
        let (first, _, n) = p.unit(unit);
        // SAFETY: the unit is one of this call. The gradient of the layer's output has `width` values for each step of each
        // sequence; that of a layer that is not the last lies in the scratch memory.
        unsafe {
            if let Some(later) = later {
                self.multiply(m, later, unit);
            }
            let mut cells = self.layers.cells(m, at, unit);
            cells.running = self.running(m, at.direction).map(|running| running.add(first));
            let is_last = at.layer + 1 == p.layers;
            let out = if is_last { g.out } else { m.scratch.add(self.layers.places.between).cast_const() };
            for row in 0..p.batch {
                let from = out.add((at.t * p.batch + row) * p.width() + at.direction * p.hidden + first);
                add(cells.running[0].add(row * p.line()), from, n);
            }
            (self.cells)(&cells);
        }
    }

    /// Computes the gradients of the weights and biases of one direction.
    ///
    /// # Safety
    /// As for [`Self::back`]; all steps of the direction must be complete.
    unsafe fn weights(&self, m: &Memory, g: &Grads, layer: usize, direction: usize, team: &Team) {
        let (p, places) = (&self.layers.p, &self.layers.places);
        let (weights, n) = (p.weights(layer, direction), p.hidden);
        // The states before the steps are those from the first slot on, or from the second one.
        let [first_slot, _] = p.slots(direction, 0);
        let none = std::ptr::null();
        // SAFETY: gates, states and source have a row for each step of each sequence. The positions of the results lie in the
        // vector of parameters. The products' scratch memory counts in `work`.
        unsafe {
            let work = m.scratch.add(places.work);
            let Rows { at: gates, line } = self.layers.gates(m, At { layer, direction, t: 0 });
            let states = m.scratch.add(places.states(layer, direction) + first_slot * p.batch * p.line()).cast_const();
            let source = self.layers.source(m, layer);
            for gate in 0..p.gates() {
                let of_input = gates.add(gate * p.padded()).cast_const();
                let of_state = gates.add(p.state_part(gate) * p.padded()).cast_const();
                let to = g.parameters.add(weights.input + gate * n * p.n_features(layer));
                self.to_weight[layer.min(1)].run_on(&operands([of_input, source, none], to, work), team);
                let to = g.parameters.add(weights.state + gate * n * n);
                self.to_state_weight.run_on(&operands([of_state, states, none], to, work), team);
                for (from, bias) in [(of_input, weights.input_bias), (of_state, weights.state_bias)] {
                    let to = g.parameters.add(bias + gate * n);
                    to.write_bytes(0, n);
                    (0..p.rows()).for_each(|row| add(to, from.add(row * line), n));
                }
            }
        }
    }

    /// Computes the gradient of the input of a layer: the first direction writes it, and the second adds its part.
    ///
    /// # Safety
    /// As for [`Self::weights`].
    unsafe fn input(&self, m: &Memory, g: &Grads, layer: usize, direction: usize, team: &Team) {
        let (p, places) = (&self.layers.p, &self.layers.places);
        let (n, n_rows) = (p.n_features(layer), p.rows());
        // SAFETY: gates and gradients have a row for each step of each sequence. The positions of `places` lie in the scratch
        // memory, which has room for the gates without padding if they have padding, and for the second part.
        unsafe {
            let Rows { at: gates, line } = self.layers.gates(m, At { layer, direction, t: 0 });
            let to = if layer == 0 { g.data } else { m.scratch.add(places.between) };
            let target = if direction == 0 { to } else { m.scratch.add(places.second) };
            let left = if p.is_padded() {
                let compact = m.scratch.add(places.compact);
                for (row, gate) in (0..n_rows).flat_map(|row| (0..p.gates()).map(move |gate| (row, gate))) {
                    let from = gates.add(row * line + gate * p.padded());
                    compact.add((row * p.gates() + gate) * p.hidden).copy_from_nonoverlapping(from, p.hidden);
                }
                compact
            } else {
                gates
            };
            let weight = m.parameters.add(p.weights(layer, direction).input);
            let sources = [left.cast_const(), weight, std::ptr::null()];
            self.to_input[layer.min(1)].run_on(&operands(sources, target, m.scratch.add(places.work)), team);
            if direction > 0 {
                add(to, target, n_rows * n);
            }
        }
    }
}

/// Adds `n` values to others.
///
/// # Safety
/// Both must be readable for `n` values, and those at `to` writable and used by no other code. They must not overlap.
unsafe fn add(to: *mut f32, from: *const f32, n: usize) {
    // SAFETY: the caller promises the values.
    let (to, from) = unsafe { (std::slice::from_raw_parts_mut(to, n), std::slice::from_raw_parts(from, n)) };
    to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
}

impl Kernel for Backward {
    fn name(&self) -> &str {
        &self.name
    }

    unsafe fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        meet(args, &self.written, |args| {
            let p = &self.layers.p;
            let input = |i: usize| args.inputs[i].as_ptr().cast_const().cast::<f32>();
            let output = |i: usize| args.outputs[i].as_ptr().cast::<f32>();
            let ograd = |i: usize| if i < p.n_visible { input(i) } else { std::ptr::null() };
            let data = p.n_visible;
            let memory = Memory {
                data: input(data),
                parameters: input(data + 1),
                first: [input(data + 2), if p.is_lstm() { input(data + 3) } else { std::ptr::null() }],
                out: std::ptr::null_mut(),
                last: [std::ptr::null_mut(); 2],
                scratch: args.scratch.as_ptr().cast(),
            };
            let grads = Grads {
                out: input(0),
                last: [ograd(1), ograd(2)],
                data: output(0),
                parameters: output(1),
                first: [output(2), if p.is_lstm() { output(3) } else { std::ptr::null_mut() }],
            };
            // SAFETY: the tensors and the scratch memory are those of the running call, which was planned for this problem.
            // The forward pass keeps the gates and states of all layers.
            unsafe {
                self.layers.run(&memory, args.team);
                self.back(&memory, &grads, args.team);
            }
            Ok(())
        })
    }
}
