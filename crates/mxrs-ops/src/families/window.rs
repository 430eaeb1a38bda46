//! Sliding windows: kernel, stride, dilation and padding of convolution and pooling, and views of tensors as batch ×
//! channels × space.

use crate::inference::bad_attribute;
use mxrs_types::Result;
use smallvec::{SmallVec, smallvec};

/// One value per spatial axis.
pub type PerAxis = SmallVec<[usize; 3]>;

/// A checked window. Kernel, stride and dilation are positive; all have the same length, 1 to 3.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// Size of the window.
    pub kernel: PerAxis,
    /// Distance between the starts of neighboring windows.
    pub stride: PerAxis,
    /// Distance between neighboring elements of a window.
    pub dilate: PerAxis,
    /// Number of padding elements added on each side.
    pub pad: PerAxis,
}

/// Largest value of a window parameter: far beyond any use, and small enough that sums and products of two such values
/// do not overflow.
const MAX_VALUE: i64 = 1 << 31;

impl Window {
    /// Checks the parameters of operator `op`. Empty stride and dilation mean 1, empty padding means 0.
    ///
    /// # Errors
    /// Fails with [`mxrs_types::ErrorKind::Attribute`], which names the invalid parameter.
    pub fn new(op: &str, kernel: &[i64], stride: &[i64], dilate: &[i64], pad: &[i64]) -> Result<Self> {
        if !(1..=3).contains(&kernel.len()) {
            return Err(bad_attribute(op, "kernel", "one to three sizes", format!("{} sizes", kernel.len())));
        }
        let read = |name: &str, values: &[i64], default: usize, least: i64| -> Result<PerAxis> {
            if values.is_empty() {
                return Ok(smallvec![default; kernel.len()]);
            }
            if values.len() != kernel.len() {
                let expected = format!("as many values as `kernel` ({})", kernel.len());
                return Err(bad_attribute(op, name, expected, values.len()));
            }
            let check = |v: &i64| match *v {
                v if (least..=MAX_VALUE).contains(&v) => Ok(v as usize),
                v => Err(bad_attribute(op, name, format!("values of {least} to {MAX_VALUE}"), v)),
            };
            values.iter().map(check).collect()
        };
        Ok(Self {
            kernel: read("kernel", kernel, 1, 1)?,
            stride: read("stride", stride, 1, 1)?,
            dilate: read("dilate", dilate, 1, 1)?,
            pad: read("pad", pad, 0, 0)?,
        })
    }

    /// Number of spatial axes.
    pub fn ndim(&self) -> usize {
        self.kernel.len()
    }

    /// Number of positions that a window spans on an axis: `dilate * (kernel - 1) + 1`.
    pub fn span(&self, axis: usize) -> usize {
        self.dilate[axis].saturating_mul(self.kernel[axis] - 1).saturating_add(1)
    }

    /// Number of windows on an axis of size `size`; `None` if not even one fits.
    pub fn count(&self, axis: usize, size: usize) -> Option<usize> {
        let padded = size.saturating_add(2 * self.pad[axis]);
        Some(padded.checked_sub(self.span(axis))? / self.stride[axis] + 1)
    }
}

/// A tensor with batch, channels and up to three spatial axes; the channels come before or after space.
#[derive(Clone, Copy, Debug)]
pub struct SpatialView {
    /// Batch size (or output channels, for a weight).
    pub n: usize,
    /// Number of channels (or input channels, for a weight).
    pub c: usize,
    /// Depth, height, width; missing leading ones are 1.
    pub space: [usize; 3],
    is_channels_last: bool,
}

impl SpatialView {
    /// The view of a tensor of shape `[n, c, space…]` or `[n, space…, c]`, which has 3 to 5 axes.
    pub fn new(shape: &[usize], is_channels_last: bool) -> Self {
        let c_axis = channel_axis(shape.len(), is_channels_last);
        let spatial: PerAxis = (1..shape.len()).filter(|a| *a != c_axis).map(|a| shape[a]).collect();
        Self { n: shape[0], c: shape[c_axis], space: in_three(&spatial, 1), is_channels_last }
    }

    /// Flat position of an element.
    pub fn at(&self, n: usize, c: usize, at: [usize; 3]) -> usize {
        let [depth, height, width] = self.space;
        let cell = (at[0] * height + at[1]) * width + at[2];
        let cells = depth * height * width;
        if self.is_channels_last { (n * cells + cell) * self.c + c } else { (n * self.c + c) * cells + cell }
    }
}

/// The axis of the channels in a tensor of `ndim` axes. A tensor with too few axes does not have the returned axis.
pub fn channel_axis(ndim: usize, is_channels_last: bool) -> usize {
    if is_channels_last { ndim.saturating_sub(1) } else { 1 }
}

/// The axis of a tensor for spatial axis `i`.
pub fn spatial_axis(i: usize, is_channels_last: bool) -> usize {
    if is_channels_last { i + 1 } else { i + 2 }
}

/// Values per axis as depth, height, width, with `fill` for missing leading ones.
pub fn in_three(values: &[usize], fill: usize) -> [usize; 3] {
    let mut three = [fill; 3];
    three[3 - values.len()..].copy_from_slice(values);
    three
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_windows() {
        let window = Window::new("Convolution", &[3], &[2], &[2], &[1]).unwrap();
        assert_eq!(window.span(0), 5);
        assert_eq!(window.count(0, 7), Some(3));
        assert_eq!(window.count(0, 3), Some(1));
        assert_eq!(window.count(0, 2), None);
    }

    #[test]
    fn impossible_windows_are_refused() {
        for (kernel, stride, pad) in [
            (&[][..], &[][..], &[][..]),
            (&[1, 1, 1, 1], &[], &[]),
            (&[0], &[], &[]),
            (&[3], &[0], &[]),
            (&[3], &[1, 1], &[]),
            (&[3], &[], &[-1]),
            (&[i64::MAX], &[], &[]),
        ] {
            assert!(Window::new("Pooling", kernel, stride, &[], pad).is_err(), "{kernel:?} {stride:?} {pad:?}");
        }
    }

    #[test]
    fn both_orders_address_the_same_elements() {
        let first = SpatialView::new(&[2, 3, 4, 5], false);
        let last = SpatialView::new(&[2, 4, 5, 3], true);
        assert_eq!((first.n, first.c, first.space), (last.n, last.c, last.space));
        assert_eq!(first.at(1, 2, [0, 3, 4]), 2 * 3 * 4 * 5 - 1);
        assert_eq!(last.at(0, 1, [0, 0, 1]), 4);
    }
}
