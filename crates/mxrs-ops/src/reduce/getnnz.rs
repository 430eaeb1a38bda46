//! The number of elements of a matrix that are not 0: of all elements, of each column (`axis` 0) or of each row (`axis` 1).
//! [a, b] gives `[1]`, `[b]` or `[a]`.
//!
//! Gradient: zero.
//!
//! MXNet: `_contrib_getnnz`, which counts what a compressed matrix stores; from a dense matrix that is every element but the
//! zeros. MXNet does not count columns. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64; counts are int64.

use crate::dtypes::NUMBERS;
use crate::inference::{bad_attribute, learn, learn_dim, learn_dtype, require_ndim};
use crate::numeric;
use mxrs_op::{Gradient, OpDef, OpParams, Precision, RefInput, RefOutput, RunMode, Sample, op_params};
use mxrs_types::{DType, PartialShape, Result, Shape};

op_params! {
    /// Parameters of `_contrib_getnnz`.
    pub struct NonzerosParams for "_contrib_getnnz" {
        /// 0 to count each column, 1 to count each row; the whole matrix if absent.
        axis: Option<i32> = None,
    }
}

/// Defines the operator `_contrib_getnnz`.
pub fn define() -> OpDef {
    OpDef {
        summary: "number of elements that are not 0",
        infer_shape,
        infer_dtype: |_, _, outputs| learn_dtype(&mut outputs[0], DType::I64, "output"),
        dtypes: NUMBERS,
        precision: Precision::float32,
        precision_float16: Some(Precision::follows),
        gradient: Gradient::Zero,
        reference: Some(count),
        samples,
        ..OpDef::new("_contrib_getnnz").params::<NonzerosParams>()
    }
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let axis = match params.get::<NonzerosParams>().axis {
        None => None,
        Some(0) => Some(1),
        Some(1) => Some(0),
        Some(axis) => return Err(bad_attribute("_contrib_getnnz", "axis", "0, 1 or None", axis)),
    };
    require_ndim(&mut inputs[0], 2, "data")?;
    let Some(axis) = axis else { return learn(&mut outputs[0], &Shape::from([1]).into(), "output") };
    require_ndim(&mut outputs[0], 1, "output")?;
    learn_dim(&mut outputs[0], 0, inputs[0].dim(axis), "output")?;
    learn_dim(&mut inputs[0], axis, outputs[0].dim(0), "data")
}

fn count(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let columns = inputs[0].desc.shape[1].max(1);
    let mut counts = vec![0i64; outputs[0].desc.shape.n_elements()];
    for (i, x) in numeric::read(&inputs[0]).into_iter().enumerate() {
        let group = match params.get::<NonzerosParams>().axis {
            None => 0,
            Some(0) => i % columns,
            Some(_) => i / columns,
        };
        counts[group] += i64::from(x != 0.0);
    }
    numeric::write_integers(&mut outputs[0], &counts);
    Ok(())
}

fn samples() -> Vec<Sample> {
    let of = |sample: Sample| sample.fill(0, mxrs_op::Fill::Integers(0, 3));
    vec![
        of(Sample::plain("all", &[&[3, 5]])),
        of(Sample::new("rows", [("axis", "1")], &[&[4, 3]])),
        of(Sample::new("columns", [("axis", "0")], &[&[4, 3]])),
        of(Sample::plain("one", &[&[1, 1]])),
        of(Sample::new("no_columns", [("axis", "1")], &[&[3, 0]])),
        of(Sample::plain("empty", &[&[0, 3]])),
    ]
}
