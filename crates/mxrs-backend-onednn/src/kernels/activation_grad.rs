//! Gradients of activations, `ograd · slope(saved)`, computed over the raw elements of any layout. `saved` is the
//! output of the activation, or its input for softsign.
//!
//! Padding of `ograd` is zero, and every slope is finite in the padding, so padding stays zero.

use super::loops::{Loop, Shared, in_ranges, wide, zip};
use super::wrong_arity;
use crate::accumulate::{self, Written};
use crate::cache::Prepared;
use crate::library::Library;
use half::{bf16, f16};
use mxrs_op::{Kernel, KernelArgs, OpCall};
use mxrs_ops::nn::activation::{ActType, ActivationParams};
use mxrs_types::{DType, Result, bfloat16};
use std::ops::Range;
use std::sync::Arc;

/// The operator whose gradient is computed. It decides what a slope of zero does to an infinite gradient.
#[derive(Clone, Copy)]
enum Function {
    /// Activation: a slope of zero turns an infinite gradient into NaN.
    Activation(ActType),
    /// The operator relu: a slope of zero turns any gradient into 0.
    Relu,
}

struct ActivationGrad {
    function: Function,
    dtype: DType,
    n_elements: usize,
}

impl ActivationGrad {
    /// Computes the gradient. The second input is the output of the activation, or the input of the activation for
    /// softsign.
    fn run<T: Copy + Send + Sync>(
        &self,
        args: &KernelArgs<'_>,
        widen: impl Fn(T) -> f32 + Copy + Sync,
        narrow: impl Fn(f32) -> T + Copy + Sync,
    ) {
        let loop_of = Pass { args, n_elements: self.n_elements, widen, narrow };
        let positive = |y: f32| if y.is_nan() { y } else { f32::from(u8::from(y > 0.0)) };
        match self.function {
            Function::Relu => loop_of.run(|g, y| if y > 0.0 { g } else { positive(y) }),
            Function::Activation(ActType::Relu) => loop_of.run(|g, y| g * positive(y)),
            Function::Activation(ActType::Sigmoid) => loop_of.run(|g, y| g * (y * (1.0 - y))),
            Function::Activation(ActType::Tanh) => loop_of.run(|g, y| g * (1.0 - y * y)),
            Function::Activation(ActType::SoftRelu) => loop_of.run(|g, y| g * -(-y).exp_m1()),
            Function::Activation(ActType::SoftSign) => loop_of.run(|g, x| {
                let root = 1.0 / (1.0 + x.abs());
                g * (root * root)
            }),
        }
    }
}

/// One pass over the elements.
struct Pass<'a, W, N> {
    args: &'a KernelArgs<'a>,
    n_elements: usize,
    widen: W,
    narrow: N,
}

impl<W, N> Pass<'_, W, N> {
    fn run<T: Copy + Send + Sync>(&self, f: impl Fn(f32, f32) -> f32 + Sync)
    where
        W: Fn(T) -> f32 + Copy + Sync,
        N: Fn(f32) -> T + Copy + Sync,
    {
        let of = |tensor: &mxrs_op::RawTensor<'_>| Shared(tensor.as_ptr().cast::<T>());
        let (ograd, saved, out) = (of(&self.args.inputs[0]), of(&self.args.inputs[1]), of(&self.args.outputs[0]));
        let (widen, narrow) = (self.widen, self.narrow);
        let f = |g: T, y: T| narrow(f(widen(g), widen(y)));
        in_ranges(self.args.team, self.n_elements, 1, &|range| wide(Part { ograd, saved, out, range, f: &f }));
    }
}

/// The elements of one range, which one thread computes.
struct Part<'a, T, F> {
    ograd: Shared<T>,
    saved: Shared<T>,
    out: Shared<T>,
    range: Range<usize>,
    f: &'a F,
}

impl<T: Copy, F: Fn(T, T) -> T> Loop for Part<'_, T, F> {
    #[inline(always)]
    fn run(self) {
        let Self { ograd, saved, out, range, f } = self;
        let first = range.start;
        // SAFETY: `range` is within `n_elements`, the size of all three tensors, and `in_ranges` gives it to one
        // thread. The output is the memory of an input, or overlaps no input, by the contract of `RawTensor`.
        unsafe { zip(ograd.at(first), saved.at(first), out.at(first), range.len(), f) };
    }
}

impl Kernel for ActivationGrad {
    fn name(&self) -> &str {
        "activation_grad"
    }

    unsafe fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        let written = Written { output: 0, dtype: self.dtype, n_bytes: self.n_elements * self.dtype.size_of() };
        accumulate::run(args, &[written], |args| {
            match self.dtype {
                DType::F32 => self.run::<f32>(args, |x| x, |x| x),
                DType::F16 => self.run::<f16>(args, f16::to_f32, f16::from_f32),
                _ => self.run::<bf16>(args, bfloat16::widen, bfloat16::narrow),
            }
            Ok(())
        })
    }
}

/// Prepares `_backward_Activation(ograd, saved)`, or the gradient of relu, sigmoid or tanh. If one of the two tensors is not
/// row-major, the other one gets its layout.
pub fn prepare(_library: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    let [ograd, saved] = call.inputs else { return Err(wrong_arity(call)) };
    let function = match call.op.name {
        "_backward_relu" => Function::Relu,
        "_backward_sigmoid" => Function::Activation(ActType::Sigmoid),
        "_backward_tanh" => Function::Activation(ActType::Tanh),
        _ => Function::Activation(call.params.get::<ActivationParams>().act_type),
    };
    let leader = if saved.layout.is_row_major() { ograd } else { saved };
    Ok(Prepared {
        input_layouts: vec![leader.layout.clone(); 2],
        output_layouts: vec![leader.layout.clone()],
        scratch_bytes: 0,
        can_run_inplace: true,
        kernel: Arc::new(ActivationGrad {
            function,
            dtype: leader.dtype,
            n_elements: leader.size_bytes() / leader.dtype.size_of(),
        }),
    })
}
