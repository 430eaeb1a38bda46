//! Checks of the first derivative.

use super::Checked;
use super::numeric;
use super::subject::{Forward, Subject};
use crate::{AlignedBuffer, Tolerance, compare};

/// The tolerance in the check that a gradient is linear in the head gradients.
const LINEAR: Tolerance = Tolerance { rtol: 1e-9, atol: 1e-9 };

/// Checks that the gradients have the shapes and element types of their inputs.
pub(super) fn shapes(subject: &Subject<'_>) -> Result<(), String> {
    subject.forward(subject.data(), &subject.heads(0))?.gradients(&subject.is_differentiated()).map(drop)
}

/// Runs all checks of the first derivative.
pub(super) fn check(subject: &Subject<'_>) -> Result<Checked, String> {
    let wants = subject.is_differentiated();
    let data = subject.data();
    let heads = subject.heads(0);
    let mut forward = subject.forward(data, &heads)?;
    let found = forward.gradients(&wants)?;
    one_at_a_time(subject, &wants, &forward, &found)?;
    if !subject.is_smooth() {
        return Ok(Checked::default());
    }
    let gradients: Vec<Option<Vec<f64>>> =
        found.iter().zip(&wants).enumerate().map(|(i, (v, w))| w.then(|| forward.numbers(i, *v))).collect();
    heads_count_linearly(subject, &wants, &gradients)?;
    match subject.options().loss {
        Some(loss) => numeric::compare(data, &gradients, &[vec![1.0]], |at| Ok(vec![vec![subject.loss(loss, at)?]])),
        None => {
            let weights: Vec<Vec<f64>> = heads.iter().map(|h| h.to_f64(mxrs_types::DType::F64)).collect();
            numeric::compare(data, &gradients, &weights, |at| {
                let forward = subject.forward(at, &[])?;
                Ok(forward.outputs.iter().map(|v| forward.tape.numbers(*v)).collect())
            })
        }
    }
}

/// Checks that each gradient is the same if it is the only one requested.
fn one_at_a_time(
    subject: &Subject<'_>,
    wants: &[bool],
    all: &Forward<'_>,
    found: &[Option<mxrs_op::GradValue>],
) -> Result<(), String> {
    for i in (0..wants.len()).filter(|i| wants[*i]) {
        let only: Vec<bool> = (0..wants.len()).map(|k| k == i).collect();
        let mut forward = subject.forward(subject.data(), &subject.heads(0))?;
        let alone = forward.gradients(&only)?[i];
        let is_same = match (alone, found[i]) {
            (None, None) => true,
            (Some(alone), Some(together)) => forward.tape.bytes(alone) == all.tape.bytes(together),
            _ => false,
        };
        if !is_same {
            return Err(format!("the gradient of input {i} changes when no other is wanted"));
        }
    }
    Ok(())
}

/// Checks linearity: the gradient for heads `a · h + b · k` must be `a` times that for `h` plus `b` times that for `k`. For
/// a loss, checks that all these gradients are equal.
fn heads_count_linearly(subject: &Subject<'_>, wants: &[bool], of_first: &[Option<Vec<f64>>]) -> Result<(), String> {
    let (a, b) = (0.75, -2.5);
    let (first, second) = (subject.heads(0), subject.heads(1));
    let mixed: Vec<AlignedBuffer> = first
        .iter()
        .zip(&second)
        .zip(subject.outputs())
        .map(|((h, k), desc)| {
            let pairs = h.to_f64(desc.dtype).into_iter().zip(k.to_f64(desc.dtype));
            AlignedBuffer::from_f64(&pairs.map(|(h, k)| a * h + b * k).collect::<Vec<f64>>(), desc.dtype)
        })
        .collect();
    let gradients = |heads: &[AlignedBuffer]| -> Result<Vec<Vec<f64>>, String> {
        let mut forward = subject.forward(subject.data(), heads)?;
        let found = forward.gradients(wants)?;
        Ok(found.iter().enumerate().map(|(i, v)| forward.numbers(i, *v)).collect())
    };
    let (of_second, of_mixed) = (gradients(&second)?, gradients(&mixed)?);
    for (i, of_first) in of_first.iter().enumerate() {
        let Some(of_first) = of_first else { continue };
        let is_loss = subject.options().loss.is_some();
        let sum = |(g, k): (&f64, &f64)| if is_loss { *g } else { a * g + b * k };
        let expected: Vec<f64> = of_first.iter().zip(&of_second[i]).map(sum).collect();
        compare(&of_mixed[i], &expected, LINEAR).map_err(|e| {
            let what = if is_loss { "depends on head gradients" } else { "is not linear in head gradients" };
            format!("the gradient of input {i} {what}: {e}")
        })?;
    }
    Ok(())
}
