//! Arithmetic of two tensors over their broadcast shape, one row of the result at a time.

use super::for_number;
use crate::level::Level;
use crate::plan::{Build, Planned, row_major};
use crate::pointwise::{Binary, Evaluate, Left, OfTwo, Right};
use crate::split::in_rows;
use crate::tensors::{Sink, Source};
use crate::walk::{broadcast, coalesce};
use mxrs_op::OpCall;
use mxrs_ops::tables::{self, BinaryFn, BinaryVisitor, Form};

/// Plans `broadcast_*`.
pub fn plan(call: &OpCall<'_>, level: Level) -> Option<Planned> {
    tables::binary::visit(call.op.name, Broadcast(call, level)).flatten()
}

struct Broadcast<'a>(&'a OpCall<'a>, Level);

impl BinaryVisitor for Broadcast<'_> {
    type Out = Option<Planned>;
    fn visit<F: BinaryFn>(self, form: Form) -> Option<Planned> {
        let Self(call, level) = self;
        let dtype = call.outputs[0].dtype;
        (form == Form::Broadcast).then(|| for_number!(call, dtype, T => binary::<T>(call, level, OfTwo(F::default()))))
    }
}

fn binary<T: Evaluate>(call: &OpCall<'_>, level: Level, f: impl Binary<T>) -> Build {
    let (dtype, to) = (call.outputs[0].dtype, &call.outputs[0].shape);
    let axes = coalesce(broadcast([&call.inputs[0].shape, &call.inputs[1].shape], to));
    // The strides of the innermost axis. If no axis is left after coalescing, the result has one element.
    let steps = axes.last().map_or([0, 0], |inner| inner.strides);
    row_major(call, 0, move |args| {
        let (left, right) = (Source::<T>::of(args, 0), Source::<T>::of(args, 1));
        let out = Sink::<T>::of(args, 0, dtype)?;
        in_rows(args.team, &axes, &|start, len, [l, r]| {
            let fill = |piece: std::ops::Range<usize>, to: &mut [T]| {
                let at = piece.start - start;
                let places = |offset: usize, step: usize| match step {
                    0 => offset..offset + 1,
                    _ => offset + at..offset + at + piece.len(),
                };
                // SAFETY: if an input is the output's memory, it also has the output's shape. Then these are the
                // elements of this piece, which are written after this read, and which only this thread uses.
                let (a, b) = unsafe { (left.slice(places(l, steps[0])), right.slice(places(r, steps[1]))) };
                match steps {
                    [0, 0] => to.fill(f.at(a[0], b[0])),
                    [_, 0] => T::map(level, Right(f, b[0]), a, to),
                    [0, _] => T::map(level, Left(f, a[0]), b, to),
                    _ => T::zip(level, f, a, b, to),
                }
            };
            // SAFETY: rows are disjoint and each belongs to one thread; `fill` reads an input in the output's memory
            // only at its own piece.
            unsafe { out.write(start..start + len, fill) };
        });
        Ok(())
    })
}
