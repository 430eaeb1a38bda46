//! How the sums of a gradient of weights are cut into items of work. It depends on the problem only, so that results have the
//! same bits on any number of threads.

use super::multiply::BLOCK;
use crate::convolve::part;
use std::ops::Range;

/// Blocks of 32 x 32 sums of an item, which stay in the second-level cache.
const ITEM_BLOCKS: usize = 160;
/// Bytes of the packed strips of an item, which stay in the second-level cache too.
const STRIP_BYTES: usize = 900 << 10;
/// Time to pack a panel of the left operand, relative to a panel of the right one.
const TRANSPOSING: usize = 2;
/// Number of items that are wanted, so that threads finish at about the same time.
const WANTED: usize = 16;
/// Largest number of parts of the pixels.
const MAX_PARTS: usize = 8;

/// How the sums are cut into groups, and the pixels into strips and parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Number of panels of 32 rows, and number of panels of 32 columns.
    pub panels: [usize; 2],
    /// Number of groups into which the panels of rows and the panels of columns are cut.
    pub groups: [usize; 2],
    /// Taps of the window.
    pub taps: usize,
    /// Number of strips of pixels.
    strips: usize,
    /// Number of parts of the pixels. The sums of each part are made separately.
    pub parts: usize,
}

impl Sizes {
    /// Cuts `panels` of rows and columns. `copies` is the number of copies of the right operand, and `panel_bytes` the size
    /// of a packed panel of a strip.
    pub fn new(panels: [usize; 2], taps: usize, copies: usize, [strips, panel_bytes]: [usize; 2]) -> Self {
        let [rows, columns] = panels;
        let fits = |rows: usize| {
            let in_strips = (STRIP_BYTES / panel_bytes).saturating_sub(rows) / copies;
            columns.min(ITEM_BLOCKS / (taps * rows)).min(in_strips).max(1)
        };
        let time = |a: &usize| {
            let (of_rows, of_columns) = (rows.div_ceil(*a), columns.div_ceil(fits(*a)));
            TRANSPOSING * rows * of_columns + copies * columns * of_rows
        };
        let most = rows.min((ITEM_BLOCKS / taps).max(1)).min((STRIP_BYTES / panel_bytes / 2).max(1));
        let of_rows = (1..=most).rev().min_by_key(time).unwrap_or(1);
        let groups = [rows.div_ceil(of_rows), columns.div_ceil(fits(of_rows))];
        let parts = (WANTED / (groups[0] * groups[1])).clamp(1, MAX_PARTS).min(strips);
        Self { panels, groups, taps, strips, parts }
    }

    /// Number of groups of sums.
    pub fn n_groups(&self) -> usize {
        self.groups[0] * self.groups[1]
    }

    /// The panels of rows and of columns of a group.
    pub fn group(&self, index: usize) -> [Range<usize>; 2] {
        let [rows, columns] = self.panels;
        [part(rows, self.groups[0], index / self.groups[1]), part(columns, self.groups[1], index % self.groups[1])]
    }

    /// Largest number of panels of a group.
    pub fn most(&self) -> [usize; 2] {
        [0, 1].map(|i| self.panels[i].div_ceil(self.groups[i]))
    }

    /// Number of values of the sums of the largest group.
    pub fn group_len(&self) -> usize {
        let [rows, columns] = self.most();
        rows * columns * self.taps * BLOCK
    }

    /// The strips of a part of the pixels.
    pub fn strips(&self, index: usize) -> Range<usize> {
        part(self.strips, self.parts, index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_sums_are_in_one_group_and_fit() {
        for (panels, taps, copies) in
            [([2, 8], 1, 1), ([16, 16], 9, 2), ([64, 16], 1, 1), ([4, 1], 361, 1), ([1, 1], 1, 1)]
        {
            let sizes = Sizes::new(panels, taps, copies, [100, 512 * 64]);
            let mut seen = vec![0; panels[0] * panels[1]];
            for group in 0..sizes.n_groups() {
                let [rows, columns] = sizes.group(group);
                rows.for_each(|row| columns.clone().for_each(|column| seen[row * panels[1] + column] += 1));
            }
            assert!(seen.iter().all(|n| *n == 1), "{sizes:?}");
            let [rows, columns] = sizes.most();
            assert!(rows * columns * taps <= ITEM_BLOCKS.max(taps), "{sizes:?}");
            assert_eq!(
                (0..sizes.parts).flat_map(|i| sizes.strips(i)).collect::<Vec<_>>(),
                (0..100).collect::<Vec<_>>()
            );
        }
    }
}
