//! AdaGrad with one history per row of the weight: `_contrib_group_adagrad_update`.

use super::PIECE;
use super::io::{Io, Types};
use super::step::clip;
use crate::kernels::rows::{LANES, Lanes, Sum, join_lanes};
use crate::level::{Level, Loop};
use crate::plan::{Planned, row_major};
use crate::split::in_ranges;
use mxrs_op::OpCall;
use mxrs_ops::optim::adagrad::GroupAdaGradParams;

/// Plans the call.
pub fn plan(call: &OpCall<'_>, level: Level) -> Planned {
    let types = Types::of(call)?;
    let [rows, columns] = call.inputs[0].shape[..] else { return Err("a weight that is no matrix".into()) };
    let p = call.params.get::<GroupAdaGradParams>();
    let bound = if p.clip_gradient >= 0.0 { p.clip_gradient } else { f32::INFINITY };
    let update = Update { columns, lr: p.lr, epsilon: p.epsilon, rescale_grad: p.rescale_grad, bound, level };
    Ok(row_major(call, 0, move |args| {
        let io = types.io(args)?;
        // Threads get groups of 16 rows, so that they do not share cache lines of histories.
        in_ranges(args.team, rows.div_ceil(16), 16 * columns.max(1), &|groups| {
            for row in groups.start * 16..(groups.end * 16).min(rows) {
                // SAFETY: `in_ranges` gives this row of all tensors to this thread alone.
                unsafe { update.row(&io, row) };
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
    /// Updates a row of the weight, and its history.
    ///
    /// # Safety
    /// No other thread may use this row of any tensor.
    unsafe fn row(&self, io: &Io<'_>, row: usize) {
        let (mut history, mut weights, mut grads) = ([0.0; PIECE], [0.0; PIECE], [0.0; PIECE]);
        let columns = row * self.columns..(row + 1) * self.columns;
        let pieces = || columns.clone().step_by(PIECE).map(|start| start..columns.end.min(start + PIECE));
        let (rescale_grad, bound) = (self.rescale_grad, self.bound);
        let mut lanes = [0.0; LANES];
        for piece in pieces() {
            // SAFETY: the caller gives this thread these elements.
            let grad = unsafe { io.read(1, piece, &mut grads) };
            self.level.run(Squares { grad, rescale_grad, bound, lanes: &mut lanes });
        }
        // SAFETY: as above.
        let state = unsafe { io.open((2, 1), row..row + 1, &mut history) };
        if self.columns > 0 {
            state[0] = (f64::from(state[0]) + join_lanes::<f32, Sum>(lanes) / self.columns as f64) as f32;
        }
        let rate = self.lr / (state[0] + self.epsilon).sqrt();
        if !io.is_in_place(2, 1) {
            // SAFETY: as above.
            unsafe { io.store(1, row..row + 1, state) };
        }
        for piece in pieces() {
            // SAFETY: as above.
            let (weight, grad) =
                unsafe { (io.open((0, 0), piece.clone(), &mut weights), io.read(1, piece.clone(), &mut grads)) };
            self.level.run(Descent { weight: &mut *weight, grad, rescale_grad, bound, rate });
            if !io.is_in_place(0, 0) {
                // SAFETY: as above.
                unsafe { io.store(0, piece, weight) };
            }
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
        let square = |g: f32| {
            let g = f64::from(clip(self.rescale_grad * g, self.bound));
            g * g
        };
        let mut lanes = *self.lanes;
        let chunks = self.grad.chunks_exact(LANES);
        let rest = chunks.remainder();
        for chunk in chunks {
            for l in 0..LANES {
                lanes[l] += square(chunk[l]);
            }
        }
        lanes.iter_mut().zip(rest).for_each(|(lane, g)| *lane += square(*g));
        *self.lanes = lanes;
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
