//! Weights to factors, in double, split over a team: `[K/32][product][C][32]`, a last panel of 16 if K/16 is odd.

use super::points::{MAX_N, Points, weights_matrix};
use super::{BLOCK, Plan};
use crate::gemm::PANEL;
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

/// Packs `weights` (`[K][C][kh][kw]`) for a plan.
pub(super) fn pack(plan: &Plan, weights: &[f32], packed: &mut [f32], team: &Team) {
    let (shape, matrices) = (&plan.shape, (plan.kernels.weights)());
    let taps = shape.kernel[0] * shape.kernel[1];
    let (nv, nh) = (matrices.down.len(), matrices.across.len());
    let (shared, len) = (Shared(packed.as_mut_ptr()), packed.len());
    // Some pieces per panel, so that there is work for all threads.
    let pieces = plan.c_blocks;
    team.run(plan.panels() * pieces, &|chunk| {
        let shared = &shared;
        let (panel, piece) = (chunk / pieces, chunk % pieces);
        let width = plan.panel_width(panel);
        for c in piece * BLOCK..(piece + 1) * BLOCK {
            for col in 0..width {
                let k = panel * PANEL + col;
                let mut factors = [[0f64; MAX_N]; MAX_N];
                if c < shape.c && k < shape.k {
                    let filter = &weights[(k * shape.c + c) * taps..][..taps];
                    let mut half = [[0f64; MAX_N]; MAX_N];
                    for (i, row) in matrices.down.iter().enumerate() {
                        for x in 0..shape.kernel[1] {
                            half[i][x] =
                                (0..shape.kernel[0]).map(|y| row[y] * f64::from(filter[y * shape.kernel[1] + x])).sum();
                        }
                    }
                    for i in 0..nv {
                        for (j, row) in matrices.across.iter().enumerate() {
                            factors[i][j] = (0..shape.kernel[1]).map(|x| row[x] * half[i][x]).sum();
                        }
                    }
                }
                for i in 0..nv {
                    for j in 0..nh {
                        let at = plan.panel_offset(panel, i * nh + j) + c * width + col;
                        debug_assert!(at < len);
                        // SAFETY: `pack_weights` has checked the length; no other chunk has this panel and channel.
                        unsafe { shared.0.add(at).write(factors[i][j] as f32) };
                    }
                }
            }
        }
    });
}
