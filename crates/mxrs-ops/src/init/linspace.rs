//! `num` evenly spaced numbers from `start` to `stop`, which is the last one unless `endpoint` is false. Integers are truncated.
//!
//! Gradient: none, because there is nothing to differentiate.
//!
//! MXNet: `_linspace`, also `_npi_linspace`. Its C API lists the parameters of `_arange`, but the operator reads these. Dtypes:
//! f32 f64 f16 bf16 u8 i8 i32 i64.

use crate::dtypes::{NUMBERS, NumberWord, dtype_of};
use crate::inference::{bad_attribute, learn, learn_dtype};
use crate::numeric;
use mxrs_op::{Accuracy, Gradient, InputNames, OpDef, Sample, op_params};
use mxrs_types::Shape;

op_params! {
    /// Parameters of `_linspace`.
    pub struct LinspaceParams for "_linspace" {
        /// First number.
        start: f64,
        /// The end.
        stop: f64,
        /// Number of elements.
        num: i32,
        /// Whether the end is the last element.
        endpoint: bool = true,
        /// Device, such as `cpu(0)`. The graph decides where nodes run; kernels ignore it.
        ctx: String = String::new(),
        /// Element type of the output.
        dtype: NumberWord = NumberWord::F32,
    }
}

/// Defines the operator `_linspace`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_npi_linspace"],
        summary: "evenly spaced numbers between two bounds",
        inputs: InputNames::Fixed(&[]),
        infer_shape: |params, _, outputs| match usize::try_from(params.get::<LinspaceParams>().num) {
            Ok(num) => learn(&mut outputs[0], &Shape::from([num]).into(), "output"),
            Err(_) => Err(bad_attribute("_linspace", "num", "no negative number", params.get::<LinspaceParams>().num)),
        },
        infer_dtype: |params, _, outputs| {
            learn_dtype(&mut outputs[0], dtype_of(params.get::<LinspaceParams>().dtype), "output")
        },
        dtypes: NUMBERS,
        gradient: Gradient::Zero,
        accuracy: Accuracy::Elementwise,
        reference: Some(|params, _, outputs, _| {
            let params: &LinspaceParams = params.get();
            let n_steps = (f64::from(params.num) - f64::from(u8::from(params.endpoint))).max(1.0);
            let step = (params.stop - params.start) / n_steps;
            let is_end = |i: i32| params.endpoint && i > 0 && i + 1 == params.num;
            let number = |i: i32| if is_end(i) { params.stop } else { params.start + step * f64::from(i) };
            numeric::write(&mut outputs[0], &(0..params.num).map(number).collect::<Vec<f64>>());
            Ok(())
        }),
        samples: || {
            let bounds = [("start", "0"), ("stop", "2")];
            vec![
                Sample::new("five", [bounds[0], bounds[1], ("num", "5")], &[]),
                Sample::new("open", [bounds[0], bounds[1], ("num", "4"), ("endpoint", "False")], &[]),
                Sample::new("one", [bounds[0], bounds[1], ("num", "1"), ("dtype", "float64")], &[]),
                Sample::new("none", [bounds[0], bounds[1], ("num", "0"), ("dtype", "int32")], &[]),
            ]
        },
        ..OpDef::new("_linspace").params::<LinspaceParams>()
    }
}
