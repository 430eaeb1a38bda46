//! A team transforms weights in double precision. The values of a transformed filter are called factors; they are
//! stored as `[K/32][factor][C][32]`; the last panel has 16 columns if K/16 is odd. A complex factor has the real parts
//! of all channels, then the imaginary ones: `[2][C][32]`.

use super::{BLOCK, Tiling};
use crate::filters::Filters;
use crate::gemm::PANEL;
use mxrs_processor::Set;
use mxrs_sync::Team;

/// Bytes of a cache line.
const LINE_BYTES: usize = 64;

/// Largest number of taps of a window along one axis.
pub(crate) const MAX_TAPS: usize = 11;

/// One number for each output channel of a panel. Sums over taps are computed in the order of the taps with products
/// rounded before they are added, so the bits do not depend on the instructions.
pub(crate) type Columns = [f64; PANEL];

/// The taps of one input channel, for all output channels of a panel.
pub(crate) type Taps = [[Columns; MAX_TAPS]; MAX_TAPS];

/// A transform of filters.
pub(crate) trait Transform: Sync {
    /// Transforms the taps of a window of this height and width. Calls `put` for each value of the transformed window
    /// with its index, the part (0 for real, 1 for imaginary) and the numbers, one per output channel.
    fn factors(&self, taps: &Taps, window: [usize; 2], put: impl FnMut(usize, usize, &Columns));
}

/// Start of the packed weights, which threads write in disjoint parts.
struct Shared(*mut f32);
// SAFETY: each chunk of the loop in `pack` writes a different panel or different channels, and no code reads the
// weights before the loop has ended.
unsafe impl Sync for Shared {}

impl Shared {
    fn to(&self) -> *mut f32 {
        self.0
    }
}

/// Packs filters of the tiling's channels and window.
pub(super) fn pack(tiling: &Tiling, transform: &impl Transform, filters: Filters<'_>, packed: &mut [f32], team: &Team) {
    let shared = Shared(packed.as_mut_ptr());
    // Each panel is cut into several pieces, so that there is work for all threads.
    let pieces = tiling.c_blocks;
    team.run(tiling.panels() * pieces, &|chunk| {
        let piece = Piece { tiling, transform, filters, panel: chunk / pieces, c_block: chunk % pieces };
        let to = shared.to();
        match tiling.isa.set() {
            // SAFETY: `pack_weights` has checked that `packed` has room for all panels and channels, and no other chunk
            // has this panel and these channels. Portable code needs no special instructions.
            Set::Portable => unsafe { piece.pack(to, |to, columns, width| store_columns(to, columns, width)) },
            // SAFETY: `pack_weights` has checked the length of `packed`, and no other chunk has this panel and these
            // channels. `set` proves that the processor has AVX2.
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => unsafe { pack_avx2(&piece, to) },
            // SAFETY: `pack_weights` has checked the length of `packed`, and no other chunk has this panel and these
            // channels. `set` proves that the processor has AVX-512F and AVX2.
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => unsafe { pack_avx512(&piece, to) },
        }
    });
}

/// # Safety
/// The conditions of [`Piece::pack`] must hold.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn pack_avx2<T: Transform>(piece: &Piece<'_, T>, to: *mut f32) {
    // SAFETY: the contract of this function is that of `Piece::pack`, and this function is compiled for AVX2.
    unsafe { piece.pack(to, |to, columns, width| store_columns(to, columns, width)) }
}

/// # Safety
/// The conditions of [`Piece::pack`] must hold.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx2")]
unsafe fn pack_avx512<T: Transform>(piece: &Piece<'_, T>, to: *mut f32) {
    // SAFETY: the contract of this function is that of `Piece::pack`. Offsets of panels, factors and channels are
    // multiples of 16 values, so an aligned `to` keeps every line aligned. The fence makes the streamed lines visible
    // before the loop ends.
    unsafe {
        if (to as usize).is_multiple_of(LINE_BYTES) {
            piece.pack(to, |to, columns, width| stream_columns(to, columns, width));
            std::arch::x86_64::_mm_sfence();
        } else {
            piece.pack(to, |to, columns, width| store_columns(to, columns, width));
        }
    }
}

