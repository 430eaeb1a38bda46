//! NumPy's systems of equations. `_npi_solve` solves `A X = B` for matrices in batches, the last two axes of tensors; B may
//! also hold one vector for each matrix. `_npi_tensorinv` inverts an array that is viewed as a square matrix: its first
//! `ind` axes are the rows, the others the columns. `_npi_tensorsolve` solves `a x = b`: the axes `a_axes` of a are moved to
//! the end, and the last axes are then those of x.
//!
//! Gradient: of all inputs. A singular matrix gives infinite numbers or NaN.
//!
//! Dtypes: f32 f64 u8 i8 i32 i64; the result is f32 if all inputs are f32, else f64.

use crate::families::formula::{self, Emit, Formula, Number, Tensors};
use crate::families::indexing::for_each_index;
use crate::families::matrices::{LINALG, require_square, sizes};
use crate::inference::{OP, bad_attribute, learn, learn_dim, learn_dtype, product, resolve_axis, unify};
use mxrs_op::param::{NoParams, ShapeAttr};
use mxrs_op::{Accuracy, Fill, OpDef, Sample, op_params};
use mxrs_types::{DType, Error, PartialShape, Result, Shape};

/// Functions that define the operators.
pub const DEFINITIONS: &[fn() -> OpDef] =
    &[formula::define::<Solve>, formula::define::<TensorInv>, formula::define::<TensorSolve>];

op_params! {
    /// Parameters of `_npi_tensorinv`.
    pub struct TensorInvParams for "_npi_tensorinv" {
        /// Number of first axes that are the rows of the matrix.
        ind: i32 = 2,
    }
}

op_params! {
    /// Parameters of `_npi_tensorsolve`.
    pub struct TensorSolveParams for "_npi_tensorsolve" {
        /// Axes of a that are moved to the end.
        a_axes: ShapeAttr = ShapeAttr::default(),
    }
}

/// Element types of matrices; integers are computed as f64.
pub(super) const SOLVABLE: &[DType] = &[DType::F32, DType::F64, DType::U8, DType::I8, DType::I32, DType::I64];

/// Infers the type of results: f32 if all inputs are f32, else f64.
pub(super) fn infer_dtype(inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
    if let Some(half) = inputs.iter().flatten().find(|dtype| !SOLVABLE.contains(dtype)) {
        return Err(Error::dtype(OP, "A", "float32, float64 or an integer", half.name()));
    }
    let Some(first) = inputs.iter().flatten().next().copied().or(outputs[0]) else { return Ok(()) };
    inputs.iter_mut().for_each(|dtype| *dtype = dtype.or(Some(first)));
    let is_single = inputs.iter().all(|dtype| *dtype == Some(DType::F32));
    let result = if is_single { DType::F32 } else { DType::F64 };
    outputs.iter_mut().try_for_each(|dtype| learn_dtype(dtype, result, "output"))
}

/// Solves a system by elimination with row pivots. `a` has `n` rows and columns, `b` has `n` rows and `columns` columns; both are
/// in row-major order.
fn solve<T: Number>(n: usize, columns: usize, mut a: Vec<T>, mut b: Vec<T>) -> Vec<T> {
    for step in 0..n {
        let size = |row: &usize| a[row * n + step].value().abs();
        let pivot = (step..n).max_by(|i, j| size(i).total_cmp(&size(j))).unwrap_or(step);
        if pivot != step {
            (0..n).for_each(|j| a.swap(pivot * n + j, step * n + j));
            (0..columns).for_each(|j| b.swap(pivot * columns + j, step * columns + j));
        }
        for row in step + 1..n {
            let factor = a[row * n + step] / a[step * n + step];
            for j in step + 1..n {
                a[row * n + j] = a[row * n + j] - factor * a[step * n + j];
            }
            for j in 0..columns {
                b[row * columns + j] = b[row * columns + j] - factor * b[step * columns + j];
            }
        }
    }
    for row in (0..n).rev() {
        for j in 0..columns {
            let rest = (row + 1..n).fold(b[row * columns + j], |rest, k| rest - a[row * n + k] * b[k * columns + j]);
            b[row * columns + j] = rest / a[row * n + row];
        }
    }
    b
}

/// A matrix that is not singular; the next constant holds two of them.
const MATRIX: [f64; 9] = [4.0, 1.0, 0.5, 1.0, -3.0, -0.5, 2.5, -0.5, 2.0];
const BATCH: [f64; 8] = [2.0, 0.5, 1.5, 1.0, -3.0, -1.0, -2.0, 2.0];

struct Solve;

