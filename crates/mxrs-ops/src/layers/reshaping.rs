//! Layers that change the shape or concatenate.

use super::layer;

layer! {
    /// `Concat`: concatenates its inputs along an axis. See [`crate::shape::concat`].
    ///
    /// ```
    /// use mxrs_op::Layer;
    /// use mxrs_ops::layers::Concat;
    ///
    /// assert_eq!(Concat { dim: 2 }.attrs().get("dim"), Some("2"));
    /// ```
    pub struct Concat for "Concat" {
        /// Axis of the concatenation. Default: 1.
        dim: i32 = 1,
    }
}

layer! {
    /// `Flatten`: merges all axes after the first into one. See [`crate::shape::flatten`].
    ///
    /// ```
    /// use mxrs_op::Layer;
    /// use mxrs_ops::layers::Flatten;
    ///
    /// assert!(Flatten {}.attrs().is_empty());
    /// ```
    pub struct Flatten for "Flatten" {
    }
}

layer! {
    /// `Reshape`: the same elements in another shape. See [`crate::shape::reshape`] for the codes 0 to -4.
    ///
    /// ```
    /// use mxrs_op::Layer;
    /// use mxrs_ops::layers::Reshape;
    ///
    /// assert_eq!(Reshape { shape: vec![0, -1] }.attrs().get("shape"), Some("(0, -1)"));
    /// ```
    pub struct Reshape for "Reshape" {
        /// The new shape.
        shape: Vec<i64>,
    }
}
