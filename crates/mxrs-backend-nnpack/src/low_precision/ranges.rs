//! The ranges of quantized tensors, as inputs and outputs of a running call.

use mxrs_op::KernelArgs;
use mxrs_ops::Range;

/// The values of a row-major float32 input.
pub fn floats<'a>(args: &KernelArgs<'a>, input: usize) -> &'a [f32] {
    // SAFETY: callers pass inputs with ranges or biases, which no output of the call may share memory with, so nothing
    // writes them during the call.
    bytemuck::cast_slice(unsafe { args.inputs[input].bytes() })
}

/// The ranges whose minima are in input `min` and whose maxima are in the next input.
pub fn ranges<'a>(args: &KernelArgs<'a>, min: usize) -> impl Iterator<Item = Range> + Clone + use<'a> {
    let pairs = floats(args, min).iter().zip(floats(args, min + 1));
    pairs.map(|(min, max)| Range { min: f64::from(*min), max: f64::from(*max) })
}

/// The first of the ranges whose minima are in input `min`.
pub fn range(args: &KernelArgs<'_>, min: usize) -> Range {
    ranges(args, min).next().unwrap_or(Range { min: 0.0, max: 0.0 })
}

/// Writes the minima of `all` to the second output and the maxima to the third, if the call has them.
pub fn write_ranges(args: &KernelArgs<'_>, all: impl Iterator<Item = Range> + Clone) {
    for (output, value) in [(1, (|r: Range| r.min) as fn(Range) -> f64), (2, |r: Range| r.max)] {
        let Some(output) = args.outputs.get(output) else { return };
        // SAFETY: this is an output of the running call. No other slice of it exists, because each round makes one slice and
        // drops it.
        let numbers: &mut [f32] = bytemuck::cast_slice_mut(unsafe { output.bytes_mut() });
        numbers.iter_mut().zip(all.clone()).for_each(|(to, range)| *to = value(range) as f32);
    }
}
