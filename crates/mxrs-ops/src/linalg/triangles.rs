//! Diagonals and triangles of matrices as vectors, in batches: `_linalg_extractdiag` and `_linalg_makediag`,
//! `_linalg_extracttrian` and `_linalg_maketrian`. A triangle of n rows is a vector of n (n + 1) / 2 elements: a lower
//! triangle row by row, an upper triangle column by column. If the offset is not 0, its sign decides which of the two is
//! meant.
//!
//! Gradient: each element gets the `ograd` of its copy.
//!
//! MXNet: also `linalg_extractdiag` and so on. Dtypes: f32 f64.

use crate::families::diagonals::{Diagonal, on_diagonal, square};
use crate::families::matrices::{LINALG, require_axes, require_square, with_last};
use crate::families::moved::{by_index, moves};
use crate::inference::{OP, learn};
use mxrs_op::{RefInput, Sample, op_params};
use mxrs_types::{DType, Error, PartialShape, Result, Shape};

op_params! {
    /// Parameters of `_linalg_extractdiag` and `_linalg_makediag`.
    pub struct OffsetParams for "_linalg_extractdiag" {
        /// The diagonal: 0 is the main one, positive numbers are above it.
        offset: i32 = 0,
    }
}

op_params! {
    /// Parameters of `_linalg_extracttrian` and `_linalg_maketrian`.
    pub struct TriangleParams for "_linalg_extracttrian" {
        /// The diagonal at which the triangle ends; positive numbers are above the main one.
        offset: i32 = 0,
        /// Whether the triangle is the lower one, if the offset is 0.
        lower: bool = true,
    }
}

impl TriangleParams {
    fn is_lower(&self) -> bool {
        if self.offset == 0 { self.lower } else { self.offset < 0 }
    }

    /// The place in the triangle of an element of a matrix; `None` outside the triangle.
    fn place(&self, row: usize, column: usize) -> Option<usize> {
        let offset = self.offset.unsigned_abs() as usize;
        if self.is_lower() {
            let row = row.checked_sub(offset)?;
            return (column <= row).then_some(row * (row + 1) / 2 + column);
        }
        let column = column.checked_sub(offset)?;
        (row <= column).then_some(column * (column + 1) / 2 + row)
    }
}

/// The number of rows of a triangle of `len` elements.
///
/// # Errors
/// Fails if no triangle has this number of elements.
fn rows_of(len: usize) -> Result<usize> {
    let rows = (((8.0 * len as f64 + 1.0).sqrt() - 1.0) / 2.0).round() as usize;
    match rows.checked_mul(rows + 1) {
        Some(twice) if twice / 2 == len => Ok(rows),
        _ => Err(Error::shape(OP, "A", "n (n + 1) / 2 elements on the last axis", Shape::from([len]))),
    }
}

fn diagonal(params: &OffsetParams, ndim: usize) -> Result<Diagonal> {
    Diagonal::new(params.offset, -2, -1, ndim)
}

fn vectors() -> Vec<Sample> {
    vec![
        Sample::plain("vector", &[&[3]]),
        Sample::new("below", [("offset", "-1")], &[&[2, 3]]),
        Sample::new("above", [("offset", "2")], &[&[3]]),
        Sample::plain("empty", &[&[0, 3]]),
    ]
}

fn squares() -> Vec<Sample> {
    vec![
        Sample::plain("matrix", &[&[3, 3]]),
        Sample::new("below", [("offset", "-1")], &[&[2, 3, 3]]),
        Sample::new("above", [("offset", "1")], &[&[4, 4]]),
        Sample::plain("empty", &[&[0, 3, 3]]),
    ]
}

