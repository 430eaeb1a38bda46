//! Copies one part of a concatenation into the whole, if the step that makes the part cannot write into the whole.

use mxrs_op::{Kernel, KernelArgs};
use mxrs_types::{Error, Result, WriteReq};

/// The fewest bytes that a thread copies.
const PIECE_BYTES: usize = 1 << 16;

/// A kernel that copies images (slices along the first axis). In the input they are contiguous; in the output there is
/// a fixed distance from image to image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyImages {
    /// Number of images.
    pub n: usize,
    /// Bytes of one image.
    pub image: usize,
    /// Bytes from the beginning of one image of the output to the beginning of the next image; at least `image`.
    pub distance: usize,
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
}

impl Kernel for CopyImages {
    fn name(&self) -> &str {
        "part"
    }

    unsafe fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        match args.reqs.first().copied().unwrap_or_default() {
            WriteReq::Null => return Ok(()),
            WriteReq::Add => return Err(Error::not_built("adding to a part of a tensor", "parts are written")),
            WriteReq::Write | WriteReq::Inplace => {}
        }
        let Self { n, image, distance } = *self;
        let needed = [n * image, n.saturating_sub(1) * distance + image];
        let there = [args.inputs[0].len_bytes(), args.outputs[0].len_bytes()];
        if needed.iter().zip(there).any(|(needed, there)| *needed > there) {
            return Err(Error::invalid("images to copy", format!("{there:?} bytes"), format!("{needed:?} bytes")));
        }
        let ends = Ends(args.inputs[0].as_ptr().cast_const(), args.outputs[0].as_ptr());
        let per_image = image.div_ceil(PIECE_BYTES);
        args.team.run(n * per_image, &|piece| {
            let (i, at) = (piece / per_image, piece % per_image * PIECE_BYTES);
            let len = (image - at).min(PIECE_BYTES);
            // SAFETY: `i < n` and `at + len <= image`, so both ranges end within the lengths that were checked above. Each
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
                };
                // SAFETY: the two slices are borrowed, and do not overlap; the kernel checks their lengths.
                unsafe { copy.run(&args) }
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
