//! The interface of every algorithm: code that computes the output of a convolution from its tensors, on a team.

use crate::epilogue::Bounds;
use crate::gemm::ProductEpilogue;
use crate::layouts::{BLOCK, PANEL};
use mxrs_sync::Team;
use mxrs_types::Result;
use std::ops::Range;

/// The memory of one run. All pointers are aligned to 64 bytes. The values are `f32`, except in a problem with bfloat16
/// data: there, data, bias, sum and output are bfloat16.
#[derive(Clone, Copy, Debug)]
pub struct Operands {
    /// Data, in the layout that the algorithm reads.
    pub src: *const f32,
    /// Weights, in the packed form that the algorithm reads.
    pub weights: *const f32,
    /// One value per output channel, or null.
    pub bias: *const f32,
    /// A tensor in the output's layout that is added to the result, or null. It may be the output itself.
    pub sum: *const f32,
    /// The output of a convolution, in blocks of channels.
    pub dst: *mut f32,
    /// Distance in values from one image of the output to the next, if the output is a part of a larger tensor.
    pub dst_image_stride: Option<usize>,
    /// Scratch memory.
    pub scratch: *mut f32,
    /// Bounds that results are clamped to.
    pub bounds: Bounds,
}

// SAFETY: only addresses move between threads. The memory behind them is accessed in `Convolve::run`, whose contract
// excludes all other users.
unsafe impl Send for Operands {}
// SAFETY: sharing only copies addresses. The memory behind them is accessed in `Convolve::run`, whose contract excludes
// all other users.
unsafe impl Sync for Operands {}

/// An algorithm prepared for one problem.
pub trait Convolve: Send + Sync {
    /// Scratch memory of a run, in bytes.
    fn scratch_bytes(&self) -> usize;

    /// Whether the algorithm supports [`Operands::dst_image_stride`]. If not, the caller passes `None`.
    fn supports_strided_output(&self) -> bool {
        false
    }

    /// Whether the algorithm supports [`Operands::sum`]. If not, the caller passes null.
    fn supports_sum(&self) -> bool {
        true
    }

    /// Computes the output, and writes 0 to padding channels.
    ///
    /// # Errors
    /// Does not fail if the operands have the planned sizes.
    ///
    /// # Safety
    /// Each pointer must lead to memory of the size that follows from the problem and the layout. It must stay valid
    /// during the call, and no other code may use it. Only the sum may be the output.
    unsafe fn run(&self, operands: &Operands, team: &Team) -> Result<()>;
}

/// A panel: up to 32 output channels that are computed together.
#[derive(Clone, Copy, Debug)]
pub struct Panel {
    /// Index of the panel.
    pub index: usize,
    /// Columns: 32, or 16 in the last panel if 16 suffice.
    pub width: usize,
}

impl Panel {
    /// Number of panels of `k` output channels.
    pub fn count(k: usize) -> usize {
        k.div_ceil(PANEL)
    }

    /// Panel `index` of `k` output channels.
    pub fn of(k: usize, index: usize) -> Self {
        Self { index, width: (k.next_multiple_of(BLOCK) - index * PANEL).min(PANEL) }
    }
}

/// The bias of one panel, padded with zeros.
pub struct PanelBias([f32; PANEL]);

impl PanelBias {
    /// Copies the bias of a panel of `k` output channels; zeros if there is none.
    ///
    /// # Safety
    /// `bias` must be null, or `k` values that no thread writes during the call.
    pub unsafe fn of(bias: *const f32, k: usize, panel: Panel) -> Self {
        let mut values = [0.0; PANEL];
        if !bias.is_null() {
            let first = panel.index * PANEL;
            for (i, value) in values.iter_mut().enumerate().take(k - first) {
                // SAFETY: `take(k - first)` keeps `first + i` below `k`, the number of values that the caller promises.
                *value = unsafe { *bias.add(first + i) };
            }
        }
        Self(values)
    }

    /// Returns the epilogue of a product: adds this bias and the tensor at `sum`, then clamps to `bounds`. `sum` is
    /// null, or the tensor has the layout of the result.
    pub fn epilogue(&self, sum: *const f32, bounds: Bounds) -> ProductEpilogue {
        ProductEpilogue { bias: self.0.as_ptr(), sum, lo: bounds.low, hi: bounds.high }
    }
}

/// Range `i` when `0..n` is cut into `parts` ranges whose lengths differ by at most one.
pub fn part(n: usize, parts: usize, i: usize) -> Range<usize> {
    let start = |i: usize| i * (n / parts) + i.min(n % parts);
    start(i)..start(i + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_everything_once() {
        for n in 0..40 {
            for parts in 1..9 {
                let all: Vec<usize> = (0..parts).flat_map(|i| part(n, parts, i)).collect();
                assert_eq!(all, (0..n).collect::<Vec<_>>());
                assert!((0..parts).all(|i| part(n, parts, i).len() <= n.div_ceil(parts)));
            }
        }
    }

    #[test]
    fn the_last_panel_is_as_wide_as_needed() {
        let widths = |k| (0..Panel::count(k)).map(|i| Panel::of(k, i).width).collect::<Vec<_>>();
        assert_eq!(widths(96), [32, 32, 32]);
        assert_eq!(widths(40), [32, 16]);
        assert_eq!(widths(49), [32, 32]);
        assert_eq!(widths(3), [16]);
    }

    #[test]
    fn a_bias_is_padded() {
        let bias: Vec<f32> = (0..40).map(|i| i as f32 + 1.0).collect();
        // SAFETY: `bias` has 40 values, as the second argument says.
        let last = unsafe { PanelBias::of(bias.as_ptr(), 40, Panel::of(40, 1)) };
        assert_eq!((last.0[7], last.0[8], last.0[31]), (40.0, 0.0, 0.0));
    }
}
