//! Checks kernels that write the images of a batch with gaps between them: the bits must be the same as without gaps, and
//! the gaps must not be written.

use super::run_once;
use crate::AlignedBuffer;
use mxrs_op::{PlannedKernel, TensorDesc};
use mxrs_sync::Team;
use mxrs_types::Layout;

/// Runs a kernel with one output so that gaps of one and of three blocks of channels lie between the images, if the kernel
/// [supports](mxrs_op::Kernel::strided) that. `written` is the output of an ordinary run with these inputs and this
/// description. Returns whether the kernel supports gaps.
///
/// # Errors
/// Returns a sentence that describes the difference.
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
    let inputs: Vec<&AlignedBuffer> = inputs.iter().collect();
    for more in [1, 3] {
        let distance = image + more * block;
        let Some(apart) = planned.kernel.clone().strided(distance) else { return Ok(false) };
        let output = run_once(&*apart, &inputs, (n - 1) * distance + image, planned.scratch_bytes, team);
        let output = output.map_err(|e| format!("images apart: {e}"))?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_op::{
        Attrs, Backend, Kernel, KernelArgs, OpCall, OpDef, RefInput, RefOutput, ReferenceBackend, ReferenceFn,
    };
    use mxrs_types::{DType, Result};
    use std::sync::Arc;

    /// Two images of one pixel, each with one block of channels.
    fn two_images() -> TensorDesc {
        let layout = Layout::Blocked {
            padded: [2, 16, 1, 1].into_iter().collect(),
            strides: [16, 16, 16, 16].into_iter().collect(),
            blocks: [(1, 16)].into_iter().collect(),
        };
        TensorDesc::dense([2, 16, 1, 1], DType::F32).with_layout(layout)
    }

    /// A kernel that does nothing. If it holds a reference function, it supports gaps, and that function writes the images.
    struct Copying(Option<ReferenceFn>);

    impl Kernel for Copying {
        fn name(&self) -> &str {
            "test:copying"
        }

        unsafe fn run(&self, _: &KernelArgs<'_>) -> Result<()> {
            Ok(())
        }

        fn strided(self: Arc<Self>, image_bytes: usize) -> Option<Arc<dyn Kernel>> {
            let op = OpDef { reference: Some(self.0?), ..OpDef::new("apart") };
            let params = op.parse(&Attrs::new()).ok()?;
            let inputs = [TensorDesc::dense([32], DType::F32)];
            let outputs = [TensorDesc::dense([image_bytes / 4 + 16], DType::F32)];
            let (inputs, outputs, is_constant) = (&inputs[..], &outputs[..], &[false][..]);
            let call = OpCall { op: &op, params: &params, inputs, outputs, is_constant, is_train: false };
            Some(ReferenceBackend.plan(&call).ok()?.kernel)
        }
    }

    fn copy(inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>]) {
        let (first, second) = inputs[0].bytes.split_at(64);
        let out = &mut outputs[0].bytes;
        let last = out.len() - 64;
        out[..64].copy_from_slice(first);
        out[last..].copy_from_slice(second);
    }

    #[test]
    fn every_fault_is_found() {
        let cases: [(Option<ReferenceFn>, Result<bool, &str>); 4] = [
            (None, Ok(false)),
            (
                Some(|_, inputs, outputs, _| {
                    copy(inputs, outputs);
                    Ok(())
                }),
                Ok(true),
            ),
            (
                Some(|_, inputs, outputs, _| {
                    copy(inputs, outputs);
                    *outputs[0].bytes.last_mut().expect("bytes") ^= 1;
                    Ok(())
                }),
                Err("image 1 has other bits from byte 63"),
            ),
            (
                Some(|_, inputs, outputs, _| {
                    copy(inputs, outputs);
                    outputs[0].bytes[64] = 0;
                    Ok(())
                }),
                Err("wrote behind image 0"),
            ),
        ];
        let data = AlignedBuffer::from_f64(&(0..32).map(f64::from).collect::<Vec<_>>(), DType::F32);
        for (writes, expected) in cases {
            let planned = PlannedKernel {
                input_layouts: vec![two_images().layout],
                output_layouts: vec![two_images().layout],
                scratch_bytes: 0,
                can_run_inplace: false,
                kernel: Arc::new(Copying(writes)),
            };
            let found =
                check_images_apart(&planned, std::slice::from_ref(&data), (&two_images(), &data), &Team::serial());
            match (found, expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected),
                (Err(found), Err(expected)) => assert!(found.contains(expected), "{found}"),
                (found, expected) => panic!("{found:?}, not {expected:?}"),
            }
        }
    }
}
