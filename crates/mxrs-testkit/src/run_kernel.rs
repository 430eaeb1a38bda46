//! Runs a kernel on buffers of a test.

use mxrs_op::{Kernel, KernelArgs, RawTensor};
use mxrs_types::Result;

/// Alignment of tensors that a kernel may rely on, in bytes.
const ALIGNMENT: usize = 64;

/// Runs a kernel in a test. Alignment and overlaps of the tensors are checked. Sizes are not checked: the caller must
/// pass tensors of the sizes that the kernel was planned for. Guard bytes ([`crate::AlignedBuffer`]) detect kernels
/// that write past the end of a buffer.
///
/// # Errors
/// Returns the error of the kernel.
///
/// # Panics
/// Panics if a tensor is not aligned to 64 bytes, if two outputs overlap, or if an output overlaps an input without being
/// exactly the same memory. An output has the memory of an input if it is computed in place, or if it is an input that the
/// operator rewrites.
pub fn run_kernel(kernel: &dyn Kernel, args: &KernelArgs<'_>) -> Result<()> {
    let is_aligned =
        |tensor: &RawTensor<'_>| tensor.len_bytes() == 0 || tensor.as_ptr().addr().is_multiple_of(ALIGNMENT);
    assert!(args.inputs.iter().chain(args.outputs).all(is_aligned), "a tensor is not aligned to {ALIGNMENT} bytes");
    for (i, output) in args.outputs.iter().enumerate() {
        let is_output_twice = args.outputs[..i].iter().any(|other| other.overlaps(output));
        let in_place_of =
            |input: &&RawTensor<'_>| input.as_ptr() == output.as_ptr() && input.len_bytes() == output.len_bytes();
        let is_apart = args.inputs.iter().filter(|input| input.overlaps(output)).all(|input| in_place_of(&input));
        assert!(!is_output_twice && is_apart, "output {i} overlaps another tensor");
    }
    // SAFETY: the assertions above check alignment and overlaps. Sizes and writability are not checked: the callers, which
    // are tests, make the tensors for the call that the kernel was planned for.
    unsafe { kernel.run(args) }
}
