//! The transforms of the gradient of the weights. With the matrices `A`, `B` and `G` of a variant, outputs are
//! `y = A' ((G w G') * (B' x B)) A`, where `'` transposes and `*` multiplies elementwise. So
//!
//! ```text
//! gradient of w = G' (sum over tiles of (B' x B) * (A dy A')) G
//! ```
//!
//! where `dy` is the gradient of the outputs. The data are transformed as for the forward call. The gradients of outputs
//! are transformed by the transposed output transform ([`Spread`]). The sums over all tiles are transformed by the
//! transposed transform of the weights ([`Fold`]).

use super::one_d::{self, unrolled};
use super::points::{MAX_N, Points, by_variant, weights_matrix};
use super::{Data, Variant};
use crate::dispatch::for_each_set;
use crate::gemm::element::Element;
use crate::gemm::lanes::Lanes;
use crate::tiles::BLOCK;
use crate::tiles::strip::BUFFER_STRIDE;
use mxrs_processor::Isa;

/// Neighboring tiles of one row of tiles and one channel block, whose gradients of outputs are to be transformed.
pub(crate) struct Spread {
    /// The image's first pixel of this channel block.
    pub src: *const u8,
    /// Distance in values from one row of the image to the next, and from one pixel to the next.
    pub steps: [usize; 2],
    /// Height and width of the image.
    pub size: [usize; 2],
    /// Row and column of the first tile's first output.
    pub origin: [usize; 2],
    /// Number of tiles. All their columns must fit into the buffer.
    pub len: usize,
    /// Address of the first plane of the result: 16 values (one per channel) of the first tile, then those of the next
    /// tile.
    pub factors: *mut f32,
    /// Distance in values from one plane to the next.
    pub plane: usize,
    /// A buffer with [`BUFFER_STRIDE`] values for each row of a tile.
    pub buffer: *mut f32,
}

/// Sums for 16 input channels and one output channel, to be transformed to taps.
pub(crate) struct Fold<'a> {
    /// The sums for the first value of a transformed tile.
    pub sums: *const f32,
    /// Distance from these sums to those for the next value of a transformed tile.
    pub plane: usize,
    /// The matrices to transform with.
    pub matrices: &'a Matrices,
    /// Address of the result: sixteen values for each tap of the window.
    pub to: *mut f32,
}

/// The two matrices that transform filters: down, then across. Each has `N` rows (products) and `R` columns (taps).
pub(crate) struct Matrices([[[f32; MAX_N]; MAX_N]; 2]);

/// The transforms of a variant, compiled for one instruction set.
#[derive(Clone, Copy)]
pub(crate) struct Transforms {
    /// Transforms the gradients of the outputs of tiles to the values that are multiplied by transformed data.
    pub spread: unsafe fn(&Spread),
    /// Transforms sums to the gradient of the weights.
    pub fold: unsafe fn(&Fold<'_>),
    matrices: fn() -> Matrices,
}

impl Transforms {
    /// The transforms of a variant, for gradients of outputs with this dtype and layout.
    pub fn new(variant: Variant, isa: Isa, data: Data) -> Self {
        by_variant!(variant, data => pair(isa))
    }

