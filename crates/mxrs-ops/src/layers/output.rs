//! Output layers: softmax, with and without a loss.

use super::{Normalization, layer};

layer! {
    /// `SoftmaxOutput`: probabilities of data `[N, classes]`; its gradient is that of the cross-entropy with label
    /// `[N]`. See
    /// [`crate::nn::softmax_output`].
    ///
    /// ```
    /// use mxrs_op::Layer;
    /// use mxrs_ops::layers::SoftmaxOutput;
    ///
    /// let smoothed = SoftmaxOutput { smooth_alpha: 0.1, ..SoftmaxOutput::default() };
    /// assert_eq!(smoothed.attrs().get("smooth_alpha"), Some("0.1"));
    /// ```
    pub struct SoftmaxOutput for "SoftmaxOutput" {
        /// Factor of the gradient. Default: 1.
        grad_scale: f32 = 1.0,
        /// Label that gives no gradient if `use_ignore` is set. Default: -1.
        ignore_label: f32 = -1.0,
        /// Whether each distribution lies along axis 1. Default: false.
        multi_output: bool = false,
        /// Whether `ignore_label` is used. Default: false.
        use_ignore: bool = false,
        /// Whether each distribution lies along the last axis. Default: false.
        preserve_shape: bool = false,
        /// Divisor of the gradient. Default: none.
        normalization: Normalization = Normalization::Null,
        /// Whether the gradient is multiplied by the gradient of the output. Default: false.
        out_grad: bool = false,
        /// Probability that label smoothing moves from the label to the other classes. Default: 0.
        smooth_alpha: f32 = 0.0,
    }
}

layer! {
    /// `softmax`: exponentials along an axis, scaled to sum to 1. See [`crate::nn::softmax`].
    ///
    /// ```
    /// use mxrs_op::Layer;
    /// use mxrs_ops::layers::Softmax;
    ///
    /// assert_eq!(Softmax { axis: 1 }.attrs().get("axis"), Some("1"));
    /// ```
    pub struct Softmax for "softmax" {
        /// Axis of the distributions. Default: the last.
        axis: i32 = -1,
    }
}
