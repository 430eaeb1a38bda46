//! Convolutions with as many groups as channels: each channel is multiplied by a window of its own. Values are widened to
//! float32, or to int32 if they are bytes, and sums are stored as those of a product.

use super::Context;
use super::block::{PANEL, Sums};
use super::finish::{Store, Stored};
use super::geometry::Problem;
use super::level::{Level, for_each_level};
use super::loops::in_parts;
use super::number::Number;
use super::product::{Compute, Memory};
use super::unit::Factors;
use half::bf16;
use mxrs_sync::Team;
use std::ops::Range;

/// Channels that are computed at a time.
const LANES: usize = 16;
/// Pixels whose sums are stored at a time.
const PIXELS: usize = 16;

/// A prepared depthwise convolution.
pub struct Depthwise {
    problem: Problem,
    number_bytes: usize,
    kernel: unsafe fn(&Part<'_>, &mut Sums),
    store: Store,
    threads: usize,
}

/// Some pixels of an output row, and up to 32 channels.
struct Part<'a> {
    problem: &'a Problem,
    /// The image.
    src: *const u8,
    /// Weights of tap 0 for the first of the channels. Each tap has a value for every channel, padded to whole panels.
    weights: *const u32,
    y: usize,
    x: Range<usize>,
    channels: Range<usize>,
}

/// A type of data. It defines how the product of a value and a weight is added to a sum.
trait Term: Number {
    /// The type of the sum and of the weights.
    type Sum: Copy + Default;
    /// `sum + value * weight`.
    fn add(sum: Self::Sum, value: Self, weight: Self::Sum) -> Self::Sum;
    /// The bits of a sum, in the form in which [`Sums`] stores them.
    fn bits(sum: Self::Sum) -> u32;
}

impl Term for bf16 {
    type Sum = f32;

    #[inline(always)]
    fn add(sum: f32, value: Self, weight: f32) -> f32 {
        sum + value.wide() * weight
    }

    #[inline(always)]
    fn bits(sum: f32) -> u32 {
        sum.to_bits()
    }
}

macro_rules! bytes {
    ($t:ty) => {
        impl Term for $t {
            type Sum = i32;

            #[inline(always)]
            fn add(sum: i32, value: Self, weight: i32) -> i32 {
                sum.wrapping_add(i32::from(value) * weight)
            }

            #[inline(always)]
            fn bits(sum: i32) -> u32 {
                sum.cast_unsigned()
            }
        }
    };
}
bytes!(u8);
bytes!(i8);

for_each_level! {
    fn summed [T: Term] [T]: unsafe fn(part: &Part<'_>, sums: &mut Sums) = sum
}

/// # Safety
/// The image and the weights must be those of the problem, and the part must lie in its output.
#[inline(always)]
unsafe fn sum<T: Term>(part: &Part<'_>, sums: &mut Sums) {
    let p = part.problem;
    let padded = p.c.next_multiple_of(PANEL);
    // Taps whose input lies in the image, along one axis.
    let taps = |at: usize, axis: usize| -> Range<usize> {
        let (step, start) = (p.dilate[axis], at * p.stride[axis]);
        let first = p.pad[axis].saturating_sub(start).div_ceil(step);
        let behind = (p.input[axis] + p.pad[axis]).saturating_sub(start).div_ceil(step);
        first.min(p.window[axis])..behind.min(p.window[axis])
    };
    let rows = taps(part.y, 0);
    for (row, x) in part.x.clone().enumerate() {
        let columns = taps(x, 1);
        for first in (0..part.channels.len()).step_by(LANES) {
            let n = (part.channels.len() - first).min(LANES);
            let mut acc = [T::Sum::default(); LANES];
            for ky in rows.clone() {
                for kx in columns.clone() {
                    let (y, x) = (part.y * p.stride[0] + ky * p.dilate[0], x * p.stride[1] + kx * p.dilate[1]);
                    let pixel = (y - p.pad[0]) * p.input[1] + x - p.pad[1];
                    // SAFETY: `taps` keeps the pixel in the image, and `n` channels from `first` on exist there. Weights are
                    // padded to whole panels, so 16 of them exist.
                    unsafe {
                        let from = part.src.cast::<T>().add(pixel * p.c + part.channels.start + first);
                        let weights = part.weights.add((ky * p.window[1] + kx) * padded + first);
                        let weights = weights.cast::<[T::Sum; LANES]>().read_unaligned();
                        let mut values = [T::default(); LANES];
                        if n == LANES {
                            values = from.cast::<[T; LANES]>().read_unaligned();
                        } else {
                            from.copy_to_nonoverlapping(values.as_mut_ptr(), n);
                        }
                        for i in 0..LANES {
                            acc[i] = T::add(acc[i], values[i], weights[i]);
                        }
                    }
                }
            }
            let to = &mut sums.0[row][first..][..LANES];
            for i in 0..LANES {
                to[i] = T::bits(acc[i]);
            }
        }
    }
}

impl Depthwise {
    /// Prepares a convolution.
    pub fn new(problem: Problem, factors: Factors, store: Store, context: &Context) -> Self {
        let level = Level::of(context.isa);
        let kernel = match factors {
            Factors::Bf16 => summed::<bf16>(level),
            Factors::Unsigned => summed::<u8>(level),
            Factors::Signed => summed::<i8>(level),
        };
        let number_bytes = if factors == Factors::Bf16 { 2 } else { 1 };
        Self { problem, number_bytes, kernel, store, threads: context.threads }
    }
}

impl Compute for Depthwise {
    fn scratch_bytes(&self) -> usize {
        0
    }

    unsafe fn run(&self, memory: &Memory<'_>, team: &Team) {
        let p = &self.problem;
        let [oh, ow] = p.output;
        let row_bytes = (p.window[0] * p.window[1] * self.number_bytes + 4) * ow * p.c;
        in_parts(team, self.threads, p.n * oh, row_bytes, &|rows| {
            let mut sums: Sums = bytemuck::Zeroable::zeroed();
            for row in rows {
                let (image, y) = (row / oh, row % oh);
                for channel in (0..p.c).step_by(PANEL) {
                    let width = (p.c - channel).min(PANEL);
                    for x in (0..ow).step_by(PIXELS) {
                        let columns = x..(x + PIXELS).min(ow);
                        // SAFETY: the caller promises the tensors of the problem. The image, the channels and the pixels
                        // exist, and only this thread writes the row.
                        unsafe {
                            let part = Part {
                                problem: p,
                                src: memory.data.add(image * p.input[0] * p.input[1] * p.c * self.number_bytes),
                                weights: memory.weights.cast::<u32>().add(channel),
                                y,
                                x: columns.clone(),
                                channels: channel..channel + width,
                            };
                            (self.kernel)(&part, &mut sums);
                            (self.store)(&Stored {
                                output: memory.output,
                                sums: sums.0[0].as_ptr(),
                                rows: columns.len(),
                                channel,
                                width,
                                pixel: row * ow + x,
                            });
                        }
                    }
                }
            }
        });
    }
}
