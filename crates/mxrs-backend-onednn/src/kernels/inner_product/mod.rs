//! FullyConnected as an inner product: `[N, K] x [O, K]ᵀ + [O]`. At inference weights have the layout that oneDNN prefers;
//! in training they stay row-major.

pub mod backward;

use crate::cache::Prepared;
use crate::epilogue::{Epilogue, Product};
use crate::library::Library;
use crate::objects::{MemDesc, PrimDesc, dims};
use mxrs_onednn_sys::{result, sys};
use mxrs_op::{OpCall, TensorDesc};
use mxrs_ops::fused::fully_connected::SgFullyConnectedParams;
use mxrs_ops::nn::fully_connected::FullyConnectedParams;
use mxrs_types::{Error, Layout, Result};
use std::sync::Arc;

/// Checks that the backend takes the call.
pub fn check(call: &OpCall<'_>) -> std::result::Result<(), String> {
    if call.inputs[0].shape.ndim() < 1 || call.inputs[1].shape.ndim() != 2 {
        return Err(format!("no kernel for data of shape {}", call.inputs[0].shape));
    }
    Ok(())
}

/// Checks that this kernel supports a product with its epilogue.
pub fn check_fused(call: &OpCall<'_>) -> std::result::Result<(), String> {
    check(call)?;
    Epilogue::of(&call.params.get::<SgFullyConnectedParams>().epilogue, call).map(|_| ())
}

/// The product as oneDNN describes it: two row-major matrices, and weights whose layout oneDNN may choose.
struct Problem {
    k: usize,
    n_out: usize,
    src: MemDesc,
    weights: MemDesc,
    dst: MemDesc,
}

impl Problem {
    /// Describes the product. Data is row-major and viewed as a matrix: the axes that the product sums over are the columns,
    /// and all axes before them the rows.
    fn new(library: &Library, src: &TensorDesc, weights: &TensorDesc) -> Result<Self> {
        let (n_out, k) = (weights.shape[0], weights.shape[1]);
        let n = src.shape.n_elements() / k;
        Ok(Self {
            k,
            n_out,
            src: MemDesc::dense(&dims([n, k]), src.dtype)?,
            weights: library.layer_weights(n_out, k, weights.dtype)?,
            dst: MemDesc::dense(&dims([n, n_out]), src.dtype)?,
        })
    }

    fn forward(
        &self,
        library: &Library,
        kind: sys::dnnl_prop_kind_t,
        bias: Option<&MemDesc>,
        attributes: sys::const_dnnl_primitive_attr_t,
    ) -> Result<PrimDesc> {
        library.prim_desc(|out| {
            // SAFETY: the out pointer is valid, and the descriptors and attributes are alive during the call; a null
            // bias means that there is none.
            unsafe {
                result::inner_product_forward_primitive_desc_create(
                    out,
                    library.engine(),
                    kind,
                    self.src.0,
                    self.weights.0,
                    bias.map_or(std::ptr::null(), |bias| bias.0.cast_const()),
                    self.dst.0,
                    attributes,
                )
            }
        })
    }

    /// Returns the layout of weights that have the descriptor `md`.
    fn weights_layout(&self, library: &Library, md: &MemDesc) -> Result<Layout> {
        library.registry.weights_layout(MemDesc::copy_of(md.0)?, &dims([self.n_out, self.k]))
    }
}

/// Prepares a FullyConnected.
pub fn prepare(library: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    build(library, call, call.params.get::<FullyConnectedParams>(), &Epilogue::default())
}

/// Prepares a `_sg_fully_connected`.
pub fn prepare_fused(library: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    let p = call.params.get::<SgFullyConnectedParams>();
    let epilogue = Epilogue::of(&p.epilogue, call).map_err(|reason| Error::not_built(call.op.name, reason))?;
    build(library, call, &p.product, &epilogue)
}

/// Prepares the primitive for data, weight, bias if there is one, and the operand of the epilogue if there is one.
fn build(library: &Arc<Library>, call: &OpCall<'_>, p: &FullyConnectedParams, epilogue: &Epilogue) -> Result<Prepared> {
    let source = &call.inputs[0];
    let mut problem = Problem::new(library, source, &call.inputs[1])?;
    if !call.is_constant.get(1).copied().unwrap_or(false) && call.is_train {
        // In training weights change in every step. A copy in another layout would cost more than it saves, and double
        // the memory for weights.
        problem.weights = MemDesc::dense(&dims([problem.n_out, problem.k]), call.inputs[1].dtype)?;
    }
    let bias = MemDesc::dense(&dims([problem.n_out]), source.dtype)?;
    let bias = (!p.no_bias).then_some(bias);
    let attributes = epilogue.attributes()?;
    // Training uses the inference primitive too, because the gradients need no workspace.
    let pd = problem.forward(library, sys::dnnl_forward_inference, bias.as_ref(), attributes.0)?;
    let weights = pd.required_md(sys::dnnl_query_weights_md, 0)?;
    let layouts = [Layout::RowMajor, problem.weights_layout(library, &weights)?, Layout::RowMajor];
    epilogue.finish(library, &pd, Product { tensors: [problem.src, weights, problem.dst].map(Arc::new), layouts, bias })
}
