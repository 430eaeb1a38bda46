//! Output layers for regression. Their output is a function of data and does not depend on the label. The gradient of data
//! does not depend on `ograd`: it is the gradient of a loss, times `grad_scale`, divided by the number of outputs per
//! example.

use crate::dtypes::FLOATS;
use crate::families::gradients::params_of;
use crate::inference::{OP, learn, unify, unify_dtypes};
use crate::numeric;
use mxrs_op::{Accuracy, Gradient, InputNames, OpDef, OpParams, Sample, op_params};
use mxrs_types::{Error, PartialShape, Result};

op_params! {
    /// Parameters of the outputs of regression.
    pub struct RegressionParams for "regression output" {
        /// Factor of the gradient.
        grad_scale: f32 = 1.0,
    }
}

/// The properties in which the operators that are defined here differ from each other.
pub trait Regression: 'static {
    /// MXNet's name.
    const NAME: &'static str;
    /// Other names.
    const ALIASES: &'static [&'static str];
    /// Description in one line.
    const SUMMARY: &'static str;
    /// Name of the operator that computes the gradient.
    const BACKWARD: &'static str;
    /// The output.
    fn value(data: f64) -> f64;
    /// The gradient of data, from the output and the label.
    fn slope(out: f64, label: f64) -> f64;
}

/// Defines the operator.
pub fn define<R: Regression>() -> OpDef {
    OpDef {
        aliases: R::ALIASES,
        summary: R::SUMMARY,
        inputs: InputNames::Fixed(&["data", "label"]),
        infer_shape: |_, inputs, outputs| {
            let [data, label] = inputs else { return Ok(()) };
            unify(data, &mut outputs[0], "output")?;
            learn_label(data, label)
        },
        infer_dtype: |_, inputs, outputs| unify_dtypes(inputs.iter_mut().chain(outputs), "label"),
        dtypes: FLOATS,
        inplace: &[(0, 0)],
        ignored_at_inference: &[1],
        accuracy: Accuracy::Elementwise,
        gradient: Gradient::By(|_, scope| {
            let (label, out) = (scope.input(1), scope.output(0));
            Ok(vec![Some(scope.call(R::BACKWARD, params_of(scope), &[label, out])?[0]), None])
        }),
        companions: || vec![backward::<R>()],
        reference: Some(|_, inputs, outputs, _| {
            numeric::map_float(inputs, outputs, R::value);
            Ok(())
        }),
        samples,
        is_loss: |_| true,
        ..OpDef::new(R::NAME).params::<RegressionParams>()
    }
}

fn backward<R: Regression>() -> OpDef {
    OpDef {
        summary: "gradient of an output of regression",
        inputs: InputNames::Fixed(&["label", "out"]),
        infer_shape: |_, inputs, outputs| {
            let [label, out] = inputs else { return Ok(()) };
            unify(out, &mut outputs[0], "output")?;
            learn_label(out, label)
        },
        infer_dtype: |_, inputs, outputs| unify_dtypes(inputs.iter_mut().chain(outputs), "out"),
        dtypes: FLOATS,
        accuracy: Accuracy::Elementwise,
        gradient: Gradient::Undefined,
        reference: Some(|params: &OpParams, inputs, outputs, _| {
            let (label, out) = (numeric::read(&inputs[0]), numeric::read(&inputs[1]));
            let n_examples = inputs[1].desc.shape.first().copied().unwrap_or(1).max(1);
            let scale =
                f64::from(params.get::<RegressionParams>().grad_scale) / (label.len() / n_examples).max(1) as f64;
            let slopes = out.into_iter().zip(label).map(|(out, label)| scale * R::slope(out, label));
            numeric::write(&mut outputs[0], &slopes.collect::<Vec<f64>>());
            Ok(())
        }),
        samples: || {
            let swapped = |mut sample: Sample| {
                sample.inputs.swap(0, 1);
                sample
            };
            samples().into_iter().map(swapped).collect()
        },
        ..OpDef::new(R::BACKWARD).params::<RegressionParams>()
    }
}

/// Infers the shape of label: that of data, where axes of size 1 after the first may be left out.
fn learn_label(data: &PartialShape, label: &mut PartialShape) -> Result<()> {
    let Some(size) = data.known() else { return Ok(()) };
    if label.ndim().is_none() {
        // MXNet expects the label of data [n, 1] as [n].
        let short = if size.ndim() == 2 && size[1] == 1 { PartialShape::new([Some(size[0])]) } else { data.clone() };
        return learn(label, &short, "label");
    }
    let Some(known) = label.known() else { return Ok(()) };
    if known.first() == size.first() && known.n_elements() == size.n_elements() {
        return Ok(());
    }
    Err(Error::shape(OP, "label", format!("{data}, as data"), &*label))
}

fn samples() -> Vec<Sample> {
    vec![
        Sample::plain("matrix", &[&[3, 5], &[3, 5]]),
        Sample::new("scaled", [("grad_scale", "2.5")], &[&[2, 3, 4], &[2, 3, 4]]),
        Sample::plain("column", &[&[4, 1], &[4]]),
        Sample::plain("one", &[&[1], &[1]]),
        Sample::plain("empty", &[&[0, 3], &[0, 3]]),
    ]
}
