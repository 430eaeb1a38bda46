//! Softmax with a cross-entropy gradient built in; at inference, and forward in training, it is a softmax and the label
//! is not read.
//!
//! data [N, …], out shaped like data. By default each row of N is one distribution over all its elements; with
//! `preserve_shape` the last axis is, with `multi_output` axis 1. The label is [N, …] without that axis, or shaped like
//! data (probabilities); with `multi_output` it is [N, rest], or keeps its axes.
//!
//! MXNet: `SoftmaxOutput`, also `Softmax`. Dtypes: f32 f64 f16 bf16; the label has the dtype of data.

use crate::dtypes::FLOATS;
use crate::indexing::around_axis;
use crate::inference::{OP, learn, product, unify, unify_dtypes};
use crate::numeric;
use mxrs_op::{Accuracy, Fill, InputNames, OpDef, OpParams, RefInput, RefOutput, RunMode, Sample, op_enum, op_params};
use mxrs_types::{DType, Error, PartialShape, Result};

op_enum! {
    /// What the gradient is divided by.
    pub enum Normalization { Null = "null", Batch = "batch", Valid = "valid" }
}

op_params! {
    /// Parameters of `SoftmaxOutput`; all but `multi_output` and `preserve_shape` concern the gradient.
    pub struct SoftmaxOutputParams for "SoftmaxOutput" {
        /// Factor of the gradient.
        grad_scale: f32 = 1.0,
        /// Label that gives no gradient, with `use_ignore`.
        ignore_label: f32 = -1.0,
        /// Whether axis 1 is the distribution.
        multi_output: bool = false,
        /// Whether `ignore_label` counts.
        use_ignore: bool = false,
        /// Whether the last axis is the distribution.
        preserve_shape: bool = false,
        /// What the gradient is divided by.
        normalization: Normalization = Normalization::Null,
        /// Whether the gradient of the output is multiplied in.
        out_grad: bool = false,
        /// Label smoothing.
        smooth_alpha: f32 = 0.0,
    }
}

/// `SoftmaxOutput`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["Softmax"],
        summary: "softmax with a loss gradient",
        inputs: InputNames::Fixed(&["data", "label"]),
        infer_shape,
        infer_dtype,
        dtypes: FLOATS,
        inplace: &[(0, 0)],
        ignored_at_inference: &[1],
        accuracy: Accuracy::Reduction,
        reference: Some(softmax),
        samples,
        ..OpDef::new("SoftmaxOutput").params::<SoftmaxOutputParams>()
    }
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let params = params.get::<SoftmaxOutputParams>();
    let [data, label] = inputs else { return Ok(()) };
    unify(data, &mut outputs[0], "output")?;
    let Some(dims) = data.dims().map(<[_]>::to_vec) else { return Ok(()) };
    if dims.len() < 2 {
        return Err(Error::shape(OP, "data", "at least two axes", &*data));
    }
    let mut accepted = if params.multi_output {
        let without_channels = dims[..1].iter().chain(&dims[2..]).copied();
        let mut one_channel = dims.clone();
        one_channel[1] = Some(1);
        vec![
            PartialShape::new([dims[0], product(&dims[2..])]),
            PartialShape::new(without_channels),
            PartialShape::new(one_channel),
        ]
    } else {
        vec![PartialShape::new(dims[..dims.len() - 1].iter().copied())]
    };
    accepted.push(PartialShape::new(dims.iter().copied()));
    if label.ndim().is_none() {
        return learn(label, &accepted[0], "label");
    }
    // The label was given: the first form it agrees with is the one meant.
    let fits = |form: &&PartialShape| (*form).clone().merge(label).is_ok();
    match accepted.iter().find(fits) {
        Some(form) => learn(label, form, "label"),
        None => {
            let forms: Vec<String> = accepted.iter().map(PartialShape::to_string).collect();
            Err(Error::shape(OP, "label", forms.join(" or "), &*label))
        }
    }
}

fn infer_dtype(_: &OpParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
    unify_dtypes(inputs.iter_mut().chain(outputs), "label")
}

fn softmax(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let params = params.get::<SoftmaxOutputParams>();
    let shape = &inputs[0].desc.shape;
    let (outer, size, inner) = if params.multi_output {
        around_axis(shape, 1)
    } else if params.preserve_shape {
        around_axis(shape, shape.ndim() - 1)
    } else {
        (shape[0], shape[1..].iter().product(), 1)
    };
    let mut values = numeric::read(&inputs[0]);
    for o in 0..outer {
        for i in 0..inner {
            let at = |k: usize| (o * size + k) * inner + i;
            let mut row: Vec<f64> = (0..size).map(|k| values[at(k)]).collect();
            numeric::softmax_row(&mut row, 1.0);
            (0..size).for_each(|k| values[at(k)] = row[k]);
        }
    }
    numeric::write(&mut outputs[0], &values);
    Ok(())
}

fn samples() -> Vec<Sample> {
    let none: [(&str, &str); 0] = [];
    let large = Fill::Values(vec![1e4, -1e4, 1e4, 0.0]);
    vec![
        Sample::new("rows", none, &[&[4, 10], &[4]]).fill(0, Fill::Uniform(-5.0, 5.0)),
        Sample::new("all_but_first", none, &[&[2, 3, 4], &[2, 3]]),
        Sample::new("preserve_shape", [("preserve_shape", "True")], &[&[2, 3, 5], &[2, 3]]),
        Sample::new("multi_output", [("multi_output", "True")], &[&[2, 3, 4, 5], &[2, 20]]),
        Sample::new("large", none, &[&[2, 4], &[2]]).fill(0, large),
        Sample::new("one_element", none, &[&[1, 1], &[1]]),
        Sample::new("no_rows", none, &[&[0, 3], &[0]]),
    ]
}
