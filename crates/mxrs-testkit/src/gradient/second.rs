//! The second derivative: gradients of gradients, with respect to inputs and head gradients.

use super::subject::Subject;
use super::{Checked, numeric};
use crate::AlignedBuffer;
use mxrs_op::GradValue;
use mxrs_types::DType;

/// Compares the derivatives of `Σ weight · gradient` with central differences of the gradients.
pub(super) fn check(subject: &Subject<'_>) -> Result<Checked, String> {
    let wants = subject.is_differentiated();
    if !subject.is_smooth() {
        return Ok(Checked::default());
    }
    // The derivatives are computed at the point `at`: the inputs, followed by the head gradients.
    let n_inputs = wants.len();
    let at: Vec<AlignedBuffer> = subject.data().iter().cloned().chain(subject.heads(0)).collect();
    let weights: Vec<AlignedBuffer> =
        subject.inputs().iter().zip(2..).map(|(desc, which)| subject.weights(desc, which)).collect();

    let mut forward = subject.forward(&at[..n_inputs], &at[n_inputs..])?;
    let first = forward.gradients(&wants)?;
    let mut pairs = Vec::new();
    for (i, gradient) in first.iter().enumerate() {
        let Some(gradient) = gradient else { continue };
        let weight = forward.tape.leaf(subject.inputs()[i].clone(), weights[i].clone()).map_err(|e| e.to_string())?;
        pairs.push((*gradient, weight));
    }
    let wrt: Vec<GradValue> = forward
        .inputs
        .iter()
        .zip(&wants)
        .filter(|(_, w)| **w)
        .map(|(v, _)| *v)
        .chain(forward.heads.iter().copied())
        .collect();
    let found = forward.tape.gradients(&pairs, &wrt).map_err(|e| format!("second gradient: {e}"))?;
    let mut found = wrt.iter().zip(found).map(|(at, gradient)| {
        let n = forward.tape.desc(*at).shape.n_elements();
        gradient.map_or_else(|| vec![0.0; n], |v| forward.tape.numbers(v))
    });
    let derivatives: Vec<Option<Vec<f64>>> =
        (0..at.len()).map(|i| if wants.get(i).copied().unwrap_or(true) { found.next() } else { None }).collect();
    let weights: Vec<Vec<f64>> =
        weights.iter().zip(&wants).map(|(w, is)| if *is { w.to_f64(DType::F64) } else { Vec::new() }).collect();
    numeric::compare(&at, &derivatives, &weights, |at| {
        let mut forward = subject.forward(&at[..n_inputs], &at[n_inputs..])?;
        let found = forward.gradients(&wants)?;
        Ok(found.iter().enumerate().map(|(i, v)| forward.numbers(i, *v)).collect())
    })
}
