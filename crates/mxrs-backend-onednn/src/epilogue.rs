//! What a product does to its result before it stores it: adds an operand, applies a function.
//!
//! The operand lies where the result goes: oneDNN's sum reads the destination. A call whose operand is elsewhere copies it
//! there first.

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

/// A function of one number as oneDNN knows it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Function {
    algorithm: sys::dnnl_alg_kind_t,
    alpha: f32,
    beta: f32,
}

impl Function {
    /// max(x, 0). oneDNN's own makes 0 of NaN, which MXNet's relu lets through; this is its `x · clamp(alpha·x, 0, 1)`, with
    /// an `alpha` so large that all between 0 and 1 is below the normal numbers. NaN stays, negative numbers become -0.
    ///
    /// One number goes wrong: -∞, which only overflow makes, becomes NaN (-∞ · 0), not 0. oneDNN has nothing better at this
    /// price. Its maximum and minimum return the bound for NaN, so no chain with either keeps NaN; of the functions that
    /// keep it and leave positive numbers as they are, all but ELU multiply, and -∞ times anything is no finite number. ELU
    /// with `alpha` 0 is right everywhere, for its exponential: a 1×1 convolution of 64 channels of 56×56 numbers takes
    /// 25 % longer with it than with oneDNN's relu (in bf16 46 %), and 3 % (6 %) longer with this.
    const RELU: Self = Self { algorithm: sys::dnnl_eltwise_hardswish, alpha: f32::MAX / 4.0, beta: 0.0 };

    /// The function a fused operator ends with, or why there is none.
    fn of(act: FusedAct) -> std::result::Result<Option<Self>, String> {
        let algorithm = match act {
            FusedAct::None => return Ok(None),
            FusedAct::Relu => return Ok(Some(Self::RELU)),
            FusedAct::Sigmoid => sys::dnnl_eltwise_logistic,
            FusedAct::Tanh => sys::dnnl_eltwise_tanh,
            FusedAct::Square => sys::dnnl_eltwise_square,
            FusedAct::Sqrt => sys::dnnl_eltwise_sqrt,
            FusedAct::Abs => sys::dnnl_eltwise_abs,
            // softrelu: as in `kernels::eltwise`, four digits are lost where the result is small. clip, exp: oneDNN's make
            // a number or an infinity of NaN.
            FusedAct::SoftRelu | FusedAct::Clip | FusedAct::Exp => return Err(format!("act {}", act.to_word())),
        };
        Ok(Some(Self { algorithm, alpha: 0.0, beta: 0.0 }))
    }
}

/// Appends max(x, 0) that lets NaN through.
///
/// # Errors
/// What oneDNN reports.
pub fn append_relu(post_ops: &PostOps) -> Result<()> {
    let Function { algorithm, alpha, beta } = Function::RELU;
    // SAFETY: the list is alive.
    unsafe { result::post_ops_append_eltwise(post_ops.0, algorithm, alpha, beta) }
}

/// What follows the product.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Epilogue {
    /// Position of the input that is added.
    operand: Option<usize>,
    /// The function applied last.
    function: Option<Function>,
}

impl Epilogue {
    /// That of a fused operator's call.
    ///
    /// # Errors
    /// In words, why oneDNN has none like it.
    pub fn of(p: &fused::Epilogue, call: &OpCall<'_>) -> std::result::Result<Self, String> {
        let operand =
            if p.with_sum { Some(call.inputs.len().checked_sub(1).ok_or("no operand to add")?) } else { None };
        Ok(Self { operand, function: Function::of(p.act)? })
    }

    /// Attributes of a primitive that ends like this.
    ///
    /// # Errors
    /// What oneDNN reports.
    pub fn attributes(&self) -> Result<Attributes> {
        let post_ops = PostOps::new()?;
        if self.operand.is_some() {
            // SAFETY: the list is alive. Without a type of its own the operand has the result's.
            unsafe { result::post_ops_append_sum(post_ops.0, 1.0, 0, sys::dnnl_data_type_undef)? };
        }
        if let Some(f) = self.function {
            // SAFETY: the list is alive.
            unsafe { result::post_ops_append_eltwise(post_ops.0, f.algorithm, f.alpha, f.beta)? };
        }
        Attributes::user_scratchpad()?.with(&post_ops)
    }

    /// The call of a product described with [`Self::attributes`], which writes output 0.
    ///
    /// # Errors
    /// What oneDNN reports.
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
    /// As the primitive wants them.
    pub tensors: [Arc<MemDesc>; 3],
    /// As the executor knows them.
    pub layouts: [Layout; 3],
    /// The bias, row-major, if there is one.
    pub bias: Option<MemDesc>,
}

/// Brings the operand to where the result goes, unless it is there.
pub fn fetch(args: &KernelArgs<'_>, operand: usize, n_bytes: usize) {
    let (from, to) = (args.inputs[operand].as_ptr(), args.outputs[0].as_ptr());
    if std::ptr::eq(from, to) {
        return;
    }
    debug_assert!(args.inputs[operand].len_bytes() >= n_bytes && args.outputs[0].len_bytes() >= n_bytes);
    let (from, to) = (Shared(from.cast::<u8>()), Shared(to.cast::<u8>()));
    in_ranges(args.team, n_bytes.div_ceil(64), 16, &|lines| {
        let (first, end) = (lines.start * 64, (lines.end * 64).min(n_bytes));
        // SAFETY: both are tensors of `n_bytes` of the running call that do not overlap; ranges are disjoint.
        unsafe { std::ptr::copy_nonoverlapping(from.at(first), to.at(first), end - first) };
    });
}