    /// The matrices that transform sums.
    pub fn matrices(&self) -> Matrices {
        (self.matrices)()
    }
}

/// The transforms of data for a variant, as in the forward call.
pub(crate) fn of_data(variant: Variant, isa: Isa, data: Data) -> crate::tiles::Transforms {
    super::kernels::Kernels::new(variant, isa, data).transforms
}

impl Matrices {
    fn new<V: Points, H: Points>() -> Self {
        let of = |rows: Vec<Vec<f64>>| {
            let mut matrix = [[0.0; MAX_N]; MAX_N];
            for (to, from) in matrix.iter_mut().zip(rows) {
                to.iter_mut().zip(from).for_each(|(to, x)| *to = x as f32);
            }
            matrix
        };
        Self([of(weights_matrix::<V>()), of(weights_matrix::<H>())])
    }
}

fn pair<V: Points, H: Points, E: Element>(isa: Isa) -> Transforms {
    Transforms { spread: spread_of::<V, H, E>(isa), fold: fold_of::<V, H>(isa), matrices: Matrices::new::<V, H> }
}

/// Transforms the gradients of the outputs of tiles to the values that are multiplied by transformed data.
///
/// # Safety
/// Must be called from code compiled for the instructions of `L`. The fields of `t` must be as [`Spread`] says, and no
/// other thread may use the memory at `t.factors` and `t.buffer`.
#[inline(always)]
unsafe fn spread<L: Lanes, V: Points, H: Points, E: Element>(t: &Spread) {
    let columns = t.len * H::M;
    let inside = t.size[1].saturating_sub(t.origin[1]).min(columns);
    let rows = t.size[0].saturating_sub(t.origin[0]).min(V::M);
    // SAFETY: `i < rows` and `x < inside` keep the reads in the image. The buffer has `V::N` rows, in which `columns`
    // pixels are written first and then read tile by tile. `t.factors` has `V::N * H::N` planes with `len` tiles each.
    unsafe {
        let pixel = if E::IS_BLOCKED { BLOCK } else { t.steps[1] };
        let src = t.src.cast::<E>().add(t.origin[0] * t.steps[0] + t.origin[1] * pixel);
        for x in inside..columns {
            for i in 0..V::N {
                for lane in (0..BLOCK).step_by(L::N) {
                    L::splat(0.0).store(t.buffer.add(i * BUFFER_STRIDE + x * BLOCK + lane));
                }
            }
        }
        for x in 0..inside {
            for lane in (0..BLOCK).step_by(L::N) {
                let at = x * BLOCK + lane;
                let mut y = [L::splat(0.0); MAX_N];
                unrolled!(i in 0..V::M, {
                    if i < rows {
                        y[i] = E::load(src.add(i * t.steps[0] + x * pixel + lane));
                    }
                });
                let y = one_d::spread::<L, V>(&y);
                unrolled!(i in 0..V::N, {
                    y[i].store(t.buffer.add(i * BUFFER_STRIDE + at));
                });
            }
        }
        for i in 0..V::N {
            for tile in 0..t.len {
                for lane in (0..BLOCK).step_by(L::N) {
                    let from = t.buffer.add(i * BUFFER_STRIDE + tile * H::M * BLOCK + lane);
                    let mut y = [L::splat(0.0); MAX_N];
                    unrolled!(j in 0..H::M, {
                        y[j] = L::load(from.add(j * BLOCK));
                    });
                    let y = one_d::spread::<L, H>(&y);
                    let to = t.factors.add(i * H::N * t.plane + tile * BLOCK + lane);
                    unrolled!(j in 0..H::N, {
                        y[j].store(to.add(j * t.plane));
                    });
                }
            }
        }
    }
}

/// Transforms sums to taps of the gradient.
///
/// # Safety
/// Must be called from code compiled for the instructions of `L`. The fields of `t` must be as [`Fold`] says, and no
/// other thread may use `t.to`.
#[inline(always)]
unsafe fn fold<L: Lanes, V: Points, H: Points>(t: &Fold<'_>) {
    let Matrices([down, across]) = t.matrices;
    // SAFETY: `(i * H::N + j)` is one of the `V::N * H::N` values of a transformed tile, `(y * H::R + x)` one of
    // `V::R * H::R` taps, and `lane + L::N <= BLOCK`. [`Fold`] promises sums for all these values and room for all
    // taps.
    unsafe {
        for lane in (0..BLOCK).step_by(L::N) {
            let mut half = [[L::splat(0.0); MAX_N]; MAX_N];
            for i in 0..V::N {
                unrolled!(j in 0..H::N, {
                    let sum = L::load(t.sums.add((i * H::N + j) * t.plane + lane));
                    unrolled!(x in 0..H::R, {
                        half[i][x] = sum.mul_add(L::splat(across[j][x]), half[i][x]);
                    });
                });
            }
            for y in 0..V::R {
                unrolled!(x in 0..H::R, {
                    let mut tap = L::splat(0.0);
                    for i in 0..V::N {
                        tap = half[i][x].mul_add(L::splat(down[i][y]), tap);
                    }
                    tap.store(t.to.add((y * H::R + x) * BLOCK + lane));
                });
            }
        }
    }
}

for_each_set! {
    fn spread_of[V: Points, H: Points, E: Element] [V, H, E]: unsafe fn(tiles: &Spread) = spread
}

for_each_set! {
    fn fold_of[V: Points, H: Points] [V, H]: unsafe fn(sums: &Fold<'_>) = fold
}
