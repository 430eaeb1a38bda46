//! Inverses, determinants and eigenvalues of square matrices in batches, the last two axes of tensors: `_linalg_inverse`,
//! `_linalg_det`, `_linalg_slogdet` (the sign of the determinant, and the logarithm of its absolute value) and
//! `_linalg_syevd` (the eigenvectors U, as rows, and the eigenvalues L of a symmetric matrix, in ascending order: `A = Uᵀ
//! diag(L) U`). The element of an eigenvector with the largest absolute value is positive.
//!
//! Hidden outputs hold the factorization from which MXNet makes the gradient; here they are zeros, because nothing reads them.
//!
//! Gradient: of A. That of `_linalg_syevd` is infinite or NaN for equal eigenvalues.
//!
//! MXNet: `_linalg_inverse` is also `_npi_inv`, `linalg_inverse`, and so on. Dtypes: f32 f64.

use super::dense::Dense;
use crate::families::backward::samples_of;
use crate::families::matrices::{LINALG, require_axes, require_square, sizes, unify_batch, with_last};
use crate::inference::{learn, learn_dim, unify, unify_dtypes};
use crate::numeric;
use mxrs_op::{
    Accuracy, Fill, Gradient, InputNames, OpDef, OpParams, OutputCount, RefInput, RefOutput, RunMode, Sample,
};
use mxrs_types::{DType, PartialShape, Result};

/// Functions that define the operators.
pub const DEFINITIONS: &[fn() -> OpDef] = &[inverse, det, slogdet, syevd];

/// The square matrices of a tensor.
pub(super) fn matrices(input: &RefInput<'_>) -> Vec<Dense> {
    let [batch, n, _] = sizes(&input.desc.shape);
    let values = numeric::read(input);
    (0..batch).map(|i| Dense::new(n, values[i * n * n..][..n * n].to_vec())).collect()
}

/// Writes matrices to a tensor.
pub(super) fn write(output: &mut RefOutput<'_>, matrices: impl IntoIterator<Item = Dense>) {
    let values: Vec<f64> = matrices.into_iter().flat_map(|matrix| matrix.values).collect();
    numeric::write(output, &values);
}

/// An operator on square matrices.
fn of_squares(name: &'static str, summary: &'static str) -> OpDef {
    OpDef {
        summary,
        inputs: InputNames::Fixed(&["A"]),
        dtypes: LINALG,
        accuracy: Accuracy::Reduction,
        samples: || {
            vec![
                Sample::plain("matrix", &[&[3, 3]]).fill(0, Fill::Values(MATRIX.to_vec())),
                Sample::plain("batch", &[&[2, 2, 2]]).fill(0, Fill::Values(BATCH.to_vec())),
                Sample::plain("one", &[&[1, 1]]).fill(0, Fill::Uniform(1.0, 2.0)),
                Sample::plain("empty", &[&[0, 2, 2]]),
            ]
        },
        ..OpDef::new(name)
    }
}

/// Symmetric matrices with different eigenvalues.
const MATRIX: [f64; 9] = [4.0, 1.0, 0.5, 1.0, -3.0, -0.5, 0.5, -0.5, 2.0];
const BATCH: [f64; 8] = [2.0, 0.5, 0.5, 1.0, -3.0, -1.0, -1.0, 2.0];

