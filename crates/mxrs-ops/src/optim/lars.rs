//! Layer-wise learning rates (LARS). You, Gitman and Ginsburg, arXiv:1708.03888.
//!
//! `multi_sum_sq` returns the sums of squares of several arrays as one vector `[n]` of f32. `multi_lars` takes vectors:
//! from the sums of squares of weights and gradients it computes `lr · eta · |w| / (|g| · rescale_grad + wd · |w| +
//! eps)`, or lr if the norm of weight or gradient is 0.
//!
//! MXNet: `multi_sum_sq`, `multi_lars`. Dtypes f32 f64 f16 bf16 for sums; f32 for rates.

use crate::dtypes::FLOATS;
use crate::families::updates::counted;
use crate::inference::{learn, learn_dtype, unify_all, unify_dtypes};
use crate::numeric;
use mxrs_op::{
    Accuracy, Fill, InputNames, OpDef, OpParams, Parameters, Pointwise, RefInput, RefOutput, RunMode, Sample, op_params,
};
use mxrs_types::{DType, PartialShape, Result};

op_params! {
    /// Parameters of `multi_sum_sq`.
    pub struct SumSqParams for "multi_sum_sq" {
        /// Number of arrays.
        num_arrays: i32,
    }
}

op_params! {
    /// Parameters of `multi_lars`.
    pub struct LarsParams for "multi_lars" {
        /// Factor of the rates.
        eta: f32,
        /// Added to the divisor.
        eps: f32,
        /// Factor of the gradients.
        rescale_grad: f32 = 1.0,
    }
}

/// Defines the operator `multi_sum_sq`.
pub fn define_sum_sq() -> OpDef {
    OpDef {
        summary: "sums of squares of several arrays",
        inputs: InputNames::Numbered {
            group: &["array"],
            shared: &[],
            listed: "data",
            count: |params| usize::try_from(params.get::<SumSqParams>().num_arrays).unwrap_or(0).min(1 << 16),
        },
        infer_shape: infer_sums,
        infer_dtype: |_, inputs, outputs| {
            unify_dtypes(inputs, "data")?;
            learn_dtype(&mut outputs[0], DType::F32, "output")
        },
        dtypes: FLOATS,
        accuracy: Accuracy::Reduction,
        reference: Some(sum_sq),
        samples: || {
            let of = |name, shapes: &[&[usize]]| {
                Sample::new(name, [("num_arrays", shapes.len().to_string().as_str())], shapes)
            };
            vec![
                of("one", &[&[3, 5]]),
                of("three", &[&[3, 5], &[4099], &[]]),
                of("empty", &[&[3, 0], &[2]]),
                of("two", &[&[7], &[2, 1, 3]]),
            ]
        },
        ..OpDef::new("multi_sum_sq").params::<SumSqParams>()
    }
}

fn infer_sums(params: &OpParams, _: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let n = params.get::<SumSqParams>().num_arrays;
    let n = counted(SumSqParams::OP, "num_arrays", n.clamp(0, 1)).map(|_| n as usize)?;
    learn(&mut outputs[0], &PartialShape::new([Some(n)]), "output")
}

fn sum_sq(_: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let sums: Vec<f64> = inputs.iter().map(|input| numeric::read(input).iter().map(|v| v * v).sum()).collect();
    numeric::write(&mut outputs[0], &sums);
    Ok(())
}

/// Defines the operator `multi_lars`.
pub fn define() -> OpDef {
    OpDef {
        summary: "learning rates by the norms of weights and gradients",
        inputs: InputNames::Fixed(&["lrs", "weights_sum_sq", "grads_sum_sq", "wds"]),
        infer_shape: |_, inputs, outputs| unify_all(inputs, outputs, "weights_sum_sq"),
        infer_dtype: |_, inputs, outputs| {
            inputs.iter_mut().chain(outputs).try_for_each(|dtype| learn_dtype(dtype, DType::F32, "lrs"))
        },
        dtypes: &[DType::F32],
        inplace: &[(0, 0)],
        pointwise: Pointwise::Yes,
        accuracy: Accuracy::Reduction,
        reference: Some(rates),
        samples,
        ..OpDef::new("multi_lars").params::<LarsParams>()
    }
}

fn rates(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let params = params.get::<LarsParams>();
    let [mut lrs, weights, grads, wds] = [0, 1, 2, 3].map(|i| numeric::read(&inputs[i]));
    for (i, lr) in lrs.iter_mut().enumerate() {
        let norm = weights[i].sqrt();
        if norm > 0.0 && grads[i] > 0.0 {
            let divisor = grads[i].sqrt() * f64::from(params.rescale_grad) + wds[i] * norm + f64::from(params.eps);
            *lr *= f64::from(params.eta) * norm / divisor;
        }
    }
    numeric::write(&mut outputs[0], &lrs);
    Ok(())
}

fn samples() -> Vec<Sample> {
    let of = |name, attrs: [(&str, &str); 3], n: usize| {
        let shape: &[usize] = &[n];
        let sample = Sample::new(name, attrs, &[shape; 4]).fill(0, Fill::Uniform(0.01, 0.2));
        sample.fill(1, Fill::Uniform(0.1, 9.0)).fill(2, Fill::Uniform(0.1, 9.0)).fill(3, Fill::Uniform(0.0, 0.01))
    };
    let attrs = [("eta", "0.001"), ("eps", "1e-08"), ("rescale_grad", "0.5")];
    let large = [("eta", "0.1"), ("eps", "0.5"), ("rescale_grad", "1")];
    vec![
        of("rates", attrs, 7),
        of("large", large, 160),
        of("zeros", attrs, 3).fill(1, Fill::Values(vec![0.0, 1.0, 4.0])).fill(2, Fill::Values(vec![1.0, 0.0, 9.0])),
        of("empty", attrs, 0),
    ]
}
