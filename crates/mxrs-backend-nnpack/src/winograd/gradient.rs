//! The transforms of the gradient of the weights. Outputs are `y = A' ((G w G') * (B' x B)) A` with `*` number by number, so
//!
//! ```text
//! gradient of w = G' (sum over tiles of (B' x B) * (A dy A')) G
//! ```
//!
//! with the same matrices: data are transformed as for the forward call, gradients of outputs by the output transform transposed
//! ([`Spread`]), the sums over all tiles by that of the weights transposed ([`Fold`]).

use super::one_d::{self, unrolled};
use super::points::{MAX_N, Points, by_variant, weights_matrix};
use super::{Data, Variant};
use crate::Isa;
use crate::gemm::element::Element;
use crate::gemm::lanes::Lanes;
use crate::isa::Set;
use crate::tiles::BLOCK;
use crate::tiles::strip::BUFFER_STRIDE;

/// Neighboring tiles of a row of tiles of one channel block whose outputs' gradients are transformed.
pub(crate) struct Spread {
    /// The image's first pixel of this channel block.
    pub src: *const u8,
    /// Numbers from one row of it to the next, and from one pixel to the next.
    pub steps: [usize; 2],
    /// Its height and width.
    pub size: [usize; 2],
    /// Row and column of the first tile's first output.
    pub origin: [usize; 2],
    /// Tiles; all their columns fit the buffer.
    pub len: usize,
    /// Where the first tile's factor for the first product goes; the next tile's lies 16 values on.
    pub factors: *mut f32,
    /// Values from one product's plane to the next.
    pub plane: usize,
    /// As many rows of [`BUFFER_STRIDE`] values as a tile has.
    pub buffer: *mut f32,
}

/// Sums of 16 input channels and one output channel.
pub(crate) struct Fold<'a> {
    /// The first product's sums.
    pub sums: *const f32,
    /// Values from one product's sums to the next.
    pub plane: usize,
    /// What transforms them.
    pub matrices: &'a Matrices,
    /// Sixteen values for each cell of the window.
    pub to: *mut f32,
}

/// What transforms filters, `[N][R]`, down and across.
pub(crate) struct Matrices([[[f32; MAX_N]; MAX_N]; 2]);

/// The transforms of a variant, compiled for one instruction set.
#[derive(Clone, Copy)]
pub(crate) struct Transforms {
    /// Outputs' gradients to factors.
    pub spread: unsafe fn(&Spread),
    /// Sums to the weights' gradient.
    pub fold: unsafe fn(&Fold<'_>),
    matrices: fn() -> Matrices,
}

impl Transforms {
    /// Those of a variant, for gradients of outputs of these numbers.
    pub fn new(variant: Variant, isa: Isa, data: Data) -> Self {
        by_variant!(variant, data => pair(isa))
    }

    /// What sums are transformed by.
    pub fn matrices(&self) -> Matrices {
        (self.matrices)()
    }
}

/// The transforms of data for a variant, as for the forward call.
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
    let matrices = Matrices::new::<V, H>;
    match isa.set() {
        Set::Portable => Transforms { spread: spread_portable::<V, H, E>, fold: fold_portable::<V, H>, matrices },
        #[cfg(target_arch = "x86_64")]
        Set::Avx2 => Transforms { spread: spread_avx2::<V, H, E>, fold: fold_avx2::<V, H>, matrices },
        #[cfg(target_arch = "x86_64")]
        Set::Avx512 => Transforms { spread: spread_avx512::<V, H, E>, fold: fold_avx512::<V, H>, matrices },
    }
}

/// # Safety
/// Called from code compiled for the instructions of `L`; the addresses are valid for what [`Spread`] says, and nobody else uses
/// what is written.
#[inline(always)]
unsafe fn spread<L: Lanes, V: Points, H: Points, E: Element>(t: &Spread) {
    let columns = t.len * H::M;
    let inside = t.size[1].saturating_sub(t.origin[1]).min(columns);
    let rows = t.size[0].saturating_sub(t.origin[0]).min(V::M);
    // SAFETY: rows and columns inside the image only; the caller's promise covers factors and buffer.
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

/// # Safety
/// Called from code compiled for the instructions of `L`; the addresses are valid for what [`Fold`] says, and nobody else uses
/// what is written.
#[inline(always)]
unsafe fn fold<L: Lanes, V: Points, H: Points>(t: &Fold<'_>) {
    let Matrices([down, across]) = t.matrices;
    // SAFETY: the caller's promise.
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

macro_rules! compiled {
    ($(#[$with:meta])* $lanes:ty, $spread:ident, $fold:ident) => {
        /// # Safety
        /// As [`spread`].
        $(#[$with])*
        unsafe fn $spread<V: Points, H: Points, E: Element>(tiles: &Spread) {
            // SAFETY: the caller's promise.
            unsafe { spread::<$lanes, V, H, E>(tiles) }
        }
        /// # Safety
        /// As [`fold`].
        $(#[$with])*
        unsafe fn $fold<V: Points, H: Points>(sums: &Fold<'_>) {
            // SAFETY: the caller's promise.
            unsafe { fold::<$lanes, V, H>(sums) }
        }
    };
}

compiled!(crate::gemm::lanes::Plain, spread_portable, fold_portable);
compiled!(
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    std::arch::x86_64::__m256,
    spread_avx2,
    fold_avx2
);
compiled!(
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx2,fma")]
    std::arch::x86_64::__m512,
    spread_avx512,
    fold_avx512
);
