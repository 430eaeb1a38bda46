//! NumPy's singular values of matrices in batches, the last two axes of tensors: `_npi_svd` gives U, the singular values L in
//! descending order and V with `A = U diag(L) V`, for matrices with at most as many rows as columns; `_npi_pinv` and
//! `_npi_pinv_scalar_rcond` give the pseudo-inverse, for which singular values up to `rcond` times the largest one count as 0. With
//! `hermitian` the matrix is symmetric, and its lower triangle is read.
//!
//! The element of each row of V with the largest absolute value is positive.
//!
//! Gradient: of A. The gradient of `_npi_svd` is infinite or NaN if singular values are equal. The gradient of a
//! pseudo-inverse assumes that a small change of A does not change which singular values count as 0; in MXNet it is zero.
//! `rcond` has no gradient.
//!
//! Dtypes: `_npi_svd` f32 f64; pseudo-inverses f32 f64 u8 i8 i32 i64, with results in f32 for f32, else f64.

use super::matrix::Matrix;
use super::systems::{SOLVABLE, infer_dtype};
use crate::families::backward::samples_of;
use crate::families::broadcast::positions;
use crate::families::gradients::params_of;
use crate::families::matrices::{LINALG, require_axes, require_square, sizes, unify_batch, with_last};
use crate::inference::{OP, learn, unify, unify_dtypes};
use crate::numeric;
use mxrs_op::{
    Accuracy, Fill, Gradient, InputNames, OpDef, OpParams, OutputCount, RefInput, RefOutput, RunMode, Sample, op_params,
};
use mxrs_types::{Error, PartialShape, Result, Shape};

op_params! {
    /// Parameters of `_npi_pinv`.
    pub struct PinvParams for "_npi_pinv" {
        /// Whether matrices are symmetric.
        hermitian: bool = false,
    }
}

op_params! {
    /// Parameters of `_npi_pinv_scalar_rcond`.
    pub struct PinvScalarParams for "_npi_pinv_scalar_rcond" {
        /// Singular values up to this number times the largest one count as 0.
        rcond: f64 = 1e-15,
        /// Whether matrices are symmetric.
        hermitian: bool = false,
    }
}

/// Functions that define the operators.
pub const DEFINITIONS: &[fn() -> OpDef] = &[svd, pinv, pinv_scalar];

fn read(input: &RefInput<'_>) -> Vec<Matrix> {
    let [batch, rows, columns] = sizes(&input.desc.shape);
    let values = numeric::read(input);
    let len = rows * columns;
    (0..batch).map(|i| Matrix { rows, columns, values: values[i * len..][..len].to_vec() }).collect()
}

fn write(output: &mut RefOutput<'_>, matrices: impl IntoIterator<Item = Matrix>) {
    let values: Vec<f64> = matrices.into_iter().flat_map(|matrix| matrix.values).collect();
    numeric::write(output, &values);
}

fn infer_svd(a: &mut PartialShape, outputs: &mut [PartialShape]) -> Result<()> {
    let [u, l, v] = outputs else { return Ok(()) };
    unify(a, v, "V")?;
    require_axes(a, 2, "A")?;
    require_square(u, "UT")?;
    unify_batch(a, u, 2, "UT")?;
    let Some(ndim) = a.ndim() else { return Ok(()) };
    let rows = a.dim(ndim - 2).or(u.dim(ndim - 1));
    if let (Some(rows), Some(columns)) = (rows, a.dim(ndim - 1))
        && rows > columns
    {
        return Err(Error::shape(OP, "A", "at most as many rows as columns", &*a));
    }
    crate::inference::learn_dim(a, ndim - 2, rows, "A")?;
    learn(u, &with_last(a, 2, &[rows, rows]), "UT")?;
    learn(l, &with_last(a, 2, &[rows]), "L")?;
    unify(a, v, "V")
}

const SVD_BACKWARD: &str = "_backward_npi_svd";

