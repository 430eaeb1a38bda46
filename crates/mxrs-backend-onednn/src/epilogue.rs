//! The epilogue of a product (a convolution or fully-connected layer): adds an operand, then applies a function, before
//! the result is stored.
//!
//! oneDNN's sum reads the operand from the destination. If the operand of a call is in other memory, it is first copied to
//! the destination.

use crate::cache::Prepared;
use crate::kernels::loops::{Shared, in_ranges};
use crate::library::Library;
use crate::objects::{Attributes, MemDesc, PostOps, PrimDesc};
use crate::primitive::{Argument, PrimitiveKernel, Slot};
use crate::scratch::ScratchPlan;
use crate::sequence::{Sequence, Step};
use mxrs_onednn_sys::{result, sys};
use mxrs_op::param::Choice;
use mxrs_op::{Kernel, KernelArgs, OpCall};
use mxrs_ops::fused::{self, FusedAct};
use mxrs_types::{Layout, Result};
use std::sync::Arc;

/// A function of one number, as oneDNN describes it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Function {
    algorithm: sys::dnnl_alg_kind_t,
    alpha: f32,
    beta: f32,
}

impl Function {
    /// max(x, 0). oneDNN's own ReLU maps NaN to 0, but MXNet's keeps NaN. This uses oneDNN's `x · clamp(alpha·x, 0,
    /// 1)`, with an `alpha` so large that only subnormal numbers fall between 0 and 1. NaN stays NaN, negative numbers
    /// become -0.
    ///
    /// One number is wrong: -∞, which only occurs after overflow, becomes NaN (-∞ · 0) instead of 0. oneDNN has no better
    /// function at this cost. Its maximum and minimum return the bound for NaN, so no chain that contains one of them keeps
    /// NaN. Of the functions that keep NaN and positive numbers, all except ELU multiply by a number, and -∞ times any
    /// number is not finite. ELU with `alpha` 0 is always right, but its exponential is slow. A 1×1 convolution of 64
    /// channels of 56×56 pixels takes 25 % longer with ELU than with oneDNN's ReLU (46 % in bf16), and 3 % longer with the
    /// function used here (6 % in bf16).
    const RELU: Self = Self { algorithm: sys::dnnl_eltwise_hardswish, alpha: f32::MAX / 4.0, beta: 0.0 };

    /// oneDNN's form of the function `act`; `None` for no function. The error is the reason why oneDNN does not have it.
    fn of(act: FusedAct) -> std::result::Result<Option<Self>, String> {
        let algorithm = match act {
            FusedAct::None => return Ok(None),
            FusedAct::Relu => return Ok(Some(Self::RELU)),
            FusedAct::Sigmoid => sys::dnnl_eltwise_logistic,
            FusedAct::Tanh => sys::dnnl_eltwise_tanh,
            FusedAct::Square => sys::dnnl_eltwise_square,
            FusedAct::Sqrt => sys::dnnl_eltwise_sqrt,
            FusedAct::Abs => sys::dnnl_eltwise_abs,
            // oneDNN's softrelu loses four digits for small results. Its clip and exp map NaN to a number or an
            // infinity.
            FusedAct::SoftRelu
            | FusedAct::Clip
            | FusedAct::Exp
            | FusedAct::Silu
            | FusedAct::HardSigmoid
            | FusedAct::HardSwish => return Err(format!("act {}", act.to_word())),
        };
        Ok(Some(Self { algorithm, alpha: 0.0, beta: 0.0 }))
    }
}

/// Appends a ReLU that keeps NaN: max(x, 0).
///
/// # Errors
/// The error that oneDNN reports.
pub fn append_relu(post_ops: &PostOps) -> Result<()> {
    let Function { algorithm, alpha, beta } = Function::RELU;
    // SAFETY: `post_ops` owns the list, so it is alive. The other arguments are numbers.
    unsafe { result::post_ops_append_eltwise(post_ops.0, algorithm, alpha, beta) }
}

/// The operations that follow the product: an addition, then a function, each optional.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Epilogue {
    /// Position of the input that is added.
    operand: Option<usize>,
    /// The function that is applied last.
    function: Option<Function>,
}

impl Epilogue {
    /// The epilogue of a fused operator's call.
    ///
    /// # Errors
    /// Returns the reason as text if oneDNN does not have the function.
    pub fn of(p: &fused::Epilogue, call: &OpCall<'_>) -> std::result::Result<Self, String> {
        let operand = if p.with_sum {
            Some(call.inputs.len().checked_sub(1).ok_or("the call lacks the tensor to add")?)
        } else {
            None
        };
        Ok(Self { operand, function: Function::of(p.act)? })
    }

