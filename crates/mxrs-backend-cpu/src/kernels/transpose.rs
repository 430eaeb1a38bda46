//! Permutes axes: copies rows if the last axis stays last, otherwise transposes small blocks in the L1 cache.

use super::for_element;
use crate::number::Element;
use crate::plan::{Build, Planned, out_of_place};
use crate::split::{in_ranges, in_rows};
use crate::tensors::{Sink, Source};
use crate::walk::{Axes, Axis, Cursor, coalesce, n_steps};
use mxrs_op::{KernelArgs, OpCall};
use mxrs_ops::shape::transpose::TransposeParams;
use mxrs_types::{DType, Result};

/// Size of a block along the axis that is contiguous in the input: a cache line of `f32`.
const ALONG_INPUT: usize = 16;
/// Size of a block along the axis that is contiguous in the output.
const ALONG_OUTPUT: usize = 64;

/// Plans `transpose`.
pub fn plan(call: &OpCall<'_>) -> Option<Planned> {
    if call.op.name != "transpose" {
        return None;
    }
    let (from, to) = (&call.inputs[0].shape, &call.outputs[0]);
    let order = match call.params.get::<TransposeParams>().order(from.ndim()) {
        Ok(order) => order,
        Err(error) => return Some(Err(error.to_string())),
    };
    let strides = (from.strides(), to.shape.strides());
    let axis = |(i, axis): (usize, &usize)| Axis { size: to.shape[i], strides: [strides.0[*axis], strides.1[i]] };
    let axes = coalesce(order.iter().enumerate().map(axis));
    Some(for_element!(call, to.dtype, T => permute::<T>(call, axes, to.dtype)))
}

fn permute<T: Element>(call: &OpCall<'_>, axes: Axes<2>, dtype: DType) -> Build {
    // The axis along which the input is contiguous. `None` if the input is contiguous along the output's last axis, so that
    // rows can be copied, or along no axis.
    let along = axes.iter().position(|axis| axis.strides[0] == 1).filter(|along| along + 1 < axes.len());
    out_of_place(call, 0, move |args| match along {
        Some(along) if n_steps(&axes) > 0 => turn::<T>(args, &axes, along, dtype),
        _ => copy_rows::<T>(args, &axes, dtype),
    })
}

fn copy_rows<T: Element>(args: &KernelArgs<'_>, axes: &Axes<2>, dtype: DType) -> Result<()> {
    let (from, to) = (Source::<T>::of(args, 0), Sink::<T>::of(args, 0, dtype)?);
    in_rows(args.team, axes, &|start, len, [source, _]| {
        // SAFETY: rows are disjoint and each belongs to one thread; `out_of_place` plans the kernel without in place,
        // so the input is not in the output's memory.
        unsafe {
            to.write(start..start + len, |piece, to| {
                let at = source + piece.start - start;
                to.copy_from_slice(from.slice(at..at + piece.len()));
            });
        }
    });
    Ok(())
}

/// Transposes the matrices that two axes form: axis `along`, contiguous in the input, and the last axis, contiguous in the
/// output.
fn turn<T: Element>(args: &KernelArgs<'_>, axes: &Axes<2>, along: usize, dtype: DType) -> Result<()> {
    let (from, to) = (Source::<T>::of(args, 0), Sink::<T>::of(args, 0, dtype)?);
    let (input_axis, output_axis) = (axes[along], axes[axes.len() - 1]);
    let others: Axes<2> =
        axes.iter().enumerate().filter(|(i, _)| *i != along && *i + 1 != axes.len()).map(|(_, axis)| *axis).collect();
    let n_strips = input_axis.size.div_ceil(ALONG_INPUT);
    in_ranges(args.team, n_steps(&others) * n_strips, ALONG_INPUT * output_axis.size, &|strips| {
        for strip in strips {
            let [source, target] = Cursor::new(&others, strip / n_strips).offsets;
            let first = strip % n_strips * ALONG_INPUT;
            let height = (input_axis.size - first).min(ALONG_INPUT);
            for column in (0..output_axis.size).step_by(ALONG_OUTPUT) {
                let width = (output_axis.size - column).min(ALONG_OUTPUT);
                let mut block = [[T::ZERO; ALONG_INPUT]; ALONG_OUTPUT];
                for (q, row) in block[..width].iter_mut().enumerate() {
                    let at = source + first + (column + q) * output_axis.strides[0];
                    // SAFETY: `out_of_place` plans the kernel without in place, so nothing writes the input.
                    let elements = unsafe { from.slice(at..at + height) };
                    match <&[T; ALONG_INPUT]>::try_from(elements) {
                        Ok(line) => *row = *line,
                        Err(_) => row[..height].copy_from_slice(elements),
                    }
                }
                for p in 0..height {
                    let at = target + (first + p) * input_axis.strides[1] + column;
                    // SAFETY: each strip (at most `ALONG_INPUT` rows of one matrix) writes its own elements of the
                    // output, and `in_ranges` gives it to one thread. The input is other memory.
                    unsafe { to.write(at..at + width, |_, to| column_of(&block, p, to)) };
                }
            }
        }
    });
    Ok(())
}

/// Copies the first elements of column `p` of a block to `to`, as many as `to` has.
fn column_of<T: Element>(block: &[[T; ALONG_INPUT]; ALONG_OUTPUT], p: usize, to: &mut [T]) {
    let p = p % ALONG_INPUT;
    match <&mut [T; ALONG_OUTPUT]>::try_from(&mut *to) {
        Ok(whole) => whole.iter_mut().zip(block).for_each(|(to, row)| *to = row[p]),
        Err(_) => to.iter_mut().zip(block).for_each(|(to, row)| *to = row[p]),
    }
}
