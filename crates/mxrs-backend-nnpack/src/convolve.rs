//! What every algorithm is: code that turns the tensors of a convolution into its output, on a team.

use crate::epilogue::Bounds;
use crate::gemm::Finish;
use crate::layouts::{BLOCK, PANEL};
use mxrs_sync::Team;
use mxrs_types::Result;
use std::ops::Range;

/// Memory of one run. Numbers are `f32`, but where a problem's data are bfloat16 so are bias, sum and output behind these
/// pointers. All are aligned to 64 bytes.
#[derive(Clone, Copy, Debug)]
pub struct Operands {
    /// Data, in the layout that the algorithm wants.
    pub src: *const f32,
    /// Weights in the form that the algorithm wants.
    pub weights: *const f32,
    /// As many numbers as there are output channels, or null.
    pub bias: *const f32,
    /// A tensor in the output's layout that is added, maybe the output itself, or null.
    pub sum: *const f32,
    /// The output, of a convolution in blocks of channels.
    pub dst: *mut f32,
    /// Numbers from one image of the output to the next, where it is a part of a larger tensor.
    pub dst_image: Option<usize>,
    /// Temporary memory.
    pub scratch: *mut f32,
    /// Bounds of the result.
    pub bounds: Bounds,
}

// SAFETY: pointers only; `Convolve::run` says who may use what they point to.
unsafe impl Send for Operands {}
// SAFETY: as above.
unsafe impl Sync for Operands {}

/// An algorithm prepared for one problem.
pub trait Convolve: Send + Sync {
    /// Temporary memory of a run, in bytes.
    fn scratch_bytes(&self) -> usize;

    /// Whether it follows [`Operands::dst_image`]. Others are never given one.
    fn takes_images_apart(&self) -> bool {
        false
    }

    /// Whether it follows [`Operands::sum`]. Others are never given one.
    fn takes_sum(&self) -> bool {
        true
    }

    /// Computes the output, padding channels included, which become 0.
    ///
    /// # Errors
    /// None with operands of the planned sizes.
    ///
    /// # Safety
    /// The pointers lead to memory of the sizes that the problem and the layouts say, valid and used by nobody else during
    /// the call; only the sum may be the output.
    unsafe fn run(&self, operands: &Operands, team: &Team) -> Result<()>;
}

/// A panel of output channels.
#[derive(Clone, Copy, Debug)]
pub struct Panel {
    /// Its number.
    pub index: usize,
    /// Columns: 32, or 16 in the last one.
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
    /// That of a panel of `k` output channels.
    ///
    /// # Safety
    /// The bias is null, or `k` numbers that nobody writes.
    pub unsafe fn of(bias: *const f32, k: usize, panel: Panel) -> Self {
        let mut values = [0.0; PANEL];
        if !bias.is_null() {
            let first = panel.index * PANEL;
            for (i, value) in values.iter_mut().enumerate().take(k - first) {
                // SAFETY: below `k`.
                *value = unsafe { *bias.add(first + i) };
            }
        }
        Self(values)
    }

    /// How a product ends that adds this bias and the tensor at `sum`, addressed like the result, or null.
    pub fn finish(&self, sum: *const f32, bounds: Bounds) -> Finish {
        Finish { bias: self.0.as_ptr(), sum, lo: bounds.low, hi: bounds.high }
    }
}

/// Part `i` of `0..n` in `parts` parts that differ by one at most.
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
        // SAFETY: 40 numbers.
        let last = unsafe { PanelBias::of(bias.as_ptr(), 40, Panel::of(40, 1)) };
        assert_eq!((last.0[7], last.0[8], last.0[31]), (40.0, 0.0, 0.0));
    }
}
