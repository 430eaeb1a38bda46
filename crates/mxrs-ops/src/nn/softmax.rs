//! `out = e^(data / temperature) / Σ e^(data / temperature)`, the sum over `axis`; out has the shape of data.
//!
//! With `use_length`, a second input `length`, shaped like data without `axis`, holds for each row (the elements along
//! `axis`) the number of leading elements that are used. All other elements are 0 in the output. `dtype` sets the
//! element type of the output.
//!
//! The gradient of data, `out · (ograd - Σ ograd · out) / temperature`, is computed by `_backward_softmax`; `length` has no
//! gradient.
//!
//! MXNet: `softmax`, also `_npx_softmax`. Dtypes: f32 f64 f16 bf16; length i32 or i64.

use crate::dtypes::{FLOATS, FloatWord, dtype_of};
use crate::families::gradients::{Answers, call_with_params};
use crate::families::indexing::around_axis;
use crate::inference::{OP, learn, learn_dtype, resolve_axis, unify};
use crate::numeric;
use mxrs_op::{
    Accuracy, Attrs, Fill, Gradient, GradientScope, InputNames, OpDef, OpParams, RefInput, RefOutput, RunMode, Sample,
    SampleInput, op_params,
};
use mxrs_types::{DType, Error, PartialShape, Result, Shape};

op_params! {
    /// Parameters of `softmax`.
    pub struct SoftmaxParams for "softmax" {
        /// Axis of the distributions; a negative axis counts from the end.
        axis: i32 = -1,
        /// Number that data is divided by first; 1 if absent.
        temperature: Option<f64> = None,
        /// Element type of the output; that of data if absent.
        dtype: Option<FloatWord> = None,
        /// Whether there is an input `length`.
        use_length: Option<bool> = Some(false),
    }
}

impl SoftmaxParams {
    /// Whether there is an input `length`.
    pub fn has_length(&self) -> bool {
        self.use_length.unwrap_or(false)
    }
}

/// Defines the operator `softmax`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_npx_softmax"],
        summary: "softmax over an axis",
        inputs: InputNames::ByParams {
            all: &["data", "length"],
            chosen: |params| match params.get::<SoftmaxParams>().has_length() {
                true => vec!["data", "length"],
                false => vec!["data"],
            },
        },
        infer_shape,
        infer_dtype,
        dtypes: FLOATS,
        inplace: &[(0, 0)],
        accuracy: Accuracy::Reduction,
        gradient: Gradient::By(gradient),
        companions: || vec![define_backward()],
        reference: Some(softmax),
        samples,
        ..OpDef::new("softmax").params::<SoftmaxParams>()
    }
}

pub(super) fn define_backward() -> OpDef {
    OpDef {
        summary: "gradient of softmax",
        inputs: InputNames::ByParams {
            all: &["ograd", "output", "data", "length"],
            chosen: |params| match params.get::<SoftmaxParams>().has_length() {
                true => vec!["ograd", "output", "data", "length"],
                false => vec!["ograd", "output", "data"],
            },
        },
        // The content of data (input 2) is not read. Only its type is used: the gradient has this type.
        ignored_inputs: &[2],
        infer_shape: infer_backward_shape,
        infer_dtype: infer_backward_dtype,
        dtypes: FLOATS,
        inplace: &[(0, 0), (1, 0)],
        accuracy: Accuracy::Reduction,
        reference: Some(backward),
        samples: backward_samples,
        ..OpDef::new("_backward_softmax").params::<SoftmaxParams>()
    }
}

fn gradient(params: &OpParams, scope: &mut dyn GradientScope) -> Answers {
    gradient_by("_backward_softmax", params, scope)
}

/// Makes the gradient of data by a call of operator `backward`, which takes ograd, output, data and length.
pub(super) fn gradient_by(backward: &str, params: &OpParams, scope: &mut dyn GradientScope) -> Answers {
    let mut saved = vec![scope.output(0), scope.input(0)];
    let mut gradients = vec![None; scope.n_inputs()];
    if params.get::<SoftmaxParams>().has_length() {
        saved.push(scope.input(1));
    }
    gradients[0] = Some(call_with_params(scope, backward, &saved)?);
    Ok(gradients)
}

