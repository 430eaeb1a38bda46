//! Pooling layers.

use super::value::Value;
use super::{PoolConvention, PoolType};
use mxrs_op::{Attrs, Layer};

/// Pooling over one spatial axis; see [`Pool`].
pub type Pool1d = Pool<1>;
/// Pooling over two spatial axes; see [`Pool`].
pub type Pool2d = Pool<2>;
/// Pooling over three spatial axes; see [`Pool`].
pub type Pool3d = Pool<3>;

/// `Pooling` over `N` spatial axes of data `[N, C, …]`. See [`crate::nn::pooling`].
///
/// ```
/// use mxrs_op::Layer;
/// use mxrs_ops::layers::Pool2d;
///
/// let overlapping = Pool2d { stride: [2, 2], ..Pool2d::max([3, 3]) };
/// assert_eq!(overlapping.attrs().get("kernel"), Some("(3, 3)"));
/// assert_eq!(Pool2d::global_average().attrs().get("global_pool"), Some("True"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Pool<const N: usize> {
    /// Size of the window. Default: 1 on each axis.
    pub kernel: [usize; N],
    /// Function that is applied to each window. Default: the maximum.
    pub pool_type: PoolType,
    /// Distance between windows. Default: 1.
    pub stride: [usize; N],
    /// Number of padding elements added on each side. Default: 0.
    pub pad: [usize; N],
    /// Whether the window is the whole image. Default: false.
    pub global_pool: bool,
    /// How the number of windows is rounded. Default: down.
    pub pooling_convention: PoolConvention,
    /// Whether the mean includes the padding elements. Default: true.
    pub count_include_pad: bool,
}

impl<const N: usize> Default for Pool<N> {
    fn default() -> Self {
        Self {
            kernel: [1; N],
            pool_type: PoolType::Max,
            stride: [1; N],
            pad: [0; N],
            global_pool: false,
            pooling_convention: PoolConvention::Valid,
            count_include_pad: true,
        }
    }
}

impl<const N: usize> Pool<N> {
    /// Makes a layer that takes the maximum of adjacent windows, which do not overlap.
    pub fn max(kernel: [usize; N]) -> Self {
        Self { kernel, stride: kernel, ..Self::default() }
    }

    /// Makes a layer that takes the mean of adjacent windows, which do not overlap.
    pub fn average(kernel: [usize; N]) -> Self {
        Self { pool_type: PoolType::Avg, ..Self::max(kernel) }
    }

    /// Makes a layer that takes the mean of the whole image.
    pub fn global_average() -> Self {
        Self { pool_type: PoolType::Avg, global_pool: true, ..Self::default() }
    }
}

impl<const N: usize> Layer for Pool<N> {
    const OP: &'static str = "Pooling";

    fn attrs(&self) -> Attrs {
        let mut attrs = Attrs::from([("kernel", self.kernel.text()), ("pool_type", self.pool_type.text())]);
        for (key, value, default) in [("stride", self.stride, 1), ("pad", self.pad, 0)] {
            if value != [default; N] {
                attrs.set(key, value.text());
            }
        }
        if self.global_pool {
            attrs.set("global_pool", self.global_pool.text());
        }
        if self.pooling_convention != PoolConvention::Valid {
            attrs.set("pooling_convention", self.pooling_convention.text());
        }
        if !self.count_include_pad {
            attrs.set("count_include_pad", self.count_include_pad.text());
        }
        attrs
    }
}
