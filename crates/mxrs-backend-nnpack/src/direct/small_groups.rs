//! Convolutions in groups of 4, 8 or 16 channels. Each output channel reads only the input channels of its group, which
//! lie in the same block of 16.
//!
//! If such a convolution were computed as products of whole blocks ([`super::grouped`]), most multiplications would be by
//! zeros. Here, a register of 16 outputs takes one step per channel of a group: each value of the input is repeated for all
//! outputs of its group, and multiplied by a register of weights. Threads share the rows of outputs; up to eight pixels are
//! computed together, so that a register of weights is used eight times.

use crate::convolve::{Convolve, Operands, part};
use crate::dispatch::for_each_set;
use crate::epilogue::Bounds;
use crate::functions::Apply;
use crate::gemm::lanes::{Lanes, Plain};
use crate::gemm::row_groups;
use crate::layouts::BLOCK;
use crate::problem::ConvProblem;
use mxrs_processor::Isa;
use mxrs_sync::Team;
use mxrs_types::Result;
use std::ops::Range;

/// Largest number of pixels that share weights in registers.
const PIXELS: usize = 8;
/// Multiply-adds per thread below which another thread costs more than it saves.
const SMALL: usize = 1 << 15;

/// A prepared convolution.
pub struct SmallGroups {
    problem: ConvProblem,
    /// Channels of a group.
    group: usize,
    kernel: unsafe fn(&Row<'_>),
    function: Option<Apply>,
    threads: usize,
    /// Output columns whose windows lie between the left and the right border.
    inner: Range<usize>,
}

/// A row of outputs of one block of channels.
struct Row<'a> {
    layer: &'a SmallGroups,
    y: usize,
    /// The input plane of the block.
    src: *const f32,
    /// The weights of the block, `[tap][channel of a group][16]`.
    weights: *const f32,
    bias: [f32; BLOCK],
    /// The row of the tensor to add, or null.
    sum: *const f32,
    dst: *mut f32,
    bounds: Bounds,
}

