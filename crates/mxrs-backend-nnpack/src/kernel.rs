//! The kernel of a convolution. It runs an algorithm with its epilogue and obeys the request of the output.

use crate::convolve::{Convolve, Operands};
use crate::epilogue::{Bounds, Epilogue};
use crate::strided_output::{StridedOutput, WriteStrided};
use half::bf16;
use mxrs_op::{Kernel, KernelArgs, RawTensor};
use mxrs_types::bfloat16::{narrow, widen};
use mxrs_types::{DType, Result, WriteReq};
use std::sync::Arc;

/// A convolution that is ready to run.
pub struct ConvKernel {
    /// The name in traces.
    pub name: String,
    /// The algorithm that computes the sums.
    pub algorithm: Arc<dyn Convolve>,
    /// The operations that are applied to the sums.
    pub epilogue: Epilogue,
    /// Element type of the output.
    pub dtype: DType,
}

impl ConvKernel {
    fn write(&self, args: &KernelArgs<'_>, dst: RawTensor<'_>, dst_image_stride: Option<usize>) -> Result<()> {
        let input = |i: usize| args.inputs[i].as_ptr().cast_const().cast::<f32>();
        let optional = |i: Option<usize>| i.map_or(std::ptr::null(), input);
        let operands = Operands {
            src: input(0),
            weights: input(1),
            bias: optional(self.epilogue.bias),
            sum: optional(self.epilogue.sum),
            dst: dst.as_ptr().cast(),
            dst_image_stride,
            scratch: args.scratch.as_ptr().cast(),
            bounds: self.epilogue.bounds,
        };
        // SAFETY: by the contract of `RawTensor`, the tensors of the running call are valid, aligned to 64 bytes, and
        // not written by other code. They have the planned layouts. `planned` allows an output in the memory of an
        // input only if the epilogue adds a tensor, and then only that tensor may share the output's memory.
        unsafe { self.algorithm.run(&operands, args.team) }
    }
}

impl Kernel for ConvKernel {
    fn name(&self) -> &str {
        &self.name
    }

    unsafe fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        meet_request(args, self.dtype, |dst| self.write(args, dst, None))
    }

    fn fuse_add(self: Arc<Self>, position: usize) -> Option<Arc<dyn Kernel>> {
        let Epilogue { sum, bounds, function, .. } = self.epilogue;
        let is_plain = bounds == Bounds::NONE && function.is_none();
        let fits = sum.is_none() && is_plain && self.algorithm.supports_sum();
        fits.then(|| {
            Arc::new(Self {
                name: format!("{}+sum", self.name),
                algorithm: self.algorithm.clone(),
                epilogue: Epilogue { sum: Some(position), ..self.epilogue },
                dtype: self.dtype,
            }) as _
        })
    }

    fn strided(self: Arc<Self>, image_bytes: usize) -> Option<Arc<dyn Kernel>> {
        let fits = self.dtype == DType::F32 && self.algorithm.supports_strided_output();
        fits.then(|| StridedOutput::of(self, image_bytes))
    }
}

impl WriteStrided for ConvKernel {
    fn write_strided(&self, args: &KernelArgs<'_>, dst: RawTensor<'_>, image: usize) -> Result<()> {
        self.write(args, dst, Some(image))
    }
}

/// Obeys the request of the first output. `write` computes the output and stores it in the tensor that is passed to it.
///
/// # Errors
/// Returns the error of `write`.
pub fn meet_request(
    args: &KernelArgs<'_>,
    dtype: DType,
    write: impl FnOnce(RawTensor<'_>) -> Result<()>,
) -> Result<()> {
    let out = args.outputs[0];
    match args.reqs.first().copied().unwrap_or_default() {
        WriteReq::Null => {}
        WriteReq::Write | WriteReq::Inplace => write(out)?,
        WriteReq::Add => {
            let mut side = vec![Line([0.0; 16]); out.len_bytes().div_ceil(size_of::<Line>())];
            write(RawTensor::from_mut_slice(bytemuck::cast_slice_mut(&mut side)))?;
            // SAFETY: this is an output of the running call. No other slice of its memory exists: `write` has returned,
            // and it wrote to `side`.
            let to = unsafe { out.bytes_mut() };
            if dtype == DType::BF16 {
                let to = bytemuck::cast_slice_mut::<u8, bf16>(to).iter_mut();
                let side = bytemuck::cast_slice::<Line, bf16>(&side);
                to.zip(side).for_each(|(to, x)| *to = narrow(widen(*to) + widen(*x)));
            } else {
                let to = bytemuck::cast_slice_mut::<u8, f32>(to).iter_mut();
                to.zip(bytemuck::cast_slice::<Line, f32>(&side)).for_each(|(to, x)| *to += x);
            }
        }
    }
    Ok(())
}

/// One cache line of values.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
struct Line([f32; 16]);
