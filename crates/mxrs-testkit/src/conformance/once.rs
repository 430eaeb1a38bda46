//! One run of a kernel, watched: what it writes, and that it writes nothing else.

use crate::AlignedBuffer;
use mxrs_op::{Kernel, KernelArgs, RawTensor};
use mxrs_sync::Team;
use mxrs_types::WriteReq;

/// What a kernel of one output writes, for these inputs in its layouts, to an output of so many bytes. Output and scratch memory
/// begin poisoned.
///
/// # Errors
/// A sentence: it fails, or writes behind the output or its scratch memory.
pub fn run_once(
    kernel: &dyn Kernel,
    inputs: &[&AlignedBuffer],
    len_bytes: usize,
    scratch_bytes: usize,
    team: &Team,
) -> Result<AlignedBuffer, String> {
    let inputs: Vec<RawTensor<'_>> = inputs.iter().map(|b| RawTensor::from_slice(b.bytes())).collect();
    let (mut output, mut scratch) = (AlignedBuffer::poisoned(len_bytes), AlignedBuffer::poisoned(scratch_bytes));
    let args = KernelArgs {
        inputs: &inputs,
        outputs: &[RawTensor::from_mut_slice(output.bytes_mut())],
        reqs: &[WriteReq::Write],
        scratch: RawTensor::from_mut_slice(scratch.bytes_mut()),
        team,
        random: None,
    };
    kernel.run(&args).map_err(|e| e.to_string())?;
    match (output.guard_is_intact(), scratch.guard_is_intact()) {
        (false, _) => Err("wrote behind the end".into()),
        (_, false) => Err("wrote behind the scratch memory".into()),
        _ => Ok(output),
    }
}
