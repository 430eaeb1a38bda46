//! The slices of axis 0 where a mask is not 0: data `[n, …]` and the mask `[n]` give `[k, …]`, in the order of data.
//!
//! Gradient: each chosen slice of data gets its `ograd`, the others 0; the mask has no gradient.
//!
//! MXNet: `_contrib_boolean_mask`, also `_npi_boolean_mask`. As in MXNet, `axis` has to be 0. Dtypes: f32 f64 f16 bf16 u8 i8 i32
//! i64 bool; masks of any of these.

use super::{expect_at_most, expect_size, size};
use crate::families::indexing::around_axis;
use crate::families::indices;
use crate::families::moved::{self, Move};
use crate::inference::{OP, bad_attribute, learn, learn_dim};
use crate::{dtypes::MOVABLE, numeric};
use mxrs_op::{
    Attrs, ByValues, Fill, InputNames, MovedRows, OpDef, OpParams, Precision, RefInput, ResolvedCall, Sample, op_params,
};
use mxrs_types::{DType, Error, PartialShape, Result, Shape};

op_params! {
    /// Parameters of `_contrib_boolean_mask`.
    pub struct BooleanMaskParams for "_contrib_boolean_mask" {
        /// Axis that the mask chooses from; only 0 is possible.
        axis: i32 = 0,
    }
}

op_params! {
    /// Parameters of `_boolean_mask_rows`.
    pub struct RowsParams for "_boolean_mask_rows" {
        /// Number of elements of the mask that are not 0.
        size: i64,
    }
}

/// The positions of the elements of a mask that are not 0.
fn chosen(mask: &RefInput<'_>) -> Vec<usize> {
    let values = numeric::read(mask);
    (0..values.len()).filter(|at| values[*at] != 0.0).collect()
}

fn infer_shape(size: Option<usize>, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let [data, mask] = inputs else { return Ok(()) };
    learn(mask, &PartialShape::of_rank(1), "index")?;
    learn_dim(mask, 0, data.dim(0), "index")?;
    let Some(dims) = data.dims() else { return Ok(()) };
    let Some((_, others)) = dims.split_first() else {
        return Err(Error::shape(OP, "data", "at least 1 axis", &*data));
    };
    learn(&mut outputs[0], &PartialShape::new(std::iter::once(size).chain(others.iter().copied())), "output")
}

fn infer_dtype(inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
    let [data, mask] = inputs else { return Ok(()) };
    indices::infer_dtype(data, mask, &mut outputs[0])
}

/// Takes the place of `_contrib_boolean_mask` when the size of the result is known.
struct Rows;

impl Move for Rows {
    type Params = RowsParams;
    const NAME: &'static str = "_boolean_mask_rows";
    const SUMMARY: &'static str = "a known number of slices of axis 0 where a mask is not 0";
    const BACKWARD: &'static str = "_backward_boolean_mask_rows";
    const INPUTS: &'static [&'static str] = &["data", "index"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "data", "index"];
    const BY_CONTENT: bool = true;

    fn infer_shape(params: &RowsParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let size = size(Self::NAME, params.size)?;
        expect_at_most(Self::NAME, size, inputs[1].dim(0))?;
        infer_shape(Some(size), inputs, outputs)
    }

    fn infer_dtype(_: &RowsParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
        infer_dtype(inputs, outputs)
    }

    fn rows(_: &RowsParams, inputs: &[RefInput<'_>], out: &Shape) -> Result<MovedRows> {
        let rows: Vec<_> = chosen(&inputs[1]).into_iter().map(Some).collect();
        expect_size(Self::NAME, out[0], rows.len())?;
        let (outer, n_rows, len) = around_axis(&inputs[0].desc.shape, 0);
        Ok(MovedRows { outer, n_rows, len, rows, constant: 0.0 })
    }

    fn samples() -> Vec<Sample> {
        let of = |name, size, data: &[usize], mask: &[f64]| {
            Sample::new(name, [("size", size)], &[data, &[mask.len()]]).fill(1, Fill::Values(mask.to_vec()))
        };
        vec![
            of("rows", "2", &[3, 2], &[1.0, 0.0, 2.0]),
            of("vector", "3", &[5], &[1.0, 1.0, 0.0, 0.0, 2.0]),
            of("none", "0", &[2, 3], &[0.0, 0.0]),
            of("bools", "1", &[2, 2, 2], &[0.0, 1.0]).dtype(1, DType::Bool),
            of("empty", "0", &[0, 3], &[]),
        ]
    }
}

/// Defines the operator `_contrib_boolean_mask`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_npi_boolean_mask"],
        summary: "slices of axis 0 where a mask is not 0",
        inputs: InputNames::Fixed(&["data", "index"]),
        infer_shape: |params, inputs, outputs| match params.get::<BooleanMaskParams>().axis {
            0 => infer_shape(None, inputs, outputs),
            other => Err(bad_attribute("_contrib_boolean_mask", "axis", "0", other)),
        },
        infer_dtype: |_, inputs, outputs| infer_dtype(inputs, outputs),
        dtypes: MOVABLE,
        by_values: Some(ByValues { input: 1, resolve }),
        precision: Precision::follows,
        companions: || vec![moved::define::<Rows>()],
        ..OpDef::new("_contrib_boolean_mask").params::<BooleanMaskParams>()
    }
}

fn resolve(_: &OpParams, inputs: &[RefInput<'_>]) -> Result<ResolvedCall> {
    let n_chosen = chosen(&inputs[1]).len();
    Ok(ResolvedCall { op: Rows::NAME, attrs: Attrs::from([("size", n_chosen.to_string())]) })
}
