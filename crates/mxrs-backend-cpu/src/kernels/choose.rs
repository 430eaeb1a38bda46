//! `where`: takes each element, or each slice along the first axis, from one of two tensors.

use super::for_element;
use crate::level::{Level, Loop};
use crate::number::Element;
use crate::plan::{Build, Planned, out_of_place};
use crate::split::in_element_ranges;
use crate::tensors::{Scratch, Sink, Source};
use mxrs_op::{KernelArgs, OpCall};
use mxrs_types::DType;

/// Plans `where`. The conditions are read once, as bytes, into scratch memory, so that the loop over elements is compiled
/// once per type of elements.
pub fn plan(call: &OpCall<'_>, level: Level) -> Option<Planned> {
    if call.op.name != "where" {
        return None;
    }
    let dtype = call.outputs[0].dtype;
    if call.inputs[1].dtype != dtype || call.inputs[2].dtype != dtype {
        return Some(Err(format!("where of {} and {}", call.inputs[1].dtype, call.inputs[2].dtype)));
    }
    let read = match for_element!(call, call.inputs[0].dtype, T => conditions::<T> as ReadConditions) {
        Ok(read) => read,
        Err(reason) => return Some(Err(reason)),
    };
    Some(for_element!(call, dtype, T => chosen::<T>(call, level, dtype, read)))
}

/// Writes one byte per condition to scratch memory: 0 if the condition is 0, otherwise 1.
type ReadConditions = fn(&KernelArgs<'_>, Level, usize);

fn conditions<T: Element + PartialEq>(args: &KernelArgs<'_>, level: Level, n: usize) {
    let (from, to) = (Source::<T>::of(args, 0), Scratch::<u8>::of(args, 0, n));
    in_element_ranges(args.team, n, &|range| {
        // SAFETY: ranges are disjoint and each belongs to one thread. The kernel never runs in place (`out_of_place`), so
        // nothing writes the input.
        unsafe { level.run(NonZero { from: from.slice(range.clone()), to: to.slice(range) }) };
    });
}

fn chosen<T: Element>(call: &OpCall<'_>, level: Level, dtype: DType, read: ReadConditions) -> Build {
    let (n, n_conditions) = (call.outputs[0].shape.n_elements(), call.inputs[0].shape.n_elements());
    // Number of elements that one condition chooses.
    let len = n.checked_div(n_conditions).unwrap_or(0).max(1);
    out_of_place(call, n_conditions, move |args| {
        read(args, level, n_conditions);
        let conditions = Scratch::<u8>::of(args, 0, n_conditions).written();
        let [x, y] = [1, 2].map(|input| Source::<T>::of(args, input));
        let out = Sink::<T>::of(args, 0, dtype)?;
        in_element_ranges(args.team, n, &|range| {
            let fill = |piece: std::ops::Range<usize>, mut to: &mut [T]| {
                if len == 1 {
                    // SAFETY: the kernel never runs in place (`out_of_place`), so nothing writes an input; the conditions
                    // are written.
                    let (conditions, x, y) =
                        unsafe { (conditions.slice(piece.clone()), x.slice(piece.clone()), y.slice(piece)) };
                    return level.run(Choose { conditions, x, y, to });
                }
                let mut at = piece.start;
                while !to.is_empty() {
                    let (part, rest) = to.split_at_mut((len - at % len).min(to.len()));
                    // SAFETY: the kernel never runs in place (`out_of_place`), so nothing writes an input; the conditions
                    // are written.
                    unsafe {
                        let from = if conditions.at(at / len) != 0 { x } else { y };
                        part.copy_from_slice(from.slice(at..at + part.len()));
                    }
                    (at, to) = (at + part.len(), rest);
                }
            };
            // SAFETY: ranges are disjoint and each belongs to one thread. The inputs share no memory with the output.
            unsafe { out.write(range, fill) };
        });
        Ok(())
    })
}

struct NonZero<'a, T> {
    from: &'a [T],
    to: &'a mut [u8],
}

impl<T: Element + PartialEq> Loop for NonZero<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        self.to.iter_mut().zip(self.from).for_each(|(to, x)| *to = u8::from(*x != T::ZERO));
    }
}

struct Choose<'a, T> {
    conditions: &'a [u8],
    x: &'a [T],
    y: &'a [T],
    to: &'a mut [T],
}

impl<T: Element> Loop for Choose<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let both = self.x.iter().zip(self.y);
        for ((to, condition), (x, y)) in self.to.iter_mut().zip(self.conditions).zip(both) {
            *to = if *condition != 0 { *x } else { *y };
        }
    }
}
