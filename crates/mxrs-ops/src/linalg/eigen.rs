//! NumPy's eigenvalues of matrices in batches, the last two axes of tensors. `_npi_eigh` and `_npi_eigvalsh` take symmetric
//! matrices, of which they read only the triangle `UPLO`, and give the eigenvalues in ascending order. `_npi_eig` and
//! `_npi_eigvals` take matrices whose eigenvalues are real, and give them in the order in which the QR algorithm finds them.
//! `_npi_eigh` and `_npi_eig` also give the eigenvectors, as columns of length 1. The element of an eigenvector with the
//! largest absolute value is positive.
//!
//! Gradient: of A; that of equal eigenvalues is infinite or NaN where the derivative does not exist. That of MXNet is zero.
//!
//! A matrix with complex eigenvalues is an error, as in MXNet. Dtypes: f32 f64 u8 i8 i32 i64; the results of f32 are f32, of all
//! others f64.

// NumPy's parameter UPLO is written in upper case.
#![allow(non_snake_case)]

use super::dense::Dense;
use super::inverses::{gradient_of, matrices, write};
use super::systems::{SOLVABLE, infer_dtype};
use crate::families::backward::samples_of;
use crate::families::gradients::{Answers, params_of};
use crate::families::matrices::{LINALG, require_square, with_last};
use crate::inference::{learn, unify};
use crate::numeric;
use mxrs_op::param::Field;
use mxrs_op::{
    Accuracy, Fill, Gradient, GradientScope, InputNames, OpDef, OpParams, OutputCount, RefInput, RefOutput, RunMode,
    Sample, op_params,
};
use mxrs_types::{Error, PartialShape, Result};

/// The triangle that is read. MXNet's C API gives its type no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Triangle {
    /// The lower one, `L`.
    Lower,
    /// The upper one, `U`.
    Upper,
}

impl Field for Triangle {
    fn type_name() -> String {
        String::new()
    }
    fn parse(text: &str) -> std::result::Result<Self, String> {
        match text.trim() {
            "L" => Ok(Self::Lower),
            "U" => Ok(Self::Upper),
            _ => Err("L or U".into()),
        }
    }
    fn default_text(&self) -> String {
        if *self == Self::Lower { "L" } else { "U" }.into()
    }
}

op_params! {
    /// Parameters of `_npi_eigh` and `_npi_eigvalsh`.
    pub struct EighParams for "_npi_eigh" {
        /// The triangle that is read.
        UPLO: Triangle = Triangle::Lower,
    }
}

/// Functions that define the operators.
pub const DEFINITIONS: &[fn() -> OpDef] = &[eigh, eigvalsh, eig, eigvals];

/// Infers the shapes of eigenvalues and, if there are any, of eigenvectors.
fn infer_shape(a: &mut PartialShape, outputs: &mut [PartialShape]) -> Result<()> {
    require_square(a, "A")?;
    let [values, vectors @ ..] = outputs else { return Ok(()) };
    vectors.iter_mut().try_for_each(|vectors| unify(a, vectors, "output1"))?;
    require_square(a, "A")?;
    let n = a.ndim().and_then(|ndim| a.dim(ndim - 1));
    vectors.iter_mut().try_for_each(|vectors| unify(a, vectors, "output1"))?;
    learn(values, &with_last(a, 2, &[n]), "output0")
}

fn define(name: &'static str, summary: &'static str, n_outputs: usize) -> OpDef {
    OpDef {
        summary,
        inputs: InputNames::Fixed(&["A"]),
        n_outputs: OutputCount::Fixed(n_outputs),
        n_visible: OutputCount::Fixed(n_outputs),
        output_names: &["output0", "output1"],
        infer_shape: |_, inputs, outputs| infer_shape(&mut inputs[0], outputs),
        infer_dtype: |_, inputs, outputs| infer_dtype(inputs, outputs),
        dtypes: SOLVABLE,
        accuracy: Accuracy::Reduction,
        samples,
        ..OpDef::new(name)
    }
}

/// Matrices with different real eigenvalues, also if their elements are truncated to integers.
fn samples() -> Vec<Sample> {
    let of =
        |name, shape: &[usize], values: &[f64]| Sample::plain(name, &[shape]).fill(0, Fill::Values(values.to_vec()));
    vec![
        of("matrix", &[3, 3], &[4.0, 1.0, 0.5, 1.0, 7.0, 0.25, 0.5, 2.0, 2.0]),
        of("batch", &[2, 2, 2], &[2.0, 0.5, 1.5, 7.0, 9.0, 1.0, 1.0, 2.0]),
        of("one", &[1, 1], &[3.5]),
        of("empty", &[0, 2, 2], &[]),
    ]
}

