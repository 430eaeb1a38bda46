//! Factorizations and systems of matrices in batches, the last two axes of tensors: `_linalg_trsm` solves a triangular system,
//! `_linalg_potrf` gives the lower Cholesky factor (as `_npi_cholesky` does), `_linalg_potri` the inverse of the matrix with this
//! factor, `_linalg_gelqf` a factorization A = L Q with Q's rows orthonormal, and `_linalg_sumlogdiag` the sum of the logarithms
//! of the diagonal.
//!
//! Gradient: of all inputs. That of `_linalg_potrf` is symmetric, and that of a triangle is a triangle.
//!
//! MXNet: also `linalg_trsm` and so on. Dtypes: f32 f64.

use super::products::{TriangleParams, infer_triangle, samples_of_triangles};
use crate::families::formula::{self, Emit, Formula, Number, Tensors};
use crate::families::matrices::{LINALG, require_axes, require_square, sizes, unify_batch, with_last};
use crate::inference::{OP, learn, learn_dim, unify};
use mxrs_op::param::NoParams;
use mxrs_op::{Fill, OpDef, Sample};
use mxrs_types::{DType, Error, PartialShape, Result, Shape};

/// Functions that define the operators.
pub const DEFINITIONS: &[fn() -> OpDef] = &[
    formula::define::<Trsm>,
    formula::define::<Potrf>,
    cholesky,
    formula::define::<Potri>,
    formula::define::<Gelqf>,
    formula::define::<SumLogDiag>,
];

fn cholesky() -> OpDef {
    OpDef { name: "_npi_cholesky", aliases: &[], companions: Vec::new, ..formula::define::<Potrf>() }
}

struct Trsm;

impl Formula for Trsm {
    type Params = TriangleParams;
    const NAME: &'static str = "_linalg_trsm";
    const ALIASES: &'static [&'static str] = &["linalg_trsm"];
    const SUMMARY: &'static str = "solves a triangular system";
    const BACKWARD: &'static str = "_backward_linalg_trsm";
    const INPUTS: &'static [&'static str] = &["A", "B"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "A", "B"];
    const DIFFERENTIATED: &'static [usize] = &[0, 1];
    const DTYPES: &'static [DType] = LINALG;

    fn infer_shape(params: &TriangleParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        infer_triangle(params, inputs, &mut outputs[0])
    }

    /// One part for each column of B, or each row with A on the right side.
    fn n_parts(params: &TriangleParams, _: &[Shape], outputs: &[Shape]) -> usize {
        let [batch, rows, columns] = sizes(&outputs[0]);
        batch * if params.rightside { rows } else { columns }
    }

    fn part<T: Number>(
        params: &TriangleParams,
        tensors: &Tensors<'_, T>,
        part: usize,
        emit: Emit<'_, T>,
    ) -> Result<()> {
        let [_, rows, columns] = sizes(&tensors.outputs[0]);
        let (n, lines) = if params.rightside { (columns, rows) } else { (rows, columns) };
        let (batch, line) = (part / lines, part % lines);
        let position = |i: usize| match params.rightside {
            true => (batch * rows + line) * columns + i,
            false => (batch * rows + i) * columns + line,
        };
        // X op(A) = B is op(A)ᵀ Xᵀ = Bᵀ.
        let is_across = params.transpose != params.rightside;
        let element = |row: usize, column: usize| {
            let (row, column) = if is_across { (column, row) } else { (row, column) };
            tensors.at(0, (batch * n + row) * n + column)
        };
        let is_forward = params.lower != is_across;
        let mut solved: Vec<(usize, T)> = Vec::with_capacity(n);
        for step in 0..n {
            let i = if is_forward { step } else { n - 1 - step };
            let b = T::of(params.alpha) * tensors.at(1, position(i));
            let rest = solved.iter().fold(b, |rest, (k, x)| rest - element(i, *k) * *x);
            solved.push((i, rest / element(i, i)));
        }
        solved.into_iter().for_each(|(i, x)| emit(0, position(i), x));
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        samples_of_triangles()
    }
}

/// One part for each matrix.
fn n_matrices(shapes: &[Shape]) -> usize {
    sizes(&shapes[0])[0]
}

struct Potrf;