/// Writes the first `width` values of the columns.
///
/// # Safety
/// `to` must be writable for `width` values; `width` is at most `PANEL`.
#[inline(always)]
unsafe fn store_columns(to: *mut f32, columns: &Columns, width: usize) {
    for (col, value) in columns.iter().enumerate().take(width) {
        // SAFETY: `take` keeps `col` below `width`, the number of values that the caller promises.
        unsafe { to.add(col).write(*value as f32) };
    }
}

/// Like [`store_columns`], but bypasses the caches. Each value of a transformed filter is written to a different place, in
/// whole cache lines. Reading these lines into the cache first would take longer than the rest of the packing.
///
/// # Safety
/// The conditions of [`store_columns`] must hold; `to` must begin a cache line, and `width` must be a multiple of 16.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx2")]
#[inline]
unsafe fn stream_columns(to: *mut f32, columns: &Columns, width: usize) {
    let mut line = [0.0; BLOCK];
    for (at, part) in columns.chunks_exact(BLOCK).take(width / BLOCK).enumerate() {
        line.iter_mut().zip(part).for_each(|(to, x)| *to = *x as f32);
        // SAFETY: `at < width / BLOCK`, so a whole line fits into the `width` values. `to` begins a cache line, so the
        // store is aligned. `line` has 16 values.
        unsafe {
            std::arch::x86_64::_mm512_stream_ps(to.add(at * BLOCK), std::arch::x86_64::_mm512_loadu_ps(line.as_ptr()))
        };
    }
}

/// The unit of packing: the output channels of a panel and a block of input channels.
struct Piece<'a, T> {
    tiling: &'a Tiling,
    transform: &'a T,
    filters: Filters<'a>,
    panel: usize,
    c_block: usize,
}

impl<T: Transform> Piece<'_, T> {
    /// # Safety
    /// Must be called from code compiled for instructions that the processor has. `to` must be the start of packed
    /// weights of the tiling's size, and no other thread may use the weights of this panel and these channels. `store`
    /// must be callable for `width` values at each address.
    #[inline(always)]
    unsafe fn pack(&self, to: *mut f32, store: impl Fn(*mut f32, &Columns, usize)) {
        let Self { tiling, panel, .. } = *self;
        let (width, channels) = (tiling.panel_width(panel), tiling.c_blocks * BLOCK);
        let mut taps = [[[0.0; PANEL]; MAX_TAPS]; MAX_TAPS];
        for c in self.c_block * BLOCK..(self.c_block + 1) * BLOCK {
            self.gather(c, &mut taps);
            self.transform.factors(&taps, tiling.shape.kernel, |factor, part, columns| {
                let at = tiling.panel_offset(panel, factor) + (part * channels + c) * width;
                store(to.wrapping_add(at), columns, width);
            });
        }
    }

    /// Collects the taps of an input channel; zeros for padding channels.
    #[inline(always)]
    fn gather(&self, c: usize, taps: &mut Taps) {
        let shape = &self.tiling.shape;
        let [kh, kw] = shape.kernel;
        for col in 0..PANEL {
            let k = self.panel * PANEL + col;
            if c < shape.c && k < shape.k {
                let (window, last) = self.filters.window(k, c);
                for y in 0..kh {
                    for x in 0..kw {
                        taps[y][x][col] = f64::from(window[(y * kw + x).abs_diff(last)]);
                    }
                }
            } else {
                taps[..kh].iter_mut().flat_map(|row| &mut row[..kw]).for_each(|tap| tap[col] = 0.0);
            }
        }
    }
}

/// Returns the sum of `coefficients[i] * columns(i)` over all `i`.
#[inline(always)]
pub(crate) fn sum<'a>(coefficients: &[f64], columns: impl Fn(usize) -> &'a Columns) -> Columns {
    let mut sums = [0.0; PANEL];
    for (i, by) in coefficients.iter().enumerate() {
        for (sum, x) in sums.iter_mut().zip(columns(i)) {
            *sum += by * x;
        }
    }
    sums
}