for_each_set! {
    /// Returns the function that computes a row of outputs. `GROUP` is the number of channels of a group, `STRIDE` the
    /// stride across the image, or 0.
    fn convolve_row[const GROUP: usize, const STRIDE: usize] [GROUP, STRIDE]: unsafe fn(row: &Row<'_>) = row_of
}

/// The function that computes rows with this stride.
fn of_stride<const GROUP: usize>(stride: usize, isa: Isa) -> unsafe fn(&Row<'_>) {
    match stride {
        1 => convolve_row::<GROUP, 1>(isa),
        2 => convolve_row::<GROUP, 2>(isa),
        _ => convolve_row::<GROUP, 0>(isa),
    }
}

/// The number of channels of a group, of inputs and of outputs, if this algorithm supports a convolution of `c` input and
/// `k` output channels in `groups` groups.
pub fn group_of(groups: usize, c: usize, k: usize) -> Option<usize> {
    let group = k / groups.max(1);
    let fits = c == k && k.is_multiple_of(BLOCK) && [4, 8, 16].contains(&group) && group * groups == k;
    fits.then_some(group)
}

/// Packs weights `[output channels][channels of a group][taps]` as `[output channels / 16][taps][channels of a
/// group][16]`, from block `block` on, which `to` holds.
pub fn pack(block: usize, group: usize, taps: usize, from: &[f32], to: &mut [f32]) {
    for (at, to) in to.iter_mut().enumerate() {
        let (tap, channel, lane) = (at / BLOCK / group, at / BLOCK % group, at % BLOCK);
        *to = from[((block * BLOCK + lane) * group + channel) * taps + tap];
    }
}

impl SmallGroups {
    /// Prepares a convolution in groups of `group` channels ([`group_of`]) for at most `threads` threads. `function` is
    /// applied to its outputs.
    pub fn new(problem: ConvProblem, group: usize, function: Option<Apply>, isa: Isa, threads: usize) -> Self {
        let p = &problem;
        let reach = (p.kw - 1) * p.dilate.1;
        let end = (p.w + p.pad.1).checked_sub(reach + 1).map_or(0, |last| last / p.stride.1 + 1).min(p.ow);
        let inner = p.pad.1.div_ceil(p.stride.1).min(end)..end;
        let kernel = match group {
            4 => of_stride::<4>(p.stride.1, isa),
            8 => of_stride::<8>(p.stride.1, isa),
            _ => of_stride::<16>(p.stride.1, isa),
        };
        Self { problem, group, kernel, function, threads: threads.max(1), inner }
    }
}

impl Convolve for SmallGroups {
    fn scratch_bytes(&self) -> usize {
        0
    }

    unsafe fn run(&self, o: &Operands, team: &Team) -> Result<()> {
        let p = &self.problem;
        let (blocks, of_block) = (p.k / BLOCK, p.kh * p.kw * self.group * BLOCK);
        let rows = p.n * blocks * p.oh;
        let threads = (rows * p.ow * of_block / SMALL).clamp(1, self.threads).min(rows);
        team.run(threads, &|i| {
            for row in part(rows, threads, i) {
                let (plane, y) = (row / p.oh, row % p.oh);
                let block = plane % blocks;
                let mut bias = [0.0; BLOCK];
                // SAFETY: `row < rows`, so `plane < p.n * blocks` is a plane of the data, which has as many channels as
                // the output, and `block < blocks` has its own weights. Row `row` of the output, and of the sum if there
                // is one, has `p.ow * BLOCK` values; `part` gives each row to one thread. The bias has `p.k` values, a
                // multiple of `BLOCK`. `new` chose the kernel for an `Isa`, so the processor has its instructions.
                unsafe {
                    if !o.bias.is_null() {
                        bias.as_mut_ptr().copy_from_nonoverlapping(o.bias.add(block * BLOCK), BLOCK);
                    }
                    let at = row * p.ow * BLOCK;
                    let dst = o.dst.add(at);
                    (self.kernel)(&Row {
                        layer: self,
                        y,
                        src: o.src.add(plane * p.h * p.w * BLOCK),
                        weights: o.weights.add(block * of_block),
                        bias,
                        sum: if o.sum.is_null() { o.sum } else { o.sum.add(at) },
                        dst,
                        bounds: o.bounds,
                    });
                    if let Some(apply) = self.function {
                        apply.apply_to(dst, p.ow, BLOCK);
                    }
                }
            }
        });
        Ok(())
    }
}

/// # Safety
/// `row.src` must point to a plane of the data, `row.weights` to the weights of a block, `row.dst` and, if it is not
/// null, `row.sum` to a row of the output. `GROUP` and `STRIDE` must be those of the layer, or `STRIDE` 0. The processor
/// must have the instructions of `L`.
#[inline(always)]
unsafe fn row_of<L: Lanes + Permute, const GROUP: usize, const STRIDE: usize>(row: &Row<'_>) {
    let (p, inner) = (&row.layer.problem, &row.layer.inner);
    // The rows of the window that lie in the image.
    let top = row.y * p.stride.0;
    let first = p.pad.0.saturating_sub(top).div_ceil(p.dilate.0).min(p.kh);
    let end = (p.h + p.pad.0).saturating_sub(top).div_ceil(p.dilate.0).clamp(first, p.kh);
    // AVX2 has only 16 registers, too few for eight sums together with the weights, indices and inputs of the unrolled
    // loop.
    let most = if L::N == BLOCK { PIXELS } else { PIXELS / 2 };
    let all = 0..p.kw;
    for lane in (0..BLOCK).step_by(L::N) {
        // SAFETY: `x` runs over the columns of the output, and over those of `inner` in groups of up to `PIXELS`, whose
        // windows have all columns in the image. For a pixel at the border, the columns are those that lie in the image.
        // `lane + L::N <= BLOCK`. The other conditions of `pixels` are those of this function.
        unsafe {
            for x in (0..inner.start).chain(inner.end..p.ow) {
                let left = x * p.stride.1;
                let from = p.pad.1.saturating_sub(left).div_ceil(p.dilate.1).min(p.kw);
                let to = (p.w + p.pad.1).saturating_sub(left).div_ceil(p.dilate.1).clamp(from, p.kw);
                pixels::<L, GROUP, STRIDE, 1>(row, [first..end, from..to], x, lane);
            }
            for (x, len) in row_groups(inner.len(), most) {
                let (window, x) = ([first..end, all.clone()], inner.start + x);
                match len {
                    1 => pixels::<L, GROUP, STRIDE, 1>(row, window, x, lane),
                    2 => pixels::<L, GROUP, STRIDE, 2>(row, window, x, lane),
                    3 => pixels::<L, GROUP, STRIDE, 3>(row, window, x, lane),
                    4 => pixels::<L, GROUP, STRIDE, 4>(row, window, x, lane),
                    5 => pixels::<L, GROUP, STRIDE, 5>(row, window, x, lane),
                    6 => pixels::<L, GROUP, STRIDE, 6>(row, window, x, lane),
                    7 => pixels::<L, GROUP, STRIDE, 7>(row, window, x, lane),
                    _ => pixels::<L, GROUP, STRIDE, 8>(row, window, x, lane),
                }
            }
        }
    }
}

/// Computes `N` neighboring pixels, for the rows and columns `window` of the window, which lie in the image.
///
/// # Safety
/// The conditions of [`row_of`] must hold, for the pixels `x..x + N` and the channels `lane..lane + L::N`.
#[inline(always)]
unsafe fn pixels<L: Lanes + Permute, const GROUP: usize, const STRIDE: usize, const N: usize>(
    row: &Row<'_>,
    [rows, columns]: [Range<usize>; 2],
    x: usize,
    lane: usize,
) {
    let p = &row.layer.problem;
    let stride = if STRIDE == 0 { p.stride.1 } else { STRIDE };
    // SAFETY: `ky` is a row and `kx` a column of the windows of these pixels that lie in the image, so the loads lie in
    // the plane, and channel `i < GROUP` of a group lies in the block. The weights have `kh * kw` taps of `GROUP` times
    // `BLOCK` values. The caller promises these pixels and channels in output and sum; the bias has `BLOCK` values.
    unsafe {
        let mut acc = [L::splat(0.0); N];
        for ky in rows {
            let y = row.y * p.stride.0 + ky * p.dilate.0 - p.pad.0;
            for kx in columns.clone() {
                let left = x * stride + kx * p.dilate.1 - p.pad.1;
                let from = row.src.add((y * p.w + left) * BLOCK);
                let weights = row.weights.add((ky * p.kw + kx) * GROUP * BLOCK + lane);
                for i in 0..GROUP {
                    let weight = L::load(weights.add(i * BLOCK));
                    let index = L::load(INDICES[GROUP / 8][i % 8].0.as_ptr().cast());
                    for (pixel, acc) in acc.iter_mut().enumerate() {
                        let from = from.add(pixel * stride * BLOCK);
                        // A group of 16 channels is a whole block, so all outputs read the same value.
                        let value = if GROUP == BLOCK {
                            L::splat(*from.add(i))
                        } else {
                            L::load(from.add(lane)).permuted(index)
                        };
                        *acc = value.mul_add(weight, *acc);
                    }
                }
            }
        }
        let (low, high) = (L::splat(row.bounds.low), L::splat(row.bounds.high));
        let bias = L::load(row.bias.as_ptr().add(lane));
        for (i, acc) in acc.into_iter().enumerate() {
            let at = (x + i) * BLOCK + lane;
            let mut acc = acc.add(bias);
            if !row.sum.is_null() {
                acc = acc.add(L::load(row.sum.add(at)));
            }
            acc.clamp(low, high).store(row.dst.add(at));
        }
    }
}

/// Indices of the values that a permutation takes, one per lane.
#[repr(align(64))]
struct Indices([u32; BLOCK]);

/// For groups of 4 and of 8 channels, and for each channel `i`: for each lane, channel `i` of the lane's group. The third
/// entry is for groups of 16 channels, which need no permutation.
static INDICES: [[Indices; 8]; 3] = [of_groups(4), of_groups(8), of_groups(8)];

const fn of_groups(group: u32) -> [Indices; 8] {
    const ZERO: Indices = Indices([0; BLOCK]);
    let mut all = [ZERO; 8];
    let mut i = 0;
    while i < 8 {
        let mut lane = 0;
        while lane < BLOCK {
            all[i].0[lane] = lane as u32 / group * group + i as u32 % group;
            lane += 1;
        }
        i += 1;
    }
    all
}

/// A permutation of the values of a register, which [`Lanes`] does not have.
trait Permute: Lanes {
    /// For each lane, the value of `self` at the index in the same lane of `index`, whose bits are those of an integer.
    /// Registers of eight lanes use only the first eight indices of an entry of [`INDICES`], which are below 8.
    unsafe fn permuted(self, index: Self) -> Self;
}

impl Permute for Plain {
    #[inline(always)]
    unsafe fn permuted(self, index: Self) -> Self {
        let (mut values, mut indices) = ([0.0; 8], [0.0; 8]);
        // SAFETY: both arrays have `N` values.
        unsafe {
            self.store(values.as_mut_ptr());
            index.store(indices.as_mut_ptr());
        }
        let picked = indices.map(|i: f32| values[i.to_bits() as usize % 8]);
        // SAFETY: the array has `N` values.
        unsafe { Self::load(picked.as_ptr()) }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Permute;
    use std::arch::x86_64::*;

    impl Permute for __m256 {
        #[inline(always)]
        unsafe fn permuted(self, index: Self) -> Self {
            // SAFETY: the instruction uses only registers, and the caller is compiled for AVX2.
            unsafe { _mm256_permutevar8x32_ps(self, _mm256_castps_si256(index)) }
        }
    }

    impl Permute for __m512 {
        #[inline(always)]
        unsafe fn permuted(self, index: Self) -> Self {
            // SAFETY: the instruction uses only registers, and the caller is compiled for AVX-512F.
            unsafe { _mm512_permutexvar_ps(_mm512_castps_si512(index), self) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_4_8_and_16_channels_are_taken() {
        assert_eq!(group_of(32, 128, 128), Some(4));
        assert_eq!(group_of(32, 512, 512), Some(16));
        assert_eq!(group_of(32, 1024, 1024), None);
        assert_eq!(group_of(3, 24, 24), None);
        assert_eq!(group_of(4, 32, 16), None);
    }

    #[test]
    fn packed_weights_are_a_register_per_tap_and_channel() {
        let (group, taps) = (4, 9);
        let from: Vec<f32> = (0..32 * group * taps).map(|i| i as f32).collect();
        let mut to = vec![f32::NAN; BLOCK * group * taps];
        pack(1, group, taps, &from, &mut to);
        for tap in 0..taps {
            for channel in 0..group {
                for lane in 0..BLOCK {
                    let want = from[((16 + lane) * group + channel) * taps + tap];
                    assert_eq!(to[(tap * group + channel) * BLOCK + lane], want);
                }
            }
        }
    }
}
