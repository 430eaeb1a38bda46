//! Checks whether all elements are finite: 1 if they are, 0 if one is infinite or NaN. The output is `[1]` of f32.
//!
//! MXNet: `all_finite`, `multi_all_finite`, but not with `init_output=False`, which combines the result with the old
//! content of the output. Dtypes f32 f64 f16 bf16.

use crate::dtypes::FLOATS;
use crate::inference::{bad_attribute, learn, learn_dtype, unify_dtypes};
use crate::numeric;
use mxrs_op::{
    Accuracy, Fill, InputNames, OpDef, OpParams, Parameters, Precision, RefInput, RefOutput, RunMode, Sample, op_params,
};
use mxrs_types::{DType, PartialShape, Result};

op_params! {
    /// Parameters of `all_finite`.
    pub struct AllFiniteParams for "all_finite" {
        /// Must be true: the old content of the output is not used.
        init_output: bool = true,
    }
}

op_params! {
    /// Parameters of `multi_all_finite`.
    pub struct MultiAllFiniteParams for "multi_all_finite" {
        /// Number of arrays.
        num_arrays: i32 = 1,
        /// Must be true: the old content of the output is not used.
        init_output: bool = true,
    }
}

fn shape_of(op: &str, init_output: bool, outputs: &mut [PartialShape]) -> Result<()> {
    if !init_output {
        return Err(bad_attribute(op, "init_output", "True", "False"));
    }
    learn(&mut outputs[0], &PartialShape::new([Some(1)]), "output")
}

fn infer_dtype(_: &OpParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
    unify_dtypes(inputs, "data")?;
    learn_dtype(&mut outputs[0], DType::F32, "output")
}

fn all_finite(_: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let is_finite = inputs.iter().all(|input| numeric::read(input).iter().all(|v| v.is_finite()));
    numeric::write(&mut outputs[0], &[f64::from(u8::from(is_finite))]);
    Ok(())
}

/// Defines the operator `all_finite`.
pub fn define() -> OpDef {
    OpDef {
        summary: "whether all elements are finite",
        infer_shape: |params, _, outputs| {
            shape_of(AllFiniteParams::OP, params.get::<AllFiniteParams>().init_output, outputs)
        },
        infer_dtype,
        dtypes: FLOATS,
        accuracy: Accuracy::Exact,
        reference: Some(all_finite),
        samples: || {
            let of = |name, shape: &[usize]| Sample::new(name, [("init_output", "True")], &[shape]);
            let with = |name, value| of(name, &[3]).fill(0, Fill::Values(vec![1.0, value, 2.0]));
            vec![of("finite", &[4099]), of("empty", &[0]), with("infinite", f64::INFINITY), with("nan", f64::NAN)]
        },
        precision_float16: Some(Precision::follows),
        ..OpDef::new("all_finite").params::<AllFiniteParams>()
    }
}

/// Defines the operator `multi_all_finite`.
pub fn define_multi() -> OpDef {
    OpDef {
        summary: "whether all elements of several arrays are finite",
        inputs: InputNames::Numbered {
            group: &["array"],
            shared: &[],
            listed: "data",
            count: |params| usize::try_from(params.get::<MultiAllFiniteParams>().num_arrays).unwrap_or(0).min(1 << 16),
        },
        infer_shape: |params, _, outputs| {
            shape_of(MultiAllFiniteParams::OP, params.get::<MultiAllFiniteParams>().init_output, outputs)
        },
        infer_dtype,
        dtypes: FLOATS,
        accuracy: Accuracy::Exact,
        reference: Some(all_finite),
        samples: || {
            let of = |name, shapes: &[&[usize]]| {
                Sample::new(name, [("num_arrays", shapes.len().to_string().as_str())], shapes)
            };
            let infinite = of("infinite", &[&[3], &[2]]);
            vec![
                of("finite", &[&[3, 5], &[4099], &[]]),
                of("empty", &[&[0]]),
                infinite.clone().fill(1, Fill::Values(vec![1.0, f64::NEG_INFINITY])),
                Sample { name: "nan", ..infinite }.fill(0, Fill::Values(vec![1.0, 2.0, f64::NAN])),
            ]
        },
        precision_float16: Some(Precision::follows),
        ..OpDef::new("multi_all_finite").params::<MultiAllFiniteParams>()
    }
}
