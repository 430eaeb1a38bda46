//! A table look-up: `out[…, :] = weight[data[…], :]`. Data [s…] and weight [input_dim, output_dim] give [s…, output_dim].
//! Indices outside the table are moved to its ends; fractions are truncated.
//!
//! Gradient: each row of weight gets the sum of the gradients of its copies; data has no gradient. The gradient is always
//! dense, also with `sparse_grad`.
//!
//! MXNet: `Embedding`, also `_npx_embedding`, `_sparse_Embedding`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64; data any of these.

use crate::dtypes::{NUMBERS, NumberWord, dtype_of};
use crate::families::indices::IndexMode;
use crate::families::moved::{self, Move};
use crate::inference::{bad_attribute, learn, unify_dtypes};
use crate::numeric;
use mxrs_op::{Fill, MovedRows, OpDef, RefInput, Sample, op_params};
use mxrs_types::{DType, PartialShape, Result, Shape};

op_params! {
    /// Parameters of `Embedding`.
    pub struct EmbeddingParams for "Embedding" {
        /// Number of rows of the table.
        input_dim: i32,
        /// Number of elements of a row.
        output_dim: i32,
        /// Element type of the table, if it follows from nothing else.
        dtype: NumberWord = NumberWord::F32,
        /// Read; the gradient is dense either way.
        sparse_grad: bool = false,
    }
}

pub(super) struct Embedding;

impl Move for Embedding {
    type Params = EmbeddingParams;
    const NAME: &'static str = "Embedding";
    const ALIASES: &'static [&'static str] = &["_npx_embedding", "_sparse_Embedding"];
    const SUMMARY: &'static str = "rows of a table, by index";
    const BACKWARD: &'static str = "_backward_Embedding";
    const INPUTS: &'static [&'static str] = &["data", "weight"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "data", "weight"];
    const MOVED: usize = 1;
    const IGNORED_IN_BACKWARD: &'static [usize] = &[2];
    const DTYPES: &'static [DType] = NUMBERS;
    const BY_CONTENT: bool = true;

    fn infer_shape(params: &EmbeddingParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let size = |name, value: i32| match usize::try_from(value) {
            Ok(size) if size > 0 => Ok(size),
            _ => Err(bad_attribute("Embedding", name, "a positive number", value)),
        };
        let (rows, row) = (size("input_dim", params.input_dim)?, size("output_dim", params.output_dim)?);
        learn(&mut inputs[1], &Shape::from([rows, row]).into(), "weight")?;
        if let Some(data) = inputs[0].dims() {
            learn(&mut outputs[0], &PartialShape::new([data, &[Some(row)]].concat()), "output")?;
        }
        if let Some([data @ .., _]) = outputs[0].dims() {
            learn(&mut inputs[0], &PartialShape::new(data.to_vec()), "data")?;
        }
        Ok(())
    }

    fn infer_dtype(
        params: &EmbeddingParams,
        inputs: &mut [Option<DType>],
        outputs: &mut [Option<DType>],
    ) -> Result<()> {
        let [data, weight] = inputs else { return Ok(()) };
        unify_dtypes([&mut *weight, &mut outputs[0]], "output")?;
        if data.is_some() && weight.is_none() {
            (*weight, outputs[0]) = (Some(dtype_of(params.dtype)), Some(dtype_of(params.dtype)));
        }
        *data = data.or(*weight);
        Ok(())
    }

    fn rows(_: &EmbeddingParams, inputs: &[RefInput<'_>], _: &Shape) -> Result<MovedRows> {
        let table = &inputs[1].desc.shape;
        let places =
            numeric::read(&inputs[0]).into_iter().map(|index| IndexMode::Clip.place(index, table[0]).map(Some));
        let rows = places.collect::<Result<_>>()?;
        Ok(MovedRows { outer: 1, n_rows: table[0], len: table[1], rows, constant: 0.0 })
    }

    fn samples() -> Vec<Sample> {
        let attrs = [("input_dim", "5"), ("output_dim", "3")];
        let doubles = [("input_dim", "4"), ("output_dim", "2"), ("dtype", "float64")];
        let index = |sample: Sample, values: &[f64]| sample.fill(0, Fill::Values(values.to_vec()));
        vec![
            index(Sample::new("words", attrs, &[&[2, 3], &[5, 3]]), &[0.0, 4.0, 4.0, 1.0, 2.0, 0.0]),
            index(Sample::new("clipped", attrs, &[&[3], &[5, 3]]), &[-1.0, 9.0, 2.9]),
            index(Sample::new("one", [("input_dim", "1"), ("output_dim", "1")], &[&[1], &[1, 1]]), &[0.0]),
            index(Sample::new("doubles", doubles, &[&[4], &[4, 2]]), &[3.0, 1.0, 3.0, 0.0]),
            index(Sample::new("integers", attrs, &[&[2], &[5, 3]]), &[3.0, 1.0]).dtype(0, DType::I32),
            index(Sample::new("empty", attrs, &[&[0, 2], &[5, 3]]), &[]),
        ]
    }
}

/// Defines the operator `Embedding`.
pub fn define() -> OpDef {
    moved::define::<Embedding>()
}
