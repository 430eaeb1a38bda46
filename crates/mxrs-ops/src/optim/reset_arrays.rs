//! Sets several arrays to 0 in place. The operator has no output.
//!
//! MXNet: `reset_arrays`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64, each array its own.

use crate::dtypes::NUMBERS;
use crate::inference::bad_attribute;
use mxrs_op::{Accuracy, InputNames, OpDef, OpParams, OutputCount, Sample, op_params};
use mxrs_types::{DType, Result};

op_params! {
    /// Parameters of `reset_arrays`.
    pub struct ResetParams for "reset_arrays" {
        /// Number of arrays.
        num_arrays: i32,
    }
}

/// The most arrays of a call.
const MAX_ARRAYS: usize = 1 << 12;

/// The positions 0, 1, … of the arrays.
static POSITIONS: [usize; MAX_ARRAYS] = {
    let mut positions = [0; MAX_ARRAYS];
    let mut i = 0;
    while i < MAX_ARRAYS {
        positions[i] = i;
        i += 1;
    }
    positions
};

fn count(params: &OpParams) -> usize {
    usize::try_from(params.get::<ResetParams>().num_arrays).unwrap_or(0)
}

/// Defines the operator `reset_arrays`.
pub fn define() -> OpDef {
    OpDef {
        summary: "sets arrays to 0",
        inputs: InputNames::Numbered { group: &["array"], shared: &[], listed: "data", count },
        n_outputs: OutputCount::Fixed(0),
        n_visible: OutputCount::Fixed(0),
        infer_shape: |params, _, _| check(params),
        infer_dtype: |_, inputs, _| {
            inputs.iter_mut().for_each(|dtype| *dtype = dtype.or(Some(DType::F32)));
            Ok(())
        },
        dtypes: NUMBERS,
        rewrites: |params, _| &POSITIONS[..count(params).min(MAX_ARRAYS)],
        accuracy: Accuracy::Exact,
        reference: Some(|_, _, outputs, _| {
            outputs.iter_mut().for_each(|output| output.bytes.fill(0));
            Ok(())
        }),
        samples: || {
            let of = |name, n, shapes: &[&[usize]]| Sample::new(name, [("num_arrays", n)], shapes);
            vec![
                of("one", "1", &[&[2, 3]]),
                of("two", "2", &[&[2, 3], &[4]]),
                of("types", "2", &[&[2], &[3]]).dtype(1, DType::F64),
                of("empty", "2", &[&[0, 3], &[2]]),
            ]
        },
        ..OpDef::new("reset_arrays").params::<ResetParams>()
    }
}

fn check(params: &OpParams) -> Result<()> {
    match count(params) {
        1..=MAX_ARRAYS => Ok(()),
        _ => {
            let got = params.get::<ResetParams>().num_arrays;
            Err(bad_attribute("reset_arrays", "num_arrays", format!("1 to {MAX_ARRAYS}"), got))
        }
    }
}