fn svd() -> OpDef {
    OpDef {
        summary: "singular values and vectors",
        inputs: InputNames::Fixed(&["A"]),
        n_outputs: OutputCount::Fixed(3),
        n_visible: OutputCount::Fixed(3),
        output_names: &["UT", "L", "V"],
        infer_shape: |_, inputs, outputs| infer_svd(&mut inputs[0], outputs),
        dtypes: LINALG,
        accuracy: Accuracy::Product,
        gradient: Gradient::By(|_, scope| {
            let mut inputs = (0..3).map(|i| scope.out_grad(i)).collect::<Result<Vec<_>>>()?;
            inputs.extend((0..3).map(|i| scope.output(i)));
            Ok(vec![Some(scope.call_one(SVD_BACKWARD, &inputs)?)])
        }),
        companions: || vec![svd_backward()],
        reference: Some(|_, inputs, outputs, _| {
            let found: Vec<(Matrix, Vec<f64>, Matrix)> = read(&inputs[0]).iter().map(Matrix::svd).collect();
            let values: Vec<f64> = found.iter().flat_map(|(_, values, _)| values.iter().copied()).collect();
            numeric::write(&mut outputs[1], &values);
            write(&mut outputs[0], found.iter().map(|(u, ..)| u.clone()));
            write(&mut outputs[2], found.into_iter().map(|(.., v)| v));
            Ok(())
        }),
        samples: || {
            let of = |name, shape: &[usize], values: &[f64]| {
                Sample::plain(name, &[shape]).fill(0, Fill::Values(values.to_vec()))
            };
            vec![
                of("matrix", &[3, 3], &[4.0, 1.0, 0.5, 1.0, -7.0, 0.25, 0.5, 2.0, 2.0]),
                of("wide", &[2, 3], &[4.0, 1.0, 0.5, 1.0, -3.0, 0.25]),
                of("batch", &[2, 2, 2], &[2.0, 0.5, 1.5, 7.0, 9.0, 1.0, 1.0, 2.0]),
                of("empty", &[0, 2, 3], &[]),
            ]
        },
        ..OpDef::new("_npi_svd")
    }
}

/// Takes the gradients of the outputs, and the outputs (Townsend 2016, "Differentiating the singular value decomposition").
fn svd_backward() -> OpDef {
    OpDef {
        summary: "gradient of an operator on matrices",
        inputs: InputNames::Fixed(&["ograd_u", "ograd_l", "ograd_v", "UT", "L", "V"]),
        infer_shape: |_, inputs, outputs| {
            let (ograds, saved) = inputs.split_at_mut(3);
            for _ in 0..2 {
                infer_svd(&mut outputs[0], ograds)?;
                infer_svd(&mut outputs[0], saved)?;
            }
            Ok(())
        },
        infer_dtype: |_, inputs, outputs| unify_dtypes(inputs.iter_mut().chain(outputs), "A"),
        dtypes: LINALG,
        accuracy: Accuracy::Product,
        reference: Some(run_svd_backward),
        samples: || {
            let distinct = |mut sample: Sample| {
                let n = sample.inputs[4].shape.n_elements();
                sample.inputs[4].fill = Fill::Values((0..n).map(|i| 3.0 - 0.5 * i as f64).collect());
                sample
            };
            let samples = samples_of(&svd(), |_, outputs| Some([outputs, outputs].concat()));
            samples.into_iter().map(distinct).collect()
        },
        ..OpDef::new(SVD_BACKWARD)
    }
}

fn run_svd_backward(_: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let [to_u, to_v, u, v] = [0, 2, 3, 5].map(|i| read(&inputs[i]));
    let (to_l, l) = (numeric::read(&inputs[1]), numeric::read(&inputs[4]));
    let mut results = Vec::new();
    for (batch, (u, v)) in u.iter().zip(&v).enumerate() {
        let m = u.rows;
        let (to_l, l) = (&to_l[batch * m..][..m], &l[batch * m..][..m]);
        let p = u.transposed().times(&to_u[batch]);
        let q = v.times(&to_v[batch].transposed());
        let inner = Matrix::by(m, m, |i, j| {
            if i == j {
                return to_l[i];
            }
            let factor = 1.0 / (l[j] * l[j] - l[i] * l[i]);
            factor * ((p.at(i, j) - p.at(j, i)) * l[j] + l[i] * (q.at(i, j) - q.at(j, i)))
        });
        // The part of the gradient of V that is orthogonal to the rows of V.
        let across = to_v[batch].plus(-1.0, &to_v[batch].times(&v.transposed()).times(v));
        let scaled = Matrix::by(m, v.columns, |i, j| across.at(i, j) / l[i]);
        results.push(u.times(&inner).times(v).plus(1.0, &u.times(&scaled)));
    }
    write(&mut outputs[0], results);
    Ok(())
}

