//! `out = data`, with the gradient of a multi-class hinge loss. Data `[n, k]` holds scores of k classes, label `[n]` the
//! classes. Let `y` be 1 for the class of the example and -1 for the other classes, and `r` be `regularization_coefficient`.
//! The gradient of data, which does not depend on `ograd`, is 0 where `y · data` is at least `margin`. Elsewhere it is
//! `-y · r` with `use_linear`, and `-2 y · r · (margin - y · data)` without.
//!
//! MXNet: `SVMOutput`. Dtypes: f32 f64 f16 bf16.

use crate::dtypes::FLOATS;
use crate::families::gradients::params_of;
use crate::inference::{learn, learn_dim, require_ndim, unify, unify_dtypes};
use crate::numeric;
use mxrs_op::{Accuracy, Fill, Gradient, InputNames, OpDef, OpParams, Sample, op_params};
use mxrs_types::{Error, PartialShape, Result};

op_params! {
    /// Parameters of `SVMOutput`.
    pub struct SvmOutputParams for "SVMOutput" {
        /// Scores on the right side beyond this margin have no loss.
        margin: f32 = 1.0,
        /// Factor of the gradient.
        regularization_coefficient: f32 = 1.0,
        /// Whether the loss is linear instead of quadratic.
        use_linear: bool = false,
    }
}

const BACKWARD: &str = "_backward_SVMOutput";

fn infer_shape(data: &mut PartialShape, label: &mut PartialShape, out: &mut PartialShape) -> Result<()> {
    require_ndim(data, 2, "data")?;
    unify(data, out, "output")?;
    learn(label, &PartialShape::new([data.dim(0)]), "label")?;
    learn_dim(data, 0, label.dim(0), "data")?;
    unify(data, out, "output")
}

/// Defines the operator `SVMOutput`.
pub fn define() -> OpDef {
    OpDef {
        summary: "out = data; multi-class hinge loss",
        inputs: InputNames::Fixed(&["data", "label"]),
        infer_shape: |_, inputs, outputs| {
            let [data, label] = inputs else { return Ok(()) };
            infer_shape(data, label, &mut outputs[0])
        },
        infer_dtype: |_, inputs, outputs| unify_dtypes(inputs.iter_mut().chain(outputs), "label"),
        dtypes: FLOATS,
        inplace: &[(0, 0)],
        ignored_at_inference: &[1],
        gradient: Gradient::By(|_, scope| {
            let (label, out) = (scope.input(1), scope.output(0));
            let attrs = params_of(scope);
            Ok(vec![Some(scope.call(BACKWARD, attrs, &[label, out])?[0]), None])
        }),
        companions: || vec![backward()],
        reference: Some(|_, inputs, outputs, _| {
            numeric::copy_bytes(inputs, outputs);
            Ok(())
        }),
        samples,
        is_loss: |_| true,
        ..OpDef::new("SVMOutput").params::<SvmOutputParams>()
    }
}

fn samples() -> Vec<Sample> {
    let of = |name, attrs: &[(&str, &str)], n: usize, k: usize| Sample {
        attrs: attrs.iter().copied().collect(),
        ..Sample::plain(name, &[&[n, k], &[n]]).fill(1, Fill::Integers(0, k as i64))
    };
    vec![
        of("quadratic", &[], 3, 4),
        of("linear", &[("use_linear", "True"), ("margin", "0.5")], 3, 4),
        of("scaled", &[("regularization_coefficient", "2.5")], 2, 3),
        of("empty", &[], 0, 3),
    ]
}

/// Takes (label, out) and returns the gradient of data.
fn backward() -> OpDef {
    OpDef {
        summary: "gradient of the hinge loss",
        inputs: InputNames::Fixed(&["label", "out"]),
        infer_shape: |_, inputs, outputs| {
            let [label, out] = inputs else { return Ok(()) };
            infer_shape(out, label, &mut outputs[0])
        },
        infer_dtype: |_, inputs, outputs| unify_dtypes(inputs.iter_mut().chain(outputs), "out"),
        dtypes: FLOATS,
        accuracy: Accuracy::Elementwise,
        reference: Some(|params, inputs, outputs, _| {
            let [label, out] = [0, 1].map(|i| numeric::read(&inputs[i]));
            let k = inputs[1].desc.shape[1].max(1);
            let gradient = out.iter().enumerate().map(|(at, x)| slope(params, *x, label[at / k], at % k));
            let gradient = gradient.collect::<Result<Vec<f64>>>()?;
            numeric::write(&mut outputs[0], &gradient);
            Ok(())
        }),
        samples: || {
            let swapped = |mut sample: Sample| {
                sample.inputs.reverse();
                sample
            };
            samples().into_iter().map(swapped).collect()
        },
        ..OpDef::new(BACKWARD).params::<SvmOutputParams>()
    }
}

/// The gradient of the score `x` of class `class` of an example with this label.
fn slope(params: &OpParams, x: f64, label: f64, class: usize) -> Result<f64> {
    let params: &SvmOutputParams = params.get();
    if label.is_nan() {
        return Err(Error::invalid("label", label, "the number of a class"));
    }
    let y = if label as i64 == class as i64 { 1.0 } else { -1.0 };
    let (margin, factor) = (f64::from(params.margin), f64::from(params.regularization_coefficient));
    Ok(match (margin > y * x, params.use_linear) {
        (false, _) => 0.0,
        (true, true) => -y * factor,
        (true, false) => -2.0 * y * factor * (margin - y * x),
    })
}
