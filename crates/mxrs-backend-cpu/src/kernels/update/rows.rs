//! AdaGrad with one history per row of the weight: `_contrib_group_adagrad_update`.

use super::PIECE;
use super::io::{Io, Types};
use super::step::clip;
use crate::kernels::rows::{LANES, Lanes, Sum, add_to_lanes, join_lanes};
use crate::level::{Level, Loop};
use crate::plan::{Planned, row_major};
use crate::split::in_ranges;
use mxrs_op::OpCall;
use mxrs_ops::optim::adagrad::GroupAdaGradParams;

/// Plans the call.
pub fn plan(call: &OpCall<'_>, level: Level) -> Planned {
    let types = Types::of(call)?;
    let [rows, columns] = call.inputs[0].shape[..] else { return Err("a weight that is not a matrix".into()) };
    let p = call.params.get::<GroupAdaGradParams>();
    let bound = if p.clip_gradient >= 0.0 { p.clip_gradient } else { f32::INFINITY };
    let update = Update { columns, lr: p.lr, epsilon: p.epsilon, rescale_grad: p.rescale_grad, bound, level };
    Ok(row_major(call, 0, move |args| {
        let io = types.io(args, level)?;
        // Threads get groups of 16 rows, so that they do not share cache lines of histories.
        in_ranges(args.team, rows.div_ceil(16), 16 * columns.max(1), &|groups| {
            let mut buffers = [[0.0; PIECE]; 3];
            let rows = groups.start * 16..(groups.end * 16).min(rows);
            if columns > 0 && io.is_f32(1) && io.is_in_place(0, 0) && io.is_in_place(2, 1) {
                // SAFETY: `in_ranges` gives these rows of all tensors to this thread alone. No tensor is copied, so that no
                // buffer is used.
                let (weight, grad, history) = unsafe {
                    let [a, b, c] = &mut buffers;
                    let elements = rows.start * columns..rows.end * columns;
                    let history = io.open((2, 1), rows, c);
                    (io.open((0, 0), elements.clone(), a), io.read(1, elements, b), history)
                };
                level.run(Rows { of: &update, weight, grad, history });
                return;
            }
            for row in rows {
                // SAFETY: `in_ranges` gives this row of all tensors to this thread alone.
                unsafe { update.row(&io, row, &mut buffers) };
            }
        });
        Ok(())
    }))
}

struct Update {
    columns: usize,
    lr: f32,
    epsilon: f32,
    rescale_grad: f32,
    bound: f32,
    level: Level,
}

impl Update {
    /// The history after the squares of a row's gradients are added.
    #[inline(always)]
    fn moved(&self, state: f32, squares: Lanes<f64>) -> f32 {
        (f64::from(state) + join_lanes::<f32, Sum>(squares) / self.columns as f64) as f32
    }

    /// The learning rate of a row with this history.
    #[inline(always)]
    fn rate(&self, state: f32) -> f32 {
        self.lr / (state + self.epsilon).sqrt()
    }

    /// Updates a row of the weight, and its history.
    ///
    /// # Safety
    /// No other thread may use this row of any tensor.
    unsafe fn row(&self, io: &Io<'_>, row: usize, buffers: &mut [[f32; PIECE]; 3]) {
        let [history, weights, grads] = buffers;
        let columns = row * self.columns..(row + 1) * self.columns;
        let pieces = || columns.clone().step_by(PIECE).map(|start| start..columns.end.min(start + PIECE));
        let (rescale_grad, bound) = (self.rescale_grad, self.bound);
        let mut lanes = [0.0; LANES];
        for piece in pieces() {
            // SAFETY: the caller gives this thread these elements.
            let grad = unsafe { io.read(1, piece, grads) };
            self.level.run(Squares { grad, rescale_grad, bound, lanes: &mut lanes });
        }
        // SAFETY: the caller gives this thread this row of all tensors.
        let state = unsafe { io.open((2, 1), row..row + 1, history) };
        if self.columns > 0 {
            state[0] = self.moved(state[0], lanes);
        }
        let rate = self.rate(state[0]);
        if !io.is_in_place(2, 1) {
            // SAFETY: the caller gives this thread this row of all tensors.
            unsafe { io.store(1, row..row + 1, state) };
        }
        for piece in pieces() {
            // SAFETY: the caller gives this thread this row of all tensors.
            let (weight, grad) = unsafe { (io.open((0, 0), piece.clone(), weights), io.read(1, piece.clone(), grads)) };
            self.level.run(Descent { weight: &mut *weight, grad, rescale_grad, bound, rate });
            if !io.is_in_place(0, 0) {
                // SAFETY: the caller gives this thread this row of all tensors.
                unsafe { io.store(0, piece, weight) };
            }
        }
    }
}

/// Updates whole rows where they are.
struct Rows<'a> {
    of: &'a Update,
    weight: &'a mut [f32],
    grad: &'a [f32],
    history: &'a mut [f32],
}

impl Loop for Rows<'_> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Update { columns, rescale_grad, bound, .. } = *self.of;
        let rows = self.weight.chunks_exact_mut(columns).zip(self.grad.chunks_exact(columns));
        for ((weight, grad), state) in rows.zip(self.history) {
            let mut lanes = [0.0; LANES];
            Squares { grad, rescale_grad, bound, lanes: &mut lanes }.run();
            *state = self.of.moved(*state, lanes);
            Descent { weight, grad, rescale_grad, bound, rate: self.of.rate(*state) }.run();
        }
    }
}

struct Squares<'a> {
    grad: &'a [f32],
    rescale_grad: f32,
    bound: f32,
    lanes: &'a mut Lanes<f64>,
}

impl Loop for Squares<'_> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        add_to_lanes(self.lanes, self.grad, |sum, g| {
            let g = f64::from(clip(self.rescale_grad * g, self.bound));
            g.mul_add(g, sum)
        });
    }
}

struct Descent<'a> {
    weight: &'a mut [f32],
    grad: &'a [f32],
    rescale_grad: f32,
    bound: f32,
    rate: f32,
}

impl Loop for Descent<'_> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        for (w, g) in self.weight.iter_mut().zip(self.grad) {
            *w -= self.rate * clip(self.rescale_grad * *g, self.bound);
        }
    }
}
