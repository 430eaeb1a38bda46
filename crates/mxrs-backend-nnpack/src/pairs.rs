//! Prepares calls of two convolutions, of which the second one is depthwise.

use crate::blocks::Build;
use crate::direct::conv_depthwise::{ConvDepthwise, bands};
use crate::epilogue::Epilogue;
use crate::layouts::{BLOCK, NAME, PackedForm, blocked};
use crate::problem::ConvProblem;
use mxrs_op::{OpCall, PlannedKernel, TensorDesc};
use mxrs_ops::fused::conv_depthwise::{self, ConvDepthwiseParams};
use mxrs_processor::Isa;
use mxrs_types::{DType, Layout};
use std::sync::Arc;

/// Returns the function that prepares the kernel of a call, or the reason why there is none. Returns `None` if the
/// operator is not one of this module.
pub fn look_at<'a>(call: &'a OpCall<'a>, isa: Isa, threads: usize) -> Option<Result<Build<'a>, String>> {
    (call.op.name == conv_depthwise::NAME).then(|| fit(call, isa, threads))
}

fn fit<'a>(call: &'a OpCall<'a>, isa: Isa, threads: usize) -> Result<Build<'a>, String> {
    let p: &ConvDepthwiseParams = call.params.get();
    let second_weight = p.n_first_inputs();
    let ([data, weight, ..], Some(dw_weight), [out]) = (call.inputs, call.inputs.get(second_weight), call.outputs)
    else {
        return Err("the call lacks data or weights".into());
    };
    if let Some(other) = call.inputs.iter().chain(call.outputs).find(|t| t.dtype != DType::F32) {
        return Err(format!("no kernel for {}", other.dtype));
    }
    if call.is_train || !call.is_constant[1] || !call.is_constant[second_weight] {
        return Err("no kernel for weights that change".into());
    }
    let [n, _, h, w] = data.shape[..] else { return Err(format!("shape {}", data.shape)) };
    let between = TensorDesc::dense([n, p.first.product.num_filter as usize, h, w], DType::F32);
    let first = ConvProblem::between(&p.first.product, call, [data, weight, &between])?;
    let second = ConvProblem::between(&p.second.product, call, [&between, dw_weight, out])?;
    if !first.is_pointwise() || first.pad != (0, 0) || p.first.product.num_group != 1 {
        return Err("no kernel for a first convolution other than 1x1 with stride 1 in one group".into());
    }
    if first.c < BLOCK {
        return Err(format!("no kernel for fewer than {BLOCK} input channels"));
    }
    let of_first = Epilogue::fused(p.first.product.no_bias, &p.first.epilogue, call)?;
    let of_second = Epilogue::fused(p.second.product.no_bias, &p.second.epilogue, call)?;
    let of_second = Epilogue { bias: of_second.bias.map(|_| second_weight + 1), ..of_second };
    if !second.k.is_multiple_of(BLOCK) && !of_second.bounds.keep_zero() {
        return Err("no kernel for bounds that change the zeros in the padding of channels".into());
    }
    let bands = bands(&first, &second, threads).ok_or("the rows of a band do not fit into the cache")?;
    Ok(Box::new(move || {
        let name = format!("{NAME}:conv_depthwise:{}:{threads}", isa.name());
        let kernel = ConvDepthwise::new(name, [first, second], [of_first, of_second], bands, isa, threads);
        let mut input_layouts = vec![Layout::RowMajor; call.inputs.len()];
        input_layouts[0] = blocked([first.n, first.c, first.h, first.w]);
        input_layouts[1] = PackedForm::Blocks.layout([first.k, first.c, 1, 1]);
        input_layouts[second_weight] = PackedForm::Depthwise.layout([second.k, 1, second.kh, second.kw]);
        PlannedKernel {
            input_layouts,
            output_layouts: vec![blocked([second.n, second.k, second.oh, second.ow])],
            scratch_bytes: kernel.scratch_bytes(),
            can_run_inplace: false,
            kernel: Arc::new(kernel),
        }
    }))
}
