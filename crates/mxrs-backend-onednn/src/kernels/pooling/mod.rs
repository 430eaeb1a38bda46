//! Max and average pooling, in the layout of the data.

pub mod backward;

use super::arranged::arranged;
use super::convolution::spatial;
use super::one_to_one;
use crate::cache::Prepared;
use crate::library::Library;
use crate::objects::{Dims, MemDesc, PrimDesc, shape_dims};
use mxrs_onednn_sys::{result, sys};
use mxrs_op::OpCall;
use mxrs_op::param::Choice;
use mxrs_ops::nn::pooling::{PoolType, PoolingParams};
use mxrs_types::{Result, Shape};
use std::sync::Arc;

struct Window {
    kernel: Dims,
    strides: Dims,
    before: Dims,
    /// Padding at the end, computed from the size of the output; negative if no window reaches the end of the data.
    after: Dims,
    /// Padding at the end according to the attributes of the call.
    declared: Dims,
}

fn window(p: &PoolingParams, data: &Shape, out: &Shape) -> Window {
    let (sizes, outs) = (shape_dims(data), shape_dims(out));
    let n = sizes.len() - 2;
    let kernel = if p.global_pool { sizes[2..].iter().copied().collect() } else { spatial(&p.kernel, n, 1) };
    let strides = if p.global_pool { Dims::from_elem(1, n) } else { spatial(&p.stride, n, 1) };
    let before = if p.global_pool { Dims::from_elem(0, n) } else { spatial(&p.pad, n, 0) };
    let after = (0..n).map(|i| (outs[i + 2] - 1) * strides[i] + kernel[i] - sizes[i + 2] - before[i]).collect::<Dims>();
    Window { declared: before.clone(), kernel, strides, before, after }
}

/// Checks that the backend takes the call.
pub fn check(call: &OpCall<'_>) -> std::result::Result<(), String> {
    check_window(call.params.get::<PoolingParams>(), &call.inputs[0].shape, &call.outputs[0].shape)
}

/// Checks that oneDNN can pool data of this shape to an output of this shape.
fn check_window(p: &PoolingParams, data: &Shape, out: &Shape) -> std::result::Result<(), String> {
    if let Some(layout) = p.layout
        && !layout.to_word().starts_with("NC")
    {
        return Err(format!("layout {}", layout.to_word()));
    }
    if data.ndim() < 3 || out.ndim() != data.ndim() {
        return Err(format!("no kernel for data of shape {data}"));
    }
    let w = window(p, data, out);
    match p.pool_type {
        PoolType::Max => {}
        PoolType::Avg => {
            // MXNet divides by the clipped size of a window that extends beyond the declared padding; oneDNN divides by
            // the whole size.
            if p.counts_padding() && w.after.iter().zip(&w.declared).any(|(a, d)| a > d) {
                return Err("no kernel for the average over a clipped window".into());
            }
        }
        other => return Err(format!("pool_type {}", other.to_word())),
    }
    // oneDNN refuses windows that lie entirely in the padding.
    if w.kernel.iter().zip(w.before.iter().zip(&w.after)).any(|(k, (b, a))| b >= k || a >= k) {
        return Err("the padding is as large as the window".into());
    }
    Ok(())
}

/// A pooling as oneDNN describes it.
struct Problem {
    algorithm: sys::dnnl_alg_kind_t,
    window: Window,
    dilation: Dims,
}

impl Problem {
    fn new(p: &PoolingParams, data: &Shape, out: &Shape) -> Self {
        let algorithm = match (p.pool_type, p.counts_padding()) {
            (PoolType::Max, _) => sys::dnnl_pooling_max,
            (_, true) => sys::dnnl_pooling_avg_include_padding,
            (_, false) => sys::dnnl_pooling_avg_exclude_padding,
        };
        let window = window(p, data, out);
        Self { algorithm, dilation: Dims::from_elem(0, window.kernel.len()), window }
    }

    fn forward(
        &self,
        library: &Library,
        kind: sys::dnnl_prop_kind_t,
        src: &MemDesc,
        dst: &MemDesc,
    ) -> Result<PrimDesc> {
        library.prim_desc(|out| {
            // SAFETY: the out pointer is valid, and the descriptors, arrays and attributes are alive during the call.
            unsafe {
                result::pooling_forward_primitive_desc_create(
                    out,
                    library.engine(),
                    kind,
                    self.algorithm,
                    src.0,
                    dst.0,
                    self.window.strides.as_ptr(),
                    self.window.kernel.as_ptr(),
                    self.dilation.as_ptr(),
                    self.window.before.as_ptr(),
                    self.window.after.as_ptr(),
                    library.attributes(),
                )
            }
        })
    }
}

/// Describes pooling at inference with these descriptors of data and output.
///
/// # Errors
/// The error that oneDNN reports.
pub fn describe(library: &Library, call: &OpCall<'_>, src: &MemDesc, dst: &MemDesc) -> Result<PrimDesc> {
    let problem = Problem::new(call.params.get::<PoolingParams>(), &call.inputs[0].shape, &call.outputs[0].shape);
    problem.forward(library, sys::dnnl_forward_inference, src, dst)
}

/// Prepares the call.
pub fn prepare(library: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    let out = &call.outputs[0];
    let dst_any = MemDesc::any(&shape_dims(&out.shape), out.dtype)?;
    // Training uses the inference primitive too: the gradient computes the workspace again, which costs less than
    // keeping it.
    let problem = Problem::new(call.params.get::<PoolingParams>(), &call.inputs[0].shape, &out.shape);
    let forward = |src: &MemDesc| problem.forward(library, sys::dnnl_forward_inference, src, &dst_any);
    let data = arranged(library, &call.inputs[0], |md| forward(md))?;
    let src = data.md.clone();
    let redescribe =
        move |library: &Library, dst: &MemDesc| problem.forward(library, sys::dnnl_forward_inference, &src, dst);
    one_to_one::prepare(library, call, data, Some(Arc::new(redescribe)))
}
