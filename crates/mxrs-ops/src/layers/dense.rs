//! Layers: matrix product, nonlinearity, dropout.

use super::{ActType, DropoutMode, layer};

layer! {
    /// `FullyConnected`: `data · weightᵀ + bias` with data `[N, features]`, weight `[num_hidden, features]`,
    /// bias `[num_hidden]`. See
    /// [`crate::nn::fully_connected`].
    ///
    /// ```
    /// use mxrs_op::Layer;
    /// use mxrs_ops::layers::FullyConnected;
    ///
    /// assert_eq!(FullyConnected::new(10).attrs().get("num_hidden"), Some("10"));
    /// ```
    pub struct FullyConnected for "FullyConnected" {
        /// Number of outputs per row of data.
        num_hidden: i32,
        /// Whether there is no bias. Default: false.
        no_bias: bool = false,
        /// Whether all axes of data but the first are flattened into one. Default: true.
        flatten: bool = true,
    }
}

impl FullyConnected {
    /// Makes a layer with a bias, which flattens all axes of data but the first into one.
    pub fn new(num_hidden: i32) -> Self {
        Self { num_hidden, no_bias: false, flatten: true }
    }
}

layer! {
    /// `Activation`: a nonlinearity, elementwise. See [`crate::nn::activation`].
    ///
    /// ```
    /// use mxrs_ops::layers::{ActType, Activation};
    ///
    /// assert_eq!(Activation::tanh(), Activation { act_type: ActType::Tanh });
    /// ```
    pub struct Activation for "Activation" {
        /// The nonlinearity.
        act_type: ActType,
    }
}

impl Activation {
    /// `max(x, 0)`.
    pub fn relu() -> Self {
        Self { act_type: ActType::Relu }
    }

    /// `1 / (1 + exp(-x))`.
    pub fn sigmoid() -> Self {
        Self { act_type: ActType::Sigmoid }
    }

    /// The hyperbolic tangent.
    pub fn tanh() -> Self {
        Self { act_type: ActType::Tanh }
    }
}

layer! {
    /// `Dropout`: in training, zeroes a share `p` of the elements and scales the others by `1 / (1 - p)`. See
    /// [`crate::nn::dropout`].
    ///
    /// ```
    /// use mxrs_op::Layer;
    /// use mxrs_ops::layers::Dropout;
    ///
    /// assert_eq!(Dropout { p: 0.2, ..Dropout::default() }.attrs().get("p"), Some("0.2"));
    /// ```
    pub struct Dropout for "Dropout" {
        /// Share of the elements that are dropped. Default: 0.5.
        p: f32 = 0.5,
        /// When elements are dropped. Default: in training.
        mode: DropoutMode = DropoutMode::Training,
        /// Axes along which elements are dropped together. Default: none.
        axes: Vec<usize> = Vec::<usize>::new(),
    }
}
