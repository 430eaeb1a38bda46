//! `out = e^(data / temperature) / Σ e^(data / temperature)`, the sum over `axis`; out has the shape of data.
//!
//! With `use_length`, a second input `length`, shaped like data without `axis`, tells how many leading elements of each
//! row count; the others are 0 in the output. `dtype` names the element type of the output.
//!
//! MXNet: `softmax`, also `_npx_softmax`. Dtypes: f32 f64 f16 bf16; length i32 or i64.

use crate::dtypes::{FLOATS, FloatWord, dtype_of};
use crate::indexing::around_axis;
use crate::inference::{OP, learn, learn_dtype, resolve_axis, unify};
use crate::numeric;
use mxrs_op::{Accuracy, Fill, InputNames, OpDef, OpParams, RefInput, RefOutput, RunMode, Sample, op_params};
use mxrs_types::{DType, Error, PartialShape, Result};

op_params! {
    /// Parameters of `softmax`.
    pub struct SoftmaxParams for "softmax" {
        /// Axis of the distributions; negative from the end.
        axis: i32 = -1,
        /// Divides data first; 1 without it.
        temperature: Option<f64> = None,
        /// Element type of the output; that of data without it.
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

/// `softmax`.
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
        reference: Some(softmax),
        samples,
        ..OpDef::new("softmax").params::<SoftmaxParams>()
    }
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
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

fn softmax(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let params = params.get::<SoftmaxParams>();
    let shape = &inputs[0].desc.shape;
    let axis = resolve_axis(i64::from(params.axis), shape.ndim(), "data")?;
    let (outer, size, inner) = around_axis(shape, axis);
    let lengths = inputs.get(1).map(numeric::read_integers);
    let mut values = numeric::read(&inputs[0]);
    for o in 0..outer {
        for i in 0..inner {
            let at = |k: usize| (o * size + k) * inner + i;
            let counted = lengths.as_ref().map_or(size, |l| usize::try_from(l[o * inner + i]).unwrap_or(0).min(size));
            let mut row: Vec<f64> = (0..counted).map(|k| values[at(k)]).collect();
            numeric::softmax_row(&mut row, params.temperature.unwrap_or(1.0));
            (0..size).for_each(|k| values[at(k)] = row.get(k).copied().unwrap_or(0.0));
        }
    }
    numeric::write(&mut outputs[0], &values);
    Ok(())
}

fn samples() -> Vec<Sample> {
    let none: [(&str, &str); 0] = [];
    vec![
        Sample::new("rows", none, &[&[4, 10]]).fill(0, Fill::Uniform(-5.0, 5.0)),
        Sample::new("channels", [("axis", "1")], &[&[2, 5, 3, 4]]),
        Sample::new("cold", [("temperature", "0.5")], &[&[3, 7]]),
        Sample::new("to_float32", [("dtype", "float32")], &[&[3, 7]]),
        Sample::new("length", [("use_length", "True")], &[&[3, 5], &[3]])
            .fill(1, Fill::Values(vec![5.0, 2.0, 0.0]))
            .dtype(1, DType::I32),
        Sample::new("length_axis", [("use_length", "True"), ("axis", "1")], &[&[2, 4, 3], &[2, 3]])
            .fill(1, Fill::Integers(1, 5))
            .dtype(1, DType::I64),
        Sample::new("large", none, &[&[2, 4]]).fill(0, Fill::Values(vec![1e4, -1e4, 1e4, 0.0])),
        Sample::new("one", none, &[&[1]]),
        Sample::new("no_rows", none, &[&[0, 3]]),
    ]
}
