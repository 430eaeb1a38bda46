//! Operators whose output shapes depend on the values of an input, such as the indices of the elements that are not 0.
//!
//! Such an operator has no kernel. A call on arrays waits for the values, computes the size of the result, and then calls a
//! companion, which has the size as a parameter. The companion is an ordinary operator: it has a kernel, samples and, where
//! elements only move, a gradient.

pub mod bincount;
pub mod boolean_mask;
pub mod delete;
pub mod nonzero;
pub mod unique;

use crate::inference::bad_attribute;
use mxrs_types::{Error, Result, Shape};

/// Reads the parameter `size` of a companion: the number of slices of its result.
fn size(op: &str, size: i64) -> Result<usize> {
    usize::try_from(size)
        .ok()
        .filter(|size| *size <= Shape::MAX_ELEMENTS)
        .ok_or_else(|| bad_attribute(op, "size", "the number of slices of the result", size))
}

/// Refuses a `size` above the number of slices that a companion chooses from, before memory is allocated for its result.
fn expect_at_most(op: &str, size: usize, most: Option<usize>) -> Result<()> {
    match most {
        Some(most) if size > most => Err(bad_attribute(op, "size", format!("at most {most}, as the input has"), size)),
        _ => Ok(()),
    }
}

/// Checks the parameter `size` of a companion against the values of the call.
fn expect_size(op: &str, size: usize, by_values: usize) -> Result<()> {
    if size == by_values {
        return Ok(());
    }
    Err(Error::invalid(format!("{op}: size"), size, format!("{by_values}, as the values of the input give")))
}
