//! Which memory a group of panels prefetches.

use super::Tensors;
use crate::tiles::{BLOCK, Data, Tiling};
use std::ops::Range;

impl Tiling {
    /// Returns the memory to prefetch while a group of panels is multiplied, as addresses and lengths in units of 16
    /// cache lines: the rows of the outputs that are written next, the same rows of the tensor to add, and this group's
    /// share of the inputs of the next block of tiles.
    pub(super) fn lines_to_fetch(
        &self,
        tensors: &Tensors<'_>,
        block: Range<usize>,
        within: Range<usize>,
        group: usize,
        next: Option<Range<usize>>,
    ) -> Vec<(*const f32, usize)> {
        let mut lines = vec![];
        if self.data != Data::Blocks {
            // With channels last, the pixels of a channel block are not contiguous, so there are no contiguous lines to
            // prefetch.
            return lines;
        }
        let (h, oh) = (self.shape.size[0], self.shape.out[0]);
        let (first, end) =
            (group * self.blocking.panels * 2, ((group + 1) * self.blocking.panels * 2).min(self.k_blocks));
        for strip in self.strips(block.clone(), within.clone(), usize::MAX) {
            let at = [0, 1].map(|i| strip.at[i] * self.transforms.m[i]);
            for k in first..end {
                for y in at[0]..(at[0] + self.transforms.m[0]).min(oh) {
                    let blocks = (strip.len * self.transforms.m[1]).div_ceil(BLOCK);
                    for image in [Some(tensors.dst), tensors.sum].into_iter().flatten() {
                        lines.push((image.pixel(strip.image, k, [y, at[1]]).cast_const().cast(), blocks));
                    }
                }
            }
        }
        let groups = self.panels().div_ceil(self.blocking.panels);
        let channels = self.c_blocks * group / groups..self.c_blocks * (group + 1) / groups;
        if let Some(next) = next {
            for strip in self.strips(next.clone(), 0..next.len(), usize::MAX) {
                let at = [0, 1].map(|i| (strip.at[i] * self.transforms.m[i]).saturating_sub(self.shape.pad[i]));
                for c in channels.clone() {
                    for y in at[0]..(at[0] + self.transforms.n[0]).min(h) {
                        let from = tensors.src.pixel(strip.image, c, [y, at[1]]).cast_const().cast();
                        lines.push((from, (strip.len * self.transforms.m[1] + 2).div_ceil(BLOCK)));
                    }
                }
            }
        }
        lines
    }
}
