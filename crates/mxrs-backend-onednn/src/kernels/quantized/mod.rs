//! Kernels of quantized calls. Ranges are tensors, so scales are known at run time only: a step of our own computes them
//! into temporary memory, from which the primitive reads them.

pub mod add;
pub mod bytes;
pub mod concat;
pub mod convert;
pub mod pooling;
pub mod product;

use crate::accumulate::Written;
use crate::library::Library;
use crate::objects::{MemDesc, dims};
use mxrs_op::{KernelArgs, TensorDesc};
use mxrs_ops::Range;
use mxrs_types::{DType, Layout, Result};
use std::sync::Arc;

/// The numbers of an input of f32, row-major.
pub fn floats<'a>(args: &KernelArgs<'a>, input: usize) -> &'a [f32] {
    // SAFETY: inputs of ranges and biases are outputs of no call at the same time, and of this one never.
    bytemuck::cast_slice(unsafe { args.inputs[input].bytes() })
}

/// The ranges whose minima are this input and whose maxima are the next.
pub fn ranges<'a>(args: &KernelArgs<'a>, min: usize) -> impl Iterator<Item = Range> + Clone + use<'a> {
    let pairs = floats(args, min).iter().zip(floats(args, min + 1));
    pairs.map(|(min, max)| Range { min: f64::from(*min), max: f64::from(*max) })
}

/// The only range there.
pub fn range(args: &KernelArgs<'_>, min: usize) -> Range {
    ranges(args, min).next().unwrap_or(Range { min: 0.0, max: 0.0 })
}

/// Writes the outputs behind the first: minima and maxima.
pub fn write_ranges(args: &KernelArgs<'_>, all: impl Iterator<Item = Range> + Clone) {
    for (output, value) in [(1, (|r: Range| r.min) as fn(Range) -> f64), (2, |r: Range| r.max)] {
        let Some(output) = args.outputs.get(output) else { return };
        // SAFETY: an output of the running call; no other slice of it lives.
        let numbers: &mut [f32] = bytemuck::cast_slice_mut(unsafe { output.bytes_mut() });
        numbers.iter_mut().zip(all.clone()).for_each(|(to, range)| *to = value(range) as f32);
    }
}

/// The outputs that [`write_ranges`] writes, of a call with these outputs.
pub fn written_ranges(outputs: &[TensorDesc]) -> Vec<Written> {
    let of = |(i, desc): (usize, &TensorDesc)| Written { output: i, dtype: desc.dtype, n_bytes: desc.size_bytes() };
    outputs.iter().enumerate().skip(1).map(of).collect()
}

/// Row-major layouts but for the first.
pub fn layouts(first: Layout, n: usize) -> Vec<Layout> {
    let mut all = vec![Layout::RowMajor; n];
    if let Some(layout) = all.first_mut() {
        *layout = first;
    }
    all
}

/// `n` f32 numbers.
pub fn numbers(n: usize) -> Result<Arc<MemDesc>> {
    MemDesc::dense(&dims([n]), DType::F32).map(Arc::new)
}

/// The arrangement of images of 8 bits: the channels of a pixel side by side. Other tensors are row-major.
pub use super::arranged::channels_last as image;

/// The same arrangement for another element type; `desc` says which, and where it is known from.
pub fn like(library: &Library, desc: &TensorDesc, layout: &Layout) -> Result<(Arc<MemDesc>, Layout)> {
    let (md, image_layout) = image(library, desc)?;
    if *layout == image_layout {
        return Ok((md, image_layout));
    }
    match library.md(&desc.with_layout(layout.clone())) {
        Ok(md) => Ok((md, layout.clone())),
        Err(_) => Ok((md, image_layout)),
    }
}
