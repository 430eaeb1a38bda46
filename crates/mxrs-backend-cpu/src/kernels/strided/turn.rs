//! Transposes small blocks in the L1 cache.

use super::nest::{Loops, Nest, moved_by};
use crate::number::Element;
use crate::split::in_ranges;
use crate::tensors::{Sink, Source};
use mxrs_op::KernelArgs;

/// Size of a block along the loop that is contiguous in the input: a cache line of `f32`.
const ALONG_INPUT: usize = 16;
/// Size of a block along the loop that is contiguous in the output.
const ALONG_OUTPUT: usize = 64;

/// Transposes the matrices that two loops form: the loop that is contiguous in the input, and the last one, contiguous in
/// the output. The nest must have a [turned axis](Nest::turned_axis), and it must be within its tensors.
pub fn run<T: Element>(args: &KernelArgs<'_>, nest: &Nest, to: &Sink<'_, T>) {
    let (Some(along), Some(input), Some(last)) = (nest.turned_axis(), nest.input, nest.loops.last()) else { return };
    if !to.is_wanted() {
        return;
    }
    let from = Source::<T>::of(args, input);
    let (mut along_input, mut start) = (nest.loops[along], nest.start);
    if along_input.from < 0 {
        // The loop runs backward, so that the input is read forward.
        let end = along_input.size as isize - 1;
        start = [start[0] + along_input.from * end, start[1] + along_input.to * end];
        (along_input.from, along_input.to) = (-along_input.from, -along_input.to);
    }
    let others: Loops =
        nest.loops[..nest.loops.len() - 1].iter().enumerate().filter(|(i, _)| *i != along).map(|(_, l)| *l).collect();
    let n_others: usize = others.iter().map(|axis| axis.size).product();
    let n_strips = along_input.size.div_ceil(ALONG_INPUT);
    in_ranges(args.team, n_others * n_strips, ALONG_INPUT * last.size, &|strips| {
        for strip in strips {
            let moved = moved_by(&others, strip / n_strips);
            let first = strip % n_strips * ALONG_INPUT;
            let height = (along_input.size - first).min(ALONG_INPUT);
            let source = start[0] + moved[0] + first as isize;
            for column in (0..last.size).step_by(ALONG_OUTPUT) {
                let width = (last.size - column).min(ALONG_OUTPUT);
                let mut block = [[T::ZERO; ALONG_INPUT]; ALONG_OUTPUT];
                for (q, row) in block[..width].iter_mut().enumerate() {
                    let at = (source + (column + q) as isize * last.from) as usize;
                    // SAFETY: the kernel never runs in place (`out_of_place`), so nothing writes the input.
                    let elements = unsafe { from.slice(at..at + height) };
                    match <&[T; ALONG_INPUT]>::try_from(elements) {
                        Ok(line) => *row = *line,
                        Err(_) => row[..height].copy_from_slice(elements),
                    }
                }
                for p in 0..height {
                    let row = start[1] + moved[1] + (first + p) as isize * along_input.to;
                    let at = (row + column as isize) as usize;
                    // SAFETY: each strip (at most `ALONG_INPUT` rows of one matrix) writes its own elements of the output,
                    // and `in_ranges` gives it to one thread. The input shares no memory with the output.
                    unsafe { to.write(at..at + width, |piece, to| column_of(&block[piece.start - at..], p, to)) };
                }
            }
        }
    });
}

/// Copies the first elements of column `p` of a block to `to`, as many as `to` has.
fn column_of<T: Element>(block: &[[T; ALONG_INPUT]], p: usize, to: &mut [T]) {
    let p = p % ALONG_INPUT;
    match (<&mut [T; ALONG_OUTPUT]>::try_from(&mut *to), <&[[T; ALONG_INPUT]; ALONG_OUTPUT]>::try_from(block)) {
        (Ok(whole), Ok(block)) => whole.iter_mut().zip(block).for_each(|(to, row)| *to = row[p]),
        _ => to.iter_mut().zip(block).for_each(|(to, row)| *to = row[p]),
    }
}
