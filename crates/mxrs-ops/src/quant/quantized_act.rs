//! Relu of a quantized tensor: negative integers become 0. The range is returned unchanged.
//!
//! Shapes: data any; min_data, max_data, min_output and max_output `[1]`; out as data.
//!
//! MXNet: `_contrib_quantized_act`. Dtypes: i8 u8; out has data's type (in MXNet out is i8 for u8 data). The only `act_type`
//! is relu.

use crate::families::quantized::{self, floats, integers, learn_ranges, ranges, sample, write_ranges};
use crate::inference::{bad_attribute, unify};
use crate::nn::activation::{ActType, ActivationParams};
use crate::numeric;
use mxrs_op::param::Choice;
use mxrs_op::{OpDef, OpParams, RefInput, RefOutput, RunMode, Sample};
use mxrs_types::{DType, PartialShape, Result};

/// Defines the operator `_contrib_quantized_act`.
pub fn define() -> OpDef {
    OpDef {
        summary: "relu of a quantized tensor",
        infer_shape,
        inplace: &[(0, 0)],
        reference: Some(run),
        samples,
        ..quantized::define_same_type("_contrib_quantized_act").params::<ActivationParams>()
    }
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let act = params.get::<ActivationParams>().act_type;
    if act != ActType::Relu {
        return Err(bad_attribute("_contrib_quantized_act", "act_type", "relu", act.to_word()));
    }
    unify(&mut inputs[0], &mut outputs[0], "output")?;
    learn_ranges(&mut inputs[1..])?;
    learn_ranges(&mut outputs[1..])
}

fn run(_: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let values: Vec<f64> = numeric::read(&inputs[0]).into_iter().map(numeric::relu).collect();
    numeric::write(&mut outputs[0], &values);
    write_ranges(outputs, &ranges(&inputs[1], &inputs[2]));
    Ok(())
}

fn samples() -> Vec<Sample> {
    let of = |name, shape: &[usize], dtype| {
        sample(name, &[("act_type", "relu")], vec![integers(shape, dtype), floats(&[-1.0]), floats(&[1.0])])
    };
    vec![
        of("images", &[2, 3, 4, 5], DType::I8),
        of("unsigned", &[2, 3, 4, 5], DType::U8),
        of("matrix", &[3, 17], DType::I8),
        of("empty", &[0, 3], DType::I8),
    ]
}
