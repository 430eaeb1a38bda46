//! A table look-up like [`Embedding`](super::embedding): `out[…, :] = weight[data[…], :]`. An index outside the table is
//! refused.
//!
//! Gradient: each row of weight gets the sum of the gradients of its copies; data has no gradient. MXNet's gradient is a
//! row-sparse tensor; here it is a dense one with the same content.
//!
//! MXNet: `_contrib_SparseEmbedding`. Its list of parameters has `sparse_grad`, and it reads `deterministic`. Dtypes: f32 f64
//! f16 bf16 u8 i8 i32 i64; data any of these.

use super::embedding::{Embedding, EmbeddingParams};
use crate::dtypes::{NUMBERS, NumberWord};
use crate::families::indices::IndexMode;
use crate::families::moved::{self, Move};
use crate::numeric;
use mxrs_op::{Fill, MovedRows, OpDef, Precision, RefInput, Sample, op_params};
use mxrs_types::{DType, PartialShape, Result, Shape};

op_params! {
    /// Parameters of `_contrib_SparseEmbedding`.
    pub struct SparseEmbeddingParams for "_contrib_SparseEmbedding" {
        /// Number of rows of the table.
        input_dim: i32,
        /// Number of elements of a row.
        output_dim: i32,
        /// Element type of the table, if it follows from nothing else.
        dtype: NumberWord = NumberWord::F32,
        /// Read; the gradient is dense either way.
        sparse_grad: bool = false,
        /// Read; the order of sums is fixed either way.
        deterministic: bool = false,
    }
}

impl SparseEmbeddingParams {
    /// The parameters of `Embedding` with the same shapes and types.
    fn dense(&self) -> EmbeddingParams {
        EmbeddingParams {
            input_dim: self.input_dim,
            output_dim: self.output_dim,
            dtype: self.dtype,
            sparse_grad: self.sparse_grad,
        }
    }
}

struct SparseEmbedding;

impl Move for SparseEmbedding {
    type Params = SparseEmbeddingParams;
    const NAME: &'static str = "_contrib_SparseEmbedding";
    const SUMMARY: &'static str = "rows of a table, by index that must exist";
    const BACKWARD: &'static str = "_backward_SparseEmbedding";
    const INPUTS: &'static [&'static str] = &["data", "weight"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "data", "weight"];
    const MOVED: usize = 1;
    const IGNORED_IN_BACKWARD: &'static [usize] = &[2];
    const DTYPES: &'static [DType] = NUMBERS;
    const BY_CONTENT: bool = true;

    fn infer_shape(
        params: &SparseEmbeddingParams,
        inputs: &mut [PartialShape],
        outputs: &mut [PartialShape],
    ) -> Result<()> {
        Embedding::infer_shape(&params.dense(), inputs, outputs)
    }

    fn infer_dtype(
        params: &SparseEmbeddingParams,
        inputs: &mut [Option<DType>],
        outputs: &mut [Option<DType>],
    ) -> Result<()> {
        Embedding::infer_dtype(&params.dense(), inputs, outputs)
    }

    fn rows(_: &SparseEmbeddingParams, inputs: &[RefInput<'_>], _: &Shape) -> Result<MovedRows> {
        let table = &inputs[1].desc.shape;
        let indices = numeric::read(&inputs[0]).into_iter();
        let rows = indices.map(|index| IndexMode::Raise.place(index, table[0]).map(Some)).collect::<Result<_>>()?;
        Ok(MovedRows { outer: 1, n_rows: table[0], len: table[1], rows, constant: 0.0 })
    }

    fn samples() -> Vec<Sample> {
        let attrs = [("input_dim", "5"), ("output_dim", "3")];
        let doubles = [("input_dim", "4"), ("output_dim", "2"), ("dtype", "float64"), ("deterministic", "True")];
        let index = |sample: Sample, values: &[f64]| sample.fill(0, Fill::Values(values.to_vec()));
        vec![
            index(Sample::new("words", attrs, &[&[2, 3], &[5, 3]]), &[0.0, 4.0, 4.0, 1.0, 2.0, 0.0]),
            index(Sample::new("one", [("input_dim", "1"), ("output_dim", "1")], &[&[1], &[1, 1]]), &[0.0]),
            index(Sample::new("doubles", doubles, &[&[4], &[4, 2]]), &[3.0, 1.0, 3.0, 0.0]),
            index(Sample::new("integers", attrs, &[&[2], &[5, 3]]), &[3.0, 1.0]).dtype(0, DType::I32),
            index(Sample::new("empty", attrs, &[&[0, 2], &[5, 3]]), &[]),
        ]
    }
}

/// Defines the operator `_contrib_SparseEmbedding`.
pub fn define() -> OpDef {
    OpDef {
        precision: Precision::float32,
        precision_float16: Some(Precision::follows),
        ..moved::define::<SparseEmbedding>()
    }
}
