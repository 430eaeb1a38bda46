//! Handles the requests for an output that oneDNN does not know: add and null. For a request to add, the kernel computes
//! into separate memory, which is then added to the output. For a null request, the kernel computes into memory that is
//! dropped.
//!
//! The addition includes padding. The padding is zero in both tensors, so it stays zero.

use crate::objects::MemDesc;
use half::{bf16, f16};
use mxrs_op::{KernelArgs, RawTensor};
use mxrs_types::{DType, Error, Result, WriteReq, bfloat16};

/// One output that a kernel writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Position of the output among the outputs of the call.
    pub output: usize,
    /// Element type.
    pub dtype: DType,
    /// Number of bytes of the output, including padding of its layout.
    pub n_bytes: usize,
}

impl Written {
    /// Describes output `output`, which has the memory descriptor `md`.
    ///
    /// # Errors
    /// Returns the error that oneDNN reports.
    pub fn of(output: usize, md: &MemDesc) -> Result<Self> {
        Ok(Self { output, dtype: md.dtype()?, n_bytes: md.size_bytes() })
    }

    fn req(&self, args: &KernelArgs<'_>) -> WriteReq {
        args.reqs.get(self.output).copied().unwrap_or(WriteReq::Write)
    }
}

/// Memory, aligned like that of tensors, to which the kernel writes instead of to an output.
struct Side {
    words: Vec<u64>,
    first: usize,
    n_bytes: usize,
}

impl Side {
    const WORDS_PER_LINE: usize = 8;

    fn zeroed(n_bytes: usize) -> Self {
        let words = vec![0u64; n_bytes.div_ceil(8) + Self::WORDS_PER_LINE];
        let first = words.as_ptr().align_offset(64).min(Self::WORDS_PER_LINE) * 8;
        Self { words, first, n_bytes }
    }

    fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[self.first..][..self.n_bytes]
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[self.first..][..self.n_bytes]
    }
}

/// Runs `kernel`, which overwrites the outputs in `written`, and obeys the request for each output. Does not run `kernel` if
/// all requests of the call are null.
///
/// # Errors
/// Returns the error of the kernel, or an error if a request is to add to an output whose dtype oneDNN does not have.
pub fn run(
    args: &KernelArgs<'_>,
    written: &[Written],
    kernel: impl FnOnce(&KernelArgs<'_>) -> Result<()>,
) -> Result<()> {
    if !args.reqs.is_empty() && args.reqs.iter().all(|req| *req == WriteReq::Null) {
        return Ok(());
    }
    let is_direct = |w: &Written| matches!(w.req(args), WriteReq::Write | WriteReq::Inplace);
    if written.iter().all(is_direct) {
        return kernel(args);
    }
    let mut sides: Vec<(Written, Side)> =
        written.iter().filter(|w| !is_direct(w)).map(|w| (*w, Side::zeroed(w.n_bytes))).collect();
    let mut outputs = args.outputs.to_vec();
    let mut reqs = args.reqs.to_vec();
    for (w, side) in &mut sides {
        outputs[w.output] = RawTensor::from_mut_slice(side.bytes_mut());
        reqs[w.output] = WriteReq::Write;
    }
    kernel(&KernelArgs { outputs: &outputs, reqs: &reqs, ..*args })?;
    for (w, side) in sides.iter().filter(|(w, _)| w.req(args) == WriteReq::Add) {
        // SAFETY: this is an output of the running call. The kernel has returned, and it wrote to `side` instead, so no
        // other slice of the output exists.
        let to = unsafe { args.outputs[w.output].bytes_mut() };
        add(w.dtype, to, side.bytes())?;
    }
    Ok(())
}

/// Adds the elements of `from` to those of `to`; `dtype` is the dtype of both.
fn add(dtype: DType, to: &mut [u8], from: &[u8]) -> Result<()> {
    match dtype {
        DType::F32 => add_typed::<f32>(to, from, |a, b| a + b),
        DType::F16 => add_typed::<f16>(to, from, |a, b| f16::from_f32(a.to_f32() + b.to_f32())),
        DType::BF16 => add_typed::<bf16>(to, from, |a, b| bfloat16::narrow(bfloat16::widen(a) + bfloat16::widen(b))),
        DType::I8 | DType::U8 => add_typed::<u8>(to, from, u8::wrapping_add),
        DType::I32 => add_typed::<i32>(to, from, i32::wrapping_add),
        other => {
            return Err(Error::not_built(format!("adding to an output of {other}"), "oneDNN has no such outputs"));
        }
    }
    Ok(())
}

fn add_typed<T: bytemuck::Pod>(to: &mut [u8], from: &[u8], f: impl Fn(T, T) -> T) {
    for (a, b) in bytemuck::cast_slice_mut::<u8, T>(to).iter_mut().zip(bytemuck::cast_slice::<u8, T>(from)) {
        *a = f(*a, *b);
    }
}
