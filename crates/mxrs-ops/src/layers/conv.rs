//! Convolution layers.

use super::value::Value;
use mxrs_op::{Attrs, Layer};

/// Convolution over one spatial axis; see [`Conv`].
pub type Conv1d = Conv<1>;
/// Convolution over two spatial axes; see [`Conv`].
pub type Conv2d = Conv<2>;
/// Convolution over three spatial axes; see [`Conv`].
pub type Conv3d = Conv<3>;

/// `Convolution` over `N` spatial axes: data `[N, C, …]`, weight
/// `[num_filter, C / num_group, kernel…]`, bias `[num_filter]`. See [`crate::nn::convolution`].
///
/// ```
/// use mxrs_op::Layer;
/// use mxrs_ops::layers::Conv2d;
///
/// let halves = Conv2d { kernel: [3, 3], stride: [2, 2], pad: [1, 1], num_filter: 32, ..Conv2d::default() };
/// assert_eq!(halves.attrs().get("stride"), Some("(2, 2)"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Conv<const N: usize> {
    /// Size of the window. Default: 1 on each axis.
    pub kernel: [usize; N],
    /// Number of output channels. It must be set, because the default of 0 is not valid.
    pub num_filter: u32,
    /// Distance between windows. Default: 1.
    pub stride: [usize; N],
    /// Zeros added on each side. Default: 0.
    pub pad: [usize; N],
    /// Distance between neighboring elements of a window. Default: 1.
    pub dilate: [usize; N],
    /// Number of groups that the channels are split into. Default: 1.
    pub num_group: u32,
    /// Whether there is no bias. Default: false.
    pub no_bias: bool,
}

impl<const N: usize> Default for Conv<N> {
    fn default() -> Self {
        let ones = [1; N];
        Self { kernel: ones, num_filter: 0, stride: ones, pad: [0; N], dilate: ones, num_group: 1, no_bias: false }
    }
}

impl<const N: usize> Layer for Conv<N> {
    const OP: &'static str = "Convolution";

    fn attrs(&self) -> Attrs {
        let mut attrs = Attrs::from([("kernel", self.kernel.text()), ("num_filter", self.num_filter.text())]);
        for (key, value, default) in [("stride", self.stride, 1), ("pad", self.pad, 0), ("dilate", self.dilate, 1)] {
            if value != [default; N] {
                attrs.set(key, value.text());
            }
        }
        if self.num_group != 1 {
            attrs.set("num_group", self.num_group.text());
        }
        if self.no_bias {
            attrs.set("no_bias", self.no_bias.text());
        }
        attrs
    }
}
