//! `one_hot`: rows of one value, each with another value at the place that an index names.

use super::for_element;
use crate::number::Element;
use crate::plan::{Build, Planned, out_of_place};
use crate::split::in_ranges;
use crate::tensors::{Sink, Source};
use mxrs_op::{OpCall, elements};
use mxrs_ops::shape::one_hot::OneHotParams;

/// Plans `one_hot`.
pub fn plan(call: &OpCall<'_>) -> Option<Planned> {
    if call.op.name != "one_hot" {
        return None;
    }
    Some(for_element!(call, call.outputs[0].dtype, T => marked::<T>(call)))
}

fn marked<T: Element>(call: &OpCall<'_>) -> Build {
    let (index, dtype) = (call.inputs[0].dtype, call.outputs[0].dtype);
    let (n, size) = (call.inputs[0].shape.n_elements(), index.size_of());
    let params: &OneHotParams = call.params.get();
    let depth = usize::try_from(params.depth).unwrap_or(0);
    let value = |value: f64| {
        let mut element = [T::ZERO];
        elements::write_f64(&[value], dtype, bytemuck::cast_slice_mut(&mut element));
        element[0]
    };
    let (on, off) = (value(params.on_value), value(params.off_value));
    out_of_place(call, 0, move |args| {
        let (indices, out) = (Source::<u8>::of(args, 0), Sink::<T>::of(args, 0, dtype)?);
        if depth == 0 {
            return Ok(());
        }
        // The place of the mark in a row, if it has one. The cast saturates, and makes NaN 0.
        let mark = |row: usize| {
            // SAFETY: the kernel never runs in place (`out_of_place`), so nothing writes the input.
            let bytes = unsafe { indices.slice(row * size..(row + 1) * size) };
            let index = elements::read_f64(bytes, index)[0] as i64;
            usize::try_from(index).ok().filter(|index| *index < depth)
        };
        in_ranges(args.team, n, depth, &|rows| {
            let fill = |piece: std::ops::Range<usize>, to: &mut [T]| {
                to.fill(off);
                for row in piece.start / depth..piece.end.div_ceil(depth) {
                    let place = mark(row).map(|mark| row * depth + mark);
                    if let Some(place) = place.filter(|place| piece.contains(place)) {
                        to[place - piece.start] = on;
                    }
                }
            };
            // SAFETY: ranges of rows are disjoint and each belongs to one thread. The input shares no memory with the
            // output.
            unsafe { out.write(rows.start * depth..rows.end * depth, fill) };
        });
        Ok(())
    })
}
