//! Softmax with a built-in cross-entropy gradient. Forward, at inference and in training, it is a softmax and does not
//! read the label.
//!
//! data has the shape [N, …], and so has out. By default each of the N rows is one distribution over all its elements. With
//! `preserve_shape` the last axis is the distribution, with `multi_output` axis 1 is. The label has the shape of data
//! without the axis of the distribution, or, if it holds probabilities, the shape of data. With `multi_output`, the axes of
//! the label after N may be merged into one, or axis 1 may be kept with size 1.
//!
//! The gradient of data, computed by `_backward_SoftmaxOutput(output, label)`, is that of the cross-entropy, `out -
//! target`, times `grad_scale`; the gradient of out is ignored.
//!
//! The target is 1 at the label and 0 elsewhere. Label smoothing with `a = smooth_alpha` replaces 1 by `1 - a` and 0 by
//! `a / (size - 1)`; with `multi_output` there is no smoothing. If the label, truncated to an integer, is outside the
//! classes, the target has no 1. If the label is a distribution, the target is the label. Rows of an ignored label get
//! gradient 0.
//!
//! The gradient is divided by 1 (`null`), by the number of labels (`batch`; with `multi_output`, of images), or by the
//! number of labels other than `ignore_label` (`valid`). With `multi_output`, unless `normalization` is `valid`, the
//! gradient is also divided by the number of positions of an image. If labels are distributions, the gradient is not
//! divided. With `out_grad` the gradient is multiplied by the gradient of out (MXNet 1.9.1: by out itself). The label has
//! gradient 0.
//!
//! MXNet: `SoftmaxOutput`, also `Softmax`. Dtypes: f32 f64 f16 bf16; the label has the dtype of data.

use crate::dtypes::FLOATS;
use crate::families::gradients::{Answers, params_of};
use crate::families::indexing::around_axis;
use crate::inference::{OP, learn, product, unify, unify_dtypes};
use crate::numeric;
use mxrs_op::{
    Accuracy, Attrs, Fill, Gradient, GradientScope, InputNames, OpDef, OpParams, RefInput, RefOutput, RunMode, Sample,
    SampleInput, op_enum, op_params,
};
use mxrs_types::{DType, Error, PartialShape, Result, Shape};

op_enum! {
    /// The divisor of the gradient.
    pub enum Normalization { Null = "null", Batch = "batch", Valid = "valid" }
}

op_params! {
    /// Parameters of `SoftmaxOutput`. All but `multi_output` and `preserve_shape` only affect the gradient.
    pub struct SoftmaxOutputParams for "SoftmaxOutput" {
        /// Factor of the gradient.
        grad_scale: f32 = 1.0,
        /// Label whose rows get gradient 0, if `use_ignore`.
        ignore_label: f32 = -1.0,
        /// Whether axis 1 is the distribution.
        multi_output: bool = false,
        /// Whether `ignore_label` applies.
        use_ignore: bool = false,
        /// Whether the last axis is the distribution.
        preserve_shape: bool = false,
        /// The divisor of the gradient.
        normalization: Normalization = Normalization::Null,
        /// Whether the gradient is multiplied by the gradient of the output.
        out_grad: bool = false,
        /// Probability that label smoothing moves from the label to the other classes.
        smooth_alpha: f32 = 0.0,
    }
}

impl SoftmaxOutputParams {
    /// The product of the sizes before the axis of the distributions, the size of this axis, and the product of the sizes
    /// after it.
    fn rows(&self, shape: &Shape) -> (usize, usize, usize) {
        if self.multi_output {
            around_axis(shape, 1)
        } else if self.preserve_shape {
            around_axis(shape, shape.ndim() - 1)
        } else {
            (shape[0], shape[1..].iter().product(), 1)
        }
    }

    /// The number by which the gradient is multiplied if labels are classes. An image has `inner` positions.
    fn factor(&self, labels: &[f64], images: usize, inner: usize) -> f64 {
        let n_counted = match self.normalization {
            Normalization::Null => 1,
            Normalization::Batch if self.multi_output => images,
            Normalization::Batch => labels.len(),
            Normalization::Valid => labels.iter().filter(|l| !self.is_ignore_label(**l)).count().max(1),
        };
        let n_positions = if self.multi_output && self.normalization != Normalization::Valid { inner } else { 1 };
        f64::from(self.grad_scale) / n_positions as f64 / n_counted as f64
    }

    fn is_ignore_label(&self, label: f64) -> bool {
        label as i64 == self.ignore_label as i64
    }
}

/// Defines the operator `SoftmaxOutput`.
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
        is_costly: true,
        accuracy: Accuracy::Reduction,
        gradient: Gradient::By(gradient),
        companions: || vec![define_backward()],
        reference: Some(softmax),
        samples,
        is_loss: |params| !params.get::<SoftmaxOutputParams>().out_grad,
        ..OpDef::new("SoftmaxOutput").params::<SoftmaxOutputParams>()
    }
}

