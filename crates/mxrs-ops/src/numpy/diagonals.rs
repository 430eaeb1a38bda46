//! Diagonals: `diag`, `_np_diag`, `_np_diagflat`, `_np_diagonal`, and `_npi_tril`, which keeps what is on a diagonal or below it.
//!
//! `diag` and `_np_diag` of a vector make a square matrix, and of a matrix take a diagonal.
//!
//! Gradient: each element gets the `ograd` of its copy.
//!
//! Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool.

use crate::families::diagonals::{Diagonal, on_diagonal, parts_on_diagonal, square};
use crate::families::moved::{by_index, moves};
use crate::inference::{OP, learn, product, unify};
use mxrs_op::{MovedParts, RefInput, Sample, op_params};
use mxrs_types::{Error, PartialShape, Result, Shape};

op_params! {
    /// Parameters of `diag`.
    pub struct DiagParams for "diag" {
        /// The diagonal: 0 is the main one, positive numbers are above it.
        k: i32 = 0,
        /// The axis of the rows.
        axis1: i32 = 0,
        /// The axis of the columns.
        axis2: i32 = 1,
    }
}

op_params! {
    /// Parameters of `_np_diag`, `_np_diagflat` and `_npi_tril`.
    pub struct OffsetParams for "_np_diag" {
        /// The diagonal: 0 is the main one, positive numbers are above it.
        k: i32 = 0,
    }
}

op_params! {
    /// Parameters of `_np_diagonal`.
    pub struct DiagonalParams for "_np_diagonal" {
        /// The diagonal: 0 is the main one, positive numbers are above it.
        offset: i32 = 0,
        /// The axis of the rows.
        axis1: i32 = 0,
        /// The axis of the columns.
        axis2: i32 = 1,
    }
}

/// Infers the shape of the matrix of a vector, or of the diagonal of a matrix.
fn learn_diag(params: &DiagParams, data: &PartialShape, out: &mut PartialShape) -> Result<()> {
    match data.ndim() {
        None => Ok(()),
        Some(0) => Err(Error::shape(OP, "data", "at least one axis", data)),
        Some(1) => {
            let n = data.dim(0).map(|n| square(n, params.k)).transpose()?;
            learn(out, &PartialShape::new([n, n]), "output")
        }
        Some(ndim) => {
            let sizes = Diagonal::new(params.k, params.axis1, params.axis2, ndim)?.sizes(data);
            learn(out, &sizes.unwrap_or_else(PartialShape::unknown), "output")
        }
    }
}

fn sources_of_diag(params: &DiagParams, data: &Shape, out: &Shape) -> Result<Vec<Option<usize>>> {
    match data.ndim() {
        1 => Ok(on_diagonal(out, data[0], params.k)),
        ndim => Ok(Diagonal::new(params.k, params.axis1, params.axis2, ndim)?.sources(data, out)),
    }
}

fn parts_of_diag(params: &DiagParams, data: &Shape, out: &Shape) -> Result<Option<MovedParts>> {
    match data.ndim() {
        1 => Ok(Some(parts_on_diagonal(out, data[0], params.k))),
        ndim => Ok(Diagonal::new(params.k, params.axis1, params.axis2, ndim)?.parts(data, out)),
    }
}

fn samples_of_diag() -> Vec<Sample> {
    vec![
        Sample::plain("matrix", &[&[3, 4]]),
        Sample::plain("vector", &[&[3]]),
        Sample::new("above", [("k", "1")], &[&[3, 5]]),
        Sample::new("vector_below", [("k", "-2")], &[&[2]]),
        Sample::plain("empty", &[&[0, 3]]),
    ]
}

