//! Rows with one marked element: `out[…, k] = on_value` if `k` is the index, else `off_value`. Indices [s…] give
//! [s…, depth].
//! The row of an index outside 0 to depth - 1 has no mark. Fractions are truncated.
//!
//! Gradient: zero.
//!
//! MXNet: `one_hot`, also `_npx_one_hot`. Dtypes: indices f32 f64 f16 bf16 u8 i8 i32 i64; out as the parameter says.

use crate::dtypes::{NUMBERS, NumberWord, dtype_of};
use crate::inference::{bad_attribute, learn, learn_dtype};
use crate::numeric;
use mxrs_op::{Fill, Gradient, InputNames, OpDef, OpParams, Precision, Sample, op_params};
use mxrs_types::{PartialShape, Result};

op_params! {
    /// Parameters of `one_hot`.
    pub struct OneHotParams for "one_hot" {
        /// Number of elements of a row.
        depth: i32,
        /// The marked element.
        on_value: f64 = 1.0,
        /// The other elements.
        off_value: f64 = 0.0,
        /// Element type of the output.
        dtype: NumberWord = NumberWord::F32,
    }
}

/// Defines the operator `one_hot`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_npx_one_hot"],
        summary: "rows with one marked element",
        inputs: InputNames::Fixed(&["indices"]),
        infer_shape,
        infer_dtype: |params, _, outputs| {
            learn_dtype(&mut outputs[0], dtype_of(params.get::<OneHotParams>().dtype), "output")
        },
        dtypes: NUMBERS,
        gradient: Gradient::Zero,
        reference: Some(|params, inputs, outputs, _| {
            let params = params.get::<OneHotParams>();
            let mark = |index: f64| (0..i64::from(params.depth)).map(move |k| k == index as i64);
            let value = |is_on: bool| if is_on { params.on_value } else { params.off_value };
            let values: Vec<f64> = numeric::read(&inputs[0]).into_iter().flat_map(mark).map(value).collect();
            numeric::write(&mut outputs[0], &values);
            Ok(())
        }),
        samples,
        precision_float16: Some(Precision::follows),
        ..OpDef::new("one_hot").params::<OneHotParams>()
    }
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let depth = params.get::<OneHotParams>().depth;
    let Ok(size) = usize::try_from(depth) else {
        return Err(bad_attribute("one_hot", "depth", "no negative number", depth));
    };
    if let Some(dims) = inputs[0].dims() {
        learn(&mut outputs[0], &PartialShape::new([dims, &[Some(size)]].concat()), "output")?;
    }
    if let Some([dims @ .., _]) = outputs[0].dims() {
        learn(&mut inputs[0], &PartialShape::new(dims.to_vec()), "indices")?;
    }
    Ok(())
}

fn samples() -> Vec<Sample> {
    let index = |sample: Sample, values: &[f64]| sample.fill(0, Fill::Values(values.to_vec()));
    vec![
        index(Sample::new("words", [("depth", "4")], &[&[2, 2]]), &[0.0, 3.0, 1.0, 3.0]),
        index(Sample::new("outside", [("depth", "3")], &[&[3]]), &[-1.0, 3.0, 2.9]),
        index(
            Sample::new(
                "values",
                [("depth", "2"), ("on_value", "5"), ("off_value", "-1"), ("dtype", "int32")],
                &[&[3]],
            ),
            &[1.0, 0.0, 1.0],
        ),
        index(Sample::new("one", [("depth", "1")], &[&[1]]), &[0.0]),
        Sample::new("empty", [("depth", "3")], &[&[0, 2]]),
    ]
}
