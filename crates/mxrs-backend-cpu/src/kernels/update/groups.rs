//! Which inputs and outputs of a call belong to which weight.

use super::io::Io;
use super::rule::{Rate, Rule};
use super::step::Step;
use super::{MOST_STATES, PIECE};
use crate::level::Level;
use std::ops::Range;

/// The tensors of a weight, by their positions among the inputs and outputs of the call.
pub struct Group {
    /// The input that is updated: the weight, or its master weight.
    pub value: usize,
    /// The gradient.
    pub grad: usize,
    /// The first of the states, which are at successive positions.
    pub states: usize,
    /// The output with the new weight.
    pub new_weight: usize,
    /// The first of the outputs with new states, which are at successive positions.
    pub new_states: usize,
    /// The output with the new master weight.
    pub new_master: Option<usize>,
}

impl Group {
    /// The groups of a call that updates `n_weights` weights. The first `n_grouped` inputs are the tensors of the weights,
    /// one weight after the other: weight, gradient, states, and a master weight if there is one input more. Inputs after
    /// these belong to no weight. The outputs are the new weights, followed by the new states and master weights.
    ///
    /// # Errors
    /// Returns a reason if the numbers of inputs and outputs do not fit.
    pub fn all(
        n_weights: usize,
        (n_grouped, n_outputs): (usize, usize),
        n_states: usize,
    ) -> std::result::Result<Vec<Self>, String> {
        let is_even = n_weights > 0 && n_grouped.is_multiple_of(n_weights) && n_outputs.is_multiple_of(n_weights);
        let (stride, per_output) = if is_even { (n_grouped / n_weights, n_outputs / n_weights) } else { (0, 0) };
        let is_mixed = stride == 3 + n_states;
        if !(is_mixed || stride == 2 + n_states) || per_output < 1 + n_states {
            return Err(format!("{n_weights} weights of {n_grouped} inputs and {n_outputs} outputs"));
        }
        let group = |which: usize| {
            let (first, first_new) = (which * stride, n_weights + which * (per_output - 1));
            Self {
                value: if is_mixed { first + stride - 1 } else { first },
                grad: first + 1,
                states: first + 2,
                new_weight: which,
                new_states: first_new,
                new_master: (is_mixed && per_output == 2 + n_states).then_some(first_new + n_states),
            }
        };
        Ok((0..n_weights).map(group).collect())
    }

    /// The output that replaces the value that is updated.
    fn new_value(&self) -> usize {
        self.new_master.unwrap_or(self.new_weight)
    }

    /// Number of elements of a piece: all of them if no tensor has to be copied.
    fn piece(&self, io: &Io<'_>, n_states: usize, n: usize) -> usize {
        let states = (0..n_states).all(|s| io.is_in_place(self.states + s, self.new_states + s));
        let is_whole = states && self.new_master.is_none() && io.is_in_place(self.value, self.new_weight);
        if is_whole && io.is_f32(self.grad) { n } else { PIECE }
    }

    /// Updates the elements `at` of the weight and of its states. If there is no rule, the values stay as they are.
    ///
    /// # Safety
    /// During the call no other thread may use these elements of the tensors of this group.
    pub unsafe fn update(
        &self,
        io: &Io<'_>,
        at: Range<usize>,
        (rule, n_states, rate): (Option<Rule>, usize, Rate),
        level: Level,
    ) {
        let mut buffers = [[0.0f32; PIECE]; 2 + MOST_STATES];
        let step = self.piece(io, n_states, at.len()).max(1);
        for start in at.clone().step_by(step) {
            let piece = start..at.end.min(start + step);
            let [value, grad, states @ ..] = &mut buffers;
            // SAFETY: the caller gives this thread these elements of all tensors of the group. Each tensor is opened once,
            // and no two of the tensors overlap, except an output that replaces its input.
            let (value, grad, mut states) = unsafe {
                let value = io.open((self.value, self.new_value()), piece.clone(), value);
                let grad = io.read(self.grad, piece.clone(), grad);
                (value, grad, self.open_states(io, n_states, piece.clone(), states))
            };
            if let Some(rule) = rule {
                let states = states.each_mut().map(|state| &mut **state);
                level.run(Step { rule, rate, weight: &mut *value, grad, states });
            }
            // SAFETY: the caller gives this thread these elements of all tensors of the group.
            unsafe { self.store(io, piece, value, states.each_ref().map(|state| &**state), n_states) };
        }
    }

    /// Moves the elements `at` of the weight along a direction.
    ///
    /// # Safety
    /// During the call no other thread may use these elements of the weight and of its new values.
    pub unsafe fn step_along(
        &self,
        io: &Io<'_>,
        at: Range<usize>,
        direction: &[f32],
        (rule, rate): (Rule, Rate),
        level: Level,
    ) {
        let mut buffer = [0.0f32; PIECE];
        for (start, grad) in at.clone().step_by(PIECE).zip(direction.chunks(PIECE)) {
            let piece = start..at.end.min(start + PIECE);
            // SAFETY: the caller gives this thread these elements, and the weight is opened once.
            let value = unsafe { io.open((self.value, self.new_value()), piece.clone(), &mut buffer) };
            level.run(Step { rule, rate, weight: &mut *value, grad, states: [&mut [], &mut [], &mut []] });
            // SAFETY: the caller gives this thread these elements of the weight and of its new values.
            unsafe { self.store(io, piece, value, [&[], &[], &[]], 0) };
        }
    }

    /// The elements `at` of each state.
    ///
    /// # Safety
    /// As for [`Io::open`].
    pub unsafe fn open_states<'b>(
        &self,
        io: &'b Io<'_>,
        n_states: usize,
        at: Range<usize>,
        buffers: &'b mut [[f32; PIECE]; MOST_STATES],
    ) -> [&'b mut [f32]; MOST_STATES] {
        let mut which = 0;
        buffers.each_mut().map(|buffer| {
            let s = which;
            which += 1;
            if s >= n_states {
                return &mut buffer[..0];
            }
            // SAFETY: the caller guarantees that no other code uses these elements of the states.
            unsafe { io.open((self.states + s, self.new_states + s), at.clone(), buffer) }
        })
    }

    /// Writes the outputs of the group that are not updated in place.
    ///
    /// # Safety
    /// No other thread may use the elements `at` of the outputs.
    unsafe fn store(
        &self,
        io: &Io<'_>,
        at: Range<usize>,
        value: &[f32],
        states: [&[f32]; MOST_STATES],
        n_states: usize,
    ) {
        // SAFETY: the caller guarantees that no other thread uses these elements. A slice of memory that is updated in place
        // is not stored.
        unsafe {
            if !io.is_in_place(self.value, self.new_value()) {
                io.store(self.new_value(), at.clone(), value);
            }
            if self.new_master.is_some() {
                // The old weight is not read if there is a master weight.
                io.store_unread(self.new_weight, at.clone(), value);
            }
            self.store_states(io, at, states, n_states);
        }
    }

    /// Writes the states that are not updated in place.
    ///
    /// # Safety
    /// No other thread may use the elements `at` of the outputs.
    pub unsafe fn store_states(&self, io: &Io<'_>, at: Range<usize>, states: [&[f32]; MOST_STATES], n_states: usize) {
        for (s, state) in states[..n_states].iter().enumerate() {
            if !io.is_in_place(self.states + s, self.new_states + s) {
                // SAFETY: the caller guarantees that no other code uses these elements of the states.
                unsafe { io.store(self.new_states + s, at.clone(), state) };
            }
        }
    }
}
