//! The transform of the inputs. It processes a row of tiles of one channel block at a time. First it transforms all
//! columns and stores the results in a small buffer, so that columns shared by neighboring tiles are transformed once.
//! Then it transforms the rows and writes the frequencies (the factors of `crate::tiles`) to planes.

use super::pairs::{self, REAL};
use super::real::{self, MAX_N, each, each_pair};
use crate::gemm::lanes::Lanes;
use crate::tiles::BLOCK;
use crate::tiles::strip::{BUFFER_COLUMNS, BUFFER_STRIDE, Inputs, ZEROS};

/// Transforms tiles of `N` by `N` inputs to their frequencies, which are written to `t.factors`.
///
/// # Safety
/// Must be called from code compiled for the instructions of `L`. The fields of `t` must be as [`Inputs`] says, with
/// all columns of the tiles within the buffer, and no other thread may use `t.factors` and `t.buffer`.
#[inline(always)]
pub(super) unsafe fn transform<L: Lanes, const N: usize>(t: &Inputs) {
    // SAFETY: `down_columns` fills `N` rows of `(len - 1) * m[1] + N` pixels of the buffer, which covers what `along`
    // reads for each tile. The planes written are below `REAL + 3 * complex`, the number of planes of `t.factors`, and
    // each holds `len` tiles of `BLOCK` values.
    unsafe {
        down_columns::<L, N>(t);
        for tile in 0..t.len {
            for lane in (0..BLOCK).step_by(L::N) {
                let from = t.buffer.add(tile * t.m[1] * BLOCK + lane);
                let to = t.factors.add(tile * BLOCK + lane);
                for row in 0..2 {
                    let x = along::<L, N>(from.add(row * BUFFER_STRIDE));
                    x[0].store(to.add(2 * row * t.plane));
                    x[1].store(to.add((2 * row + 1) * t.plane));
                    each_pair!(less in 0..N / 2 - 1, {
                        let factor = pairs::of_row(N, row, less + 1);
                        put(x[2 * less + 2], x[2 * less + 3], to.add((REAL + 3 * factor) * t.plane), t.plane);
                    });
                }
                for p in 1..N / 2 {
                    let a = along::<L, N>(from.add(2 * p * BUFFER_STRIDE));
                    let b = along::<L, N>(from.add((2 * p + 1) * BUFFER_STRIDE));
                    let (re, im) = pairs::join::<L, N>(&a, &b);
                    let to = to.add((REAL + 3 * pairs::of_pair(N, p)) * t.plane);
                    each!(j in 0..N, {
                        put(re[j], im[j], to.add(3 * j * t.plane), t.plane);
                    });
                }
            }
        }
    }
}

/// Transforms down the columns, from the image to the buffer.
///
/// # Safety
/// The conditions of [`transform`] must hold.
#[inline(always)]
unsafe fn down_columns<L: Lanes, const N: usize>(t: &Inputs) {
    let columns = (t.len - 1) * t.m[1] + N;
    debug_assert!(columns <= BUFFER_COLUMNS);
    let [h, w] = t.size;
    let left = (-t.origin[1]).clamp(0, columns as isize) as usize;
    let right = (w as isize - t.origin[1]).clamp(left as isize, columns as isize) as usize;
    let mut rows = [ZEROS.as_ptr(); MAX_N];
    for (i, row) in rows.iter_mut().enumerate().take(N) {
        let y = t.origin[0] + i as isize;
        if (0..h as isize).contains(&y) {
            let first = y * t.steps[0] as isize + t.origin[1] * BLOCK as isize;
            *row = t.src.cast::<f32>().wrapping_offset(first);
        }
    }
    // SAFETY: only the columns `left..right`, which lie in the image, are read from `rows`. A row is one of the image,
    // or `ZEROS`, which is as long as a row of the buffer. The caller promises that all columns lie within the buffer.
    unsafe {
        for i in 0..N {
            for at in (0..left * BLOCK).chain(right * BLOCK..columns * BLOCK).step_by(L::N) {
                L::splat(0.0).store(t.buffer.add(i * BUFFER_STRIDE + at));
            }
        }
        for at in (left * BLOCK..right * BLOCK).step_by(L::N) {
            let mut x = [L::splat(0.0); MAX_N];
            each!(i in 0..N, {
                x[i] = L::load(rows[i].wrapping_add(at));
            });
            let x = real::forward::<L, N>(&x);
            each!(i in 0..N, {
                x[i].store(t.buffer.add(i * BUFFER_STRIDE + at));
            });
        }
    }
}

/// Returns the spectrum of one row of a tile in the buffer.
///
/// # Safety
/// `from` must be readable for `N` pixels of the buffer; the processor must have the instructions of `L`.
#[inline(always)]
unsafe fn along<L: Lanes, const N: usize>(from: *const f32) -> real::Line<L> {
    // SAFETY: the caller promises `N` readable pixels, and only pixels `j < N` are read.
    unsafe {
        let mut x = [L::splat(0.0); MAX_N];
        each!(j in 0..N, {
            x[j] = L::load(from.add(j * BLOCK));
        });
        real::forward::<L, N>(&x)
    }
}

/// Writes a complex frequency to three planes: real part, imaginary part, negated real part.
///
/// # Safety
/// `to`, `to + plane` and `to + 2 * plane` must be writable for `L::N` values; the processor must have the instructions
/// of `L`.
#[inline(always)]
unsafe fn put<L: Lanes>(re: L, im: L, to: *mut f32, plane: usize) {
    // SAFETY: the caller promises that `to`, `to + plane` and `to + 2 * plane` are writable for `L::N` values.
    unsafe {
        re.store(to);
        im.store(to.add(plane));
        L::splat(0.0).sub(re).store(to.add(2 * plane));
    }
}
