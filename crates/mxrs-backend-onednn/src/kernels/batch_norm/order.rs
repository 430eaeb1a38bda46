//! The order of channels in a tensor's layout, for loops of this crate over all elements.

use mxrs_op::TensorDesc;
use mxrs_types::Layout;

/// The elements of a tensor in the order of memory: nested loops over units, steps and lanes. A step has `lanes`
/// neighboring channels of one pixel. A unit has `n_steps` consecutive steps with the same channels. Each unit has the
/// channels that follow those of the unit before it; after the last channel it starts at channel 0 again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// Number of units.
    pub n_units: usize,
    /// Number of steps of a unit.
    pub n_steps: usize,
    /// Number of neighboring channels of a step.
    pub lanes: usize,
    /// Number of channels, padding included.
    pub channels: usize,
}

impl Order {
    /// The order of a row-major tensor of these sizes.
    pub fn row_major(sizes: &[usize]) -> Self {
        Self { n_units: sizes[0] * sizes[1], n_steps: sizes[2..].iter().product(), lanes: 1, channels: sizes[1] }
    }

    /// The order of a tensor in its own layout, with channels second; `None` for other layouts.
    pub fn of(desc: &TensorDesc) -> Option<Self> {
        let sizes: &[usize] = &desc.shape;
        let Layout::Blocked { padded, strides, blocks } = &desc.layout else {
            return desc.layout.is_row_major().then(|| Self::row_major(sizes));
        };
        let n_cells: usize = sizes[2..].iter().product();
        let channels = padded[1];
        let (order, block) = match blocks.as_slice() {
            [] if strides[1] == 1 => {
                (Self { n_units: sizes[0] * n_cells, n_steps: 1, lanes: channels, channels }, channels)
            }
            &[(1, block)] => {
                let lanes = block as usize;
                (Self { n_units: sizes[0] * channels / lanes, n_steps: n_cells, lanes, channels }, lanes)
            }
            _ => return None,
        };
        // Accepts only layouts that pad no axis except the channels and in which the pixels of an image are contiguous.
        let mut stride = block;
        for axis in (2..sizes.len()).rev() {
            if sizes[axis] != 1 && strides[axis] != stride {
                return None;
            }
            stride *= sizes[axis];
        }
        let is_dense = sizes[0] == 1 || strides[0] == n_cells * channels;
        let is_grouped = blocks.is_empty() || channels == block || strides[1] == stride;
        (is_dense && is_grouped && padded[0] == sizes[0] && padded[2..] == sizes[2..]).then_some(order)
    }

    /// The first channel of a unit.
    pub fn first_channel(&self, unit: usize) -> usize {
        unit * self.lanes % self.channels
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_types::DType;

    /// Describes a tensor of 2 images with 20 channels and 3 x 4 pixels.
    fn desc(padded: [usize; 4], strides: [usize; 4], blocks: &[(u8, u16)]) -> TensorDesc {
        let (padded, strides) = (padded.into_iter().collect(), strides.into_iter().collect());
        let layout = Layout::Blocked { padded, strides, blocks: blocks.iter().copied().collect() };
        TensorDesc::dense([2, 20, 3, 4], DType::F32).with_layout(layout)
    }

    #[test]
    fn the_order_finds_the_channel_of_every_element() {
        let whole = [2, 20, 3, 4];
        let cases = [
            (TensorDesc::dense([2, 20, 3, 4], DType::F32), [240, 12, 4, 1], 1),
            (desc(whole, [240, 1, 80, 20], &[]), [240, 1, 80, 20], 1),
            (desc([2, 32, 3, 4], [384, 192, 64, 16], &[(1, 16)]), [384, 192, 64, 16], 16),
            (desc([2, 24, 3, 4], [288, 96, 32, 8], &[(1, 8)]), [288, 96, 32, 8], 8),
        ];
        for (desc, strides, block) in cases {
            let order = Order::of(&desc).expect("a layout like those of convolutions");
            assert_eq!(order.n_units * order.n_steps * order.lanes * 4, desc.size_bytes(), "{desc}");
            for (n, c, y, x) in (0..480).map(|i| (i / 240, i / 12 % 20, i / 4 % 3, i % 4)) {
                let at = n * strides[0] + c / block * strides[1] + y * strides[2] + x * strides[3] + c % block;
                let unit = at / (order.n_steps * order.lanes);
                assert_eq!(order.first_channel(unit) + at % order.lanes, c, "{desc}: element {at}");
            }
        }
    }

    #[test]
    fn gaps_and_other_orders_are_refused() {
        let whole = [2, 20, 3, 4];
        for (desc, what) in [
            (desc(whole, [480, 1, 80, 20], &[]), "a gap between images"),
            (desc(whole, [240, 1, 20, 60], &[]), "columns before rows"),
            (desc(whole, [20, 1, 160, 40], &[]), "images inside cells"),
            (desc([2, 32, 3, 4], [16, 768, 128, 32], &[(1, 16)]), "images inside groups"),
            (desc([16, 32, 3, 4], [384, 192, 64, 16], &[(1, 16)]), "padded images"),
        ] {
            assert_eq!(Order::of(&desc), None, "{what}");
        }
    }
}
