//! Parameters of operators: parsed from attribute texts into typed fields, with one parser per type.
//!
//! The type texts (`"float, optional, default=0.5"`) are those that MXNet's C API returns. A test in `mxrs-ops` compares
//! the texts of every operator with recorded ones.

mod choice;
mod field;
mod macros;
mod tuple;

pub use choice::{Choice, word_list};
pub use field::Field;
pub use tuple::{Floats, Longs, OptionalItems, ShapeAttr};

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
    /// MXNet's type text, including the default.
    pub type_text: String,
    /// One-line description.
    pub doc: &'static str,
}

/// A struct of typed parameters, implemented by [`crate::op_params!`].
pub trait Parameters: Any + Send + Sync + fmt::Debug + Sized {
    /// Reads every field from text. Keys that belong to no field are ignored; the caller checks them.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Attribute`] with the operator, the key, its text and the accepted texts.
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

/// Parsed parameters of one call. Cheap to clone.
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
    /// Panics if the operator's parameters have another type. That is a bug in the caller and does not depend on input.
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

/// Reads the text of one field. Used by [`crate::op_params!`].
///
/// # Errors
/// Returns [`ErrorKind::Attribute`] with the accepted texts.
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
