//! Copies tensors to other layouts with the backend, into memory that does not hold zeros.

use mxrs_backend_nnpack::Nnpack;
use mxrs_op::{Backend, KernelArgs, RawTensor, TensorDesc};
use mxrs_sync::Team;
use mxrs_testkit::AlignedBuffer;
use mxrs_types::WriteReq;

/// Copies a tensor to another layout.
pub fn copy(backend: &Nnpack, data: &AlignedBuffer, from: &TensorDesc, to: &TensorDesc, team: &Team) -> AlignedBuffer {
    if from.layout == to.layout {
        return data.clone();
    }
    let kernel = backend.reorder(from, to).expect("no error").expect("a layout of its own");
    let mut copy = AlignedBuffer::poisoned(to.size_bytes());
    let args = KernelArgs {
        inputs: &[RawTensor::from_slice(data.bytes())],
        outputs: &[RawTensor::from_mut_slice(copy.bytes_mut())],
        reqs: &[WriteReq::Write],
        scratch: RawTensor::from_slice(&[]),
        team,
        random: None,
        stream: None,
    };
    mxrs_testkit::run_kernel(&*kernel, &args).expect("a copy runs");
    assert!(copy.guard_is_intact());
    copy
}
