//! One element of each row of a matrix: `fill_element_0index` sets it, `out = lhs` but `out[i, rhs[i]] = mhs[i]`; `_onehot_encode`
//! makes a matrix shaped like `rhs` that is 1 at `[i, lhs[i]]` and 0 elsewhere.
//!
//! Gradient: `lhs` and `mhs` of `fill_element_0index` get `ograd` of their elements; all others are zero. MXNet has none.
//!
//! MXNet: the same names; it is able to call them only imperatively. Dtypes: f32 f64 f16 bf16.

use crate::families::formula::{self, Emit, Formula, Number, Tensors};
use crate::inference::{learn_dim, require_ndim, unify};
use mxrs_op::param::NoParams;
use mxrs_op::{Accuracy, Fill, OpDef, OpParams, Precision, Sample};
use mxrs_types::{Error, PartialShape, Result, Shape};

/// Functions that define the operators.
pub const DEFINITIONS: &[fn() -> OpDef] = &[formula::define::<FillElement>, formula::define::<OneHot>];

/// The column that an element of an index names.
fn column(index: f64, columns: usize) -> Result<usize> {
    match index {
        index if index >= 0.0 && index < columns as f64 => Ok(index as usize),
        _ => Err(Error::invalid("an index", index, format!("a column below {columns}"))),
    }
}

/// Infers the shapes of a matrix and of vectors with a number for each row.
fn infer(matrix: &mut PartialShape, vectors: &mut [&mut PartialShape], out: &mut PartialShape) -> Result<()> {
    unify(matrix, out, "output")?;
    require_ndim(matrix, 2, "lhs")?;
    for vector in vectors {
        require_ndim(vector, 1, "rhs")?;
        learn_dim(vector, 0, matrix.dim(0), "rhs")?;
        learn_dim(matrix, 0, vector.dim(0), "lhs")?;
    }
    unify(matrix, out, "output")
}

struct FillElement;

impl Formula for FillElement {
    type Params = NoParams;
    const NAME: &'static str = "fill_element_0index";
    const SUMMARY: &'static str = "a matrix with another element in each row";
    const BACKWARD: &'static str = "_backward_fill_element_0index";
    const INPUTS: &'static [&'static str] = &["lhs", "mhs", "rhs"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "lhs", "mhs", "rhs"];
    const DIFFERENTIATED: &'static [usize] = &[0, 1];
    const IGNORED_IN_BACKWARD: &'static [usize] = &[1, 2];
    const ACCURACY: Accuracy = Accuracy::Elementwise;
    const PRECISION_FLOAT16: Option<fn(&OpParams) -> Precision> = Some(Precision::follows);

    fn infer_shape(_: &NoParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let ([lhs, mhs, rhs], [out]) = (inputs, outputs) else { return Ok(()) };
        infer(lhs, &mut [mhs, rhs], out)
    }

    fn n_parts(_: &NoParams, inputs: &[Shape], _: &[Shape]) -> usize {
        inputs[0][0]
    }

    fn part<T: Number>(_: &NoParams, tensors: &Tensors<'_, T>, row: usize, emit: Emit<'_, T>) -> Result<()> {
        let columns = tensors.inputs[0][1];
        let filled = column(tensors.values(2)[row], columns)?;
        for at in 0..columns {
            let value = if at == filled { tensors.at(1, row) } else { tensors.at(0, row * columns + at) };
            emit(0, row * columns + at, value);
        }
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        let of = |name, columns: usize, index: &[f64]| {
            let n = index.len();
            Sample::plain(name, &[&[n, columns], &[n], &[n]]).fill(2, Fill::Values(index.to_vec()))
        };
        vec![of("rows", 4, &[0.5, 3.5, 1.5]), of("same", 2, &[1.5, 1.5]), of("one", 1, &[0.5]), of("empty", 3, &[])]
    }
}

struct OneHot;

impl Formula for OneHot {
    type Params = NoParams;
    const NAME: &'static str = "_onehot_encode";
    const SUMMARY: &'static str = "1 in one column of each row, 0 elsewhere";
    const BACKWARD: &'static str = "_backward_onehot_encode";
    const INPUTS: &'static [&'static str] = &["lhs", "rhs"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "lhs", "rhs"];
    const DIFFERENTIATED: &'static [usize] = &[];
    const ACCURACY: Accuracy = Accuracy::Exact;
    const PRECISION_FLOAT16: Option<fn(&OpParams) -> Precision> = Some(Precision::follows);

    fn infer_shape(_: &NoParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let ([lhs, rhs], [out]) = (inputs, outputs) else { return Ok(()) };
        infer(rhs, &mut [lhs], out)
    }

    fn n_parts(_: &NoParams, inputs: &[Shape], _: &[Shape]) -> usize {
        inputs[0][0]
    }

    fn part<T: Number>(_: &NoParams, tensors: &Tensors<'_, T>, row: usize, emit: Emit<'_, T>) -> Result<()> {
        let columns = tensors.inputs[1][1];
        emit(0, row * columns + column(tensors.values(0)[row], columns)?, T::of(1.0));
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        let of = |name, columns: usize, index: &[f64]| {
            Sample::plain(name, &[&[index.len()], &[index.len(), columns]]).fill(0, Fill::Values(index.to_vec()))
        };
        vec![of("rows", 4, &[0.5, 3.5, 1.5]), of("same", 2, &[1.5, 1.5]), of("one", 1, &[0.5]), of("empty", 3, &[])]
    }
}