fn define_backward() -> OpDef {
    OpDef {
        summary: "gradient of SoftmaxOutput",
        inputs: InputNames::ByParams {
            all: &["output", "label", "ograd"],
            chosen: |params| match params.get::<SoftmaxOutputParams>().out_grad {
                true => vec!["output", "label", "ograd"],
                false => vec!["output", "label"],
            },
        },
        infer_shape: |params, inputs, outputs| {
            let Some((forward, ograd)) = inputs.split_at_mut_checked(2) else { return Ok(()) };
            ograd.iter_mut().try_for_each(|ograd| unify(&mut outputs[0], ograd, "ograd"))?;
            unify(&mut outputs[0], &mut forward[0], "output")?;
            // Inference of the forward call assumes one shape of the label if its rank is unknown. The backward call must
            // accept every allowed shape, so it waits for the rank.
            match forward[1].ndim() {
                Some(_) => infer_shape(params, forward, outputs),
                None => Ok(()),
            }
        },
        infer_dtype,
        dtypes: FLOATS,
        inplace: &[(0, 0), (2, 0)],
        accuracy: Accuracy::Reduction,
        reference: Some(backward),
        samples: backward_samples,
        ..OpDef::new("_backward_SoftmaxOutput").params::<SoftmaxOutputParams>()
    }
}

fn gradient(params: &OpParams, scope: &mut dyn GradientScope) -> Answers {
    let mut inputs = vec![scope.output(0), scope.input(1)];
    if params.get::<SoftmaxOutputParams>().out_grad {
        inputs.push(scope.out_grad(0)?);
    }
    let attrs = params_of(scope);
    Ok(vec![scope.call("_backward_SoftmaxOutput", attrs, &inputs)?.first().copied(), None])
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
    // The rank of the label is known: of the accepted shapes, the first that agrees with the label is used.
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
    let (outer, size, inner) = params.rows(shape);
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

fn backward(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let params = params.get::<SoftmaxOutputParams>();
    let shape = &inputs[0].desc.shape;
    let (mut dx, label) = (numeric::read(&inputs[0]), numeric::read(&inputs[1]));
    if *shape == inputs[1].desc.shape {
        let scale = f64::from(params.grad_scale);
        dx.iter_mut().zip(&label).for_each(|(d, l)| *d = (*d - l) * scale);
    } else {
        let (outer, size, inner) = params.rows(shape);
        let factor = params.factor(&label, outer, inner);
        let alpha = if params.multi_output { 0.0 } else { f64::from(params.smooth_alpha) };
        let elsewhere = if alpha > 0.0 { alpha / (size as f64 - 1.0) } else { 0.0 };
        // Without `multi_output` and `preserve_shape` there may be more labels than distributions: only the first labels are
        // used.
        for (row, label) in (0..outer * inner).zip(&label) {
            for k in 0..size {
                let d = &mut dx[(row / inner * size + k) * inner + row % inner];
                let target = if k as i64 == *label as i64 { 1.0 - alpha } else { elsewhere };
                let is_ignored = params.use_ignore && params.is_ignore_label(*label);
                *d = if is_ignored { 0.0 } else { (*d - target) * factor };
            }
        }
    }
    if let Some(ograd) = inputs.get(2).map(numeric::read) {
        dx.iter_mut().zip(ograd).for_each(|(d, g)| *d *= g);
    }
    numeric::write(&mut outputs[0], &dx);
    Ok(())
}

fn backward_samples() -> Vec<Sample> {
    let of = |name, attrs: &[(&str, &str)], data: &[usize], label: &[usize], classes| {
        let attrs: Attrs = attrs.iter().copied().collect();
        let sample = Sample { attrs, ..Sample::plain(name, &[data, label]) };
        sample.fill(0, Fill::Uniform(0.0, 1.0)).fill(1, Fill::Integers(-1, classes))
    };
    let with_ograd = |mut sample: Sample| {
        let shape = sample.inputs[0].shape.clone();
        sample.inputs.push(SampleInput { shape, fill: Fill::Uniform(-1.0, 1.0), dtype: None });
        sample
    };
    let multi = ("multi_output", "True");
    vec![
        of("rows", &[("grad_scale", "0.5")], &[4, 10], &[4], 10),
        of("ignored", &[("use_ignore", "True"), ("normalization", "valid")], &[9, 3], &[9], 3),
        of("batch", &[("normalization", "batch")], &[5, 3], &[5], 3),
        of("smooth", &[("smooth_alpha", "0.1")], &[5, 4], &[5], 4),
        of("preserve_shape", &[("preserve_shape", "True")], &[2, 3, 5], &[2, 3], 5),
        of("multi_output", &[multi], &[2, 3, 4, 5], &[2, 20], 3),
        of("multi_valid", &[multi, ("use_ignore", "True"), ("normalization", "valid")], &[2, 3, 4], &[2, 4], 3),
        of("distributions", &[], &[3, 4], &[3, 4], 1).fill(1, Fill::Uniform(0.0, 0.5)),
        with_ograd(of("out_grad", &[("out_grad", "True")], &[4, 5], &[4], 5)),
        of("one_element", &[], &[1, 1], &[1], 1),
        of("no_rows", &[], &[0, 3], &[0], 3),
    ]
}

fn samples() -> Vec<Sample> {
    let large = Fill::Values(vec![1e4, -1e4, 1e4, 0.0]);
    vec![
        Sample::plain("rows", &[&[4, 10], &[4]]).fill(0, Fill::Uniform(-5.0, 5.0)),
        Sample::plain("all_but_first", &[&[2, 3, 4], &[2, 3]]),
        Sample::new("preserve_shape", [("preserve_shape", "True")], &[&[2, 3, 5], &[2, 3]]),
        Sample::new("multi_output", [("multi_output", "True")], &[&[2, 3, 4, 5], &[2, 20]]),
        Sample::plain("large", &[&[2, 4], &[2]]).fill(0, large),
        Sample::plain("one_element", &[&[1, 1], &[1]]),
        Sample::plain("no_rows", &[&[0, 3], &[0]]),
    ]
}
