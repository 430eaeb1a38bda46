//! Products of a few rows by a panel of 32 (or 16) columns: what every algorithm of this crate spends its time in.
//!
//! ```text
//! acc[r][col] = (C's old value, or 0) + sum over blocks b and c in 0..16 of  a[offsets[b] + r * a_row_stride + c] * b[(16 * b + c) * width + col]
//! C[(col / 16) * c_half_stride + r * c_row_stride + col % 16] = clamp(acc[r][col] + bias[col] + sum[as C])
//! ```
//!
//! The left operand is read where it lies: blocks of 16 channels, a row per pixel or tile. The right operand is packed, a
//! panel per 32 columns, `width` values per step; a last panel may be 16 wide.

pub(crate) mod element;
pub(crate) mod kernels;
pub(crate) mod lanes;
#[cfg(test)]
mod tests;

use crate::Isa;
use crate::isa::Set;
use element::Element;
use half::bf16;

/// Most rows of one product.
pub const MAX_ROWS: usize = 14;
/// Columns of a whole panel.
pub const PANEL: usize = 32;

/// Operands of one product. Strides and offsets count values.
#[derive(Clone, Copy, Debug)]
pub struct Product<'a> {
    /// Left operand, what the offsets are from.
    pub a: *const f32,
    /// Where each block of 16 steps begins in `a`, for row 0.
    pub a_offsets: &'a [usize],
    /// From one row of `a` to the next.
    pub a_row_stride: usize,
    /// The panel: `[16 * a_offsets.len()][width]`, of bfloat16 for kernels [of those](Gemm::of_short).
    pub b: *const f32,
    /// Result.
    pub c: *mut f32,
    /// From one row of the result to the next.
    pub c_row_stride: usize,
    /// From the first 16 columns of the result to the other 16.
    pub c_half_stride: usize,
    /// Whether the result is added to what is there.
    pub add: bool,
    /// Start of memory to bring into the second-level cache meanwhile, as much a step as one of a whole panel has: the next panel. Null for none;
    /// never read otherwise, so it may point anywhere.
    pub prefetch: *const f32,
    /// As `prefetch`, but 64 bytes a step, for as many blocks of 16 steps as the second number says.
    pub prefetch_lines: (*const f32, usize),
    /// What happens to the sums before they are written.
    pub finish: Option<&'a Finish>,
}

impl Product<'_> {
    /// Whether it brings anything into the caches beside its operands.
    fn prefetches(&self) -> bool {
        !self.prefetch.is_null() || self.prefetch_lines.1 > 0
    }
}

/// What happens to the sums before they are written.
#[derive(Clone, Copy, Debug)]
pub struct Finish {
    /// Added to each row: as many values as there are columns. Null for none.
    pub bias: *const f32,
    /// Added, addressed like the result (which it may be). Null for none.
    pub sum: *const f32,
    /// Lower bound; negative infinity for none.
    pub lo: f32,
    /// Upper bound; infinity for none.
    pub hi: f32,
}

/// Multiplies this many rows by a whole panel or a half.
type Kernel = unsafe fn(usize, bool, &Product<'_>);

/// The kernels of one instruction set.
#[derive(Clone, Copy, Debug)]
pub struct Gemm {
    kernel: Kernel,
    most_rows: usize,
}

impl Gemm {
    /// Those of `isa`.
    pub fn new(isa: Isa) -> Self {
        Self::of::<f32>(isa)
    }

    /// Those of `isa` for panels of bfloat16.
    pub fn of_short(isa: Isa) -> Self {
        Self::of::<bf16>(isa)
    }

    fn of<W: Element>(isa: Isa) -> Self {
        let kernel = match isa.set() {
            Set::Portable => kernels::portable::<W> as Kernel,
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => kernels::avx2::<W>,
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => kernels::avx512::<W>,
        };
        let most_rows = match isa.set() {
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => MAX_ROWS,
            // Where a product takes several parts: without a rest, in sixes and in fours.
            _ => 12,
        };
        Self { kernel, most_rows }
    }

    /// Rows of a product that suit the registers best, at most [`MAX_ROWS`].
    pub fn most_rows(&self) -> usize {
        self.most_rows
    }

    /// Multiplies `rows` (1 to [`MAX_ROWS`]) rows by a panel 32 columns wide, or 16 if not `whole`.
    ///
    /// # Panics
    /// If there are no rows or too many.
    ///
    /// # Safety
    /// Everything the formula of the module reads and writes must be readable and writable, and nobody else may write it or
    /// use the result meanwhile.
    #[inline]
    pub unsafe fn run(&self, rows: usize, whole: bool, product: &Product<'_>) {
        // SAFETY: the caller's promise; `new` chose kernels that this processor can run.
        unsafe { (self.kernel)(rows, whole, product) }
    }
}

/// Splits `n` rows evenly into as few groups as possible of at most `most`: first row and length of each. 49 rows in groups of
/// at most 14 are 13 + 12 + 12 + 12.
pub fn row_groups(n: usize, most: usize) -> impl Iterator<Item = (usize, usize)> + Clone {
    let groups = n.div_ceil(most).max(1);
    let (each, longer) = (n / groups, n % groups);
    (0..groups).map(move |g| (g * each + g.min(longer), each + usize::from(g < longer))).filter(|&(_, len)| len > 0)
}
