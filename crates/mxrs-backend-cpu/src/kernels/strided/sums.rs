//! Gradients of operators that repeat elements: each element gets the sum of the gradients of its copies.
//!
//! If one nest has all copies, as for a tiled tensor, the sum is a reduction over the loops that repeat elements. Otherwise,
//! as for a mirrored border, the parts are added up in wide scratch memory, one plane of the output at a time.

use super::nest::{Nest, moved_by};
use crate::kernels::{for_number, reduce};
use crate::level::Level;
use crate::number::Number;
use crate::plan::{Build, Planned, out_of_place};
use crate::split::in_numbered_ranges;
use crate::tensors::{Scratch, Sink, Source};
use mxrs_op::{MovedAxis, MovedParts, OpCall};
use mxrs_types::Shape;

/// Most threads that add up planes at the same time.
const MOST_THREADS: usize = 16;
/// Scratch memory for the planes has at most this many elements, or the elements of one plane if these are more.
const MOST_SUMS: usize = 1 << 22;

/// Plans the sums of a description whose elements are added up.
pub fn plan(call: &OpCall<'_>, moved: &MovedParts, level: Level) -> Planned {
    if let Some((data, small)) = as_reduction(call, moved) {
        return reduce::sum_of(call, level, &data, &small);
    }
    let nests = super::nests(call, moved)?;
    let parts: Vec<Part> =
        moved.parts.iter().filter(|part| part.axes.iter().all(|axis| axis.size > 0)).map(Part::new).collect();
    if nests.len() != parts.len() || parts.iter().any(|part| part.input.is_some_and(|input| input != 0)) {
        return Err(format!("{} adds up elements of several inputs", call.op.name));
    }
    let n = call.outputs[0].shape.n_elements();
    let planes = Planes::new(&parts, n);
    for_number!(call, call.outputs[0].dtype, T => added::<T>(call, parts, planes))
}

/// If the sums equal a reduction, the shapes of its input and of its result. The input has one axis per loop, in the order
/// of the input. In the result, every axis whose loop repeats elements has size 1.
fn as_reduction(call: &OpCall<'_>, moved: &MovedParts) -> Option<(Shape, Shape)> {
    let [part] = &moved.parts[..] else { return None };
    let mut axes: Vec<MovedAxis> = part.axes.iter().filter(|axis| axis.size != 1).copied().collect();
    axes.sort_by_key(|axis| std::cmp::Reverse(axis.from));
    let is_dense = |start: usize, steps: &[(usize, isize)], n: usize| {
        let mut expected = 1;
        let follows = steps.iter().rev().all(|(size, step)| {
            let is_next = *step == expected as isize;
            expected *= size;
            is_next
        });
        start == 0 && follows && expected == n
    };
    let input = call.inputs.get(part.input?)?.shape.n_elements();
    let read: Vec<(usize, isize)> = axes.iter().map(|axis| (axis.size, axis.from)).collect();
    let kept: Vec<(usize, isize)> = axes.iter().filter(|axis| axis.to != 0).map(|axis| (axis.size, axis.to)).collect();
    let is_whole = is_dense(part.from, &read, input) && is_dense(part.to, &kept, call.outputs[0].shape.n_elements());
    let data: Shape = axes.iter().map(|axis| axis.size).collect();
    let small: Shape = axes.iter().map(|axis| if axis.to == 0 { 1 } else { axis.size }).collect();
    (is_whole && part.input == Some(0)).then_some((data, small))
}

/// A part with its loops in the order of the description.
struct Part {
    input: Option<usize>,
    start: [isize; 2],
    axes: Vec<MovedAxis>,
}

impl Part {
    fn new(part: &mxrs_op::MovedPart) -> Self {
        Self { input: part.input, start: [part.from as isize, part.to as isize], axes: part.axes.clone() }
    }
}

/// The first loops, which all parts share, over planes of the output that do not overlap.
struct Planes {
    shared: Vec<MovedAxis>,
    /// Number of elements of a plane.
    size: usize,
}

impl Planes {
    fn new(parts: &[Part], n: usize) -> Self {
        let mut planes = Self { shared: Vec::new(), size: n };
        let Some(first) = parts.first() else { return planes };
        for (i, axis) in first.axes.iter().enumerate() {
            let size = usize::try_from(axis.to).unwrap_or(0);
            let is_shared = parts.iter().all(|part| part.axes.get(i) == Some(axis)) && size * axis.size == planes.size;
            let is_inside = |part: &Part| {
                let rest = &part.axes[i + 1..];
                let nest = Nest { input: None, output: 0, start: part.start, loops: rest.iter().copied().collect() };
                nest.is_within([usize::MAX >> 1, size])
            };
            if !is_shared || !parts.iter().all(is_inside) {
                break;
            }
            planes.shared.push(*axis);
            planes.size = size;
        }
        planes
    }

    fn count(&self) -> usize {
        self.shared.iter().map(|axis| axis.size).product()
    }
}

fn added<T: Number>(call: &OpCall<'_>, parts: Vec<Part>, planes: Planes) -> Build {
    let (dtype, size) = (call.outputs[0].dtype, planes.size);
    let n_shared = planes.shared.len();
    let most = (MOST_SUMS / size.max(1)).clamp(1, MOST_THREADS);
    let n_elements: usize = parts.iter().map(|part| part.axes.iter().map(|axis| axis.size).product::<usize>()).sum();
    out_of_place(call, most * size * size_of::<T::Wide>(), move |args| {
        let (from, out) = (Source::<T>::of(args, 0), Sink::<T>::of(args, 0, dtype)?);
        let scratch = Scratch::<T::Wide>::of(args, 0, most * size);
        in_numbered_ranges(args.team, most, planes.count(), n_elements, &|range, thread| {
            // SAFETY: at most `most` ranges run, each with its own index, so each has its own part of the scratch memory.
            let sums = unsafe { scratch.slice(thread * size..(thread + 1) * size) };
            for plane in range {
                sums.fill(T::WIDE_ZERO);
                let [source, target] = moved_by(&planes.shared, plane);
                for part in &parts {
                    // The starts in the output are relative to the plane.
                    add_part(&from, [part.start[0] + source, part.start[1]], &part.axes[n_shared..], sums);
                }
                let start = target as usize;
                // SAFETY: planes do not overlap, and each belongs to one thread. The input shares no memory with the output.
                unsafe {
                    out.write(start..start + size, |piece, to| {
                        let sums = &sums[piece.start - start..];
                        to.iter_mut().zip(sums).for_each(|(to, sum)| *to = T::narrow(*sum));
                    });
                }
            }
        });
        Ok(())
    })
}

/// Adds the elements of a part to the sums of a plane.
fn add_part<T: Number>(from: &Source<'_, T>, start: [isize; 2], axes: &[MovedAxis], sums: &mut [T::Wide]) {
    let one = MovedAxis { size: 1, from: 0, to: 0 };
    let (row, outer) = axes.split_last().map_or((one, axes), |(row, outer)| (*row, outer));
    let n_rows: usize = outer.iter().map(|axis| axis.size).product();
    for r in 0..n_rows {
        let moved = moved_by(outer, r);
        let [mut source, mut target] = [0, 1].map(|t| start[t] + moved[t]);
        for _ in 0..row.size {
            // SAFETY: the kernel never runs in place (`out_of_place`), so nothing writes the input.
            let x = unsafe { from.at(source as usize) };
            let sum = &mut sums[target as usize];
            *sum = T::wide_plus(*sum, x.widen());
            (source, target) = (source + row.from, target + row.to);
        }
    }
}
