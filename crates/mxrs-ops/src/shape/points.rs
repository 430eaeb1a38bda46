//! Converts between flat positions and indices. `_ravel_multi_index` takes m rows of indices `[m, s]` and gives the
//! positions `[s]`: `out[j] = Σ data[i, j] · stride[i]`, with the strides of the parameter `shape`, which has m sizes.
//! `_unravel_index` is its inverse. `_contrib_index_array` gives the index of each element of data along the axes `axes`, or
//! along all axes; its last axis holds the numbers of an index.
//!
//! Gradient: 0.
//!
//! MXNet: also `ravel_multi_index` and `unravel_index`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64; `_contrib_index_array` gives i64.

use crate::dtypes::{MOVABLE, NUMBERS};
use crate::inference::{OP, bad_attribute, learn, learn_dim, learn_dtype, resolve_axis};
use crate::init::full::ShapeOrNone;
use crate::numeric;
use mxrs_op::param::ShapeAttr;
use mxrs_op::{Fill, Gradient, OpDef, Precision, Sample, op_params};
use mxrs_types::{DType, Error, PartialShape, Result};

op_params! {
    /// Parameters of `_ravel_multi_index` and `_unravel_index`.
    pub struct PointParams for "_ravel_multi_index" {
        /// Shape of the tensor that positions are in. The first size may be -1, because it decides nothing.
        shape: ShapeOrNone = ShapeOrNone(None),
    }
}

op_params! {
    /// Parameters of `_contrib_index_array`.
    pub struct IndexArrayParams for "_contrib_index_array" {
        /// Axes whose indices are given; all axes if absent.
        axes: Option<ShapeAttr> = None,
    }
}

/// Functions that define the operators.
pub const DEFINITIONS: &[fn() -> OpDef] = &[ravel, unravel, index_array];

impl PointParams {
    /// The sizes of the shape. The first one, if it is unknown, counts as 1.
    fn sizes(&self) -> Result<Vec<i64>> {
        let sizes = self.shape.0.as_deref().unwrap_or_default();
        let is_wrong = |(i, size): (usize, &i64)| *size < 1 && !(i == 0 && *size == -1);
        if sizes.is_empty() || sizes.iter().enumerate().any(is_wrong) {
            let got = self.shape.0.as_ref().map_or("None".into(), ShapeAttr::to_text);
            return Err(bad_attribute("_ravel_multi_index", "shape", "positive sizes", got));
        }
        let product = sizes.iter().skip(1).try_fold(1i64, |n, size| n.checked_mul(*size));
        match product {
            Some(_) => Ok(sizes.to_vec()),
            None => Err(bad_attribute("_ravel_multi_index", "shape", "a product of 64 bits", "a larger one")),
        }
    }
}

fn points(name: &'static str, summary: &'static str) -> OpDef {
    OpDef {
        summary,
        dtypes: NUMBERS,
        gradient: Gradient::Zero,
        precision_float16: Some(Precision::follows),
        ..OpDef::new(name).params::<PointParams>()
    }
}

fn ravel() -> OpDef {
    OpDef {
        aliases: &["ravel_multi_index"],
        infer_shape: |params, inputs, outputs| {
            let n = params.get::<PointParams>().sizes()?.len();
            if inputs[0].ndim() == Some(0) {
                return Err(Error::shape(OP, "data", "at least one axis", &inputs[0]));
            }
            learn_dim(&mut inputs[0], 0, Some(n), "data")?;
            if let Some(dims) = outputs[0].dims() {
                let data = PartialShape::new([Some(n)].into_iter().chain(dims.iter().copied()));
                learn(&mut inputs[0], &data, "data")?;
            }
            let Some(dims) = inputs[0].dims() else { return Ok(()) };
            learn(&mut outputs[0], &PartialShape::new(dims[1..].iter().copied()), "output")
        },
        reference: Some(|params, inputs, outputs, _| {
            let sizes = params.get::<PointParams>().sizes()?;
            let values = numeric::read(&inputs[0]);
            let n = outputs[0].desc.shape.n_elements();
            let position = |j: usize| {
                (0..sizes.len())
                    .fold(0i64, |at, axis| at.wrapping_mul(sizes[axis]).wrapping_add(values[axis * n + j] as i64))
                    as f64
            };
            numeric::write(&mut outputs[0], &(0..n).map(position).collect::<Vec<f64>>());
            Ok(())
        }),
        samples: || {
            let of = |name, size, shape: &[usize], values: &[f64]| {
                Sample::new(name, [("shape", size)], &[shape]).fill(0, Fill::Values(values.to_vec()))
            };
            vec![
                of("matrix", "(3, 4)", &[2, 3], &[0.0, 2.0, 1.0, 3.0, 1.0, 0.0]),
                of("open", "(-1, 4)", &[2, 2], &[5.0, 2.0, 1.0, 3.0]),
                of("one", "(3,)", &[1, 1], &[2.0]),
                of("empty", "(3, 4)", &[2, 0], &[]),
            ]
        },
        ..points("_ravel_multi_index", "flat positions of points")
    }
}

