//! Parameters of operators: one parser per type text, text at the edge and typed inside.
//!
//! The type texts (`"float, optional, default=0.5"`) are those MXNet's C API reports; a test in `mxrs-ops` compares
//! every operator's with the recorded ones.

mod choice;
mod field;
mod macros;
mod tuple;

pub use choice::{Choice, word_list};
pub use field::Field;
pub use tuple::{Floats, OptionalItems, ShapeAttr};

use crate::Attrs;
use mxrs_types::{Error, ErrorKind, Result};
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// One parameter as the C API describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamSpec {
    /// Attribute key.
    pub name: &'static str,
    /// MXNet's type text, default included.
    pub type_text: String,
    /// One-line description.
    pub doc: &'static str,
}

/// A struct of typed parameters, implemented by [`crate::op_params!`].
pub trait Parameters: Any + Send + Sync + fmt::Debug + Sized {
    /// Reads every field from text. Keys that are no parameter are the caller's concern.
    ///
    /// # Errors
    /// [`ErrorKind::Attribute`] naming operator, key, text and what is accepted.
    fn parse(attrs: &Attrs) -> Result<Self>;
    /// The description of each field, in order.
    fn specs() -> Vec<ParamSpec>;
    /// Name of the operator, for messages.
    const OP: &'static str;
}

/// Parameters of operators that have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoParams;

impl Parameters for NoParams {
    fn parse(_: &Attrs) -> Result<Self> {
        Ok(Self)
    }
    fn specs() -> Vec<ParamSpec> {
        Vec::new()
    }
    const OP: &'static str = "operator";
}

/// Parsed parameters of one call; cheap to clone.
#[derive(Clone)]
pub struct OpParams(Arc<dyn AnyParams>);

trait AnyParams: Any + Send + Sync + fmt::Debug {
    fn as_any(&self) -> &dyn Any;
}
impl<P: Parameters> AnyParams for P {
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl OpParams {
    /// Wraps a parameter struct.
    pub fn new<P: Parameters>(params: P) -> Self {
        Self(Arc::new(params))
    }

    /// The parameter struct.
    ///
    /// # Panics
    /// When the operator's parameters are of another type: a bug in the caller, not in any input.
    pub fn get<P: Parameters>(&self) -> &P {
        self.0
            .as_any()
            .downcast_ref()
            .unwrap_or_else(|| panic!("parameters are {:?}, not {} of {}", self.0, std::any::type_name::<P>(), P::OP))
    }
}

impl fmt::Debug for OpParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The error for a required parameter that is absent.
pub fn missing(op: &str, name: &str, type_text: &str) -> Error {
    Error::new(ErrorKind::Attribute {
        op: op.into(),
        name: name.into(),
        expected: type_text.into(),
        got: "nothing".into(),
    })
}

/// Reads one field's text; used by [`crate::op_params!`].
///
/// # Errors
/// [`ErrorKind::Attribute`] with the accepted texts.
pub fn parse_field<F: Field>(op: &str, name: &str, text: &str) -> Result<F> {
    F::parse(text).map_err(|expected| {
        Error::new(ErrorKind::Attribute {
            op: op.into(),
            name: name.into(),
            expected,
            got: format!("\"{}\"", text.chars().take(80).collect::<String>()),
        })
    })
}
