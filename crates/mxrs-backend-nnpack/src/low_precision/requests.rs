//! Obeys the requests for the outputs of a call: outputs that must be added to are computed in other memory first.

use half::bf16;
use mxrs_op::{KernelArgs, RawTensor, TensorDesc};
use mxrs_types::bfloat16::{narrow, widen};
use mxrs_types::{DType, Error, Result, WriteReq};

/// The type and the size in bytes of an output.
#[derive(Clone, Copy, Debug)]
pub struct Written {
    dtype: DType,
    n_bytes: usize,
}

impl Written {
    /// The size in bytes.
    pub fn n_bytes(&self) -> usize {
        self.n_bytes
    }

    /// Describes the outputs of a call, which have these layouts.
    pub fn all(outputs: &[TensorDesc], layouts: &[mxrs_types::Layout]) -> Vec<Self> {
        let of = |(desc, layout): (&TensorDesc, &mxrs_types::Layout)| Self {
            dtype: desc.dtype,
            n_bytes: desc.with_layout(layout.clone()).size_bytes(),
        };
        outputs.iter().zip(layouts).map(of).collect()
    }
}

/// One cache line.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
struct Line([u64; 8]);

/// Runs `kernel`, which overwrites all outputs, and obeys the request for each output. Does not run `kernel` if all requests
/// are null.
///
/// # Errors
/// Returns the error of the kernel, or an error if a request is to add to an output of another type than the kernels have.
pub fn meet(
    args: &KernelArgs<'_>,
    written: &[Written],
    kernel: impl FnOnce(&KernelArgs<'_>) -> Result<()>,
) -> Result<()> {
    let req = |i: usize| args.reqs.get(i).copied().unwrap_or(WriteReq::Write);
    let is_direct = |i: usize| matches!(req(i), WriteReq::Write | WriteReq::Inplace);
    if (0..written.len()).all(is_direct) {
        return kernel(args);
    }
    if (0..written.len()).all(|i| req(i) == WriteReq::Null) {
        return Ok(());
    }
    let others: Vec<usize> = (0..written.len()).filter(|i| !is_direct(*i)).collect();
    let lines = |i: usize| written[i].n_bytes.div_ceil(size_of::<Line>());
    let mut sides: Vec<Vec<Line>> = others.iter().map(|i| vec![Line([0; 8]); lines(*i)]).collect();
    let (mut outputs, mut reqs) = (args.outputs.to_vec(), args.reqs.to_vec());
    for (i, side) in others.iter().zip(&mut sides) {
        outputs[*i] = RawTensor::from_mut_slice(&mut bytemuck::cast_slice_mut(side)[..written[*i].n_bytes]);
        if let Some(req) = reqs.get_mut(*i) {
            *req = WriteReq::Write;
        }
    }
    kernel(&KernelArgs { outputs: &outputs, reqs: &reqs, ..*args })?;
    for (i, side) in others.iter().zip(&sides).filter(|(i, _)| req(**i) == WriteReq::Add) {
        // SAFETY: this is an output of the running call. The kernel has returned, and it wrote to `side` instead, so no other
        // slice of the output exists.
        let to = unsafe { args.outputs[*i].bytes_mut() };
        add(written[*i].dtype, to, &bytemuck::cast_slice(side)[..written[*i].n_bytes])?;
    }
    Ok(())
}

fn add(dtype: DType, to: &mut [u8], from: &[u8]) -> Result<()> {
    match dtype {
        DType::F32 => added::<f32>(to, from, |a, b| a + b),
        DType::BF16 => added::<bf16>(to, from, |a, b| narrow(widen(a) + widen(b))),
        DType::I8 | DType::U8 => added::<u8>(to, from, u8::wrapping_add),
        DType::I32 => added::<i32>(to, from, i32::wrapping_add),
        other => return Err(Error::not_built(format!("adding to an output of {other}"), "no kernel has such outputs")),
    }
    Ok(())
}

fn added<T: bytemuck::Pod>(to: &mut [u8], from: &[u8], f: impl Fn(T, T) -> T) {
    let (to, from) = (bytemuck::cast_slice_mut::<u8, T>(to), bytemuck::cast_slice::<u8, T>(from));
    to.iter_mut().zip(from).for_each(|(a, b)| *a = f(*a, *b));
}
