//! The gradient of the weights for few input channels and a stride, as in the first layer of many networks. The pixels
//! within one stride are folded into channels: a convolution of 3 channels by 7x7 with a stride of 2 is one of 12 channels
//! by 4x4 with a stride of 1, to which Winograd's algorithms apply ([`TileSums`]). That takes a third of the
//! multiplications of a direct sum.
//!
//! ```text
//! folded[(c * sy + ry) * sx + rx][i][j] = data[c][sy * i + ry - pad][sx * j + rx - pad], or 0 outside the image
//! dst[k][c][sy * ty + ry][sx * tx + rx] = gradient of the folded weights[k][(c * sy + ry) * sx + rx][ty][tx]
//! ```
//!
//! A thread computes whole images, whose transformed tiles and sums stay in its second-level cache. The images are cut into
//! a fixed number of parts, whose sums are added in their order at the end. So the bits of the result do not depend on the
//! number of threads.

use super::tiles::TileSums;
use crate::convolve::{Convolve, Operands, part};
use crate::layouts::BLOCK;
use crate::problem::ConvProblem;
use crate::winograd::Variant;
use mxrs_processor::Isa;
use mxrs_sync::Team;
use mxrs_types::Result;
use std::ops::Range;

/// Largest number of parts of the images, and so of threads.
const PARTS: usize = 32;
/// Smallest number of images. With fewer images, other algorithms share their pixels better among threads.
const LEAST_IMAGES: usize = 4;

/// A prepared gradient of the weights. Its operand `src` is the gradient of the output in blocks of channels, `weights` is
/// the data in row-major order, and `dst` is the gradient of the weights in row-major order.
pub struct FoldedSums {
    p: ConvProblem,
    /// The convolution of one folded image.
    folded: ConvProblem,
    sums: TileSums,
    threads: usize,
}

/// The convolution of folded data whose gradient of the weights holds that of `p`. `None` if `p` has no stride to fold, or
/// few images.
pub fn problem(p: &ConvProblem) -> Option<ConvProblem> {
    let (kh, kw) = (p.kh.div_ceil(p.stride.0), p.kw.div_ceil(p.stride.1));
    let (h, w) = (p.oh + kh - 1, p.ow + kw - 1);
    let c = p.c * p.stride.0 * p.stride.1;
    let folds = p.is_dense() && c > p.c && p.n >= LEAST_IMAGES;
    folds.then_some(ConvProblem { c, h, w, kh, kw, stride: (1, 1), pad: (0, 0), ..*p })
}

impl FoldedSums {
    /// Prepares the gradient of the weights of `p`, whose folded [`problem`] is `folded`, for at most `threads` threads.
    ///
    /// # Errors
    /// Fails if the variant is not for the window of `folded`.
    pub fn new(p: ConvProblem, folded: ConvProblem, variant: Variant, isa: Isa, threads: usize) -> Result<Self> {
        let folded = ConvProblem { n: 1, ..folded };
        let sums = TileSums::alone(&folded, variant, isa)?;
        Ok(Self { p, folded, sums, threads: threads.max(1) })
    }

    fn n_parts(&self) -> usize {
        PARTS.min(self.p.n)
    }

    /// Number of values of a folded image, with padding channels.
    fn folded_len(&self) -> usize {
        let q = &self.folded;
        q.c.next_multiple_of(BLOCK) * q.h * q.w
    }

    /// Number of values of the gradient of the folded weights, in whole cache lines.
    fn gradient_len(&self) -> usize {
        self.folded.n_weights().next_multiple_of(BLOCK)
    }

    /// Number of values of one thread's memory, a multiple of a cache line: a folded image, its gradient, and the scratch
    /// memory of the sums.
    fn workspace_len(&self) -> usize {
        let sums = (self.sums.scratch_bytes() / size_of::<f32>()).next_multiple_of(BLOCK);
        self.folded_len() + self.gradient_len() + sums
    }

    /// Computes the sums of some images.
    ///
    /// # Safety
    /// The conditions of [`Convolve::run`] must hold. The images must exist, and no other thread may use `to`, which has
    /// `gradient_len` values, or `work`, which has `workspace_len`.
    unsafe fn sum(&self, o: &Operands, images: Range<usize>, work: *mut f32, to: *mut f32, team: &Team) -> Result<()> {
        let q = &self.folded;
        let ograd_len = q.k.next_multiple_of(BLOCK) * q.pixels();
        for (at, image) in images.enumerate() {
            // SAFETY: the memory of the thread has the three parts that `workspace_len` counts, which are whole cache lines.
            // The image and its rows exist. The first image writes `to`; the others write a part of the memory that is
            // added to it.
            unsafe {
                (0..q.h).for_each(|i| self.fold_row(o.weights, work, image, i));
                let gradient = work.add(self.folded_len());
                let (src, scratch) = (o.src.add(image * ograd_len), gradient.add(self.gradient_len()));
                let dst = if at == 0 { to } else { gradient };
                self.sums.run(&Operands { src, weights: work, dst, scratch, ..*o }, team)?;
                if at > 0 {
                    (0..q.n_weights()).for_each(|i| *to.add(i) += *gradient.add(i));
                }
            }
        }
        Ok(())
    }