moves! {
    Diag(DiagParams) "diag" [] ["data"] "a diagonal, or a matrix with this diagonal", {
        fn infer_shape(params: &DiagParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
            learn_diag(params, &inputs[0], &mut outputs[0])
        }
        fn parts(params: &DiagParams, inputs: &[&Shape], out: &Shape) -> Result<Option<MovedParts>> {
            parts_of_diag(params, inputs[0], out)
        }
        fn sources(params: &DiagParams, inputs: &[RefInput<'_>], out: &Shape) -> Result<Vec<Option<usize>>> {
            sources_of_diag(params, &inputs[0].desc.shape, out)
        }
        fn samples() -> Vec<Sample> {
            let mut samples = samples_of_diag();
            samples.push(Sample::new("axes", [("axis1", "1"), ("axis2", "-1"), ("k", "-1")], &[&[2, 3, 4]]));
            samples
        }
    }
    NpDiag(OffsetParams) "_np_diag" [] ["data"] "a diagonal, or a matrix with this diagonal", {
        fn infer_shape(params: &OffsetParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
            if inputs[0].ndim().is_some_and(|ndim| ndim > 2) {
                return Err(Error::shape(OP, "data", "one or two axes", &inputs[0]));
            }
            learn_diag(&DiagParams { k: params.k, axis1: 0, axis2: 1 }, &inputs[0], &mut outputs[0])
        }
        fn parts(params: &OffsetParams, inputs: &[&Shape], out: &Shape) -> Result<Option<MovedParts>> {
            parts_of_diag(&DiagParams { k: params.k, axis1: 0, axis2: 1 }, inputs[0], out)
        }
        fn sources(params: &OffsetParams, inputs: &[RefInput<'_>], out: &Shape) -> Result<Vec<Option<usize>>> {
            sources_of_diag(&DiagParams { k: params.k, axis1: 0, axis2: 1 }, &inputs[0].desc.shape, out)
        }
        fn samples() -> Vec<Sample> {
            samples_of_diag()
        }
    }
    DiagFlat(OffsetParams) "_np_diagflat" [] ["data"] "a matrix with data on a diagonal", {
        fn infer_shape(params: &OffsetParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
            let n = inputs[0].dims().and_then(product).map(|n| square(n, params.k)).transpose()?;
            learn(&mut outputs[0], &PartialShape::new([n, n]), "output")
        }
        fn parts(params: &OffsetParams, inputs: &[&Shape], out: &Shape) -> Result<Option<MovedParts>> {
            Ok(Some(parts_on_diagonal(out, inputs[0].n_elements(), params.k)))
        }
        fn sources(params: &OffsetParams, inputs: &[RefInput<'_>], out: &Shape) -> Result<Vec<Option<usize>>> {
            Ok(on_diagonal(out, inputs[0].desc.shape.n_elements(), params.k))
        }
        fn samples() -> Vec<Sample> {
            vec![
                Sample::plain("vector", &[&[3]]),
                Sample::new("matrix", [("k", "1")], &[&[2, 2]]),
                Sample::new("below", [("k", "-1")], &[&[2]]),
                Sample::plain("empty", &[&[0]]),
            ]
        }
    }
    NpDiagonal(DiagonalParams) "_np_diagonal" [] ["data"] "a diagonal over two axes", {
        fn infer_shape(params: &DiagonalParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
            let Some(ndim) = inputs[0].ndim() else { return Ok(()) };
            let sizes = Diagonal::new(params.offset, params.axis1, params.axis2, ndim)?.sizes(&inputs[0]);
            learn(&mut outputs[0], &sizes.unwrap_or_else(PartialShape::unknown), "output")
        }
        fn parts(params: &DiagonalParams, inputs: &[&Shape], out: &Shape) -> Result<Option<MovedParts>> {
            Ok(Diagonal::new(params.offset, params.axis1, params.axis2, inputs[0].ndim())?.parts(inputs[0], out))
        }
        fn sources(params: &DiagonalParams, inputs: &[RefInput<'_>], out: &Shape) -> Result<Vec<Option<usize>>> {
            let data = &inputs[0].desc.shape;
            Ok(Diagonal::new(params.offset, params.axis1, params.axis2, data.ndim())?.sources(data, out))
        }
        fn samples() -> Vec<Sample> {
            vec![
                Sample::plain("matrix", &[&[3, 4]]),
                Sample::new("above", [("offset", "1"), ("axis1", "0"), ("axis2", "1")], &[&[2, 3, 2]]),
                Sample::new("axes", [("offset", "-1"), ("axis1", "-1"), ("axis2", "1")], &[&[2, 3, 4]]),
                Sample::plain("empty", &[&[0, 3]]),
            ]
        }
    }
    Tril(OffsetParams) "_npi_tril" [] ["data"] "elements on a diagonal and below", {
        fn infer_shape(_: &OffsetParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
            match inputs[0].ndim() {
                None => Ok(()),
                Some(0) => Err(Error::shape(OP, "data", "at least one axis", &inputs[0])),
                Some(1) => {
                    let n = inputs[0].dim(0);
                    learn(&mut outputs[0], &PartialShape::new([n, n]), "output")
                }
                Some(_) => unify(&mut inputs[0], &mut outputs[0], "output"),
            }
        }
        fn sources(params: &OffsetParams, inputs: &[RefInput<'_>], out: &Shape) -> Result<Vec<Option<usize>>> {
            let (n, mut at) = (inputs[0].desc.shape.n_elements(), 0);
            Ok(by_index(out, |index| {
                let [.., row, column] = index else { return None };
                at += 1;
                // A vector is repeated in each row.
                let source = if inputs[0].desc.shape.ndim() == 1 { (at - 1) % n } else { at - 1 };
                (*column as i64 <= *row as i64 + i64::from(params.k)).then_some(source)
            }))
        }
        fn samples() -> Vec<Sample> {
            vec![
                Sample::plain("matrix", &[&[3, 4]]),
                Sample::plain("vector", &[&[3]]),
                Sample::new("below", [("k", "-1")], &[&[2, 3, 3]]),
                Sample::plain("empty", &[&[0, 3]]),
            ]
        }
    }
}
