//! The indices of the elements that are not 0, in row-major order: `[a, b]` gives `[k, 2]`, one row of two indices for each such
//! element. A tensor without axes gives one column.
//!
//! Gradient: zero.
//!
//! MXNet: `_npx_nonzero`, also `_npi_nonzero`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool; the indices are i64.

use super::{expect_at_most, expect_size, size};
use crate::families::indexing::for_each_index;
use crate::inference::{learn, learn_dtype, product};
use crate::{dtypes::MOVABLE, numeric};
use mxrs_op::{
    Attrs, ByValues, Fill, Gradient, InputNames, OpDef, OpParams, Precision, RefInput, RefOutput, ResolvedCall,
    RunMode, Sample, op_params,
};
use mxrs_types::{DType, PartialShape, Result};

const ROWS: &str = "_nonzero_rows";

op_params! {
    /// Parameters of `_nonzero_rows`.
    pub struct RowsParams for "_nonzero_rows" {
        /// Number of elements that are not 0.
        size: i64,
    }
}

fn infer_shape(size: Option<usize>, inputs: &[PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let Some(ndim) = inputs[0].ndim() else { return Ok(()) };
    learn(&mut outputs[0], &PartialShape::new([size, Some(ndim.max(1))]), "output")
}

/// The operator and the companion, without what differs between them.
fn shared(op: OpDef) -> OpDef {
    OpDef {
        summary: "indices of the elements that are not 0",
        inputs: InputNames::Fixed(&["x"]),
        infer_dtype: |_, _, outputs| learn_dtype(&mut outputs[0], DType::I64, "output"),
        dtypes: MOVABLE,
        gradient: Gradient::Zero,
        precision: Precision::follows,
        ..op
    }
}

/// Defines the operator `_npx_nonzero`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_npi_nonzero"],
        infer_shape: |_, inputs, outputs| infer_shape(None, inputs, outputs),
        by_values: Some(ByValues { input: 0, resolve }),
        companions: || vec![rows()],
        ..shared(OpDef::new("_npx_nonzero"))
    }
}

fn resolve(_: &OpParams, inputs: &[RefInput<'_>]) -> Result<ResolvedCall> {
    let size = numeric::read(&inputs[0]).into_iter().filter(|x| *x != 0.0).count();
    Ok(ResolvedCall { op: ROWS, attrs: Attrs::from([("size", size.to_string())]) })
}

/// Takes the place of `_npx_nonzero` when the size of the result is known.
fn rows() -> OpDef {
    OpDef {
        infer_shape: |params, inputs, outputs| {
            let size = size(ROWS, params.get::<RowsParams>().size)?;
            expect_at_most(ROWS, size, inputs[0].dims().and_then(product))?;
            infer_shape(Some(size), inputs, outputs)
        },
        reference: Some(run),
        samples: || {
            let of = |name, size, shape: &[usize], values: &[f64]| {
                Sample::new(name, [("size", size)], &[shape]).fill(0, Fill::Values(values.to_vec()))
            };
            vec![
                of("matrix", "3", &[2, 3], &[1.0, 0.0, 2.0, 0.0, 0.0, 3.0]),
                of("vector", "1", &[3], &[0.0, 1.0, 0.0]),
                of("none", "0", &[2, 2], &[0.0; 4]),
                of("empty", "0", &[0, 3], &[]),
            ]
        },
        ..shared(OpDef::new(ROWS).params::<RowsParams>())
    }
}

fn run(_: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let values = numeric::read(&inputs[0]);
    let shape = &inputs[0].desc.shape;
    let (mut at, mut indices) = (0, Vec::new());
    for_each_index(shape, |index| {
        if values[at] != 0.0 {
            indices.extend(index.iter().map(|i| *i as i64));
            if index.is_empty() {
                indices.push(0);
            }
        }
        at += 1;
    });
    expect_size(ROWS, outputs[0].desc.shape[0], indices.len() / shape.ndim().max(1))?;
    numeric::write_integers(&mut outputs[0], &indices);
    Ok(())
}
