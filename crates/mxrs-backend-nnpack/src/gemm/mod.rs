//! Matrix products of a few rows by a panel of 32 (or 16) columns, in which every algorithm of this crate spends most
//! of its time.
//!
//! ```text
//! acc[r][col] = (C's old value, or 0) + sum over blocks k and c in 0..16 of
//!               a[offsets[k] + r * a_row_stride + c] * b[(16 * k + c) * width + col]
//!
//! C[(col / 16) * c_half_stride + r * c_row_stride + col % 16] = clamp(acc[r][col] + bias[col] + sum[as C])
//! ```
//!
//! The left operand is read in place: blocks of 16 channels, one row per pixel or tile. The right operand is packed,
//! one panel per 32 columns: each row of a panel has `width` values. The last panel may be 16 wide.

pub(crate) mod compare;
pub(crate) mod element;
pub(crate) mod kernels;
pub(crate) mod lanes;
#[cfg(test)]
mod tests;

use element::Element;
use half::bf16;
use mxrs_processor::{Isa, Set};

/// Largest number of rows of one product.
pub const MAX_ROWS: usize = 14;
/// Columns of a whole panel.
pub const PANEL: usize = 32;

/// Operands of one product. Strides and offsets are numbers of values.
#[derive(Clone, Copy, Debug)]
pub struct Product<'a> {
    /// Left operand. `a_offsets` are counted from this address.
    pub a: *const f32,
    /// Index in `a` of the first value of each block of 16 channels, for row 0.
    pub a_offsets: &'a [usize],
    /// Distance from one row of `a` to the next.
    pub a_row_stride: usize,
    /// The panel: `[16 * a_offsets.len()][width]`. It holds bfloat16 values for the kernels of [`Gemm::of_bf16`].
    pub b: *const f32,
    /// The result.
    pub c: *mut f32,
    /// Distance from one row of the result to the next.
    pub c_row_stride: usize,
    /// Distance from the first 16 columns of the result to the other 16.
    pub c_half_stride: usize,
    /// Whether to add the result to the old values at `c`.
    pub add: bool,
    /// Start of memory to prefetch into the second-level cache, usually the next panel. For each row of the panel that
    /// is multiplied, as many bytes are prefetched as one row of a whole panel has. Null for none. The address is never
    /// read, so it may point anywhere.
    pub prefetch: *const f32,
    /// Start of more memory to prefetch, and the number of blocks of 16 channels that prefetch it. Each channel of
    /// these blocks prefetches 64 bytes.
    pub prefetch_lines: (*const f32, usize),
    /// The epilogue, if there is one.
    pub epilogue: Option<&'a ProductEpilogue>,
}

impl Product<'_> {
    /// Whether the product prefetches any memory besides its operands.
    fn prefetches(&self) -> bool {
        !self.prefetch.is_null() || self.prefetch_lines.1 > 0
    }
}

/// The epilogue of a product.
#[derive(Clone, Copy, Debug)]
pub struct ProductEpilogue {
    /// A value per column that is added to each row. Null for none.
    pub bias: *const f32,
    /// A tensor that is added. It has the layout of the result, and may be the result itself. Null for none.
    pub sum: *const f32,
    /// Lower bound; negative infinity for none.
    pub lo: f32,
    /// Upper bound; infinity for none.
    pub hi: f32,
}

/// A function that multiplies a number of rows by a whole panel if its second argument is true, otherwise by half a
/// panel.
type Kernel = unsafe fn(usize, bool, &Product<'_>);

/// The product kernels of one instruction set.
#[derive(Clone, Copy, Debug)]
pub struct Gemm {
    kernel: Kernel,
    most_rows: usize,
}

impl Gemm {
    /// The kernels of `isa`.
    pub fn new(isa: Isa) -> Self {
        Self::of::<f32>(isa)
    }

    /// The kernels of `isa` for panels of bfloat16.
    pub fn of_bf16(isa: Isa) -> Self {
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
            // AVX2 and portable kernels compute a product in several parts, six or four rows at a time; 12 is a
            // multiple of both.
            _ => 12,
        };
        Self { kernel, most_rows }
    }

    /// Number of rows of a product that uses the registers best, at most [`MAX_ROWS`].
    pub fn most_rows(&self) -> usize {
        self.most_rows
    }

    /// Multiplies `rows` rows (1 to [`MAX_ROWS`]) by a panel that is 32 columns wide, or 16 if not `whole`.
    ///
    /// # Panics
    /// The kernels of AVX-512 panic if `rows` is 0 or more than [`MAX_ROWS`].
    ///
    /// # Safety
    /// All addresses that the formula of the module reads must be readable, and those of the result writable. During
    /// the call no other thread may write the operands or use the result.
    #[inline]
    pub unsafe fn run(&self, rows: usize, whole: bool, product: &Product<'_>) {
        // SAFETY: the contract of this function is that of the kernel, and `of` chose a kernel for an `Isa`, which only
        // exists if the processor has its instructions.
        unsafe { (self.kernel)(rows, whole, product) }
    }
}

/// Splits `n` rows into the fewest groups of at most `most` rows, of nearly equal length. Yields the first row and the
/// length of each group. 49 rows in groups of at most 14 become 13 + 12 + 12 + 12.
pub fn row_groups(n: usize, most: usize) -> impl Iterator<Item = (usize, usize)> + Clone {
    let groups = n.div_ceil(most).max(1);
    let (each, longer) = (n / groups, n % groups);
    (0..groups).map(move |g| (g * each + g.min(longer), each + usize::from(g < longer))).filter(|&(_, len)| len > 0)
}
