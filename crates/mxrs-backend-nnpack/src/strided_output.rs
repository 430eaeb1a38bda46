//! Kernels whose output is one part of a larger tensor, so that there is a gap between the images of a batch.

use mxrs_op::{Kernel, KernelArgs, RawTensor};
use mxrs_types::{Error, Result, WriteReq};
use std::sync::Arc;

/// A float32 kernel that can leave a gap between the images of its output.
pub trait WriteStrided: Kernel {
    /// Writes the only output to `dst`; image `i` begins `i * image_stride` values after `dst`.
    ///
    /// # Errors
    /// Returns the errors of [`Kernel::run`].
    fn write_strided(&self, args: &KernelArgs<'_>, dst: RawTensor<'_>, image_stride: usize) -> Result<()>;
}

/// Runs a [`WriteStrided`] kernel with a fixed distance between the images of its output.
pub struct StridedOutput<K> {
    kernel: Arc<K>,
    /// Values from the start of one image to the start of the next.
    image_stride: usize,
}

impl<K: WriteStrided + 'static> StridedOutput<K> {
    /// Wraps `kernel`; `image_bytes` is the distance from the start of one image to the start of the next.
    pub fn of(kernel: Arc<K>, image_bytes: usize) -> Arc<dyn Kernel> {
        Arc::new(Self { kernel, image_stride: image_bytes / size_of::<f32>() })
    }
}

impl<K: WriteStrided> Kernel for StridedOutput<K> {
    fn name(&self) -> &str {
        self.kernel.name()
    }

    unsafe fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        match args.reqs.first().copied().unwrap_or_default() {
            WriteReq::Null => Ok(()),
            WriteReq::Write | WriteReq::Inplace => self.kernel.write_strided(args, args.outputs[0], self.image_stride),
            // To add to its output, a kernel would compute a temporary copy and add all of it, which would overwrite
            // the gaps between the images.
            WriteReq::Add => Err(Error::not_built("adding to a part of a tensor", "kernels overwrite parts")),
        }
    }
}
