//! The transform of the inputs. It processes a row of tiles of one channel block at a time. First it transforms all
//! columns and stores the results in a small buffer, so that columns shared by neighboring tiles are transformed once.
//! Then it transforms the rows and writes one plane for each value of a transformed tile.

use super::one_d::{self, unrolled};
use super::points::Points;
use crate::gemm::element::Element;
use crate::gemm::lanes::Lanes;
use crate::tiles::BLOCK;
use crate::tiles::strip::{BUFFER_COLUMNS, BUFFER_STRIDE, Inputs, ZEROS};

/// Transforms the inputs of tiles to the values that are multiplied by weights.
///
/// # Safety
/// Must be called from code compiled for the instructions of `L`. The fields of `t` must be as [`Inputs`] says, and no
/// other thread may use the memory at `t.factors` and `t.buffer`.
#[inline(always)]
pub(super) unsafe fn transform<L: Lanes, V: Points, H: Points, E: Element>(t: &Inputs) {
    // SAFETY: only the columns `left..right`, which lie in the image, are read from `rows`. A row is one of the image
    // or `ZEROS`; with channels last, `pixels` is 0 for `ZEROS`, so every pixel reads the first values of `ZEROS`. The
    // buffer has `V::N` rows of at least `columns` pixels, all written before they are read. `t.factors` has
    // `V::N * H::N` planes with `len` tiles each.
    unsafe {
        let columns = (t.len - 1) * H::M + H::N;
        debug_assert!(columns <= BUFFER_COLUMNS);
        let [h, w] = t.size;
        let left = (-t.origin[1]).clamp(0, columns as isize) as usize;
        let right = (w as isize - t.origin[1]).clamp(left as isize, columns as isize) as usize;
        let pixel = if E::IS_BLOCKED { BLOCK } else { t.steps[1] };
        let mut rows = [ZEROS.as_ptr().cast::<E>(); super::points::MAX_N];
        // With channels last, every pixel of a row outside the image reads the same zeros.
        let mut pixels = [if E::IS_BLOCKED { BLOCK } else { 0 }; super::points::MAX_N];
        for i in 0..V::N {
            let y = t.origin[0] + i as isize;
            if (0..h as isize).contains(&y) {
                let first = y * t.steps[0] as isize + t.origin[1] * pixel as isize;
                (rows[i], pixels[i]) = (t.src.cast::<E>().wrapping_offset(first), pixel);
            }
        }
        for x in (0..left).chain(right..columns) {
            for i in 0..V::N {
                for lane in (0..BLOCK).step_by(L::N) {
                    L::splat(0.0).store(t.buffer.add(i * BUFFER_STRIDE + x * BLOCK + lane));
                }
            }
        }
        for x in left..right {
            for lane in (0..BLOCK).step_by(L::N) {
                let at = x * BLOCK + lane;
                let mut d = [L::splat(0.0); super::points::MAX_N];
                unrolled!(i in 0..V::N, {
                    let from = if E::IS_BLOCKED { at } else { x * pixels[i] + lane };
                    d[i] = E::load(rows[i].wrapping_add(from));
                });
                let d = one_d::input::<L, V>(&d);
                unrolled!(i in 0..V::N, {
                    d[i].store(t.buffer.add(i * BUFFER_STRIDE + at));
                });
            }
        }
        for i in 0..V::N {
            for tile in 0..t.len {
                for lane in (0..BLOCK).step_by(L::N) {
                    let from = t.buffer.add(i * BUFFER_STRIDE + tile * H::M * BLOCK + lane);
                    let mut d = [L::splat(0.0); super::points::MAX_N];
                    unrolled!(j in 0..H::N, {
                        d[j] = L::load(from.add(j * BLOCK));
                    });
                    let d = one_d::input::<L, H>(&d);
                    let to = t.factors.add(i * H::N * t.plane + tile * BLOCK + lane);
                    unrolled!(j in 0..H::N, {
                        d[j].store(to.add(j * t.plane));
                    });
                }
            }
        }
    }
}
