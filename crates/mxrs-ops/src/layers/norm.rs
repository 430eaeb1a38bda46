//! Normalization layers.

use super::layer;

layer! {
    /// `BatchNorm`: normalizes each channel of data; gamma, beta, moving mean and moving variance are `[C]`. See
    /// [`crate::nn::batch_norm`].
    ///
    /// ```
    /// use mxrs_op::Layer;
    /// use mxrs_ops::layers::BatchNorm;
    ///
    /// let norm = BatchNorm { fix_gamma: false, eps: 2e-5, ..BatchNorm::default() };
    /// assert_eq!(norm.attrs().get("fix_gamma"), Some("False"));
    /// ```
    pub struct BatchNorm for "BatchNorm" {
        /// Number added to the variance. Default: 0.001 rounded to float32, as in MXNet.
        eps: f64 = f64::from(1e-3f32),
        /// Weight of the old value when the moving statistics are updated. Default: 0.9.
        momentum: f32 = 0.9,
        /// Whether gamma is taken as 1. Default: true.
        fix_gamma: bool = true,
        /// Whether training uses the moving statistics too. Default: false.
        use_global_stats: bool = false,
        /// Axis of the channels. Default: 1.
        axis: i32 = 1,
    }
}

layer! {
    /// `LRN`: divides by a sum of squares over neighboring channels. See [`crate::nn::lrn`].
    ///
    /// ```
    /// use mxrs_op::Layer;
    /// use mxrs_ops::layers::Lrn;
    ///
    /// assert_eq!(Lrn::new(5).attrs().get("nsize"), Some("5"));
    /// ```
    pub struct Lrn for "LRN" {
        /// Number of channels in a window.
        nsize: u32,
        /// Number by which the sum of squares is multiplied. Default: 0.0001.
        alpha: f32 = 1e-4,
        /// Exponent of the divisor. Default: 0.75.
        beta: f32 = 0.75,
        /// Number added to the sum of squares. Default: 2.
        knorm: f32 = 2.0,
    }
}

impl Lrn {
    /// Makes a layer with MXNet's defaults.
    pub fn new(nsize: u32) -> Self {
        Self { nsize, alpha: 1e-4, beta: 0.75, knorm: 2.0 }
    }
}
