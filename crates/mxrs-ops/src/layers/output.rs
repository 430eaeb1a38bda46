//! Outputs: distributions, with and without a loss.

use super::{Normalization, layer};

layer! {
    /// `SoftmaxOutput`: probabilities of data [N, classes]; its gradient is that of the cross-entropy with label [N]. See
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
        /// Factor of the gradient; 1.
        grad_scale: f32 = 1.0,
        /// Label that gives no gradient if `use_ignore`; -1.
        ignore_label: f32 = -1.0,
        /// Whether axis 1 is the distribution; it is not.
        multi_output: bool = false,
        /// Whether `ignore_label` counts; it does not.
        use_ignore: bool = false,
        /// Whether the last axis is the distribution; it is not.
        preserve_shape: bool = false,
        /// What the gradient is divided by; nothing.
        normalization: Normalization = Normalization::Null,
        /// Whether the gradient of the output is multiplied in; it is not.
        out_grad: bool = false,
        /// Label smoothing; 0.
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
        /// Axis; the last.
        axis: i32 = -1,
    }
}
