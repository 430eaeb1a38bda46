//! Layers: operators with their attributes as typed values.

use crate::Attrs;

/// An operator with its attributes as typed values, for programs to use instead of names and texts. Graphs and
/// imperative calls accept a layer and convert it to [`Attrs`].
///
/// ```
/// use mxrs_op::{Attrs, Layer};
///
/// struct Dropout {
///     p: f64,
/// }
///
/// impl Layer for Dropout {
///     const OP: &'static str = "Dropout";
///
///     fn attrs(&self) -> Attrs {
///         Attrs::from([("p", self.p.to_string())])
///     }
/// }
/// assert_eq!(Dropout { p: 0.25 }.attrs().get("p"), Some("0.25"));
/// ```
pub trait Layer {
    /// MXNet's name of the operator.
    const OP: &'static str;

    /// The attributes as MXNet writes them. An attribute that has its default may be left out.
    fn attrs(&self) -> Attrs;
}