moves! {
    ExtractDiag(OffsetParams) "_linalg_extractdiag" ["linalg_extractdiag"] ["A"] "a diagonal of a matrix", {
        const DTYPES: &'static [DType] = LINALG;
        const IS_FLOAT32: bool = true;
        fn infer_shape(params: &OffsetParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
            require_square(&mut inputs[0], "A")?;
            let Some(ndim) = inputs[0].ndim() else { return Ok(()) };
            let sizes = diagonal(params, ndim)?.sizes(&inputs[0]);
            learn(&mut outputs[0], &sizes.unwrap_or_else(PartialShape::unknown), "output")
        }
        fn sources(params: &OffsetParams, inputs: &[RefInput<'_>], out: &Shape) -> Result<Vec<Option<usize>>> {
            let data = &inputs[0].desc.shape;
            Ok(diagonal(params, data.ndim())?.sources(data, out))
        }
        fn samples() -> Vec<Sample> {
            squares()
        }
    }
    MakeDiag(OffsetParams) "_linalg_makediag" ["linalg_makediag"] ["A"] "a matrix with a diagonal", {
        const DTYPES: &'static [DType] = LINALG;
        const IS_FLOAT32: bool = true;
        fn infer_shape(params: &OffsetParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
            require_axes(&inputs[0], 1, "A")?;
            let Some(ndim) = inputs[0].ndim() else { return Ok(()) };
            let n = inputs[0].dim(ndim - 1).map(|n| square(n, params.offset)).transpose()?;
            learn(&mut outputs[0], &with_last(&inputs[0], 1, &[n, n]), "output")
        }
        fn sources(params: &OffsetParams, inputs: &[RefInput<'_>], out: &Shape) -> Result<Vec<Option<usize>>> {
            Ok(on_diagonal(out, inputs[0].desc.shape.last().copied().unwrap_or(0), params.offset))
        }
        fn samples() -> Vec<Sample> {
            vectors()
        }
    }
    ExtractTrian(TriangleParams) "_linalg_extracttrian" ["linalg_extracttrian"] ["A"] "a triangle of a matrix as a vector", {
        const DTYPES: &'static [DType] = LINALG;
        const IS_FLOAT32: bool = true;
        fn infer_shape(params: &TriangleParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
            require_square(&mut inputs[0], "A")?;
            let Some(ndim) = inputs[0].ndim() else { return Ok(()) };
            let offset = params.offset.unsigned_abs() as usize;
            let len = match inputs[0].dim(ndim - 1) {
                Some(n) if offset >= n.max(1) => {
                    return Err(Error::shape(OP, "A", format!("more than {offset} rows"), &inputs[0]));
                }
                Some(n) => (n - offset).checked_mul(n - offset + 1).map(|twice| twice / 2),
                None => None,
            };
            learn(&mut outputs[0], &with_last(&inputs[0], 2, &[len]), "output")
        }
        fn sources(params: &TriangleParams, inputs: &[RefInput<'_>], out: &Shape) -> Result<Vec<Option<usize>>> {
            let data = &inputs[0].desc.shape;
            let n = data.last().copied().unwrap_or(0);
            let len = out.last().copied().unwrap_or(0);
            let mut places = vec![None; len];
            for at in 0..n * n {
                if let Some(place) = params.place(at / n, at % n) {
                    places[place] = Some(at);
                }
            }
            Ok((0..out.n_elements()).map(|i| places[i % len].map(|at| i / len * n * n + at)).collect())
        }
        fn samples() -> Vec<Sample> {
            let mut samples = squares();
            samples.push(Sample::new("upper", [("lower", "False")], &[&[3, 3]]));
            samples
        }
    }
    MakeTrian(TriangleParams) "_linalg_maketrian" ["linalg_maketrian"] ["A"] "a matrix with a triangle", {
        const DTYPES: &'static [DType] = LINALG;
        const IS_FLOAT32: bool = true;
        fn infer_shape(params: &TriangleParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
            require_axes(&inputs[0], 1, "A")?;
            let Some(ndim) = inputs[0].ndim() else { return Ok(()) };
            let n = inputs[0].dim(ndim - 1).map(|len| square(rows_of(len)?, params.offset)).transpose()?;
            learn(&mut outputs[0], &with_last(&inputs[0], 1, &[n, n]), "output")
        }
        fn sources(params: &TriangleParams, inputs: &[RefInput<'_>], out: &Shape) -> Result<Vec<Option<usize>>> {
            let len = inputs[0].desc.shape.last().copied().unwrap_or(0);
            let n = out.last().copied().unwrap_or(0);
            let mut at = 0;
            Ok(by_index(out, |index| {
                let [.., row, column] = index else { return None };
                at += 1;
                params.place(*row, *column).map(|place| (at - 1) / (n * n) * len + place)
            }))
        }
        fn samples() -> Vec<Sample> {
            let mut samples = vectors();
            samples.push(Sample::new("upper", [("lower", "False")], &[&[6]]));
            samples
        }
    }
}
