//! Which gradients a bound graph computes, and where they go.

use mxrs_ndarray::NdArray;
use mxrs_types::{Error, Result, WriteReq};
use std::fmt;
use std::str::FromStr;

/// What `backward` does with the gradient of one argument: MXNet's `grad_req`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum GradReq {
    /// It is not computed, and no array is made for it.
    Null,
    /// It overwrites the gradient array.
    #[default]
    Write,
    /// It is added to the gradient array.
    Add,
}

impl GradReq {
    /// What the step that makes the gradient is asked to do.
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
    /// For arguments that are not listed.
    pub default: GradReq,
    /// For single arguments.
    pub by_name: Vec<(String, GradReq)>,
    /// Arrays to write to; arguments without one get an array of zeros.
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

    /// Gives the array that the gradient of one argument goes to.
    #[must_use]
    pub fn into_array(mut self, name: impl Into<String>, array: NdArray) -> Self {
        self.arrays.push((name.into(), array));
        self
    }

    /// The request of an argument; of several for one name, the last.
    pub fn of(&self, name: &str) -> GradReq {
        let listed = self.by_name.iter().rev().find(|(n, _)| n == name);
        listed.map_or(self.default, |(_, request)| *request)
    }

    /// Every name mentioned.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.iter().map(|(n, _)| n).chain(self.arrays.iter().map(|(n, _)| n)).map(String::as_str)
    }
}

/// One gradient of a bound graph.
#[derive(Clone, Debug)]
pub struct BoundGradient {
    /// The argument.
    pub name: String,
    /// What `backward` does with it.
    pub request: GradReq,
    /// Where it goes.
    pub array: NdArray,
}