    /// Attributes for a primitive with this epilogue.
    ///
    /// # Errors
    /// The error that oneDNN reports.
    pub fn attributes(&self) -> Result<Attributes> {
        let post_ops = PostOps::new()?;
        if self.operand.is_some() {
            // SAFETY: `post_ops` owns the list, so it is alive. The undefined data type means that the operand has the
            // data type of the result.
            unsafe { result::post_ops_append_sum(post_ops.0, 1.0, 0, sys::dnnl_data_type_undef)? };
        }
        if let Some(f) = self.function {
            // SAFETY: `post_ops` owns the list, so it is alive. The other arguments are numbers.
            unsafe { result::post_ops_append_eltwise(post_ops.0, f.algorithm, f.alpha, f.beta)? };
        }
        Attributes::user_scratchpad()?.with(&post_ops)
    }

    /// Prepares the call of a product, which writes output 0. `pd` must have been made with [`Self::attributes`].
    ///
    /// # Errors
    /// The error that oneDNN reports.
    pub fn finish(&self, library: &Arc<Library>, pd: &PrimDesc, product: Product) -> Result<Prepared> {
        let Product { tensors, layouts: [src_layout, weights_layout, out_layout], bias } = product;
        let [src, weights, dst] = tensors;
        let mut arguments = vec![
            Argument { arg: sys::DNNL_ARG_SRC, slot: Slot::Input(0), md: src },
            Argument { arg: sys::DNNL_ARG_WEIGHTS, slot: Slot::Input(1), md: weights },
            Argument { arg: sys::DNNL_ARG_DST, slot: Slot::Output(0), md: dst },
        ];
        let mut input_layouts = vec![src_layout, weights_layout];
        if let Some(bias) = bias {
            arguments.push(Argument { arg: sys::DNNL_ARG_BIAS, slot: Slot::Input(2), md: Arc::new(bias) });
            input_layouts.push(Layout::RowMajor);
        }
        let mut scratch = ScratchPlan::default();
        let product = PrimitiveKernel::in_scratch(library, pd, arguments, &mut scratch)?;
        let kernel: Arc<dyn Kernel> = match self.operand {
            None => Arc::new(product),
            Some(operand) => {
                input_layouts.push(out_layout.clone());
                let n_bytes = product.written().iter().map(|w| w.n_bytes).sum();
                let fetch = Step::Code(Box::new(move |args| {
                    fetch(args, operand, n_bytes);
                    Ok(())
                }));
                Arc::new(Sequence::new(vec![fetch, Step::Primitive(product)], Vec::new()))
            }
        };
        Ok(Prepared {
            input_layouts,
            output_layouts: vec![out_layout],
            scratch_bytes: scratch.n_bytes(),
            can_run_inplace: self.operand.is_some(),
            kernel,
        })
    }
}

/// Tensors of a product, in the order data, weight, out.
pub struct Product {
    /// Their descriptors, in the arrangements that the primitive requires.
    pub tensors: [Arc<MemDesc>; 3],
    /// The same arrangements, as the executor describes them.
    pub layouts: [Layout; 3],
    /// The descriptor of the bias, which is row-major; `None` without a bias.
    pub bias: Option<MemDesc>,
}

/// Copies the operand to the output, unless both are the same memory.
pub fn fetch(args: &KernelArgs<'_>, operand: usize, n_bytes: usize) {
    let (from, to) = (args.inputs[operand].as_ptr(), args.outputs[0].as_ptr());
    if std::ptr::eq(from, to) {
        return;
    }
    debug_assert!(args.inputs[operand].len_bytes() >= n_bytes && args.outputs[0].len_bytes() >= n_bytes);
    let (from, to) = (Shared(from.cast::<u8>()), Shared(to.cast::<u8>()));
    in_ranges(args.team, n_bytes.div_ceil(64), 16, &|lines| {
        let (first, end) = (lines.start * 64, (lines.end * 64).min(n_bytes));
        // SAFETY: both tensors of the running call have the planned layout, which takes `n_bytes` bytes. By the
        // contract of `RawTensor` they do not overlap, because they differ. The ranges of different threads are
        // disjoint and end at `n_bytes`.
        unsafe { std::ptr::copy_nonoverlapping(from.at(first), to.at(first), end - first) };
    });
}