impl Formula for Solve {
    type Params = NoParams;
    const NAME: &'static str = "_npi_solve";
    const SUMMARY: &'static str = "solves systems of equations";
    const BACKWARD: &'static str = "_backward_npi_solve";
    const INPUTS: &'static [&'static str] = &["A", "B"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "A", "B"];
    const DIFFERENTIATED: &'static [usize] = &[0, 1];
    const DTYPES: &'static [DType] = SOLVABLE;
    const BACKWARD_DTYPES: Option<&'static [DType]> = Some(LINALG);
    const ACCURACY: Accuracy = Accuracy::Product;

    fn infer_shape(_: &NoParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let ([a, b], [x]) = (inputs, outputs) else { return Ok(()) };
        unify(b, x, "output")?;
        require_square(a, "A")?;
        let (Some(ndim), Some(of_b)) = (a.ndim(), b.ndim()) else { return Ok(()) };
        // The number of axes of B that belong to one system: a vector or a matrix.
        let own = match of_b + 2 - ndim.min(of_b + 2) {
            own @ (1 | 2) => own,
            _ => return Err(Error::shape(OP, "B", format!("{} or {ndim} axes", ndim - 1), &*b)),
        };
        let dims = |shape: &PartialShape, n: usize| (0..n).map(|axis| shape.dim(axis)).collect::<Vec<_>>();
        let (from_a, from_b) = (dims(a, ndim - 2), dims(b, of_b - own));
        from_a.into_iter().enumerate().try_for_each(|(axis, size)| learn_dim(b, axis, size, "B"))?;
        from_b.into_iter().enumerate().try_for_each(|(axis, size)| learn_dim(a, axis, size, "A"))?;
        let n = a.dim(ndim - 1).or(b.dim(of_b - own));
        learn_dim(b, of_b - own, n, "B")?;
        learn_dim(a, ndim - 1, n, "A")?;
        learn_dim(a, ndim - 2, n, "A")?;
        unify(b, x, "output")
    }

    fn infer_dtype(_: &NoParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
        infer_dtype(inputs, outputs)
    }

    /// One part for each matrix.
    fn n_parts(_: &NoParams, inputs: &[Shape], outputs: &[Shape]) -> usize {
        if outputs[0].n_elements() == 0 { 0 } else { sizes(&inputs[0])[0] }
    }

    fn part<T: Number>(_: &NoParams, tensors: &Tensors<'_, T>, part: usize, emit: Emit<'_, T>) -> Result<()> {
        let [batch, n, _] = sizes(&tensors.inputs[0]);
        let len = tensors.outputs[0].n_elements() / batch;
        let a = (0..n * n).map(|i| tensors.at(0, part * n * n + i)).collect();
        let b = (0..len).map(|i| tensors.at(1, part * len + i)).collect();
        let x = solve(n, len / n, a, b);
        x.into_iter().enumerate().for_each(|(i, x)| emit(0, part * len + i, x));
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        let of = |name, a: &[usize], b: &[usize], values: &[f64]| {
            Sample::plain(name, &[a, b]).fill(0, Fill::Values(values.to_vec()))
        };
        vec![
            of("vector", &[3, 3], &[3], &MATRIX),
            of("matrix", &[3, 3], &[3, 2], &MATRIX),
            of("batch", &[2, 2, 2], &[2, 2, 3], &BATCH),
            of("vectors", &[2, 2, 2], &[2, 2], &BATCH),
            of("empty", &[0, 2, 2], &[0, 2, 1], &[]),
        ]
    }
}

struct TensorInv;

impl TensorInvParams {
    fn n_rows_axes(&self, ndim: usize) -> Result<usize> {
        match usize::try_from(self.ind) {
            Ok(ind) if (1..=ndim).contains(&ind) => Ok(ind),
            _ => Err(bad_attribute("_npi_tensorinv", "ind", format!("1 to {ndim}, the number of axes"), self.ind)),
        }
    }
}

impl Formula for TensorInv {
    type Params = TensorInvParams;
    const NAME: &'static str = "_npi_tensorinv";
    const SUMMARY: &'static str = "inverse of an array as a matrix";
    const BACKWARD: &'static str = "_backward_npi_tensorinv";
    const INPUTS: &'static [&'static str] = &["a"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "a"];
    const DTYPES: &'static [DType] = SOLVABLE;
    const BACKWARD_DTYPES: Option<&'static [DType]> = Some(LINALG);
    const ACCURACY: Accuracy = Accuracy::Product;

    fn infer_shape(params: &TensorInvParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let Some(dims) = inputs[0].dims() else { return Ok(()) };
        let (rows, columns) = dims.split_at(params.n_rows_axes(dims.len())?);
        if let (Some(n), Some(m)) = (product(rows), product(columns))
            && n != m
        {
            let expected = format!("as many elements in the first {} axes as in the others", rows.len());
            return Err(Error::shape(OP, "a", expected, &inputs[0]));
        }
        let out = PartialShape::new(columns.iter().chain(rows).copied());
        learn(&mut outputs[0], &out, "output")
    }

    fn infer_dtype(_: &TensorInvParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
        infer_dtype(inputs, outputs)
    }

    fn n_parts(_: &TensorInvParams, _: &[Shape], outputs: &[Shape]) -> usize {
        usize::from(outputs[0].n_elements() > 0)
    }

    fn part<T: Number>(params: &TensorInvParams, tensors: &Tensors<'_, T>, _: usize, emit: Emit<'_, T>) -> Result<()> {
        let shape = &tensors.inputs[0];
        let n: usize = shape[..params.n_rows_axes(shape.ndim())?].iter().product();
        let a = (0..n * n).map(|i| tensors.at(0, i)).collect();
        let one = (0..n * n).map(|i| T::of(f64::from(u8::from(i / n == i % n)))).collect();
        solve(n, n, a, one).into_iter().enumerate().for_each(|(i, x)| emit(0, i, x));
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        let of = |name, ind, shape: &[usize], values: &[f64]| {
            Sample::new(name, [("ind", ind)], &[shape]).fill(0, Fill::Values(values.to_vec()))
        };
        let diagonal: Vec<f64> = (0..16).map(|i| if i % 5 == 0 { 4.0 } else { f64::from(i % 3) - 0.75 }).collect();
        vec![
            of("two", "2", &[2, 2, 4], &diagonal),
            of("one", "1", &[4, 2, 2], &diagonal),
            of("matrix", "1", &[3, 3], &MATRIX),
            of("empty", "1", &[0, 0], &[]),
        ]
    }
}