fn infer_backward_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let [ograd, out, forward @ ..] = inputs else { return Ok(()) };
    let [data, ..] = forward else { return Ok(()) };
    unify(ograd, out, "output")?;
    unify(data, &mut outputs[0], "output")?;
    infer_shape(params, forward, std::slice::from_mut(out))?;
    learn(ograd, out, "ograd")?;
    learn(&mut outputs[0], out, "output")
}

fn infer_backward_dtype(params: &OpParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
    let [ograd, out, forward @ ..] = inputs else { return Ok(()) };
    if let Some(known) = ograd.or(*out) {
        learn_dtype(ograd, known, "ograd")?;
        learn_dtype(out, known, "output")?;
    }
    let [data, ..] = forward else { return Ok(()) };
    if let Some(known) = data.or(outputs[0]) {
        learn_dtype(data, known, "data")?;
        learn_dtype(&mut outputs[0], known, "output")?;
    }
    infer_dtype(params, forward, std::slice::from_mut(out))?;
    if let Some(known) = *out {
        learn_dtype(ograd, known, "ograd")?;
    }
    match forward.first().copied().flatten() {
        Some(known) => learn_dtype(&mut outputs[0], known, "output"),
        None => Ok(()),
    }
}

pub(super) fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let [data, rest @ ..] = inputs else { return Ok(()) };
    unify(data, &mut outputs[0], "output")?;
    let Some(mut dims) = data.dims().map(<[_]>::to_vec) else { return Ok(()) };
    let axis = resolve_axis(i64::from(params.get::<SoftmaxParams>().axis), dims.len(), "data")?;
    dims.remove(axis);
    rest.iter_mut().try_for_each(|length| learn(length, &PartialShape::new(dims.iter().copied()), "length"))
}

fn infer_dtype(params: &OpParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
    if let Some(length @ Some(got)) = inputs.get(1)
        && !matches!(length, Some(DType::I32 | DType::I64))
    {
        return Err(Error::dtype(OP, "length", "int32 or int64", got.name()));
    }
    match (params.get::<SoftmaxParams>().dtype, inputs[0].or(outputs[0])) {
        (Some(word), _) => learn_dtype(&mut outputs[0], dtype_of(word), "output"),
        (None, Some(known)) => {
            learn_dtype(&mut inputs[0], known, "data")?;
            learn_dtype(&mut outputs[0], known, "output")
        }
        (None, None) => Ok(()),
    }
}

/// Calls `visit` for each row (the elements along the axis), with the flat positions of the elements that are used and
/// of those that are not.
pub(super) fn for_each_row(
    params: &SoftmaxParams,
    shape: &Shape,
    lengths: Option<Vec<i64>>,
    mut visit: impl FnMut(&[usize], &[usize]),
) -> Result<()> {
    let axis = resolve_axis(i64::from(params.axis), shape.ndim(), "data")?;
    let (outer, size, inner) = around_axis(shape, axis);
    for row in 0..outer * inner {
        let (o, i) = (row / inner, row % inner);
        let counted = lengths.as_ref().map_or(size, |l| usize::try_from(l[row]).unwrap_or(0).min(size));
        let positions: Vec<usize> = (0..size).map(|k| (o * size + k) * inner + i).collect();
        visit(&positions[..counted], &positions[counted..]);
    }
    Ok(())
}

fn softmax(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let params = params.get::<SoftmaxParams>();
    let mut values = numeric::read(&inputs[0]);
    let lengths = inputs.get(1).map(numeric::read_integers);
    for_each_row(params, &inputs[0].desc.shape, lengths, |counted, others| {
        let mut row: Vec<f64> = counted.iter().map(|i| values[*i]).collect();
        numeric::softmax_row(&mut row, params.temperature.unwrap_or(1.0));
        counted.iter().zip(row).for_each(|(i, v)| values[*i] = v);
        others.iter().for_each(|i| values[*i] = 0.0);
    })?;
    numeric::write(&mut outputs[0], &values);
    Ok(())
}