/// The operator of a gradient: takes the gradients of the outputs and A, and returns the gradient of A.
fn backward(forward: fn() -> OpDef, name: &'static str, inputs: &'static [&'static str]) -> OpDef {
    OpDef {
        infer_shape: |_, inputs, outputs| {
            let Some((a, ograds)) = inputs.split_last_mut() else { return Ok(()) };
            unify(a, &mut outputs[0], "A")?;
            infer_shape(a, ograds)?;
            unify(a, &mut outputs[0], "A")
        },
        infer_dtype: |_, inputs, outputs| {
            let Some((a, ograds)) = inputs.split_last_mut() else { return Ok(()) };
            let mut known = [a.or(outputs[0])];
            infer_dtype(&mut known, ograds)?;
            *a = known[0];
            outputs[0] = outputs[0].or(*a);
            Ok(())
        },
        dtypes: LINALG,
        samples: Vec::new,
        gradient: Gradient::Undefined,
        parse_with: forward().parse_with,
        param_specs: forward().param_specs,
        ..gradient_of(name, inputs)
    }
}

/// Calls the operator of a gradient.
fn gradient(scope: &mut dyn GradientScope, name: &str, n_outputs: usize) -> Answers {
    let mut inputs = (0..n_outputs).map(|i| scope.out_grad(i)).collect::<Result<Vec<_>>>()?;
    inputs.push(scope.input(0));
    let attrs = params_of(scope);
    Ok(vec![Some(scope.call(name, attrs, &inputs)?[0])])
}

/// The symmetric matrix with this triangle.
fn symmetric(a: &Dense, triangle: Triangle) -> Dense {
    Dense::by(a.n, |i, j| match triangle {
        Triangle::Lower => a.at(i.max(j), i.min(j)),
        Triangle::Upper => a.at(i.min(j), i.max(j)),
    })
}

fn eigh() -> OpDef {
    const BACKWARD: &str = "_backward_npi_eigh";
    OpDef {
        gradient: Gradient::By(|_, scope| gradient(scope, BACKWARD, 2)),
        companions: || {
            vec![OpDef {
                samples: || samples_of(&eigh(), |sample, outputs| Some([outputs, &sample.inputs].concat())),
                reference: Some(run_backward_eigh),
                ..backward(eigh, BACKWARD, &["ograd_w", "ograd_v", "A"])
            }]
        },
        reference: Some(run_eigh),
        ..define("_npi_eigh", "eigenvalues and eigenvectors of symmetric matrices", 2)
    }
    .params::<EighParams>()
}

fn eigvalsh() -> OpDef {
    const BACKWARD: &str = "_backward_npi_eigvalsh";
    OpDef {
        gradient: Gradient::By(|_, scope| gradient(scope, BACKWARD, 1)),
        companions: || {
            vec![OpDef {
                samples: || samples_of(&eigvalsh(), |sample, outputs| Some([outputs, &sample.inputs].concat())),
                reference: Some(run_backward_eigh),
                ..backward(eigvalsh, BACKWARD, &["ograd_w", "A"])
            }]
        },
        reference: Some(run_eigh),
        ..define("_npi_eigvalsh", "eigenvalues of symmetric matrices", 1)
    }
    .params::<EighParams>()
}

fn run_eigh(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let triangle = params.get::<EighParams>().UPLO;
    let found: Vec<(Dense, Vec<f64>)> = matrices(&inputs[0]).iter().map(|a| symmetric(a, triangle).eigen()).collect();
    let values: Vec<f64> = found.iter().flat_map(|(_, values)| values.iter().copied()).collect();
    numeric::write(&mut outputs[0], &values);
    if let Some(vectors) = outputs.get_mut(1) {
        write(vectors, found.iter().map(|(rows, _)| rows.transposed()));
    }
    Ok(())
}

fn run_backward_eigh(
    params: &OpParams,
    inputs: &[RefInput<'_>],
    outputs: &mut [RefOutput<'_>],
    _: RunMode,
) -> Result<()> {
    let triangle = params.get::<EighParams>().UPLO;
    let Some((a, ograds)) = inputs.split_last() else { return Ok(()) };
    let to_values = numeric::read(&ograds[0]);
    let to_vectors = ograds.get(1).map(matrices);
    let results = matrices(a).into_iter().enumerate().map(|(batch, a)| {
        let n = a.n;
        let (rows, values) = symmetric(&a, triangle).eigen();
        let product = to_vectors.as_ref().map(|all| all[batch].transposed().times(&rows.transposed()));
        let inner = Dense::by(n, |i, j| match (&product, i == j) {
            (_, true) => to_values[batch * n + i],
            (None, false) => 0.0,
            (Some(product), false) => 0.5 * (product.at(i, j) - product.at(j, i)) / (values[i] - values[j]),
        });
        let whole = rows.transposed().times(&inner).times(&rows);
        Dense::by(n, |i, j| match (i == j, (i > j) == (triangle == Triangle::Lower)) {
            (true, _) => whole.at(i, i),
            (false, true) => whole.at(i, j) + whole.at(j, i),
            (false, false) => 0.0,
        })
    });
    write(&mut outputs[0], results);
    Ok(())
}

fn eig() -> OpDef {
    const BACKWARD: &str = "_backward_npi_eig";
    OpDef {
        gradient: Gradient::By(|_, scope| gradient(scope, BACKWARD, 2)),
        companions: || {
            vec![OpDef {
                samples: || samples_of(&eig(), |sample, outputs| Some([outputs, &sample.inputs].concat())),
                reference: Some(run_backward_eig),
                ..backward(eig, BACKWARD, &["ograd_w", "ograd_v", "A"])
            }]
        },
        reference: Some(run_eig),
        ..define("_npi_eig", "real eigenvalues and eigenvectors", 2)
    }
}

fn eigvals() -> OpDef {
    const BACKWARD: &str = "_backward_npi_eigvals";
    OpDef {
        gradient: Gradient::By(|_, scope| gradient(scope, BACKWARD, 1)),
        companions: || {
            vec![OpDef {
                samples: || samples_of(&eigvals(), |sample, outputs| Some([outputs, &sample.inputs].concat())),
                reference: Some(run_backward_eig),
                ..backward(eigvals, BACKWARD, &["ograd_w", "A"])
            }]
        },
        reference: Some(run_eig),
        ..define("_npi_eigvals", "real eigenvalues", 1)
    }
}

/// The eigenvalues of a matrix, and its eigenvectors as columns.
///
/// # Errors
/// Fails if an eigenvalue is complex.
fn eigen_of(a: &Dense) -> Result<(Vec<f64>, Dense)> {
    a.real_eigen().ok_or_else(|| Error::invalid("the eigenvalues of A", "complex numbers", "real numbers"))
}

fn run_eig(_: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let found = matrices(&inputs[0]).iter().map(eigen_of).collect::<Result<Vec<_>>>()?;
    let values: Vec<f64> = found.iter().flat_map(|(values, _)| values.iter().copied()).collect();
    numeric::write(&mut outputs[0], &values);
    if let Some(vectors) = outputs.get_mut(1) {
        write(vectors, found.into_iter().map(|(_, vectors)| vectors));
    }
    Ok(())
}

/// The gradient of A from the gradients gw of the eigenvalues w and gv of the eigenvectors V, where `A V = V diag(w)`. With
/// `W = V⁻¹` it is `Wᵀ (diag(gw) + inner) Vᵀ`. Here `inner` is `Vᵀ gv` without the part that would change the lengths of
/// eigenvectors, divided by the differences of eigenvalues.
fn run_backward_eig(_: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let Some((a, ograds)) = inputs.split_last() else { return Ok(()) };
    let to_values = numeric::read(&ograds[0]);
    let to_vectors = ograds.get(1).map(matrices);
    let mut results = Vec::new();
    for (batch, a) in matrices(a).iter().enumerate() {
        let n = a.n;
        let (values, vectors) = eigen_of(a)?;
        let across = vectors.transposed();
        let lengths = across.times(&vectors);
        let product = to_vectors.as_ref().map(|all| across.times(&all[batch]));
        let inner = Dense::by(n, |i, j| match (&product, i == j) {
            (_, true) => to_values[batch * n + i],
            (None, false) => 0.0,
            (Some(product), false) => {
                (product.at(i, j) - lengths.at(i, j) * product.at(j, j)) / (values[j] - values[i])
            }
        });
        results.push(vectors.eliminated().0.transposed().times(&inner).times(&across));
    }
    write(&mut outputs[0], results);
    Ok(())
}
