//! Convolution in 1 to 3 dimensions, with channels second, including groups and dilation.

pub mod backward;

use crate::cache::Prepared;
use crate::epilogue::{Epilogue, Product};
use crate::kernels::Prepare;
use crate::kernels::arranged::expect_code;
use crate::library::Library;
use crate::objects::{Attributes, Dims, MemDesc, PrimDesc, dims, shape_dims};
use mxrs_onednn_sys::{result, sys};
use mxrs_op::param::{Choice, ShapeAttr};
use mxrs_op::{OpCall, TensorDesc};
use mxrs_ops::fused::convolution::SgConvParams;
use mxrs_ops::nn::convolution::ConvolutionParams;
use mxrs_types::{DType, Error, Layout, Result, Shape};
use std::sync::Arc;

/// Returns `values`, or `default` for each of `n` axes if `values` is empty.
pub fn spatial(values: &ShapeAttr, n: usize, default: i64) -> Dims {
    if values.is_empty() { Dims::from_elem(default, n) } else { values.iter().copied().collect() }
}

/// Checks that these kernels support the call of a convolution or of its gradient.
pub fn check(call: &OpCall<'_>) -> std::result::Result<(), String> {
    check_layout(call.params.get::<ConvolutionParams>())
}

/// Checks that these kernels support a convolution with its epilogue.
pub fn check_fused(call: &OpCall<'_>) -> std::result::Result<(), String> {
    let p = call.params.get::<SgConvParams>();
    check_layout(&p.product)?;
    Epilogue::of(&p.epilogue, call).map(|_| ())
}

fn check_layout(p: &ConvolutionParams) -> std::result::Result<(), String> {
    match p.layout {
        Some(layout) if !layout.to_word().starts_with("NC") => Err(format!("layout {}", layout.to_word())),
        _ => Ok(()),
    }
}

/// A convolution as oneDNN describes it: sizes, and three tensors whose layouts oneDNN may choose.
struct Problem {
    strides: Dims,
    dilates: Dims,
    pads: Dims,
    /// Sizes of the weights, with the groups as first axis if there are several groups.
    weights_sizes: Dims,
    src: MemDesc,
    weights: MemDesc,
    dst: MemDesc,
}

/// Sizes of the weights as oneDNN describes them: with the groups as first axis if there are several groups.
pub fn weights_sizes(p: &ConvolutionParams, weights: &Shape) -> Dims {
    let (groups, sizes) = (i64::from(p.num_group), shape_dims(weights));
    if groups == 1 {
        return sizes;
    }
    [groups, sizes[0] / groups].into_iter().chain(sizes[1..].iter().copied()).collect()
}

/// Describes a convolution at inference with these descriptors of data, weight and output, and of the bias if there is
/// one.
///
/// # Errors
/// The error that oneDNN reports.
pub fn forward_of(
    library: &Library,
    p: &ConvolutionParams,
    [src, weights, dst]: [&MemDesc; 3],
    bias: Option<&MemDesc>,
    attributes: &Attributes,
) -> Result<PrimDesc> {
    let copy = |md: &MemDesc| MemDesc::copy_of(md.0);
    let n_spatial = p.kernel.len();
    let problem = Problem {
        strides: spatial(&p.stride, n_spatial, 1),
        dilates: spatial(&p.dilate, n_spatial, 1).iter().map(|d| d - 1).collect(),
        pads: spatial(&p.pad, n_spatial, 0),
        weights_sizes: Dims::new(),
        src: copy(src)?,
        weights: copy(weights)?,
        dst: copy(dst)?,
    };
    problem.forward(library, sys::dnnl_forward_inference, bias, attributes.0)
}

impl Problem {
    fn new(p: &ConvolutionParams, src: &TensorDesc, weights: &TensorDesc, dst: &TensorDesc) -> Result<Self> {
        let n_spatial = src.shape.ndim() - 2;
        let weights_sizes = weights_sizes(p, &weights.shape);
        Ok(Self {
            strides: spatial(&p.stride, n_spatial, 1),
            // As dilation, oneDNN takes the number of pixels between neighboring taps of a window; MXNet takes the
            // distance between these taps, which is one more.
            dilates: spatial(&p.dilate, n_spatial, 1).iter().map(|d| d - 1).collect(),
            pads: spatial(&p.pad, n_spatial, 0),
            src: MemDesc::any(&shape_dims(&src.shape), src.dtype)?,
            weights: MemDesc::any(&weights_sizes, weights.dtype)?,
            dst: MemDesc::any(&shape_dims(&dst.shape), dst.dtype)?,
            weights_sizes,
        })
    }

    /// Uses the current layouts of data and of the gradient of the output if a primitive produced these tensors.
    fn follow(&mut self, library: &Library, data: &TensorDesc, ograd: &TensorDesc) -> Result<()> {
        for (md, desc) in [(&mut self.src, data), (&mut self.dst, ograd)] {
            if !desc.layout.is_row_major() {
                *md = MemDesc::copy_of(library.md(desc)?.0)?;
            }
        }
        Ok(())
    }

