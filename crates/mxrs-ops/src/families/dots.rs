//! Products of matrices, `dot` and `batch_dot`, and their gradients.
//!
//! A product is over the axis `k` of lhs [m, k] and rhs [k, n]; either may be given transposed. The gradients
//! `_backward_<name>_lhs` and `_backward_<name>_rhs` take (ograd, lhs, rhs), and the gradients of these three operators are
//! calls of the three.

use crate::dtypes::FLOATS;
use crate::families::gradients::{Answers, if_wanted, params_of};
use crate::inference::{unify, unify_dtypes};
use crate::numeric;
use mxrs_op::{
    Accuracy, Gradient, GradientScope, InputNames, Matrices, OpCall, OpDef, Precision, Products, RefInput, RefOutput,
    Sample, op_enum, op_params,
};
use mxrs_types::{PartialShape, Result, Shape};

op_enum! {
    /// Storage type of the output.
    pub enum StorageWord { Csr = "csr", Default = "default", RowSparse = "row_sparse" }
}

op_params! {
    /// Parameters of `dot` and `batch_dot`.
    pub struct DotParams for "dot" {
        /// Whether lhs is transposed.
        transpose_a: bool = false,
        /// Whether rhs is transposed.
        transpose_b: bool = false,
        /// Storage type of the output. Only `default` is built.
        forward_stype: Option<StorageWord> = None,
    }
}

/// The sizes of a product.
#[derive(Clone, Copy, Debug)]
pub struct Extents {
    /// Number of products.
    pub batch: usize,
    /// Rows of the result.
    pub m: usize,
    /// Terms of each sum.
    pub k: usize,
    /// Columns of the result.
    pub n: usize,
}

/// The properties in which `dot` and `batch_dot` differ.
pub trait Product: Sized + 'static {
    /// MXNet's name.
    const NAME: &'static str;
    /// Other names.
    const ALIASES: &'static [&'static str];
    /// Description in one line.
    const SUMMARY: &'static str;
    /// Names of the operators that compute the gradients of lhs and of rhs.
    const BACKWARD: [&'static str; 2];

    /// Shape inference.
    fn infer_shape(
        params: &DotParams,
        lhs: &mut PartialShape,
        rhs: &mut PartialShape,
        out: &mut PartialShape,
    ) -> Result<()>;

    /// The sizes of a product of tensors with these shapes.
    fn extents(params: &DotParams, lhs: &Shape, rhs: &Shape) -> Extents;

    /// Example calls.
    fn samples() -> Vec<Sample>;
}

/// A matrix, or a batch of matrices, by strides.
struct Matrix {
    values: Vec<f64>,
    strides: [usize; 3],
}

impl Matrix {
    /// Reads the matrices of a tensor. Each has `rows` rows and `columns` columns; if `is_transposed`, its transpose is
    /// stored.
    fn of(input: &RefInput<'_>, rows: usize, columns: usize, is_transposed: bool) -> Self {
        let strides = if is_transposed { [rows * columns, 1, rows] } else { [rows * columns, columns, 1] };
        Self { values: numeric::read(input), strides }
    }

    fn transposed(mut self) -> Self {
        self.strides.swap(1, 2);
        self
    }

    fn at(&self, batch: usize, row: usize, column: usize) -> f64 {
        self.values[batch * self.strides[0] + row * self.strides[1] + column * self.strides[2]]
    }
}

/// Writes the products `Σ_k a[i, k] b[k, j]`. If `is_transposed`, the output stores the transpose of each product.
fn multiply(a: &Matrix, b: &Matrix, sizes: [usize; 4], is_transposed: bool, out: &mut RefOutput<'_>) {
    let [batch, rows, terms, columns] = sizes;
    let mut result = vec![0.0; batch * rows * columns];
    for (place, to) in result.iter_mut().enumerate() {
        let (at, rest) = (place / (rows * columns), place % (rows * columns));
        let (i, j) = if is_transposed { (rest % rows, rest / rows) } else { (rest / columns, rest % columns) };
        *to = (0..terms).map(|k| a.at(at, i, k) * b.at(at, k, j)).sum();
    }
    numeric::write(out, &result);
}

fn refuse_storage(params: &DotParams) -> Result<()> {
    match params.forward_stype {
        None | Some(StorageWord::Default) => Ok(()),
        Some(_) => Err(mxrs_types::Error::not_built("forward_stype of a sparse storage type", "arrays are dense")),
    }
}

/// Defines the operator.
pub fn define<P: Product>() -> OpDef {
    OpDef {
        aliases: P::ALIASES,
        summary: P::SUMMARY,
        inputs: InputNames::Fixed(&["lhs", "rhs"]),
        infer_shape: |params, inputs, outputs| {
            let [lhs, rhs] = inputs else { return Ok(()) };
            refuse_storage(params.get())?;
            P::infer_shape(params.get(), lhs, rhs, &mut outputs[0])
        },
        precision: Precision::widest,
        gradient: Gradient::By(|_, scope| {
            let (head, lhs, rhs) = (scope.out_grad(0)?, scope.input(0), scope.input(1));
            let attrs = params_of(scope);
            let answer = |scope: &mut dyn GradientScope, side: usize| {
                let attrs = attrs.clone();
                if_wanted(scope, side, |scope| Ok(scope.call(P::BACKWARD[side], attrs, &[head, lhs, rhs])?[0]))
            };
            Ok(vec![answer(scope, 0)?, answer(scope, 1)?])
        }),
        companions: || vec![backward::<P, false>(), backward::<P, true>()],
        products: Some(products::<P>),
        reference: Some(|params, inputs, outputs, _| {
            let params: &DotParams = params.get();
            let Extents { batch, m, k, n } = P::extents(params, &inputs[0].desc.shape, &inputs[1].desc.shape);
            let lhs = Matrix::of(&inputs[0], m, k, params.transpose_a);
            let rhs = Matrix::of(&inputs[1], k, n, params.transpose_b);
            multiply(&lhs, &rhs, [batch, m, k, n], false, &mut outputs[0]);
            Ok(())
        }),
        samples: P::samples,
        ..family::<P>(P::NAME)
    }
}

