//! Which gradients a bound graph computes, and into which arrays.

use mxrs_ndarray::NdArray;
use mxrs_types::{Error, Result, WriteReq};
use std::fmt;
use std::str::FromStr;

/// What `backward` does with the gradient of one argument: MXNet's `grad_req`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum GradReq {
    /// The gradient is not computed, and has no array.
    Null,
    /// The gradient overwrites its array.
    #[default]
    Write,
    /// The gradient is added to its array.
    Add,
}

impl GradReq {
    /// The request for the step that computes the gradient.
    pub(crate) fn write_req(self) -> WriteReq {
        match self {
            Self::Null => WriteReq::Null,
            Self::Write => WriteReq::Write,
            Self::Add => WriteReq::Add,
        }
    }
}

impl FromStr for GradReq {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "null" => Ok(Self::Null),
            "write" => Ok(Self::Write),
            "add" => Ok(Self::Add),
            other => Err(Error::invalid("grad_req", other, "null, write or add")),
        }
    }
}

impl fmt::Display for GradReq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Null => "null",
            Self::Write => "write",
            Self::Add => "add",
        })
    }
}

/// Requests for the gradients of all arguments.
#[derive(Clone, Default)]
pub struct GradRequests {
    /// The request for arguments that are not in `by_name`.
    pub default: GradReq,
    /// Requests for single arguments. If a name is listed twice, the last request applies.
    pub by_name: Vec<(String, GradReq)>,
    /// The arrays to write gradients to, by the name of the argument. The gradient of any other argument gets a new array
    /// of zeros.
    pub arrays: Vec<(String, NdArray)>,
}

impl GradRequests {
    /// The same request for every argument.
    pub fn all(request: GradReq) -> Self {
        Self { default: request, ..Self::default() }
    }

    /// Sets the request of one argument.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, request: GradReq) -> Self {
        self.by_name.push((name.into(), request));
        self
    }

    /// Sets the array for the gradient of one argument.
    #[must_use]
    pub fn into_array(mut self, name: impl Into<String>, array: NdArray) -> Self {
        self.arrays.push((name.into(), array));
        self
    }

    /// The request for an argument. If a name is listed twice, the last request applies.
    pub fn of(&self, name: &str) -> GradReq {
        let listed = self.by_name.iter().rev().find(|(n, _)| n == name);
        listed.map_or(self.default, |(_, request)| *request)
    }

    /// Every name that has a request or an array.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.iter().map(|(n, _)| n).chain(self.arrays.iter().map(|(n, _)| n)).map(String::as_str)
    }
}

/// One gradient of a bound graph.
#[derive(Clone, Debug)]
pub struct BoundGradient {
    /// Name of the argument.
    pub name: String,
    /// What `backward` does with the gradient.
    pub request: GradReq,
    /// The array of the gradient.
    pub array: NdArray,
}
