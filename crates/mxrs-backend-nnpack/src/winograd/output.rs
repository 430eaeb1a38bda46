//! Transform of the products to outputs: a row of tiles of one channel block at a time, first along its rows into a small
//! buffer, then down its columns into the image, where bias, sum and bounds are applied.

use super::input::BUFFER_STRIDE;
use super::one_d::{self, unrolled};
use super::points::{MAX_N, Points};
use crate::gemm::element::Element;
use crate::gemm::lanes::Lanes;

/// Channels of a block.
const BLOCK: usize = 16;

/// What is done to a channel block's outputs. Lanes beyond the last channel have zeros everywhere.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Finish {
    /// Added.
    pub bias: [f32; BLOCK],
    /// Lower bounds.
    pub lo: [f32; BLOCK],
    /// Upper bounds.
    pub hi: [f32; BLOCK],
}

/// Neighbouring tiles of one row of tiles, one channel block.
pub(super) struct Tiles<'a> {
    /// The first tile's first product; the next tile's lies 16 values on.
    pub products: *const f32,
    /// Values from one product's plane to the next.
    pub plane: usize,
    /// Tiles.
    pub len: usize,
    /// Where the first tile's first output goes.
    pub dst: *mut u8,
    /// Added to each output, addressed like it. Null for none.
    pub sum: *const u8,
    /// Numbers from one row of the image to the next, and from one pixel to the next.
    pub steps: [usize; 2],
    /// Rows and columns of outputs that are inside the image.
    pub inside: [usize; 2],
    /// What is done to them.
    pub finish: &'a Finish,
    /// `N` rows of [`BUFFER_STRIDE`] values.
    pub buffer: *mut f32,
}

/// Transforms tiles.
///
/// # Safety
/// Called from code compiled for the instructions of `L`; the addresses are valid for what [`Tiles`] says, and nobody else uses
/// what is written.
#[inline(always)]
pub(super) unsafe fn transform<L: Lanes, V: Points, H: Points, E: Element>(t: &Tiles<'_>) {
    // SAFETY: the caller's promise; only rows and columns inside the image are touched.
    unsafe {
        for i in 0..V::N {
            for tile in 0..t.len {
                for lane in (0..BLOCK).step_by(L::N) {
                    let from = t.products.add(i * H::N * t.plane + tile * BLOCK + lane);
                    let mut m = [L::splat(0.0); MAX_N];
                    unrolled!(j in 0..H::N, {
                        m[j] = L::load(from.add(j * t.plane));
                    });
                    let y = one_d::output::<L, H>(&m);
                    let to = t.buffer.add(i * BUFFER_STRIDE + tile * H::M * BLOCK + lane);
                    unrolled!(j in 0..H::M, {
                        y[j].store(to.add(j * BLOCK));
                    });
                }
            }
        }
        let [rows, columns] = t.inside;
        match (rows >= V::M, t.sum.is_null()) {
            (true, true) => down_columns::<L, V, E, true, false>(t, V::M, columns),
            (true, false) => down_columns::<L, V, E, true, true>(t, V::M, columns),
            (false, true) => down_columns::<L, V, E, false, false>(t, rows, columns),
            (false, false) => down_columns::<L, V, E, false, true>(t, rows, columns),
        }
    }
}

/// The second half. `ALL`: all rows of the tile are inside the image.
///
/// # Safety
/// As [`transform`].
#[inline(always)]
unsafe fn down_columns<L: Lanes, V: Points, E: Element, const ALL: bool, const SUM: bool>(
    t: &Tiles<'_>,
    rows: usize,
    columns: usize,
) {
    let [row, pixel] = [t.steps[0], if E::IS_BLOCKED { BLOCK } else { t.steps[1] }];
    let (dst, sum) = (t.dst.cast::<E>(), t.sum.cast::<E>());
    // SAFETY: the caller's promise.
    unsafe {
        for lane in (0..BLOCK).step_by(L::N) {
            let bias = L::load(t.finish.bias.as_ptr().add(lane));
            let (lo, hi) = (L::load(t.finish.lo.as_ptr().add(lane)), L::load(t.finish.hi.as_ptr().add(lane)));
            for x in 0..columns {
                let (at, to) = (x * BLOCK + lane, x * pixel + lane);
                let mut m = [L::splat(0.0); MAX_N];
                unrolled!(i in 0..V::N, {
                    m[i] = L::load(t.buffer.add(i * BUFFER_STRIDE + at));
                });
                let y = one_d::output::<L, V>(&m);
                unrolled!(i in 0..V::M, {
                    if ALL || i < rows {
                        let mut y = y[i].add(bias);
                        if SUM {
                            y = y.add(E::load(sum.add(i * row + to)));
                        }
                        E::store(y.clamp(lo, hi), dst.add(i * row + to));
                    }
                });
            }
        }
    }
}
