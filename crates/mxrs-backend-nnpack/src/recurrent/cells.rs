//! The functions of cells: from the sums of a step's gates to the new state, and back. They compute 16 hidden units at a time,
//! padding included: where the sums of gates and the states are 0, the new states are 0 too. Where also the gradients of the
//! new states are 0, all gradients are.

use crate::dispatch::for_each_set;
use crate::functions::{Approximate, sigmoid, tanh};
use crate::gemm::lanes::Lanes;
use mxrs_ops::recurrent::rnn::RnnMode;
use mxrs_processor::Isa;

/// Some hidden units of all sequences at one step. Pointers lead to the first of these units.
#[derive(Clone, Copy)]
pub struct Cells {
    /// Number of sequences.
    pub n: usize,
    /// Number of hidden units, a multiple of 16.
    pub width: usize,
    /// The first gate.
    pub gates: *mut f32,
    /// Distance between the gates of two sequences.
    pub gate_line: usize,
    /// Distance between two gates of a sequence.
    pub part: usize,
    /// The state and the cell state before the step.
    pub before: [*const f32; 2],
    /// The state and the cell state after the step.
    pub after: [*mut f32; 2],
    /// The gradients of the state and of the cell state. A step forward does not use them.
    pub running: [*mut f32; 2],
    /// Distance between the states of two sequences, and between their gradients.
    pub line: usize,
}

/// A function of cells, compiled for an instruction set.
///
/// # Safety
/// Gates, states and gradients must be readable and writable for `n` rows of `width` values in all parts, and no other thread
/// may use them. The processor must have the instructions.
pub type Function = unsafe fn(cells: &Cells);

/// The function of a step forward. It replaces the sums of gates by the values of the gates, unless the only gate is the state.
pub fn forward(mode: RnnMode, isa: Isa) -> Function {
    match mode {
        RnnMode::Relu => relu(isa),
        RnnMode::Tanh => plain(isa),
        RnnMode::Lstm => lstm(isa),
        RnnMode::Gru => gru(isa),
    }
}

/// The function of a step back. It replaces gates by the gradients of their sums. It replaces the gradient of the new state by
/// the part of the gradient of the old state that does not come from the gates, and that of the new cell state by that of
/// the old one.
pub fn backward(mode: RnnMode, isa: Isa) -> Function {
    match mode {
        RnnMode::Relu => relu_back(isa),
        RnnMode::Tanh => plain_back(isa),
        RnnMode::Lstm => lstm_back(isa),
        RnnMode::Gru => gru_back(isa),
    }
}

for_each_set! {
    fn relu: unsafe fn(cells: &Cells) = relu_of
}
for_each_set! {
    fn plain: unsafe fn(cells: &Cells) = plain_of
}
for_each_set! {
    fn lstm: unsafe fn(cells: &Cells) = lstm_of
}
for_each_set! {
    fn gru: unsafe fn(cells: &Cells) = gru_of
}
for_each_set! {
    fn relu_back: unsafe fn(cells: &Cells) = relu_back_of
}
for_each_set! {
    fn plain_back: unsafe fn(cells: &Cells) = plain_back_of
}
for_each_set! {
    fn lstm_back: unsafe fn(cells: &Cells) = lstm_back_of
}
for_each_set! {
    fn gru_back: unsafe fn(cells: &Cells) = gru_back_of
}

/// Runs a body for each register of hidden units of each sequence, with the index of its first unit in a gate's part and in the
/// states. A macro, because a closure might not be compiled for the instructions of `L`.
macro_rules! each {
    ($cells:ident, $L:ident, |$gate:ident, $state:ident| $body:block) => {
        for row in 0..$cells.n {
            for at in (0..$cells.width).step_by($L::N) {
                let ($gate, $state) = (row * $cells.gate_line + at, row * $cells.line + at);
                $body
            }
        }
    };
}

/// The derivative of the sigmoid, from its value.
///
/// # Safety
/// The processor must have the instructions of `L`.
#[inline(always)]
unsafe fn slope_of_sigmoid<L: Lanes>(y: L) -> L {
    // SAFETY: the operations use only registers, and the caller is compiled for the instructions of `L`.
    unsafe { y.neg_mul_add(y, y) }
}

/// The derivative of the hyperbolic tangent, from its value.
///
/// # Safety
/// The processor must have the instructions of `L`.
#[inline(always)]
unsafe fn slope_of_tanh<L: Lanes>(y: L) -> L {
    // SAFETY: the operations use only registers, and the caller is compiled for the instructions of `L`.
    unsafe { y.neg_mul_add(y, L::splat(1.0)) }
}

/// # Safety
/// As for [`Function`].
#[inline(always)]
unsafe fn relu_of<L: Lanes>(cells: &Cells) {
    each!(cells, L, |gate, state| {
        // SAFETY: the caller promises the gates and the states, and `L::N` divides `width`.
        unsafe { L::load(cells.gates.add(gate)).max_or_nan(L::splat(0.0)).store(cells.after[0].add(state)) }
    });
}

/// # Safety
/// As for [`Function`].
#[inline(always)]
unsafe fn plain_of<L: Lanes + Approximate>(cells: &Cells) {
    each!(cells, L, |gate, state| {
        // SAFETY: the caller promises the gates and the states, and `L::N` divides `width`.
        unsafe { tanh(L::load(cells.gates.add(gate))).store(cells.after[0].add(state)) }
    });
}

