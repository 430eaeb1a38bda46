//! Evenly spaced numbers: `out[i] = start + step · ⌊i / repeat⌋`, up to but not including `stop`. Without `stop`, they
//! run from 0 to `start`; or, with `infer_range`, as many numbers from `start` on as the output's shape says.
//!
//! Gradient: none, because there is nothing to differentiate.
//!
//! MXNet: `_arange`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64.

use crate::dtypes::{NUMBERS, NumberWord, dtype_of};
use crate::inference::{bad_attribute, learn, learn_dtype};
use crate::numeric;
use mxrs_op::{Gradient, InputNames, OpDef, OpParams, Sample, op_params};
use mxrs_types::{PartialShape, Result, Shape};

op_params! {
    /// Parameters of `_arange`.
    pub struct ArangeParams for "_arange" {
        /// First number; the end, if `stop` is absent and `infer_range` is not set.
        start: f64,
        /// The end, which is not included.
        stop: Option<f64> = None,
        /// Distance of neighbors.
        step: f64 = 1.0,
        /// How often each number is repeated.
        repeat: i32 = 1,
        /// Whether the output's shape decides how many numbers there are.
        infer_range: bool = false,
        /// Device, such as `cpu(0)`. The graph decides where nodes run; kernels ignore it.
        ctx: String = String::new(),
        /// Element type of the output.
        dtype: NumberWord = NumberWord::F32,
    }
}

impl ArangeParams {
    /// First number and end; the end is `None` if the shape decides.
    fn bounds(&self) -> (f64, Option<f64>) {
        match self.stop {
            Some(stop) => (self.start, Some(stop)),
            None if self.infer_range => (self.start, None),
            None => (0.0, Some(self.start)),
        }
    }
}

/// Defines the operator `_arange`.
pub fn define() -> OpDef {
    OpDef {
        summary: "evenly spaced numbers",
        inputs: InputNames::Fixed(&[]),
        infer_shape,
        infer_dtype: |params, _, outputs| {
            learn_dtype(&mut outputs[0], dtype_of(params.get::<ArangeParams>().dtype), "output")
        },
        dtypes: NUMBERS,
        gradient: Gradient::Zero,
        reference: Some(|params, _, outputs, _| {
            let params = params.get::<ArangeParams>();
            let (start, repeat) = (params.bounds().0, params.repeat.max(1) as usize);
            let n = outputs[0].desc.shape.n_elements();
            let values: Vec<f64> = (0..n).map(|i| start + params.step * (i / repeat) as f64).collect();
            numeric::write(&mut outputs[0], &values);
            Ok(())
        }),
        samples: || {
            vec![
                Sample::new("to", [("start", "5")], &[]),
                Sample::new("steps", [("start", "1"), ("stop", "9"), ("step", "2.5")], &[]),
                Sample::new("down", [("start", "4"), ("stop", "0"), ("step", "-1"), ("dtype", "int32")], &[]),
                Sample::new("repeated", [("start", "0"), ("stop", "3"), ("repeat", "2"), ("dtype", "float64")], &[]),
            ]
        },
        ..OpDef::new("_arange").params::<ArangeParams>()
    }
}

fn infer_shape(params: &OpParams, _: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let params = params.get::<ArangeParams>();
    if params.repeat < 1 {
        return Err(bad_attribute("_arange", "repeat", "at least 1", params.repeat));
    }
    if params.step == 0.0 || !params.step.is_finite() {
        return Err(bad_attribute("_arange", "step", "a finite number other than 0", params.step));
    }
    let (start, Some(stop)) = params.bounds() else { return Ok(()) };
    let steps = ((stop - start) / params.step).ceil();
    if !(0.0..=Shape::MAX_ELEMENTS as f64).contains(&(steps * f64::from(params.repeat))) {
        return Err(bad_attribute("_arange", "stop", "a number that steps from start reach", stop));
    }
    learn(&mut outputs[0], &Shape::from([steps as usize * params.repeat as usize]).into(), "output")
}
