//! Weights to factors, in double, split over a team: `[K/32][product][C][32]`, a last panel of 16 if K/16 is odd.

use super::points::{MAX_N, Points, weights_matrix};
use super::{BLOCK, Plan};
use crate::gemm::PANEL;
use crate::isa::Set;
use mxrs_sync::Team;

/// What transforms filters: `[N][R]`, down and across.
pub(super) struct Matrices {
    down: Vec<Vec<f64>>,
    across: Vec<Vec<f64>>,
}

impl Matrices {
    /// Of a pair of transforms.
    pub fn new<V: Points, H: Points>() -> Self {
        Self { down: weights_matrix::<V>(), across: weights_matrix::<H>() }
    }
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

/// Packs `weights` (`[K][C][kh][kw]`) for a plan.
pub(super) fn pack(plan: &Plan, weights: &[f32], packed: &mut [f32], team: &Team) {
    let matrices = (plan.kernels.weights)();
    let (shared, len) = (Shared(packed.as_mut_ptr()), packed.len());
    // Some pieces per panel, so that there is work for all threads.
    let pieces = plan.c_blocks;
    team.run(plan.panels() * pieces, &|chunk| {
        let piece = Piece { plan, matrices: &matrices, weights, panel: chunk / pieces, c_block: chunk % pieces };
        debug_assert!(plan.panel_offset(piece.panel, plan.products() - 1) < len);
        let to = shared.to();
        match plan.isa.set() {
            // SAFETY: `pack_weights` has checked the length; no other chunk has this panel and these channels.
            Set::Portable => unsafe { piece.pack(to) },
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
unsafe fn pack_avx2(piece: &Piece<'_>, to: *mut f32) {
    // SAFETY: the caller's promise.
    unsafe { piece.pack(to) }
}

/// # Safety
/// As [`Piece::pack`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx2")]
unsafe fn pack_avx512(piece: &Piece<'_>, to: *mut f32) {
    // SAFETY: the caller's promise.
    unsafe { piece.pack(to) }
}

/// Numbers of all output channels of a panel.
type Columns = [f64; PANEL];

/// What is packed at a time: the output channels of a panel, side by side, and a block of input channels. Sums are made in the
/// order of the taps whatever the instructions, and products are rounded before they are added.
struct Piece<'a> {
    plan: &'a Plan,
    matrices: &'a Matrices,
    weights: &'a [f32],
    panel: usize,
    c_block: usize,
}

impl Piece<'_> {
    /// # Safety
    /// Called from code compiled for instructions that there are; `to` begins the packed weights of the plan, and nobody else
    /// uses those of the panel and the channels.
    #[inline(always)]
    unsafe fn pack(&self, to: *mut f32) {
        let Self { plan, matrices, panel, .. } = *self;
        let [kh, kw] = plan.shape.kernel;
        let width = plan.panel_width(panel);
        let nh = matrices.across.len();
        let mut taps = [[[0.0; PANEL]; MAX_N]; MAX_N];
        for c in self.c_block * BLOCK..(self.c_block + 1) * BLOCK {
            self.gather(c, &mut taps);
            for (i, down) in matrices.down.iter().enumerate() {
                let mut half = [[0.0; PANEL]; MAX_N];
                for (x, half) in half.iter_mut().enumerate().take(kw) {
                    *half = sum(&down[..kh], |y| &taps[y][x]);
                }
                for (j, across) in matrices.across.iter().enumerate() {
                    let factors = sum(&across[..kw], |x| &half[x]);
                    let at = plan.panel_offset(panel, i * nh + j) + c * width;
                    for (col, factor) in factors.iter().enumerate().take(width) {
                        // SAFETY: the caller's promise.
                        unsafe { to.add(at + col).write(*factor as f32) };
                    }
                }
            }
        }
    }

    /// The taps of an input channel; zeros for channels that there are not.
    #[inline(always)]
    fn gather(&self, c: usize, taps: &mut [[Columns; MAX_N]; MAX_N]) {
        let (shape, n_taps) = (&self.plan.shape, self.plan.shape.kernel[0] * self.plan.shape.kernel[1]);
        for col in 0..PANEL {
            let k = self.panel * PANEL + col;
            let filter = (c < shape.c && k < shape.k).then(|| &self.weights[(k * shape.c + c) * n_taps..][..n_taps]);
            for y in 0..shape.kernel[0] {
                for x in 0..shape.kernel[1] {
                    taps[y][x][col] = filter.map_or(0.0, |filter| f64::from(filter[y * shape.kernel[1] + x]));
                }
            }
        }
    }
}

/// The sum of columns with these coefficients.
#[inline(always)]
fn sum<'a>(coefficients: &[f64], columns: impl Fn(usize) -> &'a Columns) -> Columns {
    let mut sums = [0.0; PANEL];
    for (i, by) in coefficients.iter().enumerate() {
        for (sum, x) in sums.iter_mut().zip(columns(i)) {
            *sum += by * x;
        }
    }
    sums
}
