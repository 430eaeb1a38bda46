//! Transforms filters for Winograd's algorithms, with one matrix per axis.

use super::points::{MAX_N, Points, weights_matrix};
use crate::gemm::PANEL;
use crate::tiles::pack::{Columns, Taps, Transform, sum};

/// The two matrices that transform filters: down, then across. Each has `N` rows (products) and `R` columns (taps).
pub(super) struct Matrices {
    down: Vec<Vec<f64>>,
    across: Vec<Vec<f64>>,
}

impl Matrices {
    /// The matrices of a pair of transforms.
    pub fn new<V: Points, H: Points>() -> Self {
        Self { down: weights_matrix::<V>(), across: weights_matrix::<H>() }
    }
}

impl Transform for Matrices {
    #[inline(always)]
    fn factors(&self, taps: &Taps, [kh, kw]: [usize; 2], mut put: impl FnMut(usize, usize, &Columns)) {
        let mut half = [[0.0; PANEL]; MAX_N];
        for (i, down) in self.down.iter().enumerate() {
            for (x, half) in half.iter_mut().enumerate().take(kw) {
                *half = sum(&down[..kh], |y| &taps[y][x]);
            }
            for (j, across) in self.across.iter().enumerate() {
                put(i * self.across.len() + j, 0, &sum(&across[..kw], |x| &half[x]));
            }
        }
    }
}
