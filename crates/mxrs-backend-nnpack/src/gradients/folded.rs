//! The gradient of the weights for few input channels and a stride, as in the first layer of many networks. Pixels within
//! one stride become channels: a convolution of 3 channels by 7x7 with a stride of 2 is one of 12 channels by 4x4 with a
//! stride of 1, to which Winograd's algorithms apply ([`TileSums`]). That takes a third of the multiplications.
//!
//! ```text
//! folded[(c * sy + ry) * sx + rx][i][j] = data[c][sy * i + ry - pad][sx * j + rx - pad], or 0 outside the image
//! dst[k][c][sy * ty + ry][sx * tx + rx] = gradient of the folded weights[k][(c * sy + ry) * sx + rx][ty][tx]
//! ```

use super::tiles::TileSums;
use crate::convolve::{Convolve, Operands, part};
use crate::layouts::BLOCK;
use crate::problem::ConvProblem;
use crate::winograd::Variant;
use mxrs_processor::Isa;
use mxrs_sync::Team;
use mxrs_types::Result;

/// A prepared gradient of the weights. Its operand `src` is the gradient of the output in blocks of channels, `weights` is
/// the data in row-major order, and `dst` is the gradient of the weights in row-major order.
pub struct FoldedSums {
    p: ConvProblem,
    folded: ConvProblem,
    sums: TileSums,
    threads: usize,
}

/// The convolution of folded data whose gradient of the weights holds that of `p`. `None` if `p` has no stride to fold.
pub fn problem(p: &ConvProblem) -> Option<ConvProblem> {
    let (kh, kw) = (p.kh.div_ceil(p.stride.0), p.kw.div_ceil(p.stride.1));
    let (h, w) = (p.oh + kh - 1, p.ow + kw - 1);
    let c = p.c * p.stride.0 * p.stride.1;
    let folds = p.is_dense() && c > p.c;
    folds.then_some(ConvProblem { c, h, w, kh, kw, stride: (1, 1), pad: (0, 0), ..*p })
}

impl FoldedSums {
    /// Prepares the gradient of the weights of `p`, whose folded [`problem`] is `folded`, for at most `threads` threads.
    ///
    /// # Errors
    /// Fails if the variant is not for the window of `folded`.
    pub fn new(p: ConvProblem, folded: ConvProblem, variant: Variant, isa: Isa, threads: usize) -> Result<Self> {
        let sums = TileSums::new(&folded, variant, isa, threads)?;
        Ok(Self { p, folded, sums, threads: threads.max(1) })
    }

    /// Number of values of the folded data, with padding channels.
    fn folded_len(&self) -> usize {
        let q = &self.folded;
        q.n * q.c.next_multiple_of(BLOCK) * q.h * q.w
    }

    /// Number of values of the gradient of the folded weights, in whole cache lines.
    fn gradient_len(&self) -> usize {
        self.folded.n_weights().next_multiple_of(BLOCK)
    }

    /// Folds row `i` of an image.
    ///
    /// # Safety
    /// `data` must be the data of the problem and `to` the folded data; the image and the row must exist, and no other
    /// thread may use the row.
    unsafe fn fold_row(&self, data: *const f32, to: *mut f32, image: usize, i: usize) {
        let (p, q) = (&self.p, &self.folded);
        let (sy, sx) = p.stride;
        let blocks = q.c.div_ceil(BLOCK);
        let row_len = q.w * BLOCK;
        for block in 0..blocks {
            // SAFETY: the image, the block and the row exist, so these `row_len` values lie in the folded data.
            let to = unsafe { to.add(((image * blocks + block) * q.h + i) * row_len) };
            // SAFETY: as above; only this thread uses the row.
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
        (self.folded_len() + self.gradient_len()) * size_of::<f32>() + self.sums.scratch_bytes()
    }

    fn supports_sum(&self) -> bool {
        false
    }

    unsafe fn run(&self, o: &Operands, team: &Team) -> Result<()> {
        let q = &self.folded;
        let rows = q.n * q.h;
        // SAFETY: the scratch memory has the folded data, then the gradient of the folded weights, then the scratch memory
        // of the sums (`scratch_bytes`); the first two are whole cache lines. `part` gives each row to one thread. The sums
        // read the folded data after all rows are written.
        unsafe {
            team.run(self.threads, &|thread| {
                for row in part(rows, self.threads, thread) {
                    self.fold_row(o.weights, o.scratch, row / q.h, row % q.h);
                }
            });
            let gradient = o.scratch.add(self.folded_len());
            let scratch = gradient.add(self.gradient_len());
            self.sums.run(&Operands { weights: o.scratch, dst: gradient, scratch, ..*o }, team)?;
            self.unfold(gradient, o.dst);
        }
        Ok(())
    }
}
