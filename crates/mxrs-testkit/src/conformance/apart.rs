//! Kernels that write their images apart: the bits they write side by side, and nothing between.

use crate::AlignedBuffer;
use mxrs_op::{KernelArgs, PlannedKernel, RawTensor, TensorDesc};
use mxrs_sync::Team;
use mxrs_types::{Layout, WriteReq};

/// Runs a kernel of one output with the images apart, if it [offers](mxrs_op::Kernel::strided) that: as parts of tensors with one
/// and with three blocks of channels more. `written` is what it writes, for these inputs, to an output of this description. Says
/// whether it offers.
///
/// # Errors
/// A sentence with what differs.
pub fn check_images_apart(
    planned: &PlannedKernel,
    inputs: &[AlignedBuffer],
    (desc, written): (&TensorDesc, &AlignedBuffer),
    team: &Team,
) -> Result<bool, String> {
    let Layout::Blocked { strides, blocks, .. } = &desc.layout else { return Ok(false) };
    if blocks.is_empty() || desc.shape.ndim() < 2 || desc.shape[0] == 0 {
        return Ok(false);
    }
    let (n, block) = (desc.shape[0], strides[1] * desc.dtype.size_of());
    let image = written.len_bytes() / n;
    let inputs: Vec<RawTensor<'_>> = inputs.iter().map(|b| RawTensor::from_slice(b.bytes())).collect();
    for more in [1, 3] {
        let distance = image + more * block;
        let Some(apart) = planned.kernel.clone().strided(distance) else { return Ok(false) };
        let mut output = AlignedBuffer::poisoned((n - 1) * distance + image);
        let mut scratch = AlignedBuffer::poisoned(planned.scratch_bytes);
        let args = KernelArgs {
            inputs: &inputs,
            outputs: &[RawTensor::from_mut_slice(output.bytes_mut())],
            reqs: &[WriteReq::Write],
            scratch: RawTensor::from_mut_slice(scratch.bytes_mut()),
            team,
            random: None,
        };
        apart.run(&args).map_err(|e| format!("images apart: {e}"))?;
        if !scratch.guard_is_intact() {
            return Err("images apart: wrote behind the scratch memory".into());
        }
        if !output.guard_is_intact() {
            return Err("images apart: wrote behind the end".into());
        }
        for (i, (one, expected)) in output.bytes().chunks(distance).zip(written.bytes().chunks(image)).enumerate() {
            let (got, between) = one.split_at(image);
            if got != expected {
                let at = got.iter().zip(expected).position(|(a, b)| a != b).unwrap_or(0);
                return Err(format!("images apart: image {i} has other bits from byte {at} of {image} on"));
            }
            if between.iter().any(|byte| *byte != 0xFF) {
                return Err(format!("images apart: wrote behind image {i}"));
            }
        }
    }
    Ok(true)
}
