//! Prepares calls of a convolution of images that are multiplied by one factor per image and channel.

use crate::blocks::Build;
use crate::convolve::{Convolve, Operands};
use crate::direct::product::{Factors, ProductConv};
use crate::epilogue::Epilogue;
use crate::functions::Apply;
use crate::kernel::meet_request;
use crate::layouts::{BLOCK, NAME, PackedForm, blocked};
use crate::problem::ConvProblem;
use mxrs_op::{Kernel, KernelArgs, OpCall, PlannedKernel};
use mxrs_ops::fused::convolution::SgConvParams;
use mxrs_ops::fused::scaled_convolution;
use mxrs_processor::Isa;
use mxrs_types::{DType, Layout, Result as MxResult};
use std::sync::Arc;

/// Returns the function that prepares the kernel of a call, or the reason why there is none. Returns `None` if the
/// operator is not one of this module.
pub fn look_at<'a>(call: &'a OpCall<'a>, isa: Isa, threads: usize) -> Option<Result<Build<'a>, String>> {
    (call.op.name == scaled_convolution::NAME).then(|| fit(call, isa, threads))
}

fn fit<'a>(call: &'a OpCall<'a>, isa: Isa, threads: usize) -> Result<Build<'a>, String> {
    let SgConvParams { product, epilogue } = call.params.get();
    let problem = ConvProblem::of(product, call)?;
    if call.outputs[0].dtype != DType::F32 {
        return Err(format!("no kernel for {}", call.outputs[0].dtype));
    }
    if call.is_train || !call.is_constant[1] {
        return Err("no kernel for weights that change".into());
    }
    if !problem.is_pointwise() || problem.pad != (0, 0) || product.num_group != 1 {
        return Err("no kernel but for a 1x1 window with stride 1 in one group".into());
    }
    let factors = call.inputs.len() - 1;
    let of_sum = epilogue.with_sum.then(|| factors - 1);
    let epilogue = Epilogue { sum: of_sum, ..Epilogue::fused(product.no_bias, epilogue, call)? };
    if !problem.k.is_multiple_of(BLOCK) && !epilogue.bounds.keep_zero() {
        return Err("no kernel for bounds that change the zeros in the padding of channels".into());
    }
    let p = problem;
    Ok(Box::new(move || {
        let function = epilogue.function.map(|function| Apply::new(function, isa));
        let product = ProductConv::scaled(p, isa, threads).with_function(function);
        let out = blocked([p.n, p.k, p.oh, p.ow]);
        let mut input_layouts = vec![Layout::RowMajor; call.inputs.len()];
        input_layouts[0] = blocked([p.n, p.c, p.h, p.w]);
        input_layouts[1] = PackedForm::Blocks.layout([p.k, p.c, 1, 1]);
        input_layouts[factors] = blocked([p.n, p.c, 1, 1]);
        if let Some(sum) = epilogue.sum {
            input_layouts[sum] = out.clone();
        }
        let name = format!("{NAME}:scaled_product:{}:{threads}", isa.name());
        PlannedKernel {
            input_layouts,
            output_layouts: vec![out],
            scratch_bytes: product.scratch_bytes(),
            can_run_inplace: epilogue.sum.is_some(),
            kernel: Arc::new(ScaledKernel { name, product, epilogue, factors }),
        }
    }))
}

/// A convolution with factors that is ready to run.
struct ScaledKernel {
    /// The name in traces.
    name: String,
    product: ProductConv,
    epilogue: Epilogue,
    /// Position of the factors among the inputs.
    factors: usize,
}

impl Kernel for ScaledKernel {
    fn name(&self) -> &str {
        &self.name
    }

    unsafe fn run(&self, args: &KernelArgs<'_>) -> MxResult<()> {
        let input = |i: usize| args.inputs[i].as_ptr().cast_const().cast::<f32>();
        let optional = |i: Option<usize>| i.map_or(std::ptr::null(), input);
        meet_request(args, DType::F32, |dst| {
            let operands = Operands {
                src: input(0),
                weights: input(1),
                bias: optional(self.epilogue.bias),
                sum: optional(self.epilogue.sum),
                dst: dst.as_ptr().cast(),
                dst_image_stride: None,
                scratch: args.scratch.as_ptr().cast(),
                bounds: self.epilogue.bounds,
            };
            // SAFETY: by the contract of `RawTensor`, the tensors of the running call are valid, aligned to 64 bytes, and
            // not written by other code. They have the planned layouts. `fit` allows an output in the memory of an input
            // only if the epilogue adds a tensor, and then only that tensor may share the output's memory.
            unsafe { self.product.run_scaled(&operands, Factors(input(self.factors)), args.team) };
            Ok(())
        })
    }
}
