//! The norm over axes: `out = (Σ data²)^(1/2)` for `ord` 2, `out = Σ |data|` for `ord` 1. [a, b] over axis 1 gives `[a]`; over
//! all axes and without `keepdims` the result has shape `[1]`.
//!
//! Gradient: `ograd · data / out` for `ord` 2, which is NaN where out is 0, and `ograd · sign(data)` for `ord` 1.
//!
//! MXNet: `norm`, also `_sparse_norm`. Dtypes: f32 f64 f16 bf16; out as `out_dtype` says.

use crate::dtypes::FLOATS;
use crate::families::gradients;
use crate::families::reduction::{groups, learn_reduced};
use crate::inference::{bad_attribute, learn_dtype, resolve_axis, unify, unify_dtypes};
use crate::numeric;
use mxrs_op::param::{Choice, ShapeAttr};
use mxrs_op::{Accuracy, Gradient, InputNames, OpDef, OpParams, Sample, op_enum, op_params};
use mxrs_types::{DType, PartialShape, Result};

op_enum! {
    /// Element type of the output.
    pub enum NormDtype {
        F16 = "float16",
        F32 = "float32",
        F64 = "float64",
        I32 = "int32",
        I64 = "int64",
        I8 = "int8",
    }
}

op_params! {
    /// Parameters of `norm`.
    pub struct NormParams for "norm" {
        /// 1 for the sum of absolute values, 2 for the root of the sum of squares.
        ord: i32 = 2,
        /// Axes to reduce; all axes if absent.
        axis: Option<ShapeAttr> = None,
        /// Element type of the output; that of data if absent.
        out_dtype: Option<NormDtype> = None,
        /// Whether reduced axes are kept with size 1.
        keepdims: bool = false,
    }
}

impl NormParams {
    /// Whether each axis is reduced.
    ///
    /// # Errors
    /// Fails if data does not have an axis of `axis`.
    pub fn reduced(&self, ndim: usize) -> Result<Vec<bool>> {
        let mut reduced = vec![self.axis.is_none(); ndim];
        for axis in self.axis.iter().flat_map(|axes| axes.iter()) {
            reduced[resolve_axis(*axis, ndim, "data")?] = true;
        }
        Ok(reduced)
    }
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let params = params.get::<NormParams>();
    if !(1..=2).contains(&params.ord) {
        return Err(bad_attribute("norm", "ord", "1 or 2", params.ord));
    }
    let Some(ndim) = inputs[0].ndim() else { return Ok(()) };
    learn_reduced(&mut inputs[0], &mut outputs[0], &params.reduced(ndim)?, params.keepdims)
}

fn infer_dtype(params: &OpParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
    match params.get::<NormParams>().out_dtype {
        Some(word) => learn_dtype(&mut outputs[0], word.to_word().parse().unwrap_or_default(), "output"),
        None => unify_dtypes(inputs.iter_mut().chain(outputs), "output"),
    }
}

const BACKWARD: &str = "_backward_norm";

/// Defines the operator `norm`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_sparse_norm"],
        summary: "norm over axes",
        infer_shape,
        infer_dtype,
        dtypes: FLOATS,
        accuracy: Accuracy::Reduction,
        gradient: Gradient::By(|_, scope| {
            let (data, out) = (scope.input(0), scope.output(0));
            Ok(vec![Some(gradients::call_with_params(scope, BACKWARD, &[data, out])?)])
        }),
        companions: || vec![backward()],
        reference: Some(|params, inputs, outputs, _| {
            let (params, shape) = (params.get::<NormParams>(), &inputs[0].desc.shape);
            let values = numeric::read(&inputs[0]);
            let norm = |group: &Vec<usize>| match params.ord {
                1 => group.iter().map(|i| values[*i].abs()).sum::<f64>(),
                _ => group.iter().map(|i| values[*i] * values[*i]).sum::<f64>().sqrt(),
            };
            let norms: Vec<f64> = groups(shape, &params.reduced(shape.ndim())?).iter().map(norm).collect();
            numeric::write(&mut outputs[0], &norms);
            Ok(())
        }),
        samples,
        ..OpDef::new("norm").params::<NormParams>()
    }
}

fn backward() -> OpDef {
    OpDef {
        summary: "gradient of norm",
        inputs: InputNames::Fixed(&["ograd", "data", "out"]),
        infer_shape: |params, inputs, outputs| {
            let [ograd, data, out] = inputs else { return Ok(()) };
            unify(data, &mut outputs[0], "data")?;
            infer_shape(params, std::slice::from_mut(data), std::slice::from_mut(out))?;
            unify(ograd, out, "out")?;
            infer_shape(params, std::slice::from_mut(data), std::slice::from_mut(out))?;
            unify(data, &mut outputs[0], "data")
        },
        infer_dtype: |params, inputs, outputs| {
            let [ograd, data, out] = inputs else { return Ok(()) };
            infer_dtype(params, std::slice::from_mut(data), std::slice::from_mut(ograd))?;
            unify_dtypes([&mut *data, &mut outputs[0]], "data")?;
            infer_dtype(params, std::slice::from_mut(data), std::slice::from_mut(out))
        },
        dtypes: FLOATS,
        accuracy: Accuracy::Elementwise,
        reference: Some(|params, inputs, outputs, _| {
            let (params, shape) = (params.get::<NormParams>(), &inputs[1].desc.shape);
            let [ograd, data, out] = [0, 1, 2].map(|i| numeric::read(&inputs[i]));
            let mut gradient = vec![0.0; data.len()];
            for (at, group) in groups(shape, &params.reduced(shape.ndim())?).iter().enumerate() {
                for i in group {
                    let slope = if params.ord == 1 { numeric::sign(data[*i]) } else { data[*i] / out[at] };
                    gradient[*i] = ograd[at] * slope;
                }
            }
            numeric::write(&mut outputs[0], &gradient);
            Ok(())
        }),
        samples: || {
            let with_out = |mut sample: Sample| {
                let out = sample.inputs[0].clone();
                sample.inputs.push(out);
                sample.fill(2, mxrs_op::Fill::Uniform(0.5, 2.0))
            };
            gradients::samples_after(&define()).into_iter().map(with_out).collect()
        },
        ..OpDef::new(BACKWARD).params::<NormParams>()
    }
}

fn samples() -> Vec<Sample> {
    vec![
        Sample::plain("all", &[&[3, 5]]),
        Sample::new("last", [("axis", "-1")], &[&[2, 3, 7]]),
        Sample::new("absolute", [("ord", "1"), ("axis", "0")], &[&[5, 3]]),
        Sample::new("kept", [("axis", "(0, 2)"), ("keepdims", "True")], &[&[2, 3, 4]]),
        Sample::plain("one", &[&[1]]),
        Sample::new("empty", [("axis", "1")], &[&[0, 3]]),
    ]
}
