//! The transform of the products to outputs. It processes a row of tiles of one channel block at a time. First it
//! transforms the rows and stores the results in a small buffer. Then it transforms the columns, applies bias, sum and
//! bounds, and writes the outputs to the image.

use super::one_d::{self, unrolled};
use super::points::{MAX_N, Points};
use crate::gemm::element::Element;
use crate::gemm::lanes::Lanes;
use crate::tiles::BLOCK;
use crate::tiles::strip::{BUFFER_STRIDE, Outputs};

/// Transforms the products of tiles to outputs.
///
/// # Safety
/// Must be called from code compiled for the instructions of `L`. The fields of `t` must be as [`Outputs`] says, and no
/// other thread may use the output and the buffer.
#[inline(always)]
pub(super) unsafe fn transform<L: Lanes, V: Points, H: Points, E: Element>(t: &Outputs<'_>) {
    // SAFETY: the products have `V::N * H::N` planes with `len` tiles each. The buffer has `V::N` rows, in which `len *
    // H::M` pixels are written; `down_columns` reads `inside[1]` of these pixels, which is at most that number.
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

/// Transforms down the columns, from the buffer to the image. `ALL` says that all rows of the tile are inside the
/// image.
///
/// # Safety
/// The conditions of [`transform`] must hold.
#[inline(always)]
unsafe fn down_columns<L: Lanes, V: Points, E: Element, const ALL: bool, const SUM: bool>(
    t: &Outputs<'_>,
    rows: usize,
    columns: usize,
) {
    let [row, pixel] = [t.steps[0], if E::IS_BLOCKED { BLOCK } else { t.steps[1] }];
    let (dst, sum) = (t.dst.cast::<E>(), t.sum.cast::<E>());
    // SAFETY: `i < rows`, or `i < V::M` if all rows are inside, and `x < columns` keep output and sum inside the image,
    // as `Outputs::inside` says.
    unsafe {
        for lane in (0..BLOCK).step_by(L::N) {
            let bias = L::load(t.epilogue.bias.as_ptr().add(lane));
            let (lo, hi) = (L::load(t.epilogue.lo.as_ptr().add(lane)), L::load(t.epilogue.hi.as_ptr().add(lane)));
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
