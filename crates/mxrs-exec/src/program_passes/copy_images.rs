//! Copies one part of a concatenation into the whole, if the step that makes the part cannot write into the whole.

use mxrs_ndarray::DeviceCopies;
use mxrs_op::{Kernel, KernelArgs};
use mxrs_types::{DeviceStream, Error, Result, WriteReq};
use std::sync::Arc;

/// The fewest bytes that a thread copies.
const PIECE_BYTES: usize = 1 << 16;

/// A copy of images (slices along the first axis). In the input they are contiguous; in the output there is a fixed distance
/// from image to image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyImages {
    /// Number of images.
    pub n: usize,
    /// Bytes of one image.
    pub image: usize,
    /// Bytes from the beginning of one image of the output to the beginning of the next image; at least `image`.
    pub distance: usize,
}

impl CopyImages {
    /// The kernel that makes the copy: on the host, or with the copy functions of a device if `copies` is given.
    pub fn kernel(self, copies: Option<&Arc<dyn DeviceCopies>>) -> Arc<dyn Kernel> {
        Arc::new(Copier { images: self, copies: copies.cloned() })
    }

    /// Whether the call writes its output. Checks that the images lie in the two tensors.
    ///
    /// # Errors
    /// Returns an error if they do not, or if the call is to add.
    fn is_written(&self, args: &KernelArgs<'_>) -> Result<bool> {
        match args.reqs.first().copied().unwrap_or_default() {
            WriteReq::Null => return Ok(false),
            WriteReq::Add => return Err(Error::not_built("adding to a part of a tensor", "parts are written")),
            WriteReq::Write | WriteReq::Inplace => {}
        }
        let Self { n, image, distance } = *self;
        let needed = [n * image, n.saturating_sub(1) * distance + image];
        let there = [args.inputs[0].len_bytes(), args.outputs[0].len_bytes()];
        if needed.iter().zip(there).any(|(needed, there)| *needed > there) {
            return Err(Error::invalid("images to copy", format!("{there:?} bytes"), format!("{needed:?} bytes")));
        }
        Ok(true)
    }
}

/// The kernel of a [`CopyImages`].
struct Copier {
    images: CopyImages,
    /// The copy functions of a device whose memory the host cannot access; `None` on the host.
    copies: Option<Arc<dyn DeviceCopies>>,
}

/// Addresses of the input and of the output. Threads share them, but no two threads copy the same piece.
struct Ends(*const u8, *mut u8);

// SAFETY: the pointers are only used by `copy`, whose callers make sure that no other thread writes the same bytes.
unsafe impl Sync for Ends {}

impl Ends {
    /// Copies `len` bytes from offset `from` of the input to offset `to` of the output.
    ///
    /// # Safety
    /// Both ranges must be valid and must not overlap, and no other thread may write to either during the call.
    unsafe fn copy(&self, from: usize, to: usize, len: usize) {
        // SAFETY: the caller guarantees that both ranges are valid, do not overlap, and are not written by other threads.
        unsafe { self.1.add(to).copy_from_nonoverlapping(self.0.add(from), len) }
    }

    /// Enqueues the copies of all images on a stream of the device of `copies`.
    ///
    /// # Safety
    /// The images lie in the tensors that begin here. Both tensors are on the device, stay allocated until the work is done,
    /// do not overlap, and are not used by work that is not ordered with it.
    unsafe fn copy_on(&self, stream: &dyn DeviceStream, copies: &dyn DeviceCopies, images: CopyImages) -> Result<()> {
        let CopyImages { n, image, distance } = images;
        (0..n).try_for_each(|i| {
            let (from, to) = (self.0.wrapping_add(i * image), self.1.wrapping_add(i * distance));
            // SAFETY: the caller guarantees that the images lie in the two tensors, which stay allocated, do not overlap,
            // and are used by no unordered work.
            unsafe { copies.copy(stream, from, to, image) }
        })
    }
}

impl Kernel for Copier {
    fn name(&self) -> &str {
        "part"
    }

    unsafe fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        if !self.images.is_written(args)? {
            return Ok(());
        }
        let CopyImages { n, image, distance } = self.images;
        let ends = Ends(args.inputs[0].as_ptr().cast_const(), args.outputs[0].as_ptr());
        if let Some(copies) = &self.copies {
            let Some(stream) = args.stream else {
                return Err(Error::not_built("a copy on a device", "the task has no stream"));
            };
            // SAFETY: `is_written` checked that the images end within the two tensors. The tensors are on the device of the
            // stream, stay allocated until the work is done, and do not overlap.
            return unsafe { ends.copy_on(stream, &**copies, self.images) };
        }
        let per_image = image.div_ceil(PIECE_BYTES);
        args.team.run(n * per_image, &|piece| {
            let (i, at) = (piece / per_image, piece % per_image * PIECE_BYTES);
            let len = (image - at).min(PIECE_BYTES);
            // SAFETY: `i < n` and `at + len <= image`, so both ranges end within the lengths that `is_written` checked. Each
            // piece belongs to one thread, and pieces of the output do not overlap because `distance >= image`. Input and
            // output do not overlap: the step declares no pair in place, so the planner keeps them apart.
            unsafe { ends.copy(i * image + at, i * distance + at, len) }
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_op::RawTensor;
    use mxrs_sync::Team;

    #[test]
    fn what_lies_between_images_stays() {
        for image in [5, PIECE_BYTES + 3] {
            let copy = CopyImages { n: 3, image, distance: image + 7 };
            let from: Vec<u8> = (0..3 * image).map(|i| (i % 251) as u8).collect();
            let mut to = vec![255u8; 2 * copy.distance + image];
            let run = |from: &[u8], to: &mut [u8]| {
                let args = KernelArgs {
                    inputs: &[RawTensor::from_slice(from)],
                    outputs: &[RawTensor::from_mut_slice(to)],
                    reqs: &[WriteReq::Write],
                    scratch: RawTensor::from_slice(&[]),
                    team: &Team::serial(),
                    random: None,
                    stream: None,
                };
                // SAFETY: the two slices are borrowed, and do not overlap; the kernel checks their lengths.
                unsafe { copy.kernel(None).run(&args) }
            };
            run(&from, &mut to).unwrap();
            for (i, byte) in to.iter().enumerate() {
                let (image_of, at) = (i / copy.distance, i % copy.distance);
                let expected = if at < image { from[image_of * image + at] } else { 255 };
                assert_eq!(*byte, expected, "byte {i}");
            }
            assert!(run(&from[1..], &mut to).is_err(), "too few bytes");
            let end = to.len() - 1;
            assert!(run(&from, &mut to[..end]).is_err(), "too little room");
        }
    }
}