fn family<P: Product>(name: &'static str) -> OpDef {
    OpDef {
        infer_dtype: |_, inputs, outputs| unify_dtypes(inputs.iter_mut().chain(outputs), "rhs"),
        dtypes: FLOATS,
        accuracy: Accuracy::Product,
        multiply_adds: |call| {
            let (lhs, rhs) = (&call.inputs[call.inputs.len() - 2].shape, &call.inputs[call.inputs.len() - 1].shape);
            let Extents { batch, m, k, n } = P::extents(call.params.get(), lhs, rhs);
            [batch, m, k, n].iter().map(|size| *size as u64).product()
        },
        ..OpDef::new(name).params::<DotParams>()
    }
}

fn backward<P: Product, const IS_RHS: bool>() -> OpDef {
    let side = usize::from(IS_RHS);
    OpDef {
        summary: "gradient of a product of matrices",
        inputs: InputNames::Fixed(&["ograd", "lhs", "rhs"]),
        infer_shape: |params, inputs, outputs| {
            let [ograd, lhs, rhs] = inputs else { return Ok(()) };
            unify(if IS_RHS { &mut *rhs } else { &mut *lhs }, &mut outputs[0], "output")?;
            P::infer_shape(params.get(), lhs, rhs, ograd)?;
            unify(if IS_RHS { rhs } else { lhs }, &mut outputs[0], "output")
        },
        ignored_inputs: if IS_RHS { &[2] } else { &[1] },
        gradient: Gradient::By(|_, scope| second::<P, IS_RHS>(scope)),
        products: Some(products_of_gradient::<P, IS_RHS>),
        reference: Some(|params, inputs, outputs, _| {
            let params: &DotParams = params.get();
            let Extents { batch, m, k, n } = P::extents(params, &inputs[1].desc.shape, &inputs[2].desc.shape);
            let ograd = Matrix::of(&inputs[0], m, n, false);
            if IS_RHS {
                let lhs = Matrix::of(&inputs[1], m, k, params.transpose_a).transposed();
                multiply(&lhs, &ograd, [batch, k, m, n], params.transpose_b, &mut outputs[0]);
            } else {
                let rhs = Matrix::of(&inputs[2], k, n, params.transpose_b).transposed();
                multiply(&ograd, &rhs, [batch, m, n, k], params.transpose_a, &mut outputs[0]);
            }
            Ok(())
        }),
        samples: || crate::families::gradients::samples_after(&define::<P>()),
        ..family::<P>(P::BACKWARD[side])
    }
}

fn products<P: Product>(call: &OpCall<'_>) -> Option<Products> {
    let params: &DotParams = call.params.get();
    let Extents { batch, m, k, n } = P::extents(params, &call.inputs[0].shape, &call.inputs[1].shape);
    Some(Products {
        batch: vec![batch],
        rows: m,
        columns: n,
        terms: k,
        left: Matrices::dense(0, [m, k], params.transpose_a),
        right: Matrices::dense(1, [k, n], params.transpose_b),
        result: Matrices::dense(0, [m, n], false),
        factor: 1.0,
    })
}

fn products_of_gradient<P: Product, const IS_RHS: bool>(call: &OpCall<'_>) -> Option<Products> {
    let params: &DotParams = call.params.get();
    let Extents { batch, m, k, n } = P::extents(params, &call.inputs[1].shape, &call.inputs[2].shape);
    let ograd = Matrices::dense(0, [m, n], false);
    let lhs = Matrices::dense(1, [m, k], params.transpose_a).transposed();
    let rhs = Matrices::dense(2, [k, n], params.transpose_b).transposed();
    let (batch, factor) = (vec![batch], 1.0);
    Some(if IS_RHS {
        let result = Matrices::dense(0, [k, n], params.transpose_b);
        Products { batch, rows: k, columns: n, terms: m, left: lhs, right: ograd, result, factor }
    } else {
        let result = Matrices::dense(0, [m, k], params.transpose_a);
        Products { batch, rows: m, columns: k, terms: n, left: ograd, right: rhs, result, factor }
    })
}

/// The gradient of an operator that computes the gradient of lhs or of rhs. Its result is linear in ograd and in one of the
/// two matrices, so the gradient consists of two more products.
fn second<P: Product, const IS_RHS: bool>(scope: &mut dyn GradientScope) -> Answers {
    let (head, attrs) = (scope.out_grad(0)?, params_of(scope));
    let [ograd, lhs, rhs] = [0, 1, 2].map(|i| scope.input(i));
    let (lhs, rhs) = if IS_RHS { (lhs, head) } else { (head, rhs) };
    let by_ograd = if_wanted(scope, 0, |scope| Ok(scope.call(P::NAME, attrs.clone(), &[lhs, rhs])?[0]))?;
    // `read` is the input whose matrix the differentiated operator reads, and `name` the operator that gives the gradient of
    // that input.
    let (read, name) = if IS_RHS { (1, P::BACKWARD[0]) } else { (2, P::BACKWARD[1]) };
    let by_read = if_wanted(scope, read, |scope| Ok(scope.call(name, attrs.clone(), &[ograd, lhs, rhs])?[0]))?;
    Ok(if IS_RHS { vec![by_ograd, by_read, None] } else { vec![by_ograd, None, by_read] })
}
