//! What operators on batches of sequences share. Data is [time, batch, …], or [batch, time, …] with `axis` 1;
//! `sequence_length` is `[batch]` and holds the number of steps of each sequence. Without it, all sequences are whole.

use crate::families::indices;
use crate::inference::{OP, bad_attribute, learn_dim, require_ndim};
use crate::numeric;
use mxrs_op::{MovedRows, RefInput};
use mxrs_types::{DType, Error, PartialShape, Result, Shape};

/// Names of the inputs.
pub const INPUTS: &[&str] = &["data", "sequence_length"];
/// Names of the inputs of gradients.
pub const BACKWARD_INPUTS: &[&str] = &["ograd", "data", "sequence_length"];

/// Checks the axis of time, and infers the size of `sequence_length`. Returns whether the rank of data is known.
pub fn learn_lengths(axis: i32, inputs: &mut [PartialShape], least_ndim: usize) -> Result<bool> {
    if !(0..2).contains(&axis) {
        return Err(bad_attribute("sequence operator", "axis", "0 or 1", axis));
    }
    let Some(ndim) = inputs[0].ndim() else { return Ok(false) };
    if ndim < least_ndim {
        return Err(Error::shape(OP, "data", format!("at least {least_ndim} axes"), &inputs[0]));
    }
    if let [data, lengths] = inputs {
        require_ndim(lengths, 1, "sequence_length")?;
        learn_dim(lengths, 0, data.dim(1 - axis as usize), "sequence_length")?;
    }
    Ok(true)
}

/// Infers types: data and the output have one type; lengths of unknown type have it too.
pub fn infer_dtype(inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
    let [data, lengths @ ..] = inputs else { return Ok(()) };
    indices::infer_dtype(data, lengths.first_mut().unwrap_or(&mut None), &mut outputs[0])
}

/// The number of steps of each sequence, at most the size of the axis of time.
pub fn lengths(axis: i32, inputs: &[RefInput<'_>]) -> Result<Vec<usize>> {
    let shape = &inputs[0].desc.shape;
    let (steps, batch) = if axis == 0 { (shape[0], shape[1]) } else { (shape[1], shape[0]) };
    let Some(given) = inputs.get(1) else { return Ok(vec![steps; batch]) };
    let length = |length: f64| match length as i64 {
        length if (0..=steps as i64).contains(&length) => Ok(length as usize),
        length => Err(Error::invalid("a sequence length", length, format!("a number from 0 to {steps}"))),
    };
    numeric::read(given).into_iter().map(length).collect()
}

/// The rows that move: a row is one step of one sequence, and its number counts along the first two axes of data.
pub fn rows(data: &Shape, rows: Vec<Option<usize>>, constant: f64) -> MovedRows {
    MovedRows { outer: 1, n_rows: data[0] * data[1], len: data[2..].iter().product(), rows, constant }
}
