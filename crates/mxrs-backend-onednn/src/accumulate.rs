//! The request to add: compute beside the output, then add.
//!
//! Elements of layouts with padding are added too; padding is zero on both sides and stays so.

use half::{bf16, f16};
use mxrs_op::{KernelArgs, RawTensor};
use mxrs_types::{DType, Error, Result, WriteReq};

/// Runs `kernel` with output 0 replaced by a temporary and adds the result to the real output, if that is the request;
/// plainly otherwise.
///
/// # Errors
/// What the kernel reports, or an integer output.
pub fn run(args: &KernelArgs<'_>, dtype: DType, kernel: impl FnOnce(&KernelArgs<'_>) -> Result<()>) -> Result<()> {
    if args.reqs.first() != Some(&WriteReq::Add) {
        return kernel(args);
    }
    let n_bytes = args.outputs[0].len_bytes();
    let mut words = vec![0u64; n_bytes.div_ceil(8)];
    let side: &mut [u8] = &mut bytemuck::cast_slice_mut(&mut words)[..n_bytes];
    let mut outputs = args.outputs.to_vec();
    outputs[0] = RawTensor::from_mut_slice(side);
    let mut reqs = args.reqs.to_vec();
    reqs[0] = WriteReq::Write;
    kernel(&KernelArgs { outputs: &outputs, reqs: &reqs, ..*args })?;
    // SAFETY: the output of the running call; the kernel was given another and is done.
    let to = unsafe { args.outputs[0].bytes_mut() };
    let from: &[u8] = &bytemuck::cast_slice(&words)[..n_bytes];
    match dtype {
        DType::F32 => add::<f32>(to, from, |a, b| a + b),
        DType::F16 => add::<f16>(to, from, |a, b| f16::from_f32(a.to_f32() + b.to_f32())),
        DType::BF16 => add::<bf16>(to, from, |a, b| bf16::from_f32(a.to_f32() + b.to_f32())),
        other => {
            return Err(Error::not_built(
                format!("adding to an output of {other}"),
                "oneDNN outputs are floating point",
            ));
        }
    }
    Ok(())
}

fn add<T: bytemuck::Pod>(to: &mut [u8], from: &[u8], f: impl Fn(T, T) -> T) {
    for (a, b) in bytemuck::cast_slice_mut::<u8, T>(to).iter_mut().zip(bytemuck::cast_slice::<u8, T>(from)) {
        *a = f(*a, *b);
    }
}
