//! Weights to factors by a team, in double: `[K/32][factor][C][32]`, a last panel of 16 if K/16 is odd. A complex factor has the
//! real parts of all channels, then the imaginary ones: `[2][C][32]`.

use super::{BLOCK, Tiling};
use crate::filters::Filters;
use crate::gemm::PANEL;
use crate::isa::Set;
use mxrs_sync::Team;

/// A cache line.
const LINE_BYTES: usize = 64;

/// Most taps of a window along one axis.
pub(crate) const MAX_TAPS: usize = 11;

/// Numbers of all output channels of a panel, side by side. Sums of them are made in the order of the taps whatever the
/// instructions, and products are rounded before they are added.
pub(crate) type Columns = [f64; PANEL];

/// The taps of an input channel.
pub(crate) type Taps = [[Columns; MAX_TAPS]; MAX_TAPS];

/// A transform of filters.
pub(crate) trait Transform: Sync {
    /// Transforms the taps of a window of this height and width. Calls `put` for each factor with its number, the part (0 for the
    /// real, 1 for the imaginary one) and the values.
    fn factors(&self, taps: &Taps, window: [usize; 2], put: impl FnMut(usize, usize, &Columns));
}

/// Where threads write different parts of the packed weights.
struct Shared(*mut f32);
// SAFETY: each chunk of the loop below writes its own panel's part, and nobody reads before the loop has ended.
unsafe impl Sync for Shared {}

impl Shared {
    fn to(&self) -> *mut f32 {
        self.0
    }
}

/// Packs filters of the tiling's channels and window.
pub(super) fn pack(tiling: &Tiling, transform: &impl Transform, filters: Filters<'_>, packed: &mut [f32], team: &Team) {
    let shared = Shared(packed.as_mut_ptr());
    // Some pieces per panel, so that there is work for all threads.
    let pieces = tiling.c_blocks;
    team.run(tiling.panels() * pieces, &|chunk| {
        let piece = Piece { tiling, transform, filters, panel: chunk / pieces, c_block: chunk % pieces };
        let to = shared.to();
        match tiling.isa.set() {
            // SAFETY: `pack_weights` has checked the length; no other chunk has this panel and these channels.
            Set::Portable => unsafe { piece.pack(to, |to, columns, width| store_columns(to, columns, width)) },
            // SAFETY: as above; the processor has the instructions.
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => unsafe { pack_avx2(&piece, to) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => unsafe { pack_avx512(&piece, to) },
        }
    });
}

/// # Safety
/// As [`Piece::pack`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn pack_avx2<T: Transform>(piece: &Piece<'_, T>, to: *mut f32) {
    // SAFETY: the caller's promise.
    unsafe { piece.pack(to, |to, columns, width| store_columns(to, columns, width)) }
}

/// # Safety
/// As [`Piece::pack`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx2")]
unsafe fn pack_avx512<T: Transform>(piece: &Piece<'_, T>, to: *mut f32) {
    // SAFETY: the caller's promise; whoever reads what was written past the caches does so after the fence.
    unsafe {
        if (to as usize).is_multiple_of(LINE_BYTES) {
            piece.pack(to, |to, columns, width| stream_columns(to, columns, width));
            std::arch::x86_64::_mm_sfence();
        } else {
            piece.pack(to, |to, columns, width| store_columns(to, columns, width));
        }
    }
}

/// Writes the first numbers of columns, as many as the panel is wide.
///
/// # Safety
/// As many numbers may be written there.
#[inline(always)]
unsafe fn store_columns(to: *mut f32, columns: &Columns, width: usize) {
    for (col, value) in columns.iter().enumerate().take(width) {
        // SAFETY: the caller's promise.
        unsafe { to.add(col).write(*value as f32) };
    }
}

/// The same past the caches: lines are written whole, in as many places as there are factors, and reading them first takes longer than
/// all the rest.
///
/// # Safety
/// As [`store_columns`]; the place begins a cache line.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx2")]
#[inline]
unsafe fn stream_columns(to: *mut f32, columns: &Columns, width: usize) {
    let mut line = [0.0; BLOCK];
    for (at, part) in columns.chunks_exact(BLOCK).take(width / BLOCK).enumerate() {
        line.iter_mut().zip(part).for_each(|(to, x)| *to = *x as f32);
        // SAFETY: a whole line of the panel, and panels begin with one.
        unsafe {
            std::arch::x86_64::_mm512_stream_ps(to.add(at * BLOCK), std::arch::x86_64::_mm512_loadu_ps(line.as_ptr()))
        };
    }
}

/// What is packed at a time: the output channels of a panel, side by side, and a block of input channels.
struct Piece<'a, T> {
    tiling: &'a Tiling,
    transform: &'a T,
    filters: Filters<'a>,
    panel: usize,
    c_block: usize,
}

impl<T: Transform> Piece<'_, T> {
    /// # Safety
    /// Called from code compiled for instructions that there are; `to` begins the packed weights, and nobody else uses those of
    /// the panel and the channels.
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

    /// The taps of an input channel; zeros for channels that there are not.
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

/// The sum of columns with these coefficients.
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
