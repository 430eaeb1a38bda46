//! Operators with their attributes as values.

use crate::Attrs;

/// An operator with its attributes as values: what programs write in place of names and texts. Graphs and imperative calls
/// take it, and turn it into [`Attrs`] themselves.
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

    /// The attributes as MXNet writes them. Those that have their default may be left out.
    fn attrs(&self) -> Attrs;
}
