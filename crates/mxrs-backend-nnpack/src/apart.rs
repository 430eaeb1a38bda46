//! Kernels that write the images of their output apart: it is a part of a larger tensor.

use mxrs_op::{Kernel, KernelArgs, RawTensor};
use mxrs_types::{Error, Result, WriteReq};
use std::sync::Arc;

/// A kernel of `f32` that can do so.
pub trait WriteApart: Kernel {
    /// Writes its only output with so many numbers from one image to the next.
    ///
    /// # Errors
    /// As [`Kernel::run`].
    fn write_apart(&self, args: &KernelArgs<'_>, dst: RawTensor<'_>, image: usize) -> Result<()>;
}

/// The kernel that does so.
pub struct ImagesApart<K> {
    kernel: Arc<K>,
    /// Numbers from one image to the next.
    image: usize,
}

impl<K: WriteApart + 'static> ImagesApart<K> {
    /// With so many bytes from one image to the next.
    pub fn of(kernel: Arc<K>, image_bytes: usize) -> Arc<dyn Kernel> {
        Arc::new(Self { kernel, image: image_bytes / size_of::<f32>() })
    }
}

impl<K: WriteApart> Kernel for ImagesApart<K> {
    fn name(&self) -> &str {
        self.kernel.name()
    }

    fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        match args.reqs.first().copied().unwrap_or_default() {
            WriteReq::Null => Ok(()),
            WriteReq::Write | WriteReq::Inplace => self.kernel.write_apart(args, args.outputs[0], self.image),
            // It would add to what lies between, too.
            WriteReq::Add => Err(Error::not_built("adding to a part of a tensor", "parts are written")),
        }
    }
}