/// The operator of a gradient, with the gradients of outputs and the saved tensors as inputs.
pub(super) fn gradient_of(name: &'static str, inputs: &'static [&'static str]) -> OpDef {
    OpDef {
        inputs: InputNames::Fixed(inputs),
        infer_dtype: |_, inputs, outputs| unify_dtypes(inputs.iter_mut().chain(outputs), "A"),
        ..of_squares(name, "gradient of an operator on matrices")
    }
}

fn inverse() -> OpDef {
    OpDef {
        aliases: &["_npi_inv", "linalg_inverse"],
        infer_shape: |_, inputs, outputs| {
            unify(&mut inputs[0], &mut outputs[0], "output")?;
            require_square(&mut inputs[0], "A")?;
            unify(&mut inputs[0], &mut outputs[0], "output")
        },
        gradient: Gradient::By(|_, scope| {
            let (head, out) = (scope.out_grad(0)?, scope.output(0));
            Ok(vec![Some(scope.call_one("_backward_linalg_inverse", &[head, out])?)])
        }),
        companions: || vec![backward_inverse()],
        reference: Some(|_, inputs, outputs, _| {
            write(&mut outputs[0], matrices(&inputs[0]).into_iter().map(|a| a.eliminated().0));
            Ok(())
        }),
        ..of_squares("_linalg_inverse", "inverse of a matrix")
    }
}

/// Takes (ograd, out) and returns `-outᵀ · ograd · outᵀ`.
fn backward_inverse() -> OpDef {
    OpDef {
        infer_shape: |_, inputs, outputs| {
            require_square(&mut inputs[0], "ograd")?;
            crate::inference::unify_all(inputs, outputs, "out")
        },
        reference: Some(|_, inputs, outputs, _| {
            let pairs = matrices(&inputs[0]).into_iter().zip(matrices(&inputs[1]));
            let results = pairs.map(|(g, out)| {
                let across = out.transposed();
                let product = across.times(&g).times(&across);
                Dense::by(product.n, |i, j| -product.at(i, j))
            });
            write(&mut outputs[0], results);
            Ok(())
        }),
        samples: || samples_of(&inverse(), |_, outputs| Some(vec![outputs[0].clone(), outputs[0].clone()])),
        ..gradient_of("_backward_linalg_inverse", &["ograd", "out"])
    }
}

/// Infers the shapes of the outputs: `n_numbers` outputs with one number for each matrix (the determinant, or its sign and
/// logarithm), then the hidden outputs, which in MXNet hold the factors and the pivots.
fn infer_determinant(n_numbers: usize, a: &mut PartialShape, outputs: &mut [PartialShape]) -> Result<()> {
    require_square(a, "A")?;
    let known = if a.ndim() == Some(2) { PartialShape::new([Some(1)]) } else { with_last(a, 2, &[]) };
    let (numbers, hidden) = outputs.split_at_mut(n_numbers.min(outputs.len()));
    numbers.iter_mut().try_for_each(|out| learn(out, &known, "output"))?;
    let n = a.ndim().and_then(|ndim| a.dim(ndim - 1));
    let rest = [a.clone(), with_last(a, 2, &[n])];
    hidden.iter_mut().zip(rest).try_for_each(|(hidden, rest)| learn(hidden, &rest, "LU"))
}

fn hide(outputs: &mut [RefOutput<'_>]) {
    outputs.iter_mut().for_each(|output| crate::families::filled::fill(output, 0.0));
}

/// The type inference of determinants: the pivots, the last output, are `int32`.
fn determinant_types(_: &OpParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
    let Some((pivots, others)) = outputs.split_last_mut() else { return Ok(()) };
    *pivots = Some(DType::I32);
    unify_dtypes(inputs.iter_mut().chain(others), "output")
}

fn det() -> OpDef {
    OpDef {
        aliases: &["_npi_det", "linalg_det"],
        n_outputs: OutputCount::Fixed(3),
        output_names: &["output", "LU", "pivot"],
        infer_shape: |_, inputs, outputs| infer_determinant(1, &mut inputs[0], outputs),
        infer_dtype: determinant_types,
        gradient: Gradient::By(|_, scope| {
            let (head, a) = (scope.out_grad(0)?, scope.input(0));
            Ok(vec![Some(scope.call_one("_backward_linalg_det", &[head, a])?)])
        }),
        companions: || vec![backward_of_determinant::<true>()],
        reference: Some(|_, inputs, outputs, _| {
            let values: Vec<f64> = matrices(&inputs[0]).iter().map(determinant).collect();
            numeric::write(&mut outputs[0], &values);
            hide(&mut outputs[1..]);
            Ok(())
        }),
        ..of_squares("_linalg_det", "determinant of a matrix")
    }
}

fn determinant(a: &Dense) -> f64 {
    let (_, sign, log) = a.eliminated();
    if sign == 0.0 { 0.0 } else { sign * log.exp() }
}

/// Takes (ograd, A) and returns the transposed inverse times ograd, and times the determinant if `IS_DET`.
fn backward_of_determinant<const IS_DET: bool>() -> OpDef {
    let name = if IS_DET { "_backward_linalg_det" } else { "_backward_linalg_slogdet" };
    OpDef {
        infer_shape: |_, inputs, outputs| {
            let ([ograd, a], [out]) = (inputs, outputs) else { return Ok(()) };
            unify(a, out, "A")?;
            infer_determinant(1, a, std::slice::from_mut(ograd))?;
            unify(a, out, "A")
        },
        reference: Some(|_, inputs, outputs, _| {
            let ograd = numeric::read(&inputs[0]);
            let results = matrices(&inputs[1]).into_iter().zip(ograd).map(|(a, g)| {
                let (inverse, sign, _) = a.eliminated();
                let factor = match IS_DET {
                    true => g * determinant(&a),
                    // MXNet gives a singular matrix the gradient 0.
                    false if sign == 0.0 => 0.0,
                    false => g,
                };
                Dense::by(a.n, |i, j| if factor == 0.0 { 0.0 } else { factor * inverse.at(j, i) })
            });
            write(&mut outputs[0], results);
            Ok(())
        }),
        samples: || samples_of(&det(), |sample, outputs| Some(vec![outputs[0].clone(), sample.inputs[0].clone()])),
        ..gradient_of(name, &["ograd", "A"])
    }
}

fn slogdet() -> OpDef {
    OpDef {
        aliases: &["_npi_slogdet", "linalg_slogdet"],
        n_outputs: OutputCount::Fixed(4),
        n_visible: OutputCount::Fixed(2),
        output_names: &["sign", "logabsdet", "LU", "pivot"],
        infer_shape: |_, inputs, outputs| infer_determinant(2, &mut inputs[0], outputs),
        infer_dtype: determinant_types,
        gradient: Gradient::By(|_, scope| {
            let (head, a) = (scope.out_grad(1)?, scope.input(0));
            Ok(vec![Some(scope.call_one("_backward_linalg_slogdet", &[head, a])?)])
        }),
        companions: || vec![backward_of_determinant::<false>()],
        reference: Some(|_, inputs, outputs, _| {
            let found: Vec<(Dense, f64, f64)> = matrices(&inputs[0]).iter().map(Dense::eliminated).collect();
            numeric::write(&mut outputs[0], &found.iter().map(|(_, sign, _)| *sign).collect::<Vec<f64>>());
            let log = |(_, sign, log): &(Dense, f64, f64)| if *sign == 0.0 { f64::NEG_INFINITY } else { *log };
            numeric::write(&mut outputs[1], &found.iter().map(log).collect::<Vec<f64>>());
            hide(&mut outputs[2..]);
            Ok(())
        }),
        ..of_squares("_linalg_slogdet", "sign and logarithm of the determinant")
    }
}

/// Infers the shapes of symmetric matrices, of their eigenvectors and of their eigenvalues.
fn infer_eigen(a: &mut PartialShape, u: &mut PartialShape, l: &mut PartialShape) -> Result<()> {
    unify(a, u, "U")?;
    require_square(a, "A")?;
    require_axes(l, 1, "L")?;
    if let (Some(ndim), Some(of_l)) = (a.ndim(), l.ndim()) {
        learn(l, &PartialShape::of_rank(ndim - 1), "L")?;
        let n = l.dim(of_l - 1);
        learn_dim(a, ndim - 1, n, "A")?;
        learn_dim(a, ndim - 2, n, "A")?;
    }
    let n = a.ndim().and_then(|ndim| a.dim(ndim - 1));
    learn(l, &with_last(a, 2, &[n]), "L")?;
    if let (Some(ndim), Some(dims)) = (a.ndim(), l.dims()) {
        let batch = PartialShape::new(dims[..ndim - 2].iter().copied().chain([None, None]));
        learn(a, &batch, "A")?;
    }
    unify(a, u, "U")?;
    unify_batch(a, u, 2, "U")
}

fn syevd() -> OpDef {
    OpDef {
        n_outputs: OutputCount::Fixed(2),
        n_visible: OutputCount::Fixed(2),
        output_names: &["output0", "output1"],
        infer_shape: |_, inputs, outputs| {
            let [u, l] = outputs else { return Ok(()) };
            infer_eigen(&mut inputs[0], u, l)
        },
        gradient: Gradient::By(|_, scope| {
            let inputs = [scope.out_grad(0)?, scope.out_grad(1)?, scope.output(0), scope.output(1)];
            Ok(vec![Some(scope.call_one("_backward_linalg_syevd", &inputs)?)])
        }),
        companions: || vec![backward_syevd()],
        reference: Some(|_, inputs, outputs, _| {
            let found: Vec<(Dense, Vec<f64>)> = matrices(&inputs[0]).iter().map(Dense::eigen).collect();
            numeric::write(&mut outputs[1], &found.iter().flat_map(|(_, l)| l.iter().copied()).collect::<Vec<f64>>());
            write(&mut outputs[0], found.into_iter().map(|(u, _)| u));
            Ok(())
        }),
        ..of_squares("_linalg_syevd", "eigenvectors and eigenvalues of a symmetric matrix")
    }
}

/// Takes (ograd of U, ograd of L, U, L) and returns `Uᵀ · (diag(ograd of L) + S) · U`, symmetric, where `S[i, j]` is half the
/// difference of elements (i, j) and (j, i) of `ograd of U · Uᵀ`, divided by `L[i] - L[j]`.
fn backward_syevd() -> OpDef {
    OpDef {
        infer_shape: |_, inputs, outputs| {
            let ([to_u, to_l, u, l], [out]) = (inputs, outputs) else { return Ok(()) };
            unify(u, to_u, "U")?;
            unify(u, out, "U")?;
            unify(l, to_l, "L")?;
            infer_eigen(&mut u.clone(), u, l)?;
            unify(l, to_l, "L")?;
            unify(u, to_u, "U")?;
            unify(u, out, "U")
        },
        reference: Some(run_backward_syevd),
        samples: || samples_of(&syevd(), |_, outputs| Some([outputs, outputs].concat())),
        ..gradient_of("_backward_linalg_syevd", &["ograd_u", "ograd_l", "U", "L"])
    }
}

fn run_backward_syevd(_: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let (to_l, l) = (numeric::read(&inputs[1]), numeric::read(&inputs[3]));
    let pairs = matrices(&inputs[0]).into_iter().zip(matrices(&inputs[2]));
    let results = pairs.enumerate().map(|(batch, (to_u, u))| {
        let n = u.n;
        let (to_l, l) = (&to_l[batch * n..][..n], &l[batch * n..][..n]);
        let product = to_u.times(&u.transposed());
        let inner = Dense::by(n, |i, j| match i == j {
            true => to_l[i],
            false => 0.5 * (product.at(i, j) - product.at(j, i)) / (l[i] - l[j]),
        });
        u.transposed().times(&inner).times(&u)
    });
    write(&mut outputs[0], results);
    Ok(())
}