fn backward(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    backward_by(params, inputs, outputs, (|g, y| g * y, |g, y, sum| y * (g - sum)))
}

/// Two functions that define the gradient of an element. The first takes `(ograd, output)` and returns the term of the
/// element in the sum over its row. The second takes `(ograd, output, sum)` and returns the gradient of data,
/// multiplied by the temperature.
pub(super) type RowGradient = (fn(f64, f64) -> f64, fn(f64, f64, f64) -> f64);

/// Computes the gradient of data from ograd, output, data and length, for operators whose gradient needs a sum over each
/// row.
pub(super) fn backward_by(
    params: &OpParams,
    inputs: &[RefInput<'_>],
    outputs: &mut [RefOutput<'_>],
    (term, slope): RowGradient,
) -> Result<()> {
    let params = params.get::<SoftmaxParams>();
    let (g, y) = (numeric::read(&inputs[0]), numeric::read(&inputs[1]));
    let lengths = inputs.get(3).map(numeric::read_integers);
    let mut dx = vec![0.0; y.len()];
    for_each_row(params, &inputs[1].desc.shape, lengths, |counted, _| {
        let sum: f64 = counted.iter().map(|i| term(g[*i], y[*i])).sum();
        counted.iter().for_each(|i| dx[*i] = slope(g[*i], y[*i], sum) / params.temperature.unwrap_or(1.0));
    })?;
    numeric::write(&mut outputs[0], &dx);
    Ok(())
}

pub(super) fn backward_samples() -> Vec<Sample> {
    let none: [(&str, &str); 0] = [];
    let chances = Fill::Uniform(0.0, 0.3);
    let of = |name, attrs: Attrs, shape: &[usize]| {
        Sample { attrs, ..Sample::plain(name, &[shape, shape, shape]) }.fill(1, chances.clone())
    };
    let with_length = |mut sample: Sample, shape: &[usize], lengths, dtype| {
        sample.inputs.push(SampleInput { shape: shape.into(), fill: Fill::Values(lengths), dtype: Some(dtype) });
        sample
    };
    let length = [("use_length", "True")];
    vec![
        of("rows", none.into(), &[4, 10]),
        of("channels", [("axis", "1")].into(), &[2, 5, 3, 4]),
        of("cold", [("temperature", "0.5")].into(), &[3, 7]),
        of("to_float32", [("dtype", "float32")].into(), &[3, 7]).dtype(0, DType::F32).dtype(2, DType::F16),
        with_length(of("length", length.into(), &[3, 5]), &[3], vec![5.0, 2.0, 0.0], DType::I32),
        with_length(
            of("length_axis", [("use_length", "True"), ("axis", "1")].into(), &[2, 4, 2]),
            &[2, 2],
            vec![1.0, 4.0, 2.0, 3.0],
            DType::I64,
        ),
        of("one", none.into(), &[1]),
        of("no_rows", none.into(), &[0, 3]),
    ]
}

pub(super) fn samples() -> Vec<Sample> {
    vec![
        Sample::plain("rows", &[&[4, 10]]).fill(0, Fill::Uniform(-5.0, 5.0)),
        Sample::new("channels", [("axis", "1")], &[&[2, 5, 3, 4]]),
        Sample::new("cold", [("temperature", "0.5")], &[&[3, 7]]),
        Sample::new("to_float32", [("dtype", "float32")], &[&[3, 7]]),
        Sample::new("length", [("use_length", "True")], &[&[3, 5], &[3]])
            .fill(1, Fill::Values(vec![5.0, 2.0, 0.0]))
            .dtype(1, DType::I32),
        Sample::new("length_axis", [("use_length", "True"), ("axis", "1")], &[&[2, 4, 3], &[2, 3]])
            .fill(1, Fill::Integers(1, 5))
            .dtype(1, DType::I64),
        Sample::plain("large", &[&[2, 4]]).fill(0, Fill::Values(vec![1e4, -1e4, 1e4, 0.0])),
        Sample::plain("one", &[&[1]]),
        Sample::plain("no_rows", &[&[0, 3]]),
        Sample::new("no_columns", [("axis", "1")], &[&[2, 4, 0]]),
    ]
}
