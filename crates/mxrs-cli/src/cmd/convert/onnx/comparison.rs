//! Checks a conversion: runs the original and the written model on the same random input and compares the outputs.

use crate::exit::{Failure, Outcome};
use mxrs::models::Initializer;
use mxrs::onnx::Imported;
use mxrs::types::{Error, Result, Shape};
use mxrs::{Model, Runtime};

/// Largest allowed difference of outputs, relative to their largest element.
const TOLERANCE: f32 = 1e-4;
/// Seed of the random input.
const SEED: u64 = 1;

/// Random numbers for an input, uniform from -1 to 1.
fn random(name: &str, shape: &Shape) -> Result<Vec<f32>> {
    Initializer::Zero.values(name, Some("[\"uniform\", {\"scale\": 1.0}]"), shape, SEED)
}

/// Runs a model on random inputs of these shapes.
///
/// # Errors
/// Returns an error if the model cannot be bound or run.
pub fn outputs(model: &Model, inputs: &[(String, Shape)]) -> Result<Vec<Vec<f32>>> {
    let shapes: Vec<(&str, Shape)> = inputs.iter().map(|(name, shape)| (name.as_str(), shape.clone())).collect();
    let bound = model.bind(&shapes)?;
    let data = inputs.iter().map(|(name, shape)| random(name, shape)).collect::<Result<Vec<_>>>()?;
    let feed: Vec<(&str, &[f32])> =
        inputs.iter().zip(&data).map(|((name, _), data)| (name.as_str(), data.as_slice())).collect();
    bound.forward(&feed)?.iter().map(|output| output.to_vec::<f32>()).collect()
}

/// Builds a model from an imported graph.
///
/// # Errors
/// Returns an error if memory is exhausted.
pub fn model(runtime: &Runtime, imported: Imported) -> Result<Model> {
    Model::from_parts(runtime, imported.graph, imported.params)
}

/// Compares two lists of outputs and returns the largest difference.
///
/// # Errors
/// [`Failure::Run`] if the outputs differ by more than rounding errors.
pub fn compare(expected: &[Vec<f32>], got: &[Vec<f32>]) -> Outcome<f32> {
    let differs = |what: String, rule: String| Failure::Run(Error::invalid("outputs of the written model", what, rule));
    if expected.len() != got.len() {
        return Err(differs(format!("{}", got.len()), format!("{}", expected.len())));
    }
    let mut largest = 0.0_f32;
    for (index, (expected, got)) in expected.iter().zip(got).enumerate() {
        if expected.len() != got.len() {
            return Err(differs(format!("{} elements in output {index}", got.len()), expected.len().to_string()));
        }
        let scale = expected.iter().fold(0.0_f32, |scale, value| scale.max(value.abs()));
        let allowed = 1e-6 + TOLERANCE * scale;
        let equal = |a: f32, b: f32| a == b || (a.is_nan() && b.is_nan());
        let differences = expected.iter().zip(got).filter(|(a, b)| !equal(**a, **b)).map(|(a, b)| (a - b).abs());
        // An element that is NaN in only one of the two outputs counts as an infinite difference.
        let difference = differences.fold(0.0_f32, |most, d| if d.is_nan() { f32::INFINITY } else { most.max(d) });
        if difference > allowed {
            let rule = format!("at most {allowed:.3e} for elements up to {scale:.3e}");
            return Err(differs(format!("a difference of {difference:.3e} in output {index}"), rule));
        }
        largest = largest.max(difference);
    }
    Ok(largest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_beyond_rounding_are_failures() {
        let one = vec![vec![1.0, -2.0, f32::NAN]];
        assert_eq!(compare(&one, &one).ok(), Some(0.0));
        assert!(compare(&one, &[vec![1.0001, -2.0, f32::NAN]]).is_ok());
        for other in [vec![1.001, -2.0, f32::NAN], vec![1.0, f32::NAN, f32::NAN], vec![1.0, -2.0, 0.0], vec![1.0]] {
            assert!(matches!(compare(&one, &[other]), Err(Failure::Run(_))));
        }
        assert!(compare(&one, &[]).is_err());
    }
}