/// Infers that the output holds matrices with the shape of A's matrices transposed.
fn infer_pinv(a: &mut PartialShape, out: &mut PartialShape, is_symmetric: bool) -> Result<()> {
    require_axes(a, 2, "A")?;
    if is_symmetric {
        require_square(a, "A")?;
    }
    let turned = |shape: &PartialShape| match shape.ndim() {
        Some(ndim) if ndim >= 2 => with_last(shape, 2, &[shape.dim(ndim - 1), shape.dim(ndim - 2)]),
        _ => PartialShape::unknown(),
    };
    learn(out, &turned(a), "output")?;
    learn(a, &turned(out), "A")
}

fn define_pinv(name: &'static str, inputs: &'static [&'static str]) -> OpDef {
    OpDef {
        summary: "pseudo-inverse of a matrix",
        inputs: InputNames::Fixed(inputs),
        infer_dtype: |_, inputs, outputs| infer_dtype(&mut inputs[..1], outputs),
        dtypes: SOLVABLE,
        accuracy: Accuracy::Product,
        ..OpDef::new(name)
    }
}

fn pinv() -> OpDef {
    OpDef {
        infer_shape: |params, inputs, outputs| {
            let [a, rcond] = inputs else { return Ok(()) };
            infer_pinv(a, &mut outputs[0], params.get::<PinvParams>().hermitian)?;
            let (Some(dims), Some(numbers)) = (a.dims(), rcond.known()) else { return Ok(()) };
            let batch: Option<Shape> = dims[..dims.len() - 2].iter().copied().collect();
            let fits = |batch: Shape| {
                let extra = batch.ndim().checked_sub(numbers.ndim())?;
                numbers.iter().zip(&batch[extra..]).all(|(size, of)| *size == 1 || size == of).then_some(())
            };
            match batch.map(fits) {
                Some(None) => Err(Error::shape(OP, "rcond", format!("a number for each matrix of {a}"), &*rcond)),
                _ => Ok(()),
            }
        },
        infer_dtype: |_, inputs, outputs| {
            infer_dtype(&mut inputs[..1], outputs)?;
            inputs[1] = inputs[1].or(outputs[0]);
            Ok(())
        },
        gradient: Gradient::By(|_, scope| {
            let inputs = [scope.out_grad(0)?, scope.input(0), scope.output(0)];
            let attrs = params_of(scope);
            Ok(vec![Some(scope.call(PINV_BACKWARD, attrs, &inputs)?[0]), None])
        }),
        companions: || vec![pinv_backward()],
        reference: Some(|params, inputs, outputs, _| {
            let is_symmetric = params.get::<PinvParams>().hermitian;
            let shape = &inputs[0].desc.shape;
            let batch: Shape = shape[..shape.ndim() - 2].iter().copied().collect();
            let (places, rcond) = (positions(&inputs[1].desc.shape, &batch), numeric::read(&inputs[1]));
            let all = read(&inputs[0]).into_iter().zip(places);
            write(&mut outputs[0], all.map(|(a, place)| a.pinv(rcond[place], is_symmetric)));
            Ok(())
        }),
        samples: || {
            let small = |sample: Sample| {
                let at = sample.inputs.len() - 1;
                sample.fill(at, Fill::Uniform(0.001, 0.002))
            };
            let of = |name, attrs: &[(&str, &str)], shape: &[usize], rcond: &[usize], values: &[f64]| {
                let sample = Sample::plain(name, &[shape, rcond]).fill(0, Fill::Values(values.to_vec()));
                Sample { attrs: attrs.iter().copied().collect(), ..small(sample) }
            };
            vec![
                of("matrix", &[], &[3, 3], &[], &[4.0, 1.0, 0.5, 1.0, -7.0, 0.25, 0.5, 2.0, 2.0]),
                of("batch", &[], &[2, 1, 2], &[2], &[4.0, 1.0, 0.5, 1.0]),
                of("symmetric", &[("hermitian", "True")], &[2, 2], &[], &[4.0, 1.0, 1.0, -3.0]),
                of("empty", &[], &[0, 2, 3], &[1], &[]),
            ]
        },
        ..define_pinv("_npi_pinv", &["A", "rcond"]).params::<PinvParams>()
    }
}

fn pinv_scalar() -> OpDef {
    OpDef {
        infer_shape: |params, inputs, outputs| {
            infer_pinv(&mut inputs[0], &mut outputs[0], params.get::<PinvScalarParams>().hermitian)
        },
        gradient: Gradient::By(|params, scope| {
            let inputs = [scope.out_grad(0)?, scope.input(0), scope.output(0)];
            let is_symmetric = if params.get::<PinvScalarParams>().hermitian { "True" } else { "False" };
            let attrs = mxrs_op::Attrs::from([("hermitian", is_symmetric)]);
            Ok(vec![Some(scope.call(PINV_BACKWARD, attrs, &inputs)?[0])])
        }),
        reference: Some(|params, inputs, outputs, _| {
            let params: &PinvScalarParams = params.get();
            write(&mut outputs[0], read(&inputs[0]).into_iter().map(|a| a.pinv(params.rcond, params.hermitian)));
            Ok(())
        }),
        samples: || {
            let of = |name, attrs: &[(&str, &str)], shape: &[usize], values: &[f64]| Sample {
                attrs: attrs.iter().copied().collect(),
                ..Sample::plain(name, &[shape]).fill(0, Fill::Values(values.to_vec()))
            };
            vec![
                of("wide", &[], &[2, 3], &[4.0, 1.0, 0.5, 1.0, -7.0, 0.25]),
                of("tall", &[], &[3, 2], &[4.0, 1.0, 0.5, 1.0, -7.0, 0.25]),
                of("symmetric", &[("hermitian", "True")], &[2, 2], &[4.0, 1.0, 1.0, -3.0]),
                of("empty", &[], &[0, 2, 3], &[]),
            ]
        },
        ..define_pinv("_npi_pinv_scalar_rcond", &["A"]).params::<PinvScalarParams>()
    }
}

const PINV_BACKWARD: &str = "_backward_npi_pinv";

/// Takes `ograd`, called g here, A and its pseudo-inverse P, and returns
/// `-Pᵀ g Pᵀ + (1 - A P) gᵀ (P Pᵀ) + (Pᵀ P) gᵀ (1 - P A)` (Golub and Pereyra 1973).
fn pinv_backward() -> OpDef {
    OpDef {
        summary: "gradient of an operator on matrices",
        inputs: InputNames::Fixed(&["ograd", "A", "out"]),
        infer_shape: |params, inputs, outputs| {
            let [ograd, a, out] = inputs else { return Ok(()) };
            let is_symmetric = params.get::<PinvParams>().hermitian;
            for _ in 0..2 {
                unify(a, &mut outputs[0], "A")?;
                infer_pinv(a, out, is_symmetric)?;
                infer_pinv(a, ograd, is_symmetric)?;
            }
            unify(a, &mut outputs[0], "A")
        },
        infer_dtype: |_, inputs, outputs| unify_dtypes(inputs.iter_mut().chain(outputs), "A"),
        dtypes: LINALG,
        accuracy: Accuracy::Product,
        reference: Some(|params, inputs, outputs, _| {
            let is_symmetric = params.get::<PinvParams>().hermitian;
            let [ograd, a, out] = [0, 1, 2].map(|i| read(&inputs[i]));
            let all = ograd.iter().zip(&a).zip(&out).map(|((g, a), p)| {
                let lower = |i: usize, j: usize| a.at(i.max(j), i.min(j));
                let a = if is_symmetric { &Matrix::by(a.rows, a.columns, lower) } else { a };
                let (across, g) = (p.transposed(), g.transposed());
                let one = |product: Matrix| {
                    Matrix::by(product.rows, product.columns, |i, j| f64::from(u8::from(i == j)) - product.at(i, j))
                };
                let left = one(a.times(p)).times(&g).times(&p.times(&across));
                let right = across.times(p).times(&g).times(&one(p.times(a)));
                let whole = left.plus(1.0, &right).plus(-1.0, &across.times(&g.transposed()).times(&across));
                match is_symmetric {
                    false => whole,
                    true => Matrix::by(a.rows, a.columns, |i, j| match i.cmp(&j) {
                        std::cmp::Ordering::Less => 0.0,
                        std::cmp::Ordering::Equal => whole.at(i, i),
                        std::cmp::Ordering::Greater => whole.at(i, j) + whole.at(j, i),
                    }),
                }
            });
            write(&mut outputs[0], all.collect::<Vec<_>>());
            Ok(())
        }),
        samples: || {
            let forward = |sample: &Sample, outputs: &[mxrs_op::SampleInput]| {
                Some(vec![outputs[0].clone(), sample.inputs[0].clone(), outputs[0].clone()])
            };
            samples_of(&pinv(), forward)
        },
        ..OpDef::new(PINV_BACKWARD).params::<PinvParams>()
    }
}