    fn forward(
        &self,
        library: &Library,
        kind: sys::dnnl_prop_kind_t,
        bias: Option<&MemDesc>,
        attributes: sys::const_dnnl_primitive_attr_t,
    ) -> Result<PrimDesc> {
        library.prim_desc(|out| {
            // SAFETY: the out pointer is valid, and the descriptors, arrays and attributes are alive during the call; a
            // null bias means that there is none.
            unsafe {
                result::convolution_forward_primitive_desc_create(
                    out,
                    library.engine(),
                    kind,
                    sys::dnnl_convolution_auto,
                    self.src.0,
                    self.weights.0,
                    bias.map_or(std::ptr::null(), |bias| bias.0.cast_const()),
                    self.dst.0,
                    self.strides.as_ptr(),
                    self.dilates.as_ptr(),
                    self.pads.as_ptr(),
                    self.pads.as_ptr(),
                    attributes,
                )
            }
        })
    }
}

/// How the layouts of data and output are chosen.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layouts {
    /// The library chooses the layouts.
    Preferred,
    /// Blocks of 16 channels, which other backends also read and write.
    Blocks,
}

/// Name of the algorithm with data and output in blocks of 16 channels.
pub const BLOCKED: &str = "nChw16c";

/// Number of channels of a block.
const BLOCK: usize = 16;

/// The function that prepares a call with data and output in blocks of 16 channels, and a name for it; `None` for calls
/// without such layouts.
pub fn blocked_preparer(call: &OpCall<'_>) -> Option<(&'static str, Prepare)> {
    let found: (&'static str, Prepare) = match call.op.name {
        "Convolution" => ("Convolution in blocks", prepare_blocked),
        "_sg_conv" => ("_sg_conv in blocks", prepare_fused_blocked),
        _ => return None,
    };
    let [data, ..] = call.inputs else { return None };
    let out = call.outputs.first()?;
    let fits = data.shape.ndim() == 4 && data.dtype == DType::F32 && out.dtype == DType::F32;
    (fits && !call.is_train && out.shape[1] >= BLOCK).then_some(found)
}

/// Prepares a Convolution. In training, if the data are in blocks of channels, the output is too: gradients are computed in
/// blocks, and an output in another layout would be copied twice.
pub fn prepare(library: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    let preferred =
        || build(library, call, call.params.get::<ConvolutionParams>(), &Epilogue::default(), Layouts::Preferred);
    let is_in_blocks =
        |desc: &TensorDesc| matches!(&desc.layout, Layout::Blocked { blocks, .. } if blocks[..] == [(1, BLOCK as u16)]);
    match call.inputs.first() {
        Some(data) if call.is_train && is_in_blocks(data) => prepare_blocked(library, call).or_else(|_| preferred()),
        _ => preferred(),
    }
}

/// Prepares a Convolution with data and output in blocks of 16 channels.
fn prepare_blocked(library: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    build(library, call, call.params.get::<ConvolutionParams>(), &Epilogue::default(), Layouts::Blocks)
}

/// Prepares a `_sg_conv`.
pub fn prepare_fused(library: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    build_fused(library, call, Layouts::Preferred)
}

/// Prepares a `_sg_conv` with data and output in blocks of 16 channels.
fn prepare_fused_blocked(library: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    build_fused(library, call, Layouts::Blocks)
}

fn build_fused(library: &Arc<Library>, call: &OpCall<'_>, layouts: Layouts) -> Result<Prepared> {
    let p = call.params.get::<SgConvParams>();
    let epilogue = Epilogue::of(&p.epilogue, call).map_err(|reason| Error::not_built(call.op.name, reason))?;
    build(library, call, &p.product, &epilogue, layouts)
}

/// Prepares the primitive for data, weight, bias if there is one, and the operand of the epilogue if there is one.
fn build(
    library: &Arc<Library>,
    call: &OpCall<'_>,
    p: &ConvolutionParams,
    epilogue: &Epilogue,
    layouts: Layouts,
) -> Result<Prepared> {
    let source = &call.inputs[0];
    let mut problem = Problem::new(p, source, &call.inputs[1], &call.outputs[0])?;
    if layouts == Layouts::Blocks {
        // Data with fewer channels than a block, as in the first layer, keep their layout.
        if source.shape[1] >= BLOCK {
            problem.src = MemDesc::tagged(&shape_dims(&source.shape), source.dtype, sys::dnnl_aBcd16b)?;
        }
        problem.dst = MemDesc::tagged(&shape_dims(&call.outputs[0].shape), call.outputs[0].dtype, sys::dnnl_aBcd16b)?;
    }
    let bias = MemDesc::dense(&dims([call.outputs[0].shape[1]]), source.dtype)?;
    let bias = (!p.no_bias).then_some(bias);
    let attributes = epilogue.attributes()?;
    // Training uses the inference primitive too, because the gradients need no workspace.
    let pd = problem.forward(library, sys::dnnl_forward_inference, bias.as_ref(), attributes.0)?;
    if layouts == Layouts::Blocks {
        expect_code(&pd)?;
    }
    let src = pd.required_md(sys::dnnl_query_src_md, 0)?;
    let weights = pd.required_md(sys::dnnl_query_weights_md, 0)?;
    let dst = pd.required_md(sys::dnnl_query_dst_md, 0)?;
    let layouts = [
        library.registry.activation_layout(source, MemDesc::copy_of(src.0)?)?,
        library.registry.weights_layout(MemDesc::copy_of(weights.0)?, &problem.weights_sizes)?,
        library.registry.activation_layout(&call.outputs[0], MemDesc::copy_of(dst.0)?)?,
    ];
    epilogue.finish(library, &pd, Product { tensors: [src, weights, dst].map(Arc::new), layouts, bias })
}