impl Formula for Potrf {
    type Params = NoParams;
    const NAME: &'static str = "_linalg_potrf";
    const ALIASES: &'static [&'static str] = &["linalg_potrf"];
    const SUMMARY: &'static str = "lower Cholesky factor";
    const BACKWARD: &'static str = "_backward_linalg_potrf";
    const INPUTS: &'static [&'static str] = &["A"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "A"];
    const DTYPES: &'static [DType] = LINALG;

    fn infer_shape(_: &NoParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        unify(&mut inputs[0], &mut outputs[0], "output")?;
        require_square(&mut inputs[0], "A")?;
        unify(&mut inputs[0], &mut outputs[0], "output")
    }

    fn n_parts(_: &NoParams, inputs: &[Shape], _: &[Shape]) -> usize {
        n_matrices(inputs)
    }

    fn part<T: Number>(_: &NoParams, tensors: &Tensors<'_, T>, part: usize, emit: Emit<'_, T>) -> Result<()> {
        let [_, n, _] = sizes(&tensors.inputs[0]);
        let mut factor = vec![T::of(0.0); n * n];
        for i in 0..n {
            for j in 0..=i {
                let (below, above) = (tensors.at(0, (part * n + i) * n + j), tensors.at(0, (part * n + j) * n + i));
                // The matrix is symmetric, so both elements have the same value. Their mean gives each of them half of the
                // gradient.
                let element = T::of(0.5) * (below + above);
                let rest = (0..j).fold(element, |rest, k| rest - factor[i * n + k] * factor[j * n + k]);
                if i == j && (rest.value().is_nan() || rest.value() <= 0.0) {
                    return Err(Error::invalid(
                        "A",
                        format!("a pivot of {}", rest.value()),
                        "a positive definite matrix",
                    ));
                }
                factor[i * n + j] = if i == j { rest.sqrt() } else { rest / factor[j * n + j] };
                emit(0, (part * n + i) * n + j, factor[i * n + j]);
            }
        }
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        let matrix = vec![4.0, 1.0, 0.5, 1.0, 3.0, -0.5, 0.5, -0.5, 2.0];
        let batch = vec![2.0, 0.5, 0.5, 1.0, 3.0, -1.0, -1.0, 2.0];
        vec![
            Sample::plain("matrix", &[&[3, 3]]).fill(0, Fill::Values(matrix)),
            Sample::plain("batch", &[&[2, 2, 2]]).fill(0, Fill::Values(batch)),
            Sample::plain("one", &[&[1, 1]]).fill(0, Fill::Uniform(1.0, 2.0)),
            Sample::plain("empty", &[&[0, 2, 2]]),
        ]
    }
}

struct Potri;

impl Formula for Potri {
    type Params = NoParams;
    const NAME: &'static str = "_linalg_potri";
    const ALIASES: &'static [&'static str] = &["linalg_potri"];
    const SUMMARY: &'static str = "inverse of the matrix with this Cholesky factor";
    const BACKWARD: &'static str = "_backward_linalg_potri";
    const INPUTS: &'static [&'static str] = &["A"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "A"];
    const DTYPES: &'static [DType] = LINALG;

    fn infer_shape(_: &NoParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        Potrf::infer_shape(&NoParams, inputs, outputs)
    }

    fn n_parts(_: &NoParams, inputs: &[Shape], _: &[Shape]) -> usize {
        n_matrices(inputs)
    }

    fn part<T: Number>(_: &NoParams, tensors: &Tensors<'_, T>, part: usize, emit: Emit<'_, T>) -> Result<()> {
        let [_, n, _] = sizes(&tensors.inputs[0]);
        let at = |i: usize, j: usize| (part * n + i) * n + j;
        // The inverse of the factor, a lower triangle.
        let mut inverse = vec![T::of(0.0); n * n];
        for j in 0..n {
            for i in j..n {
                let one = T::of(f64::from(u8::from(i == j)));
                let rest = (j..i).fold(one, |rest, k| rest - tensors.at(0, at(i, k)) * inverse[k * n + j]);
                inverse[i * n + j] = rest / tensors.at(0, at(i, i));
            }
        }
        for i in 0..n {
            for j in 0..n {
                let terms = i.max(j)..n;
                emit(0, at(i, j), terms.fold(T::of(0.0), |sum, k| sum + inverse[k * n + i] * inverse[k * n + j]));
            }
        }
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        let of = |sample: Sample| sample.fill(0, Fill::Uniform(0.5, 2.0));
        vec![
            of(Sample::plain("matrix", &[&[3, 3]])),
            of(Sample::plain("batch", &[&[2, 2, 2]])),
            of(Sample::plain("one", &[&[1, 1]])),
            Sample::plain("empty", &[&[0, 2, 2]]),
        ]
    }
}

struct Gelqf;

