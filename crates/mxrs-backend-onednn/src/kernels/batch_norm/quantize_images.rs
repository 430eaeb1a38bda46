//! Converts images of few channels, one f32 plane after another, to 8-bit pixels with channels last, as the first
//! convolution of a quantized network reads them.

use super::super::loops::{Loop, Shared, in_ranges, widest};
use super::order::Order;
use super::quantize::Ends;
use super::relu::WIDTH;
use mxrs_op::KernelArgs;
use std::ops::Range;

/// Whether tensors of these sizes are images with 2 to 4 channels.
pub fn fits(sizes: &[usize]) -> bool {
    (3..=5).contains(&sizes.len()) && (2..=4).contains(&sizes[1])
}

/// Number of pixels of a unit of work.
const PIXELS: usize = 1 << 12;

struct Images<'a, const N: usize, const IS_SIGNED: bool> {
    n_pixels: usize,
    units_per_image: usize,
    from: Shared<f32>,
    to: Shared<u8>,
    /// Mean, scale and shift of each channel.
    parts: [[f32; N]; 3],
    ends: &'a Ends,
}

/// A range of units of work, which one thread computes.
struct Part<'a, const N: usize, const IS_SIGNED: bool> {
    all: &'a Images<'a, N, IS_SIGNED>,
    range: Range<usize>,
}

impl<const N: usize, const IS_SIGNED: bool> Loop for Part<'_, N, IS_SIGNED> {
    #[inline(always)]
    fn run(self) {
        let Images { n_pixels, units_per_image, from, to, parts: [mean, scale, shift], ends } = *self.all;
        let element = |x: f32, c: usize| ends.integer::<IS_SIGNED>((x - mean[c]) * scale[c] + shift[c]);
        for unit in self.range {
            let (image, start) = (unit / units_per_image, unit % units_per_image * PIXELS);
            let (end, first) = ((start + PIXELS).min(n_pixels), image * n_pixels * N);
            let whole = start + (end - start) / WIDTH * WIDTH;
            for at in (start..whole).step_by(WIDTH) {
                let mut pixels = [0u32; WIDTH];
                for c in 0..N {
                    // SAFETY: `at + WIDTH <= end <= n_pixels` and `c < N`, so these elements lie in a plane of this
                    // image. `read_unaligned` accepts any alignment.
                    let plane = unsafe { from.at(first + c * n_pixels + at).cast::<[f32; WIDTH]>().read_unaligned() };
                    pixels.iter_mut().zip(plane).for_each(|(pixel, x)| *pixel |= u32::from(element(x, c)) << (8 * c));
                }
                // SAFETY: these `WIDTH * N` bytes are the pixels `at..at + WIDTH` of this image, which belong to this
                // unit alone.
                unsafe { write::<N>(pixels, to.at(first + at * N)) };
            }
            for (at, c) in (whole..end).flat_map(|at| (0..N).map(move |c| (at, c))) {
                // SAFETY: `at < end <= n_pixels` and `c < N`, so both addresses belong to a pixel of this unit, which
                // one thread writes.
                unsafe { to.at(first + at * N + c).write(element(from.at(first + c * n_pixels + at).read(), c)) };
            }
        }
    }
}

/// Writes the lowest `N` bytes of each pixel, one pixel after another.
///
/// # Safety
/// `to` must be writable for `WIDTH * N` bytes that no other thread uses.
#[inline(always)]
unsafe fn write<const N: usize>(pixels: [u32; WIDTH], to: *mut u8) {
    let to_words = to.cast::<[u8; 4]>();
    match N {
        4 => {
            for (i, pixel) in pixels.into_iter().enumerate() {
                // SAFETY: `i < WIDTH`, and the caller promises `WIDTH * 4` bytes, that is `WIDTH` words; a word is a
                // `[u8; 4]`, which needs no alignment.
                unsafe { to_words.wrapping_add(i).write(pixel.to_le_bytes()) };
            }
        }
        3 => {
            for i in 0..WIDTH / 4 {
                let [a, b, c, d] = [0, 1, 2, 3].map(|k| pixels[4 * i + k]);
                for (k, word) in [a | b << 24, b >> 8 | c << 16, c >> 16 | d << 8].into_iter().enumerate() {
                    // SAFETY: every four pixels of three bytes are three words, and `3 * i + k < WIDTH * 3 / 4`.
                    unsafe { to_words.wrapping_add(3 * i + k).write(word.to_le_bytes()) };
                }
            }
        }
        _ => {
            for i in 0..WIDTH / 2 {
                let word = pixels[2 * i] | pixels[2 * i + 1] << 16;
                // SAFETY: every two pixels of two bytes are one word, and `i < WIDTH / 2`.
                unsafe { to_words.wrapping_add(i).write(word.to_le_bytes()) };
            }
        }
    }
}

fn of<const N: usize, const IS_SIGNED: bool>(args: &KernelArgs<'_>, order: &Order, parts: [&[f32]; 3], ends: &Ends) {
    let n_pixels = order.n_steps;
    let units_per_image = n_pixels.div_ceil(PIXELS);
    let images = Images::<N, IS_SIGNED> {
        n_pixels,
        units_per_image,
        from: Shared(args.inputs[0].as_ptr().cast()),
        to: Shared(args.outputs[0].as_ptr()),
        parts: parts.map(|part| std::array::from_fn(|c| part[c])),
        ends,
    };
    let n_units = order.n_units / N * units_per_image;
    in_ranges(args.team, n_units, n_pixels.min(PIXELS) * N, &|range| widest(Part { all: &images, range }));
}

/// Normalizes and quantizes the images.
///
/// # Safety
/// The first input must be f32 and row-major with `order`, of sizes that [`fits`] accepts. The output must have as many
/// bytes as the input has elements, and not overlap it.
pub unsafe fn run(args: &KernelArgs<'_>, order: &Order, parts: [&[f32]; 3], ends: Ends) {
    match (order.channels, ends.least < 0.0) {
        (2, false) => of::<2, false>(args, order, parts, &ends),
        (2, true) => of::<2, true>(args, order, parts, &ends),
        (3, false) => of::<3, false>(args, order, parts, &ends),
        (3, true) => of::<3, true>(args, order, parts, &ends),
        (_, false) => of::<4, false>(args, order, parts, &ends),
        (_, true) => of::<4, true>(args, order, parts, &ends),
    }
}
