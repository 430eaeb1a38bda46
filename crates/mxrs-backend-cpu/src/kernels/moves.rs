//! Operators whose output has the elements of their first input in the same order, such as `Reshape`. A kernel copies them
//! where the output cannot be a view of the input.

use super::for_element;
use crate::number::Element;
use crate::plan::{Build, Planned, out_of_place};
use crate::split::in_element_ranges;
use crate::tensors::{Sink, Source};
use mxrs_op::{OpCall, View};

/// Plans operators that make views.
pub fn plan(call: &OpCall<'_>) -> Option<Planned> {
    // At inference `Dropout` also writes a mask; see `dropout.rs`.
    if call.op.name == "Dropout" || (call.op.view)(call.params, call.is_train) == View::No {
        return None;
    }
    Some(for_element!(call, call.outputs[0].dtype, T => copy::<T>(call)))
}

fn copy<T: Element>(call: &OpCall<'_>) -> Build {
    let (dtype, n) = (call.outputs[0].dtype, call.outputs[0].shape.n_elements());
    out_of_place(call, 0, move |args| {
        let (from, to) = (Source::<T>::of(args, 0), Sink::<T>::of(args, 0, dtype)?);
        in_element_ranges(args.team, n, &|range| {
            // SAFETY: ranges are disjoint and each belongs to one thread; `out_of_place` plans the kernel so that it never
            // runs in place, so the input is not in the output's memory.
            unsafe { to.write(range, |piece, to| to.copy_from_slice(from.slice(piece))) };
        });
        Ok(())
    })
}