fn unravel() -> OpDef {
    OpDef {
        aliases: &["unravel_index"],
        infer_shape: |params, inputs, outputs| {
            let n = params.get::<PointParams>().sizes()?.len();
            if let Some([_, dims @ ..]) = outputs[0].dims() {
                let data = PartialShape::new(dims.to_vec());
                learn(&mut inputs[0], &data, "data")?;
            }
            let Some(dims) = inputs[0].dims() else { return Ok(()) };
            let out = [Some(n)].into_iter().chain(dims.iter().copied());
            learn(&mut outputs[0], &PartialShape::new(out), "output")
        },
        reference: Some(|params, inputs, outputs, _| {
            let sizes = params.get::<PointParams>().sizes()?;
            let values = numeric::read(&inputs[0]);
            let mut out = vec![0.0; outputs[0].desc.shape.n_elements()];
            for (j, value) in values.iter().enumerate() {
                let mut rest = *value as i64;
                for axis in (1..sizes.len()).rev() {
                    out[axis * values.len() + j] = rest.rem_euclid(sizes[axis]) as f64;
                    rest = rest.div_euclid(sizes[axis]);
                }
                out[j] = rest as f64;
            }
            numeric::write(&mut outputs[0], &out);
            Ok(())
        }),
        samples: || {
            let of = |name, size, shape: &[usize], values: &[f64]| {
                Sample::new(name, [("shape", size)], &[shape]).fill(0, Fill::Values(values.to_vec()))
            };
            vec![
                of("matrix", "(3, 4)", &[3], &[3.0, 9.0, 4.0]),
                of("open", "(-1, 4)", &[2], &[21.0, 11.0]),
                of("one", "(3,)", &[1], &[2.0]),
                of("empty", "(3, 4)", &[0], &[]),
            ]
        },
        ..points("_unravel_index", "points of flat positions")
    }
}

fn index_array() -> OpDef {
    OpDef {
        summary: "the index of each element",
        dtypes: MOVABLE,
        gradient: Gradient::Zero,
        ignored_inputs: &[0],
        infer_shape: |params, inputs, outputs| {
            let Some(dims) = inputs[0].dims() else { return Ok(()) };
            let axes = &params.get::<IndexArrayParams>().axes;
            axes.iter()
                .flat_map(|axes| axes.iter())
                .try_for_each(|axis| resolve_axis(*axis, dims.len(), "data").map(drop))?;
            let n = axes.as_ref().map_or(dims.len(), |axes| axes.len());
            learn(&mut outputs[0], &PartialShape::new(dims.iter().copied().chain([Some(n)])), "output")
        },
        infer_dtype: |_, _, outputs| learn_dtype(&mut outputs[0], DType::I64, "output"),
        reference: Some(|params, inputs, outputs, _| {
            let shape = &inputs[0].desc.shape;
            let axes: Vec<usize> = match &params.get::<IndexArrayParams>().axes {
                None => (0..shape.ndim()).collect(),
                Some(axes) => {
                    axes.iter().map(|axis| resolve_axis(*axis, shape.ndim(), "data")).collect::<Result<_>>()?
                }
            };
            let mut values = Vec::new();
            crate::families::indexing::for_each_index(shape, |index| {
                values.extend(axes.iter().map(|axis| index[*axis] as i64));
            });
            numeric::write_integers(&mut outputs[0], &values);
            Ok(())
        }),
        samples: || {
            vec![
                Sample::plain("matrix", &[&[2, 3]]),
                Sample::new("axes", [("axes", "(1, 0)")], &[&[2, 3, 2]]),
                Sample::plain("one", &[&[1]]),
                Sample::plain("empty", &[&[0, 3]]),
            ]
        },
        precision_float16: Some(Precision::follows),
        ..OpDef::new("_contrib_index_array").params::<IndexArrayParams>()
    }
}