struct TensorSolve;

impl TensorSolveParams {
    /// The axes of a in the order that the system uses: those in `a_axes` come last.
    fn order(&self, ndim: usize) -> Result<Vec<usize>> {
        let moved = self.a_axes.iter().map(|axis| resolve_axis(*axis, ndim, "a")).collect::<Result<Vec<_>>>()?;
        if moved.iter().enumerate().any(|(i, axis)| moved[..i].contains(axis)) {
            return Err(bad_attribute("_npi_tensorsolve", "a_axes", "different axes", self.a_axes.to_text()));
        }
        Ok((0..ndim).filter(|axis| !moved.contains(axis)).chain(moved.iter().copied()).collect())
    }
}

impl Formula for TensorSolve {
    type Params = TensorSolveParams;
    const NAME: &'static str = "_npi_tensorsolve";
    const SUMMARY: &'static str = "solves a system of equations of arrays";
    const BACKWARD: &'static str = "_backward_npi_tensorsolve";
    const INPUTS: &'static [&'static str] = &["a", "b"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "a", "b"];
    const DIFFERENTIATED: &'static [usize] = &[0, 1];
    const DTYPES: &'static [DType] = SOLVABLE;
    const BACKWARD_DTYPES: Option<&'static [DType]> = Some(LINALG);
    const ACCURACY: Accuracy = Accuracy::Product;

    fn infer_shape(
        params: &TensorSolveParams,
        inputs: &mut [PartialShape],
        outputs: &mut [PartialShape],
    ) -> Result<()> {
        let (Some(dims), Some(of_b)) = (inputs[0].dims(), inputs[1].ndim()) else { return Ok(()) };
        let order = params.order(dims.len())?;
        if of_b > dims.len() {
            return Err(Error::shape(OP, "b", format!("at most {} axes", dims.len()), &inputs[1]));
        }
        let out: Vec<Option<usize>> = order[of_b..].iter().map(|axis| dims[*axis]).collect();
        let n = inputs[1].dims().and_then(product);
        let (unknowns, all) = (product(&out), product(dims));
        if let (Some(n), Some(unknowns), Some(all)) = (n, unknowns, all)
            && (n != unknowns || n.checked_mul(n) != Some(all))
        {
            let expected = format!("{n} equations for {n} unknowns");
            return Err(Error::shape(OP, "a", expected, &inputs[0]));
        }
        learn(&mut outputs[0], &PartialShape::new(out), "output")
    }

    fn infer_dtype(_: &TensorSolveParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
        infer_dtype(inputs, outputs)
    }

    fn n_parts(_: &TensorSolveParams, _: &[Shape], outputs: &[Shape]) -> usize {
        usize::from(outputs[0].n_elements() > 0)
    }

    fn part<T: Number>(
        params: &TensorSolveParams,
        tensors: &Tensors<'_, T>,
        _: usize,
        emit: Emit<'_, T>,
    ) -> Result<()> {
        let (shape, n) = (&tensors.inputs[0], tensors.outputs[0].n_elements());
        let (order, strides) = (params.order(shape.ndim())?, shape.strides());
        let sizes: Vec<usize> = order.iter().map(|axis| shape[*axis]).collect();
        let mut a = Vec::with_capacity(n * n);
        for_each_index(&sizes, |index| {
            a.push(tensors.at(0, index.iter().zip(&order).map(|(i, axis)| i * strides[*axis]).sum()));
        });
        let b = (0..n).map(|i| tensors.at(1, i)).collect();
        solve(n, 1, a, b).into_iter().enumerate().for_each(|(i, x)| emit(0, i, x));
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        let of = |name, axes, a: &[usize], b: &[usize], values: &[f64]| {
            Sample::new(name, [("a_axes", axes)], &[a, b]).fill(0, Fill::Values(values.to_vec()))
        };
        let diagonal: Vec<f64> = (0..16).map(|i| if i % 5 == 0 { 4.0 } else { f64::from(i % 3) - 0.75 }).collect();
        vec![
            of("plain", "()", &[2, 2, 4], &[2, 2], &diagonal),
            of("moved", "(0,)", &[2, 4, 2], &[4], &diagonal),
            of("matrix", "()", &[3, 3], &[3], &MATRIX),
            of("empty", "()", &[0, 0], &[0], &[]),
        ]
    }
}
