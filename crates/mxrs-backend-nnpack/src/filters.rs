//! The filters that a convolution multiplies by, where the user's weights hold them: as they lie, or turned around.
//!
//! The gradient of the data of a convolution with stride 1 is a convolution of the output's gradient: its filters are the same numbers
//! with input and output channels exchanged, each window rotated by half a turn. They are read like that from the weights, when they are
//! packed, and never written down.

/// Filters `[k][c][cells]`.
#[derive(Clone, Copy, Debug)]
pub struct Filters<'a> {
    numbers: &'a [f32],
    /// Input channels.
    c: usize,
    cells: usize,
    /// Output channels where the weights are those of the other convolution, else 0.
    turned: usize,
    /// Which cells of the window count, in their order; without, all of a turned window.
    picked: Option<&'a [usize]>,
}

impl<'a> Filters<'a> {
    /// Weights `[k][c][cells]`.
    pub fn plain(numbers: &'a [f32], c: usize, cells: usize) -> Self {
        Self { numbers, c, cells, turned: 0, picked: None }
    }

    /// Those of `k` output and `c` input channels that weights `[c][k][cells]` become when they are turned around.
    pub fn turned(numbers: &'a [f32], [k, c]: [usize; 2], cells: usize) -> Self {
        Self { numbers, c, cells, turned: k, picked: None }
    }

    /// As [`Self::turned`], of some cells of the window, in this order.
    pub fn picked(numbers: &'a [f32], [k, c]: [usize; 2], cells: usize, picked: &'a [usize]) -> Self {
        Self { picked: Some(picked), ..Self::turned(numbers, [k, c], cells) }
    }

    /// How many numbers there are.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// The weights, where each output channel's lie one after another.
    pub fn rows(&self) -> Option<&'a [f32]> {
        (self.turned == 0).then_some(self.numbers)
    }

    /// The cells of a filter as they lie, and the first of them: 0, or the last where they are in opposite order.
    #[inline(always)]
    pub fn window(&self, k: usize, c: usize) -> (&'a [f32], usize) {
        let (filter, first) = match self.turned {
            0 => (k * self.c + c, 0),
            n => (c * n + k, self.cells - 1),
        };
        (&self.numbers[filter * self.cells..][..self.cells], first)
    }

    /// One cell of neighboring output channels, from `k` on.
    pub fn columns(&self, k: usize, c: usize, cell: usize, to: &mut [f32]) {
        let (first, step) = match self.turned {
            0 => ((k * self.c + c) * self.cells + cell, self.c * self.cells),
            n => {
                let cell = self.picked.map_or(self.cells - 1 - cell, |picked| picked[cell]);
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
        // Two output channels, three input channels, windows of four cells: the number says which.
        let numbers: Vec<f32> = (0..24).map(|i| i as f32).collect();
        let (plain, turned) = (Filters::plain(&numbers, 3, 4), Filters::turned(&numbers, [3, 2], 4));
        for (k, c, cell) in (0..24).map(|i| (i / 12, i / 4 % 3, i % 4)) {
            let (mut there, mut here) = ([0.0; 2], [0.0; 3]);
            plain.columns(0, c, cell, &mut there);
            turned.columns(0, k, 3 - cell, &mut here);
            assert_eq!(there[k], ((k * 3 + c) * 4 + cell) as f32);
            assert_eq!(here[c], there[k]);
            let (window, first) = plain.window(k, c);
            assert_eq!(window[cell.abs_diff(first)], there[k]);
            let (window, first) = turned.window(c, k);
            assert_eq!(window[(3 - cell).abs_diff(first)], there[k]);
        }
    }
}
