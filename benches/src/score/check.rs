//! Compares the outputs of all libraries in a case: with ours, or with PyTorch's for networks that PyTorch exports.

use super::agreement::Agreement;
use super::contest::{Plan, answers, loaded};
use super::files::Files;
use super::peers::{Peer, Tools};
use super::process::Process;
use super::{Case, Dtype, Failure, serve};
use std::path::PathBuf;

/// Largest difference from PyTorch's outputs, as a part of the largest of them, that rounding may explain. An error in a
/// layer changes the outputs by about their own size.
pub const TOLERANCE: f64 = 2e-3;

/// What PyTorch computes for the images.
#[derive(Clone, Debug)]
pub struct Expected {
    batches: Vec<Vec<f32>>,
    largest: f64,
}

impl Expected {
    /// Outputs of each batch.
    pub fn new(batches: Vec<Vec<f32>>) -> Self {
        let largest = batches.iter().flatten().fold(0.0, |largest: f64, x| largest.max(f64::from(x.abs())));
        Self { batches, largest }
    }

    /// Number of batches.
    pub fn n_batches(&self) -> usize {
        self.batches.len()
    }

    /// How far these outputs agree with PyTorch's, for `batch` images per batch.
    ///
    /// # Errors
    /// Fails if the outputs have another size or are wrong: if they differ by more than [`TOLERANCE`].
    pub fn judge(&self, theirs: &[Vec<f32>], batch: usize) -> Result<Agreement, Failure> {
        let agreement = agreement(&self.batches, theirs, batch, 0.0)?;
        let part = agreement.max_difference / self.largest.max(f64::MIN_POSITIVE);
        if part <= TOLERANCE {
            return Ok(agreement);
        }
        let why = format!("its outputs differ from PyTorch's by up to {part:.1e} of the largest output");
        Err(Failure::new("wrong", why))
    }
}

/// Agreement of the outputs of all batches.
pub fn agreement(ours: &[Vec<f32>], theirs: &[Vec<f32>], batch: usize, tolerance: f64) -> Result<Agreement, Failure> {
    let of = |(ours, theirs): (&Vec<f32>, &Vec<f32>)| Agreement::of(ours, theirs, batch, tolerance);
    let all: Option<Vec<Agreement>> = ours.iter().zip(theirs).map(of).collect();
    let all = all.ok_or_else(|| Failure::new("other size", "its output has not as many numbers as expected"))?;
    Ok(all.into_iter().fold(Agreement::default(), Agreement::and))
}

/// Outputs of mxrs in float32, from a process started for this purpose only.
///
/// # Errors
/// Fails if the process does.
pub fn in_float32(
    case: &Case,
    inputs: &[PathBuf],
    tools: Tools<'_>,
    files: &Files,
    plan: Plan,
) -> Result<Vec<Vec<f32>>, Failure> {
    let case = Case { dtype: Dtype::Float32, ..case.clone() };
    let load = files.load(&case);
    let mut process = Process::start(Peer::Mxrs.command(tools, &case)?, None)?;
    loaded(&mut process, &load.to_order(), plan.limit)?;
    answers(&mut process, inputs, plan.limit)
}

/// Writes `n_batches` batches of random images to files. Images are the same in every call.
///
/// # Errors
/// Fails if a file cannot be written.
pub fn inputs(files: &Files, n_batches: usize) -> Result<Vec<PathBuf>, Failure> {
    let each: usize = files.shape().iter().product();
    let images = serve::uniform(each * n_batches);
    let mut paths = Vec::new();
    for (at, batch) in images.chunks(each.max(1)).enumerate() {
        let path = files.beside(&format!("input-{at}.f32"));
        let written = std::fs::write(&path, batch.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>());
        written.map_err(|error| Failure::new("failed", format!("writing images to compare: {error}")))?;
        paths.push(path);
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_that_differ_more_than_by_rounding_are_wrong() {
        let expected = Expected::new(vec![vec![1.0, -10.0], vec![2.0, 3.0]]);
        let near = expected.judge(&[vec![1.01, -10.0], vec![2.0, 3.0]], 1).unwrap();
        assert_eq!((near.n_images, near.n_same_class), (2, 2));
        // The outputs differ by 0.1. This is a hundredth of the largest output, 10, and so more than the tolerance.
        let failure = expected.judge(&[vec![1.1, -10.0], vec![2.0, 3.0]], 1).unwrap_err();
        assert!(failure.word == "wrong" && failure.why.contains("1.0e-2"), "{failure}");
        assert_eq!(expected.judge(&[vec![f32::NAN, -10.0], vec![2.0, 3.0]], 1).unwrap_err().word, "wrong");
        assert_eq!(expected.judge(&[vec![1.0], vec![2.0]], 1).unwrap_err().word, "other size");
    }

    #[test]
    fn outputs_of_zero_are_wrong_where_others_are_expected() {
        let expected = Expected::new(vec![vec![0.5, 0.25]]);
        assert_eq!(expected.judge(&[vec![0.0, 0.0]], 1).unwrap_err().word, "wrong");
        assert!(Expected::new(vec![vec![0.0]]).judge(&[vec![0.0]], 1).is_ok());
    }
}