    /// Folds row `i` of an image.
    ///
    /// # Safety
    /// `data` must be the data of the problem and `to` the folded image; the image and the row must exist, and no other
    /// thread may use the row.
    unsafe fn fold_row(&self, data: *const f32, to: *mut f32, image: usize, i: usize) {
        let (p, q) = (&self.p, &self.folded);
        let (sy, sx) = p.stride;
        let blocks = q.c.div_ceil(BLOCK);
        let row_len = q.w * BLOCK;
        for block in 0..blocks {
            // SAFETY: the block and the row exist, so these `row_len` values lie in the folded image.
            let to = unsafe { to.add((block * q.h + i) * row_len) };
            // SAFETY: the row has `row_len` values, and only this thread uses it.
            unsafe { to.write_bytes(0, row_len) }
            for channel in block * BLOCK..((block + 1) * BLOCK).min(q.c) {
                let (c, ry, rx) = (channel / (sx * sy), channel / sx % sy, channel % sx);
                let y = (i * sy + ry).wrapping_sub(p.pad.0);
                if y >= p.h {
                    continue;
                }
                // The columns with `0 <= sx * j + rx - pad < w`.
                let first = p.pad.1.saturating_sub(rx).div_ceil(sx);
                let end = (p.w + p.pad.1).saturating_sub(rx).div_ceil(sx).min(q.w);
                for j in first..end {
                    // SAFETY: `c < p.c` and `y < p.h`, and the range of `j` keeps the column below `p.w`; `j < q.w` and
                    // the channel's place in its block bound the destination.
                    unsafe {
                        let from = ((image * p.c + c) * p.h + y) * p.w + j * sx + rx - p.pad.1;
                        *to.add(j * BLOCK + channel % BLOCK) = *data.add(from);
                    }
                }
            }
        }
    }

    /// Copies the gradient of the folded weights to that of the weights.
    ///
    /// # Safety
    /// `from` must be the complete gradient of the folded weights and `to` have room for that of the weights, which no
    /// other thread uses.
    unsafe fn unfold(&self, from: *const f32, to: *mut f32) {
        let (p, q) = (&self.p, &self.folded);
        for (k, c) in (0..p.k).flat_map(|k| (0..p.c).map(move |c| (k, c))) {
            for (ky, kx) in (0..p.kh).flat_map(|ky| (0..p.kw).map(move |kx| (ky, kx))) {
                let channel = (c * p.stride.0 + ky % p.stride.0) * p.stride.1 + kx % p.stride.1;
                let tap = ky / p.stride.0 * q.kw + kx / p.stride.1;
                // SAFETY: `channel < q.c` and `tap < q.kh * q.kw`, and the destination is the tap of a window of `p`.
                unsafe {
                    let value = *from.add((k * q.c + channel) * q.kh * q.kw + tap);
                    *to.add(((k * p.c + c) * p.kh + ky) * p.kw + kx) = value;
                }
            }
        }
    }
}

impl Convolve for FoldedSums {
    fn scratch_bytes(&self) -> usize {
        let (parts, threads) = (self.n_parts(), self.threads.min(self.n_parts()));
        (parts * self.gradient_len() + threads * self.workspace_len()) * size_of::<f32>()
    }

    fn supports_sum(&self) -> bool {
        false
    }

    unsafe fn run(&self, o: &Operands, team: &Team) -> Result<()> {
        let (n_parts, len) = (self.n_parts(), self.gradient_len());
        let threads = self.threads.min(n_parts);
        team.run(threads, &|thread| {
            for i in part(n_parts, threads, thread) {
                // SAFETY: the scratch memory has the sums of all parts, then the memory of each thread (`scratch_bytes`).
                // `part` gives each part to one thread, and the images of a part exist.
                let done = unsafe {
                    let work = o.scratch.add(n_parts * len + thread * self.workspace_len());
                    self.sum(o, part(self.p.n, n_parts, i), work, o.scratch.add(i * len), team)
                };
                debug_assert!(done.is_ok(), "sums over tiles do not fail");
            }
        });
        // SAFETY: all parts are complete, and only this thread runs.
        unsafe {
            for i in 1..n_parts {
                (0..self.folded.n_weights()).for_each(|at| *o.scratch.add(at) += *o.scratch.add(i * len + at));
            }
            self.unfold(o.scratch, o.dst);
        }
        Ok(())
    }
}