/// # Safety
/// As for [`Function`].
#[inline(always)]
unsafe fn lstm_of<L: Lanes + Approximate>(cells: &Cells) {
    each!(cells, L, |gate, state| {
        // SAFETY: the caller promises the gates and the states, and `L::N` divides `width`.
        unsafe {
            let first = cells.gates.add(gate);
            let part = |i: usize| first.add(i * cells.part);
            let input = sigmoid(L::load(part(0)));
            let forget = sigmoid(L::load(part(1)));
            let new = tanh(L::load(part(2)));
            let output = sigmoid(L::load(part(3)));
            let cell = input.mul_add(new, forget.mul(L::load(cells.before[1].add(state))));
            cell.store(cells.after[1].add(state));
            output.mul(tanh(cell)).store(cells.after[0].add(state));
            input.store(part(0));
            forget.store(part(1));
            new.store(part(2));
            output.store(part(3));
        }
    });
}

/// # Safety
/// As for [`Function`].
#[inline(always)]
unsafe fn gru_of<L: Lanes + Approximate>(cells: &Cells) {
    each!(cells, L, |gate, state| {
        // SAFETY: the caller promises the gates and the states, and `L::N` divides `width`.
        unsafe {
            let first = cells.gates.add(gate);
            let part = |i: usize| first.add(i * cells.part);
            let reset = sigmoid(L::load(part(0)));
            let update = sigmoid(L::load(part(1)));
            let new = tanh(reset.mul_add(L::load(part(3)), L::load(part(2))));
            let before = L::load(cells.before[0].add(state));
            update.mul_add(before.sub(new), new).store(cells.after[0].add(state));
            reset.store(part(0));
            update.store(part(1));
            new.store(part(2));
        }
    });
}

/// # Safety
/// As for [`Function`].
#[inline(always)]
unsafe fn relu_back_of<L: Lanes>(cells: &Cells) {
    each!(cells, L, |gate, state| {
        // SAFETY: the caller promises gates, states and gradients, and `L::N` divides `width`.
        unsafe {
            let running = cells.running[0].add(state);
            let value = L::load(cells.after[0].add(state));
            L::load(running).where_above_zero(value).store(cells.gates.add(gate));
            L::splat(0.0).store(running);
        }
    });
}

/// # Safety
/// As for [`Function`].
#[inline(always)]
unsafe fn plain_back_of<L: Lanes>(cells: &Cells) {
    each!(cells, L, |gate, state| {
        // SAFETY: the caller promises gates, states and gradients, and `L::N` divides `width`.
        unsafe {
            let running = cells.running[0].add(state);
            let value = L::load(cells.after[0].add(state));
            L::load(running).mul(slope_of_tanh(value)).store(cells.gates.add(gate));
            L::splat(0.0).store(running);
        }
    });
}

/// # Safety
/// As for [`Function`].
#[inline(always)]
unsafe fn lstm_back_of<L: Lanes + Approximate>(cells: &Cells) {
    each!(cells, L, |gate, state| {
        // SAFETY: the caller promises gates, states and gradients, and `L::N` divides `width`.
        unsafe {
            let first = cells.gates.add(gate);
            let part = |i: usize| first.add(i * cells.part);
            let (input, forget) = (L::load(part(0)), L::load(part(1)));
            let (new, output) = (L::load(part(2)), L::load(part(3)));
            let [of_state, of_cell] = [cells.running[0].add(state), cells.running[1].add(state)];
            let grad = L::load(of_state);
            let value = tanh(L::load(cells.after[1].add(state)));
            let of_new_cell = grad.mul(output).mul_add(slope_of_tanh(value), L::load(of_cell));
            of_new_cell.mul(new).mul(slope_of_sigmoid(input)).store(part(0));
            let cell = L::load(cells.before[1].add(state));
            of_new_cell.mul(cell).mul(slope_of_sigmoid(forget)).store(part(1));
            of_new_cell.mul(input).mul(slope_of_tanh(new)).store(part(2));
            grad.mul(value).mul(slope_of_sigmoid(output)).store(part(3));
            of_new_cell.mul(forget).store(of_cell);
            L::splat(0.0).store(of_state);
        }
    });
}

/// # Safety
/// As for [`Function`].
#[inline(always)]
unsafe fn gru_back_of<L: Lanes>(cells: &Cells) {
    each!(cells, L, |gate, state| {
        // SAFETY: the caller promises gates, states and gradients, and `L::N` divides `width`.
        unsafe {
            let first = cells.gates.add(gate);
            let part = |i: usize| first.add(i * cells.part);
            let (reset, update) = (L::load(part(0)), L::load(part(1)));
            let (new, of_old) = (L::load(part(2)), L::load(part(3)));
            let running = cells.running[0].add(state);
            let grad = L::load(running);
            let inner = grad.mul(L::splat(1.0).sub(update)).mul(slope_of_tanh(new));
            inner.mul(of_old).mul(slope_of_sigmoid(reset)).store(part(0));
            let before = L::load(cells.before[0].add(state));
            grad.mul(before.sub(new)).mul(slope_of_sigmoid(update)).store(part(1));
            inner.store(part(2));
            inner.mul(reset).store(part(3));
            grad.mul(update).store(running);
        }
    });
}
