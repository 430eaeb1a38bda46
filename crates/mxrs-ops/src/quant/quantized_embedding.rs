//! Looks up rows of a quantized table: `out[…, :] = weight[data[…], :]`; the range of the weight is returned unchanged.
//!
//! data of any shape holds row numbers, which are truncated to integers and limited to 0 … input_dim - 1; weight
//! [input_dim, output_dim], min_weight and max_weight `[1]`; out has data's shape followed by output_dim; min_output
//! and max_output `[1]`.
//!
//! MXNet: `_contrib_quantized_embedding`. Dtypes: data f32 f64 f16 bf16 u8 i8 i32 i64, weight and out i8.

use crate::dtypes::{NUMBERS, NumberWord};
use crate::families::quantized::{
    self, floats, integers, learn_range_types, learn_ranges, ranges, sample, write_ranges,
};
use crate::inference::{bad_attribute, learn, learn_dtype};
use crate::numeric;
use mxrs_op::{Fill, InputNames, OpDef, OpParams, RefInput, RefOutput, RunMode, Sample, SampleInput, op_params};
use mxrs_types::{DType, PartialShape, Result};

op_params! {
    /// Parameters of `_contrib_quantized_embedding`.
    pub struct QuantizedEmbeddingParams for "_contrib_quantized_embedding" {
        /// Rows of the table.
        input_dim: i32,
        /// Columns of the table.
        output_dim: i32,
        /// Element type of the table before quantization; read and ignored.
        dtype: NumberWord = NumberWord::F32,
        /// Read and ignored.
        sparse_grad: bool = false,
    }
}

impl QuantizedEmbeddingParams {
    fn sizes(&self) -> Result<[usize; 2]> {
        let size = |name, value: i32| match usize::try_from(value) {
            Ok(n) if n > 0 => Ok(n),
            _ => Err(bad_attribute("_contrib_quantized_embedding", name, "a positive number", value)),
        };
        Ok([size("input_dim", self.input_dim)?, size("output_dim", self.output_dim)?])
    }
}

/// Defines the operator `_contrib_quantized_embedding`.
pub fn define() -> OpDef {
    OpDef {
        summary: "rows of a quantized table",
        inputs: InputNames::Fixed(&["data", "weight", "min_weight", "max_weight"]),
        infer_shape,
        infer_dtype: |_, inputs, outputs| {
            learn_dtype(&mut inputs[1], DType::I8, "weight")?;
            learn_range_types(inputs[2..].iter_mut().chain(&mut outputs[1..]))?;
            learn_dtype(&mut outputs[0], DType::I8, "output")
        },
        dtypes: NUMBERS,
        reference: Some(run),
        samples,
        ..quantized::define("_contrib_quantized_embedding").params::<QuantizedEmbeddingParams>()
    }
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let [rows, columns] = params.get::<QuantizedEmbeddingParams>().sizes()?;
    let [data, weight, ranges @ ..] = inputs else { return Ok(()) };
    learn(weight, &PartialShape::new([Some(rows), Some(columns)]), "weight")?;
    learn_ranges(ranges)?;
    learn_ranges(&mut outputs[1..])?;
    if let Some(dims) = data.dims().map(<[_]>::to_vec) {
        learn(&mut outputs[0], &PartialShape::new(dims.into_iter().chain([Some(columns)])), "output")?;
    }
    match outputs[0].dims() {
        Some([dims @ .., _]) => learn(data, &PartialShape::new(dims.iter().copied()), "data"),
        _ => Ok(()),
    }
}

fn run(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let [rows, columns] = params.get::<QuantizedEmbeddingParams>().sizes()?;
    for (to, row) in outputs[0].bytes.chunks_exact_mut(columns).zip(numeric::read(&inputs[0])) {
        // NaN selects row 0.
        let row = (row.trunc().max(0.0) as usize).min(rows - 1);
        to.copy_from_slice(&inputs[1].bytes[row * columns..][..columns]);
    }
    write_ranges(outputs, &ranges(&inputs[2], &inputs[3]));
    Ok(())
}

fn samples() -> Vec<Sample> {
    let of = |name, shape: &[usize], fill: Fill| {
        let data = SampleInput { shape: shape.into(), fill, dtype: None };
        let inputs = vec![data, integers(&[5, 3], DType::I8), floats(&[-1.0]), floats(&[1.5])];
        sample(name, &[("input_dim", "5"), ("output_dim", "3")], inputs)
    };
    vec![
        of("rows", &[4], Fill::Integers(0, 5)),
        of("matrix", &[2, 7], Fill::Integers(0, 5)),
        of("outside", &[3], Fill::Values(vec![0.0, 7.0, 100.0])),
        of("empty", &[0], Fill::Integers(0, 5)),
    ]
}
