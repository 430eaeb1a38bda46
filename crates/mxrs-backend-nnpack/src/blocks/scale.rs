//! The product of images with one factor per image and channel, as in squeeze-and-excite layers: `broadcast_mul` of
//! `[N, C, H, W]` and `[N, C, 1, 1]`, in either order.
//!
//! A piece is a plane of 16 channels of one image.

use super::Fit;
use super::pass::{Memory, Pass};
use crate::dispatch::for_each_set;
use crate::gemm::lanes::Lanes;
use crate::layouts::{BLOCK, blocked, image, is_blocked};
use mxrs_op::OpCall;
use mxrs_processor::Isa;
use mxrs_types::Layout;
use std::ops::Range;

/// A prepared product.
struct Scale {
    images: usize,
    channels: usize,
    pixels: usize,
    /// Positions of the images and of the factors among the inputs.
    positions: [usize; 2],
    kernel: unsafe fn(*const f32, &[f32; BLOCK], *mut f32, usize),
}

for_each_set! {
    /// Returns the function that multiplies pixels by factors: source, factors, destination, number of pixels.
    fn multiply: unsafe fn(src: *const f32, factors: &[f32; BLOCK], dst: *mut f32, n: usize) = multiply_of
}

/// Prepares the kernel of a call, or returns the reason why there is none.
pub fn fit(call: &OpCall<'_>, isa: Isa) -> Result<Fit, String> {
    let [a, b] = call.inputs else { return Err("the call does not have two inputs".into()) };
    let (Some(of_a), Some(of_b)) = (image(a), image(b)) else { return Err("the inputs have no four axes".into()) };
    let fits = |[n, c, h, w]: [usize; 4], factors: [usize; 4]| h * w > 1 && factors == [n, c, 1, 1];
    let (data, positions) = match () {
        () if fits(of_a, of_b) => (0, [0, 1]),
        () if fits(of_b, of_a) => (1, [1, 0]),
        () => return Err("no kernel but for one factor per image and channel".into()),
    };
    if !is_blocked(&call.inputs[data]) {
        return Err("the images are not in blocks of channels, so that nothing would be gained".into());
    }
    let sizes @ [images, channels, h, w] = if data == 0 { of_a } else { of_b };
    let layout: Layout = blocked(sizes);
    let pass = move || Scale { images, channels, pixels: h * w, positions, kernel: multiply(isa) };
    let fit = Fit::new("scale", [layout.clone(), layout], pass);
    Ok(Fit { data_input: data, can_run_inplace: true, ..fit })
}

impl Pass for Scale {
    fn pieces(&self) -> usize {
        self.images * self.channels.div_ceil(BLOCK)
    }

    fn numbers(&self) -> usize {
        2 * self.pixels * BLOCK
    }

    unsafe fn run(&self, memory: &Memory, pieces: Range<usize>) {
        let blocks = self.channels.div_ceil(BLOCK);
        let plane = self.pixels * BLOCK;
        let [data, factors] = self.positions.map(|position| memory.inputs[position]);
        for piece in pieces {
            let (image, block) = (piece / blocks, piece % blocks);
            let channels = BLOCK.min(self.channels - block * BLOCK);
            let mut of_block = [0.0; BLOCK];
            // SAFETY: `piece < self.pieces()`, so `image < images` and `block` is a block of the image; `channels` of its
            // factors are left from `block * BLOCK` on. Data and output have a plane of `plane` values per piece. They
            // may be the same memory, because each value is read before it is written. The factors are other memory,
            // because they have fewer values than the output.
            unsafe {
                let from = factors.add(image * self.channels + block * BLOCK);
                of_block.as_mut_ptr().copy_from_nonoverlapping(from, channels);
                (self.kernel)(data.add(piece * plane), &of_block, memory.dst.add(piece * plane), self.pixels);
            }
        }
    }
}

/// # Safety
/// `n` pixels of 16 channels must be readable at `src` and writable at `dst`, and the processor must have the
/// instructions of `L`.
#[inline(always)]
unsafe fn multiply_of<L: Lanes>(src: *const f32, factors: &[f32; BLOCK], dst: *mut f32, n: usize) {
    // No store can change this copy, so the compiler keeps it in registers.
    let factors = *factors;
    for pixel in 0..n {
        for lane in (0..BLOCK).step_by(L::N) {
            // SAFETY: `lane + L::N <= BLOCK` and `pixel < n`, so all accesses lie in the pixels that the caller promises.
            unsafe {
                let at = pixel * BLOCK + lane;
                L::load(src.add(at)).mul(L::load(factors.as_ptr().add(lane))).store(dst.add(at));
            }
        }
    }
}