impl Formula for Gelqf {
    type Params = NoParams;
    const NAME: &'static str = "_linalg_gelqf";
    const ALIASES: &'static [&'static str] = &["linalg_gelqf"];
    const SUMMARY: &'static str = "A = L Q with a lower triangle L and orthonormal rows Q";
    const BACKWARD: &'static str = "_backward_linalg_gelqf";
    const INPUTS: &'static [&'static str] = &["A"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd_q", "ograd_l", "A"];
    const OUTPUTS: &'static [&'static str] = &["output0", "output1"];
    const DTYPES: &'static [DType] = LINALG;

    fn infer_shape(_: &NoParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let ([a], [q, l]) = (inputs, outputs) else { return Ok(()) };
        unify(a, q, "Q")?;
        require_axes(a, 2, "A")?;
        require_square(l, "L")?;
        unify_batch(a, l, 2, "L")?;
        let Some(ndim) = a.ndim() else { return Ok(()) };
        learn_dim(a, ndim - 2, l.dim(ndim - 1), "A")?;
        if let (Some(rows), Some(columns)) = (a.dim(ndim - 2), a.dim(ndim - 1))
            && rows > columns
        {
            return Err(Error::shape(OP, "A", "at most as many rows as columns", &*a));
        }
        let rows = a.dim(ndim - 2);
        learn(l, &with_last(a, 2, &[rows, rows]), "L")?;
        unify(a, q, "Q")
    }

    fn n_parts(_: &NoParams, inputs: &[Shape], _: &[Shape]) -> usize {
        n_matrices(inputs)
    }

    fn part<T: Number>(_: &NoParams, tensors: &Tensors<'_, T>, part: usize, emit: Emit<'_, T>) -> Result<()> {
        let [_, rows, columns] = sizes(&tensors.inputs[0]);
        let mut a: Vec<Vec<T>> =
            (0..rows).map(|i| (0..columns).map(|j| tensors.at(0, (part * rows + i) * columns + j)).collect()).collect();
        // Householder's reflections from the right, with the signs that LAPACK chooses.
        let mut reflections: Vec<Vec<T>> = Vec::new();
        for i in 0..rows {
            let tail = a[i][i + 1..].iter().fold(T::of(0.0), |sum, x| sum + *x * *x);
            let mut normal = vec![T::of(0.0); columns];
            if tail.value() > 0.0 {
                let pivot = a[i][i];
                let sign = if pivot.value() < 0.0 { 1.0 } else { -1.0 };
                let beta = T::of(sign) * (pivot * pivot + tail).sqrt();
                normal[i] = pivot - beta;
                normal[i + 1..].copy_from_slice(&a[i][i + 1..]);
                let length = (normal[i] * normal[i] + tail).sqrt();
                normal[i..].iter_mut().for_each(|x| *x = *x / length);
            }
            a[i..].iter_mut().for_each(|row| reflect(row, &normal, i));
            reflections.push(normal);
        }
        for (i, row) in a.iter().enumerate() {
            (0..=i).for_each(|j| emit(1, (part * rows + i) * rows + j, row[j]));
            let mut q = vec![T::of(0.0); columns];
            q[i] = T::of(1.0);
            reflections.iter().enumerate().rev().for_each(|(at, normal)| reflect(&mut q, normal, at));
            q.into_iter().enumerate().for_each(|(j, x)| emit(0, (part * rows + i) * columns + j, x));
        }
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        vec![
            Sample::plain("wide", &[&[2, 4]]),
            Sample::plain("square", &[&[3, 3]]),
            Sample::plain("batch", &[&[2, 2, 3]]),
            Sample::plain("empty", &[&[0, 2, 3]]),
        ]
    }
}

/// Reflects a row at the hyperplane with this unit normal, which is 0 before element `first`.
fn reflect<T: Number>(row: &mut [T], normal: &[T], first: usize) {
    let along = row[first..].iter().zip(&normal[first..]).fold(T::of(0.0), |sum, (x, n)| sum + *x * *n);
    let twice = along + along;
    row[first..].iter_mut().zip(&normal[first..]).for_each(|(x, n)| *x = *x - twice * *n);
}

struct SumLogDiag;

impl Formula for SumLogDiag {
    type Params = NoParams;
    const NAME: &'static str = "_linalg_sumlogdiag";
    const ALIASES: &'static [&'static str] = &["linalg_sumlogdiag"];
    const SUMMARY: &'static str = "sum of the logarithms of the diagonal";
    const BACKWARD: &'static str = "_backward_linalg_sumlogdiag";
    const INPUTS: &'static [&'static str] = &["A"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "A"];
    const DTYPES: &'static [DType] = LINALG;

    fn infer_shape(_: &NoParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let ([a], [out]) = (inputs, outputs) else { return Ok(()) };
        require_square(a, "A")?;
        // A single matrix gives one number, of shape [1].
        let known = if a.ndim() == Some(2) { PartialShape::new([Some(1)]) } else { with_last(a, 2, &[]) };
        learn(out, &known, "output")
    }

    fn part<T: Number>(_: &NoParams, tensors: &Tensors<'_, T>, part: usize, emit: Emit<'_, T>) -> Result<()> {
        let [_, n, _] = sizes(&tensors.inputs[0]);
        let element = |i: usize| tensors.at(0, (part * n + i) * n + i);
        emit(0, part, (0..n).fold(T::of(0.0), |sum, i| sum + element(i).ln()));
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        let of = |sample: Sample| sample.fill(0, Fill::Uniform(0.5, 2.0));
        vec![
            of(Sample::plain("matrix", &[&[3, 3]])),
            of(Sample::plain("batch", &[&[2, 2, 2]])),
            of(Sample::plain("one", &[&[1, 1]])),
            Sample::plain("empty", &[&[0, 2, 2]]),
        ]
    }
}
