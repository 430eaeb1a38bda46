//! Converts each input to the widest type among the inputs that are float32, float16 or bfloat16, or to the narrowest
//! with `cast_narrow`. Inputs of other types are not changed.
//!
//! float16 and bfloat16 are equally wide. If both occur, the outputs are float32; with `cast_narrow`, they have the
//! type that comes first. Gradient: each `ograd` converted to its input's type.
//!
//! MXNet: `amp_multicast`. Inputs are `data_0`, `data_1`, … Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool.

use super::amp_cast::{is_converted, pass_or_convert};
use crate::dtypes::MOVABLE;
use crate::families::gradients::Answers;
use crate::inference::{bad_attribute, learn_dtype, unify};
use mxrs_op::{Fill, Gradient, GradientScope, InputNames, OpDef, OpParams, OutputCount, Precision, Sample, op_params};
use mxrs_types::{DType, PartialShape, Result};

op_params! {
    /// Parameters of `amp_multicast`.
    pub struct AmpMulticastParams for "amp_multicast" {
        /// Number of inputs, and of outputs.
        num_outputs: i32,
        /// Whether to convert to the narrowest type instead of the widest.
        cast_narrow: bool = false,
    }
}

/// Defines the operator `amp_multicast`.
pub fn define() -> OpDef {
    OpDef {
        summary: "all inputs as the widest floating-point dtype among them",
        inputs: InputNames::Variable { prefix: "data_", listed: "data", key: "num_outputs", count },
        n_outputs: OutputCount::ByParams(count),
        n_visible: OutputCount::ByParams(count),
        infer_shape,
        infer_dtype,
        dtypes: MOVABLE,
        gradient: Gradient::By(|_, scope| gradient(scope)),
        reference: Some(|_, inputs, outputs, _| {
            for (input, output) in inputs.iter().zip(outputs) {
                pass_or_convert(std::slice::from_ref(input), std::slice::from_mut(output));
            }
            Ok(())
        }),
        samples,
        precision_float16: Some(Precision::follows),
        ..OpDef::new("amp_multicast").params::<AmpMulticastParams>()
    }
}

fn count(params: &OpParams) -> usize {
    usize::try_from(params.get::<AmpMulticastParams>().num_outputs).unwrap_or(0)
}

fn gradient(scope: &mut dyn GradientScope) -> Answers {
    let mut gradients = vec![None; scope.n_inputs()];
    for (i, gradient) in gradients.iter_mut().enumerate() {
        if scope.has_out_grad(i) {
            let (head, like) = (scope.out_grad(i)?, scope.input(i));
            *gradient = Some(scope.call_one("_backward_cast", &[head, like])?);
        }
    }
    Ok(gradients)
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    if inputs.is_empty() {
        let got = params.get::<AmpMulticastParams>().num_outputs;
        return Err(bad_attribute("amp_multicast", "num_outputs", "at least 1", got));
    }
    inputs.iter_mut().zip(outputs).try_for_each(|(input, output)| unify(input, output, "output"))
}

/// The common type of `a` and `b`, which are float32, float16 or bfloat16.
fn of_both(a: DType, b: DType, is_narrow: bool) -> DType {
    use std::cmp::Ordering::{Equal, Greater, Less};
    match (a.size_of().cmp(&b.size_of()), is_narrow) {
        (Less, true) | (Greater, false) => a,
        (Less, false) | (Greater, true) => b,
        (Equal, false) if a != b => DType::F32,
        (Equal, _) => a,
    }
}

fn infer_dtype(params: &OpParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
    let is_narrow = params.get::<AmpMulticastParams>().cast_narrow;
    let Some(known) = inputs.iter().copied().collect::<Option<Vec<DType>>>() else { return Ok(()) };
    let floats = known.iter().copied().filter(|dtype| is_converted(*dtype));
    let common = floats.reduce(|a, b| of_both(a, b, is_narrow));
    for (from, output) in known.iter().zip(outputs) {
        let to = common.filter(|_| is_converted(*from)).unwrap_or(*from);
        learn_dtype(output, to, "output")?;
    }
    Ok(())
}

fn samples() -> Vec<Sample> {
    let wide = Fill::Uniform(-9.0, 9.0);
    let two = |name, attrs: &[(&str, &str)]| {
        let attrs = [("num_outputs", "2")].iter().chain(attrs).copied().collect();
        let sample = Sample { attrs, ..Sample::plain(name, &[&[3, 5], &[2, 7]]) };
        sample.fill(0, wide.clone()).fill(1, wide.clone())
    };
    vec![
        two("alike", &[]),
        two("widest", &[]).dtype(0, DType::BF16),
        two("narrowest", &[("cast_narrow", "True")]).dtype(1, DType::BF16),
        two("short_ones", &[]).dtype(0, DType::BF16).dtype(1, DType::F16),
        Sample::new("empty", [("num_outputs", "1")], &[&[0, 2]]),
        two("integers", &[]).dtype(1, DType::I32).fill(1, Fill::Integers(0, 9)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_op::Attrs;

    #[test]
    fn no_inputs_are_refused() {
        let op = define();
        for count in ["0", "-1"] {
            let params = op.parse(&Attrs::from([("num_outputs", count)])).unwrap();
            assert_eq!(op.n_inputs(&params), 0);
            let error = op.infer_shapes(&params, &mut [], &mut []).unwrap_err().to_string();
            assert!(error.contains("num_outputs") && error.contains(count), "{error}");
        }
    }
}
