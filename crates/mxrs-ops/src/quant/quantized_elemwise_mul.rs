//! The product of two quantized tensors of the same shape, and its range.
//!
//! lhs, rhs and out have the same shape; lhs_min, lhs_max, rhs_min, rhs_max, min_output and max_output are `[1]`. With a
//! calibrated range, out is i8. Without one, out is the i32 product of the integers, with the quantum
//! `quantum(lhs) · quantum(rhs)`. With `enable_float_output`, out is the f32 product and the only output.
//!
//! MXNet: `_contrib_quantized_elemwise_mul`, which MXNet cannot call imperatively. MXNet truncates i8 results and does not
//! saturate them; this operator rounds and saturates them, as do all quantized operators of this crate. Dtypes: i8.

use super::quantized_elemwise_add::{INPUTS, infer_pair};
use crate::families::quantized::{
    self, Range, floats, integers, learn_range_types, levels, range, sample, to_integer, write_ranges,
};
use crate::inference::learn_dtype;
use crate::numeric;
use mxrs_op::{Accuracy, InputNames, OpDef, OpParams, OutputCount, RefInput, RefOutput, RunMode, Sample, op_params};
use mxrs_types::{DType, Result};

op_params! {
    /// Parameters of `_contrib_quantized_elemwise_mul`.
    pub struct QuantizedMulParams for "_contrib_quantized_elemwise_mul" {
        /// Smallest product seen in calibration.
        min_calib_range: Option<f32> = None,
        /// Largest product seen in calibration.
        max_calib_range: Option<f32> = None,
        /// Whether out is f32.
        enable_float_output: bool = false,
    }
}

impl QuantizedMulParams {
    fn calibrated(&self) -> Result<Option<Range>> {
        Range::of_params("_contrib_quantized_elemwise_mul", self.min_calib_range, self.max_calib_range)
    }
}

fn n_outputs(params: &OpParams) -> usize {
    if params.get::<QuantizedMulParams>().enable_float_output { 1 } else { 3 }
}

/// Defines the operator `_contrib_quantized_elemwise_mul`.
pub fn define() -> OpDef {
    OpDef {
        summary: "product of two quantized tensors",
        inputs: InputNames::Fixed(INPUTS),
        n_outputs: OutputCount::ByParams(n_outputs),
        n_visible: OutputCount::ByParams(n_outputs),
        infer_shape: |params, inputs, outputs| {
            params.get::<QuantizedMulParams>().calibrated()?;
            infer_pair(inputs, outputs)
        },
        infer_dtype: |params, inputs, outputs| {
            let params = params.get::<QuantizedMulParams>();
            let out = match (params.enable_float_output, params.calibrated()?) {
                (true, _) => DType::F32,
                (false, Some(_)) => DType::I8,
                (false, None) => DType::I32,
            };
            inputs[..2].iter_mut().try_for_each(|t| learn_dtype(t, DType::I8, "lhs"))?;
            learn_range_types(inputs[2..].iter_mut().chain(&mut outputs[1..]))?;
            learn_dtype(&mut outputs[0], out, "output")
        },
        dtypes: &[DType::I8],
        accuracy: Accuracy::Quantum,
        reference: Some(run),
        samples,
        ..quantized::define("_contrib_quantized_elemwise_mul").params::<QuantizedMulParams>()
    }
}

fn run(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let quantum = range(&inputs[2], &inputs[3])?.quantum(DType::I8) * range(&inputs[4], &inputs[5])?.quantum(DType::I8);
    let pairs = numeric::read(&inputs[0]).into_iter().zip(numeric::read(&inputs[1]));
    let products = pairs.map(|(x, y)| x * y);
    let dtype = outputs[0].desc.dtype;
    if dtype == DType::F32 {
        numeric::write(&mut outputs[0], &products.map(|p| p * quantum).collect::<Vec<_>>());
        return Ok(());
    }
    let reach = quantum * levels(DType::I32);
    let (scale, out) = match params.get::<QuantizedMulParams>().calibrated()? {
        Some(range) => (quantum * range.per_unit(dtype), range),
        None => (1.0, Range { min: -reach, max: reach }),
    };
    numeric::write(&mut outputs[0], &products.map(|p| to_integer(dtype, p * scale)).collect::<Vec<_>>());
    write_ranges(outputs, &[out]);
    Ok(())
}

fn samples() -> Vec<Sample> {
    let of = |name, attrs: &[(&str, &str)], shape: &[usize]| {
        let mut inputs = vec![integers(shape, DType::I8), integers(shape, DType::I8)];
        inputs.extend([floats(&[-1.0]), floats(&[1.5]), floats(&[-0.5]), floats(&[2.5])]);
        sample(name, attrs, inputs)
    };
    let calibrated = [("min_calib_range", "-2"), ("max_calib_range", "3")];
    vec![
        of("calibrated", &calibrated, &[2, 3, 4, 5]),
        of("own_range", &[], &[2, 3, 4, 5]),
        of("real", &[("enable_float_output", "True")], &[3, 17]),
        of("empty", &calibrated, &[0, 3]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_op::TensorDesc;

    /// Compares i8 products with MXNet's formula (quantized_elemwise_mul.cc of 1.9.1), computed in f32 as in MXNet.
    #[test]
    fn products_are_those_of_mxnets_formula() {
        let op = define();
        let params = op.parse(&[("enable_float_output", "1")].into_iter().collect()).expect("readable");
        let bytes = TensorDesc::dense([4], DType::I8);
        let one = TensorDesc::dense([1], DType::F32);
        let (a, b) = ([-128i8, 100, 3, 127], [5i8, -7, 100, 127]);
        let [low, high] = [(-1.0f32).to_ne_bytes(), 1.5f32.to_ne_bytes()];
        let inputs = [
            RefInput { desc: &bytes, bytes: bytemuck::cast_slice(&a) },
            RefInput { desc: &bytes, bytes: bytemuck::cast_slice(&b) },
            RefInput { desc: &one, bytes: &low },
            RefInput { desc: &one, bytes: &high },
            RefInput { desc: &one, bytes: &low },
            RefInput { desc: &one, bytes: &high },
        ];
        let out = TensorDesc::dense([4], DType::F32);
        let mut result = [0f32; 4];
        let outputs = &mut [RefOutput { desc: &out, bytes: bytemuck::cast_slice_mut(&mut result) }];
        run(&params, &inputs, outputs, RunMode::default()).expect("a result");
        let scale = 127.5f32 / 1.5;
        for (i, got) in result.iter().enumerate() {
            let expected = f32::from(a[i]) * f32::from(b[i]) / scale / scale;
            assert!((got - expected).abs() <= 1e-6 * expected.abs(), "{got} {expected}");
        }
    }
}
