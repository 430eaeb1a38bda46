//! Runs a kernel once, and checks that it writes only its output and its scratch memory.

use crate::AlignedBuffer;
use mxrs_op::{Kernel, KernelArgs, RawTensor};
use mxrs_sync::Team;
use mxrs_types::WriteReq;

/// Runs a kernel with one output on these inputs, which are in the planned layouts, and returns the output of `len_bytes`
/// bytes. Output and scratch memory are filled with NaN first.
///
/// # Errors
/// Returns a sentence if the kernel fails, or writes after the end of the output or of its scratch memory.
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
        stream: None,
    };
    crate::run_kernel(kernel, &args).map_err(|e| e.to_string())?;
    match (output.guard_is_intact(), scratch.guard_is_intact()) {
        (false, _) => Err("wrote behind the end".into()),
        (_, false) => Err("wrote behind the scratch memory".into()),
        _ => Ok(output),
    }
}
