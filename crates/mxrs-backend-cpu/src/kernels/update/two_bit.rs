//! Compression of a gradient to two bits per element: `_two_bit_compression`.

use super::io::Types;
use super::{LINE, PIECE};
use crate::level::{Level, Loop};
use crate::plan::{Planned, row_major};
use crate::split::Tensors;
use mxrs_op::OpCall;
use mxrs_ops::TwoBitParams;

/// Plans the call.
pub fn plan(call: &OpCall<'_>, level: Level) -> Planned {
    let types = Types::of(call)?;
    let threshold = call.params.get::<TwoBitParams>().threshold;
    let gradient = Tensors::new(vec![call.outputs[0].shape.n_elements()], LINE);
    Ok(row_major(call, 0, move |args| {
        let io = types.io(args, level)?;
        gradient.in_ranges(args.team, &|_, at| {
            let mut buffers = [[0.0; PIECE]; 2];
            let [first, second] = &mut buffers;
            for start in at.clone().step_by(PIECE) {
                let piece = start..at.end.min(start + PIECE);
                // SAFETY: `in_ranges` gives these elements of both tensors to this thread alone. Output 0 may be in the
                // memory of the gradient, output 1 in that of the residual.
                unsafe {
                    let grad = io.open((0, 0), piece.clone(), first);
                    let residual = io.open((1, 1), piece.clone(), second);
                    level.run(Compress { grad: &mut *grad, residual: &mut *residual, threshold });
                    if !io.is_in_place(0, 0) {
                        io.store(0, piece.clone(), grad);
                    }
                    if !io.is_in_place(1, 1) {
                        io.store(1, piece, residual);
                    }
                }
            }
        });
        Ok(())
    }))
}

struct Compress<'a> {
    grad: &'a mut [f32],
    residual: &'a mut [f32],
    threshold: f32,
}

impl Loop for Compress<'_> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let threshold = self.threshold;
        for (g, r) in self.grad.iter_mut().zip(self.residual) {
            let sum = *r + *g;
            let sent = if sum >= threshold {
                threshold
            } else if sum <= -threshold {
                -threshold
            } else {
                0.0
            };
            (*g, *r) = (sent, sum - sent);
        }
    }
}
