//! Kernels of quantized calls. Ranges are tensors, so scales are known only at run time. So in each run, code of this crate
//! writes the scales to scratch memory, and the primitive reads them from there.

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

/// The values of a row-major f32 input.
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

/// Writes the minima of `all` to the second output and the maxima to the third.
pub fn write_ranges(args: &KernelArgs<'_>, all: impl Iterator<Item = Range> + Clone) {
    for (output, value) in [(1, (|r: Range| r.min) as fn(Range) -> f64), (2, |r: Range| r.max)] {
        let Some(output) = args.outputs.get(output) else { return };
        // SAFETY: this is an output of the running call. No other slice of it exists, because each round makes one
        // slice and drops it.
        let numbers: &mut [f32] = bytemuck::cast_slice_mut(unsafe { output.bytes_mut() });
        numbers.iter_mut().zip(all.clone()).for_each(|(to, range)| *to = value(range) as f32);
    }
}

/// The outputs that [`write_ranges`] writes, for a call with these outputs.
pub fn written_ranges(outputs: &[TensorDesc]) -> Vec<Written> {
    let of = |(i, desc): (usize, &TensorDesc)| Written { output: i, dtype: desc.dtype, n_bytes: desc.size_bytes() };
    outputs.iter().enumerate().skip(1).map(of).collect()
}

/// Returns `n` layouts: `first`, then row-major ones.
pub fn layouts(first: Layout, n: usize) -> Vec<Layout> {
    let mut all = vec![Layout::RowMajor; n];
    if let Some(layout) = all.first_mut() {
        *layout = first;
    }
    all
}

/// A descriptor of `n` f32 values.
pub fn numbers(n: usize) -> Result<Arc<MemDesc>> {
    MemDesc::dense(&dims([n]), DType::F32).map(Arc::new)
}

/// Returns the arrangement of an 8-bit tensor: channels last for images, row-major for other tensors.
pub use super::arranged::channels_last as image;

/// Returns the arrangement `layout` for the tensor `desc`, which may have another dtype. If oneDNN does not know
/// `layout` for this tensor, returns the arrangement of images.
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
