//! The filters that a convolution multiplies by, read from the user's weights directly or flipped.
//!
//! With stride 1, the gradient of the data is itself a convolution of the output's gradient. Its filters are the same
//! weights with input and output channels exchanged and each window rotated by half a turn. Packing reads the weights
//! in this order; a flipped copy is never stored.

/// Filters `[k][c][cells]`: output channels, input channels, and taps of the window.
#[derive(Clone, Copy, Debug)]
pub struct Filters<'a> {
    numbers: &'a [f32],
    /// Input channels.
    c: usize,
    cells: usize,
    /// If the filters are flipped, their number of output channels; otherwise 0.
    flipped: usize,
    /// The taps of the window that are used, in this order; a tap that is `None` has zeros. Without a list all taps are
    /// used, in the order of a flipped window.
    picked: Option<&'a [Option<usize>]>,
}

impl<'a> Filters<'a> {
    /// Filters that are the weights `[k][c][cells]`.
    pub fn plain(numbers: &'a [f32], c: usize, cells: usize) -> Self {
        Self { numbers, c, cells, flipped: 0, picked: None }
    }

    /// Filters with `k` output and `c` input channels, made from weights `[c][k][cells]`: channels are exchanged and
    /// windows are rotated by half a turn.
    pub fn flipped(numbers: &'a [f32], [k, c]: [usize; 2], cells: usize) -> Self {
        Self { numbers, c, cells, flipped: k, picked: None }
    }

    /// Flipped filters as by [`Self::flipped`], with only the taps `picked` of each window, in this order. A tap that is
    /// `None` has zeros.
    pub fn picked(numbers: &'a [f32], [k, c]: [usize; 2], cells: usize, picked: &'a [Option<usize>]) -> Self {
        Self { picked: Some(picked), ..Self::flipped(numbers, [k, c], cells) }
    }

    /// Number of values of the weights.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// The weights, if each output channel's values are contiguous.
    pub fn rows(&self) -> Option<&'a [f32]> {
        (self.flipped == 0).then_some(self.numbers)
    }

    /// Returns the taps of a filter as they are stored, and the index of the filter's first tap: 0, or the last index
    /// if the order is reversed.
    #[inline(always)]
    pub fn window(&self, k: usize, c: usize) -> (&'a [f32], usize) {
        let (filter, first) = match self.flipped {
            0 => (k * self.c + c, 0),
            n => (c * n + k, self.cells - 1),
        };
        (&self.numbers[filter * self.cells..][..self.cells], first)
    }

    /// Copies tap `cell` of input channel `c` for `to.len()` neighboring output channels, the first of which is `k`.
    pub fn columns(&self, k: usize, c: usize, cell: usize, to: &mut [f32]) {
        let (first, step) = match self.flipped {
            0 => ((k * self.c + c) * self.cells + cell, self.c * self.cells),
            n => {
                let Some(cell) = (match self.picked {
                    Some(picked) => picked[cell],
                    None => Some(self.cells - 1 - cell),
                }) else {
                    to.fill(0.0);
                    return;
                };
                ((c * n + k) * self.cells + cell, self.cells)
            }
        };
        if step == 1 {
            to.copy_from_slice(&self.numbers[first..][..to.len()]);
            return;
        }
        to.iter_mut().zip(self.numbers[first..].iter().step_by(step)).for_each(|(to, x)| *to = *x);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turning_exchanges_channels_and_rotates_windows() {
        // Two output channels, three input channels, windows of four taps. Each value is its own index.
        let numbers: Vec<f32> = (0..24).map(|i| i as f32).collect();
        let (plain, flipped) = (Filters::plain(&numbers, 3, 4), Filters::flipped(&numbers, [3, 2], 4));
        for (k, c, cell) in (0..24).map(|i| (i / 12, i / 4 % 3, i % 4)) {
            let (mut there, mut here) = ([0.0; 2], [0.0; 3]);
            plain.columns(0, c, cell, &mut there);
            flipped.columns(0, k, 3 - cell, &mut here);
            assert_eq!(there[k], ((k * 3 + c) * 4 + cell) as f32);
            assert_eq!(here[c], there[k]);
            let (window, first) = plain.window(k, c);
            assert_eq!(window[cell.abs_diff(first)], there[k]);
            let (window, first) = flipped.window(c, k);
            assert_eq!(window[(3 - cell).abs_diff(first)], there[k]);
        }
    }

    #[test]
    fn picked_windows_may_have_more_taps_than_the_filter() {
        let picked = [None, Some(0), None];
        let filters = Filters::picked(&[5.0, 7.0], [1, 2], 1, &picked);
        let of_cell = |cell| {
            let mut values = [1.0; 2];
            filters.columns(0, 0, cell, &mut values);
            values
        };
        assert_eq!([0, 1, 2].map(of_cell), [[0.0; 2], [5.0, 7.0], [0.0; 2]]);
    }
}
