//! Products of matrices in batches, the last two axes of tensors: `_linalg_gemm` (`alpha op(A) op(B) + beta C`),
//! `_linalg_gemm2` (`alpha op(A) op(B)`), `_linalg_syrk` (`alpha A Aᵀ`, or `alpha Aᵀ A`) and `_linalg_trmm`
//! (`alpha op(A) B`, or `alpha B op(A)`, where A is triangular). `op` transposes its matrix if the parameter for it is set.
//!
//! All inputs have a gradient. In `_linalg_trmm`, only the elements of A's triangle have one.
//!
//! MXNet: also `linalg_gemm` and so on. Dtypes: f32 f64.

use crate::families::formula::{self, Emit, Formula, Number, Tensors};
use crate::families::matrices::{LINALG, require_axes, require_square, sizes, unify_batch, with_last};
use crate::inference::{OP, bad_attribute, learn, learn_dim, resolve_axis, unify};
use mxrs_op::{DescribeProducts, Matrices, OpCall, OpDef, Products, Sample, op_params};
use mxrs_types::{DType, Error, PartialShape, Result, Shape};

op_params! {
    /// Parameters of `_linalg_gemm`.
    pub struct GemmParams for "_linalg_gemm" {
        /// Whether A is transposed.
        transpose_a: bool = false,
        /// Whether B is transposed.
        transpose_b: bool = false,
        /// Factor of the product.
        alpha: f64 = 1.0,
        /// Factor of C.
        beta: f64 = 1.0,
        /// The axis of the rows of matrices; the last axis is that of their columns.
        axis: i32 = -2,
    }
}

op_params! {
    /// Parameters of `_linalg_gemm2`.
    pub struct Gemm2Params for "_linalg_gemm2" {
        /// Whether A is transposed.
        transpose_a: bool = false,
        /// Whether B is transposed.
        transpose_b: bool = false,
        /// Factor of the product.
        alpha: f64 = 1.0,
        /// The axis of the rows of matrices; the last axis is that of their columns.
        axis: i32 = -2,
    }
}

op_params! {
    /// Parameters of `_linalg_syrk`.
    pub struct SyrkParams for "_linalg_syrk" {
        /// Whether the product is `Aᵀ A` instead of `A Aᵀ`.
        transpose: bool = false,
        /// Factor of the product.
        alpha: f64 = 1.0,
    }
}

op_params! {
    /// Parameters of `_linalg_trmm` and `_linalg_trsm`.
    pub struct TriangleParams for "_linalg_trmm" {
        /// Whether A is transposed.
        transpose: bool = false,
        /// Whether A is the right factor.
        rightside: bool = false,
        /// Whether A is a lower triangle.
        lower: bool = true,
        /// Factor of the product.
        alpha: f64 = 1.0,
    }
}

/// Functions that define the operators.
pub const DEFINITIONS: &[fn() -> OpDef] =
    &[formula::define::<Gemm>, formula::define::<Gemm2>, formula::define::<Syrk>, formula::define::<Trmm>];

/// Sizes and strides of the matrices in one tensor of a product.
struct View {
    rows: usize,
    columns: usize,
    row_stride: usize,
    /// Product of the sizes between the rows and the columns, which are batch axes too.
    between: usize,
}

impl View {
    /// The view of a tensor whose matrices have their rows along `axis` and their columns along the last axis.
    fn new(shape: &Shape, axis: i32) -> Result<Self> {
        let (ndim, axis) = (shape.ndim(), resolve_axis(i64::from(axis), shape.ndim(), "A")?);
        let between = shape[axis + 1..ndim - 1].iter().product::<usize>();
        let columns = shape[ndim - 1];
        Ok(Self { rows: shape[axis], columns, row_stride: between * columns, between })
    }

    /// The matrices of input or output number `tensor`.
    fn matrices(&self, tensor: usize) -> Matrices {
        let batch = vec![self.rows * self.row_stride, self.columns];
        Matrices { tensor, start: 0, batch, row: self.row_stride, column: 1 }
    }

    /// The position of an element of matrix number `batch`.
    fn at(&self, batch: usize, row: usize, column: usize) -> usize {
        let between = self.between.max(1);
        (batch / between * self.rows + row) * self.row_stride + batch % between * self.columns + column
    }
}

/// Infers the shapes of a product of matrices with rows on an axis.
fn infer_product(
    axis: i32,
    [transpose_a, transpose_b]: [bool; 2],
    inputs: &mut [PartialShape],
    out: &mut PartialShape,
) -> Result<()> {
    let [a, b, c @ ..] = inputs else { return Ok(()) };
    for shape in [&*a, &*b, &*out] {
        require_axes(shape, 2, "A")?;
    }
    c.iter_mut().try_for_each(|c| unify(c, out, "C"))?;
    let Some(ndim) = a.ndim().or(b.ndim()).or(out.ndim()) else { return Ok(()) };
    let row = resolve_axis(i64::from(axis), ndim, "A")?;
    if row + 1 == ndim {
        return Err(bad_attribute("_linalg_gemm", "axis", "an axis before the last", axis));
    }
    for shape in [&mut *a, &mut *b, &mut *out] {
        learn(shape, &PartialShape::of_rank(ndim), "B")?;
    }
    let others = |shape: &PartialShape| {
        PartialShape::new((0..ndim).map(|axis| if axis == row || axis + 1 == ndim { None } else { shape.dim(axis) }))
    };
    for _ in 0..2 {
        let all = [others(a), others(b), others(out)];
        for shape in [&mut *a, &mut *b, &mut *out] {
            all.iter().try_for_each(|known| learn(shape, known, "B"))?;
        }
    }
    // For A, the axis that becomes the rows of the product and the axis of the sum; for B, the axis of the sum and the
    // columns.
    let (a_rows, a_inner) = if transpose_a { (ndim - 1, row) } else { (row, ndim - 1) };
    let (b_inner, b_columns) = if transpose_b { (ndim - 1, row) } else { (row, ndim - 1) };
    learn_dim(out, row, a.dim(a_rows), "output")?;
    learn_dim(out, ndim - 1, b.dim(b_columns), "output")?;
    learn_dim(a, a_rows, out.dim(row), "A")?;
    learn_dim(b, b_columns, out.dim(ndim - 1), "B")?;
    learn_dim(b, b_inner, a.dim(a_inner), "B")?;
    learn_dim(a, a_inner, b.dim(b_inner), "A")?;
    c.iter_mut().try_for_each(|c| unify(c, out, "C"))
}

/// Element `part` of a product, and its position.
fn product<T: Number>(
    axis: i32,
    [transpose_a, transpose_b]: [bool; 2],
    tensors: &Tensors<'_, T>,
    part: usize,
) -> Result<(T, usize)> {
    let [a, b] = [View::new(&tensors.inputs[0], axis)?, View::new(&tensors.inputs[1], axis)?];
    let out = View::new(&tensors.outputs[0], axis)?;
    let (batch, i, j) = (part / (out.rows * out.columns), part / out.columns % out.rows, part % out.columns);
    let terms = if transpose_a { a.rows } else { a.columns };
    let sum = (0..terms).fold(T::of(0.0), |sum, k| {
        let from_a = if transpose_a { a.at(batch, k, i) } else { a.at(batch, i, k) };
        let from_b = if transpose_b { b.at(batch, j, k) } else { b.at(batch, k, j) };
        sum + tensors.at(0, from_a) * tensors.at(1, from_b)
    });
    Ok((sum, out.at(batch, i, j)))
}

struct Gemm;

impl Formula for Gemm {
    type Params = GemmParams;
    const NAME: &'static str = "_linalg_gemm";
    const ALIASES: &'static [&'static str] = &["linalg_gemm"];
    const SUMMARY: &'static str = "alpha op(A) op(B) + beta C";
    const BACKWARD: &'static str = "_backward_linalg_gemm";
    const INPUTS: &'static [&'static str] = &["A", "B", "C"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "A", "B", "C"];
    const DIFFERENTIATED: &'static [usize] = &[0, 1, 2];
    const IGNORED_IN_BACKWARD: &'static [usize] = &[3];
    const DTYPES: &'static [DType] = LINALG;

    fn infer_shape(params: &GemmParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        infer_product(params.axis, [params.transpose_a, params.transpose_b], inputs, &mut outputs[0])
    }

    fn part<T: Number>(params: &GemmParams, tensors: &Tensors<'_, T>, part: usize, emit: Emit<'_, T>) -> Result<()> {
        let (sum, at) = product(params.axis, [params.transpose_a, params.transpose_b], tensors, part)?;
        emit(0, at, T::of(params.alpha) * sum + T::of(params.beta) * tensors.at(2, at));
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        let a = ("transpose_a", "True");
        vec![
            Sample::plain("matrices", &[&[3, 4], &[4, 2], &[3, 2]]),
            Sample::new("factors", [("alpha", "2"), ("beta", "-0.5"), a], &[&[2, 4, 3], &[2, 4, 2], &[2, 3, 2]]),
            Sample::new("axis", [("axis", "0"), ("transpose_b", "True")], &[&[3, 2, 4], &[2, 2, 4], &[3, 2, 2]]),
            Sample::plain("empty", &[&[0, 3, 4], &[0, 4, 2], &[0, 3, 2]]),
        ]
    }
}

/// Describes a call of `_linalg_gemm2` as products of matrices, which backends have fast kernels for.
fn describe(call: &OpCall<'_>) -> Option<Products> {
    let params: &Gemm2Params = call.params.get();
    let view = |shape: &Shape| View::new(shape, params.axis).ok();
    let (a, b) = (view(&call.inputs[0].shape)?, view(&call.inputs[1].shape)?);
    let out = view(&call.outputs[0].shape)?;
    let shape = &call.outputs[0].shape;
    let outer = shape.n_elements().checked_div(out.rows * out.row_stride)?;
    let (left, right) = (a.matrices(0), b.matrices(1));
    Some(Products {
        batch: vec![outer, out.between],
        rows: out.rows,
        columns: out.columns,
        terms: if params.transpose_a { a.rows } else { a.columns },
        left: if params.transpose_a { left.transposed() } else { left },
        right: if params.transpose_b { right.transposed() } else { right },
        result: out.matrices(0),
        factor: params.alpha,
    })
}

struct Gemm2;

impl Formula for Gemm2 {
    type Params = Gemm2Params;
    const NAME: &'static str = "_linalg_gemm2";
    const ALIASES: &'static [&'static str] = &["linalg_gemm2"];
    const SUMMARY: &'static str = "alpha op(A) op(B)";
    const BACKWARD: &'static str = "_backward_linalg_gemm2";
    const PRODUCTS: Option<DescribeProducts> = Some(describe);
    const INPUTS: &'static [&'static str] = &["A", "B"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "A", "B"];
    const DIFFERENTIATED: &'static [usize] = &[0, 1];
    const DTYPES: &'static [DType] = LINALG;

    fn infer_shape(params: &Gemm2Params, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        infer_product(params.axis, [params.transpose_a, params.transpose_b], inputs, &mut outputs[0])
    }

    fn part<T: Number>(params: &Gemm2Params, tensors: &Tensors<'_, T>, part: usize, emit: Emit<'_, T>) -> Result<()> {
        let (sum, at) = product(params.axis, [params.transpose_a, params.transpose_b], tensors, part)?;
        emit(0, at, T::of(params.alpha) * sum);
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        let (a, b) = (("transpose_a", "True"), ("transpose_b", "True"));
        vec![
            Sample::plain("matrices", &[&[3, 4], &[4, 2]]),
            Sample::new("transposed", [a, b, ("alpha", "0.5")], &[&[2, 4, 3], &[2, 2, 4]]),
            Sample::new("axis", [("axis", "1"), b], &[&[2, 3, 2, 4], &[2, 2, 2, 4]]),
            Sample::plain("empty", &[&[0, 3, 4], &[0, 4, 2]]),
        ]
    }
}

struct Syrk;

impl Formula for Syrk {
    type Params = SyrkParams;
    const NAME: &'static str = "_linalg_syrk";
    const ALIASES: &'static [&'static str] = &["linalg_syrk"];
    const SUMMARY: &'static str = "alpha A Aᵀ, or alpha Aᵀ A";
    const BACKWARD: &'static str = "_backward_linalg_syrk";
    const INPUTS: &'static [&'static str] = &["A"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "A"];
    const DTYPES: &'static [DType] = LINALG;

    fn infer_shape(params: &SyrkParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let ([a], [out]) = (inputs, outputs) else { return Ok(()) };
        require_axes(a, 2, "A")?;
        require_square(out, "output")?;
        unify_batch(a, out, 2, "output")?;
        let Some(ndim) = a.ndim() else { return Ok(()) };
        let axis = if params.transpose { ndim - 1 } else { ndim - 2 };
        let n = a.dim(axis);
        learn(out, &with_last(a, 2, &[n, n]), "output")?;
        learn_dim(a, axis, out.dim(ndim - 1), "A")
    }

    fn part<T: Number>(params: &SyrkParams, tensors: &Tensors<'_, T>, part: usize, emit: Emit<'_, T>) -> Result<()> {
        let [_, rows, columns] = sizes(&tensors.inputs[0]);
        let (n, terms) = if params.transpose { (columns, rows) } else { (rows, columns) };
        let (batch, i, j) = (part / (n * n), part / n % n, part % n);
        let element = |i: usize, k: usize| {
            let (row, column) = if params.transpose { (k, i) } else { (i, k) };
            tensors.at(0, (batch * rows + row) * columns + column)
        };
        let sum = (0..terms).fold(T::of(0.0), |sum, k| sum + element(i, k) * element(j, k));
        emit(0, part, T::of(params.alpha) * sum);
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        vec![
            Sample::plain("matrix", &[&[3, 4]]),
            Sample::new("transposed", [("transpose", "True"), ("alpha", "2")], &[&[2, 3, 2]]),
            Sample::plain("one", &[&[1, 1]]),
            Sample::plain("empty", &[&[0, 3, 2]]),
        ]
    }
}

/// Infers the shapes of a triangle A, another matrix B, and a result of B's shape.
pub(super) fn infer_triangle(
    params: &TriangleParams,
    inputs: &mut [PartialShape],
    out: &mut PartialShape,
) -> Result<()> {
    let [a, b] = inputs else { return Ok(()) };
    require_square(a, "A")?;
    require_axes(b, 2, "B")?;
    unify(b, out, "output")?;
    require_axes(b, 2, "B")?;
    unify_batch(a, b, 2, "B")?;
    let (Some(of_a), Some(of_b)) = (a.ndim(), b.ndim()) else { return Ok(()) };
    if of_a != of_b {
        return Err(Error::shape(OP, "B", format!("{of_a} axes"), &*b));
    }
    let side = if params.rightside { of_b - 1 } else { of_b - 2 };
    learn_dim(b, side, a.dim(of_a - 1), "B")?;
    learn_dim(out, side, a.dim(of_a - 1), "output")?;
    for axis in [of_a - 1, of_a - 2] {
        learn_dim(a, axis, b.dim(side), "A")?;
    }
    Ok(())
}

/// Samples of a triangle and another matrix.
pub(super) fn samples_of_triangles() -> Vec<Sample> {
    let (right, upper, across) = (("rightside", "True"), ("lower", "False"), ("transpose", "True"));
    // The elements of the diagonal are not close to 0, so that a system with this triangle can be solved accurately.
    let of = |sample: Sample| sample.fill(0, mxrs_op::Fill::Uniform(0.5, 2.0));
    vec![
        of(Sample::plain("left", &[&[3, 3], &[3, 2]])),
        of(Sample::new("right", [right, ("alpha", "2")], &[&[2, 2, 2], &[2, 3, 2]])),
        of(Sample::new("upper", [upper, across], &[&[3, 3], &[3, 2]])),
        of(Sample::new("right_upper", [right, upper], &[&[2, 2], &[3, 2]])),
        of(Sample::new("transposed", [right, across], &[&[2, 2], &[3, 2]])),
        Sample::plain("empty", &[&[0, 2, 2], &[0, 2, 3]]),
    ]
}

struct Trmm;

impl Formula for Trmm {
    type Params = TriangleParams;
    const NAME: &'static str = "_linalg_trmm";
    const ALIASES: &'static [&'static str] = &["linalg_trmm"];
    const SUMMARY: &'static str = "product with a triangular matrix";
    const BACKWARD: &'static str = "_backward_linalg_trmm";
    const INPUTS: &'static [&'static str] = &["A", "B"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "A", "B"];
    const DIFFERENTIATED: &'static [usize] = &[0, 1];
    const DTYPES: &'static [DType] = LINALG;

    fn infer_shape(params: &TriangleParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        infer_triangle(params, inputs, &mut outputs[0])
    }

    fn part<T: Number>(
        params: &TriangleParams,
        tensors: &Tensors<'_, T>,
        part: usize,
        emit: Emit<'_, T>,
    ) -> Result<()> {
        let [_, rows, columns] = sizes(&tensors.outputs[0]);
        let n = if params.rightside { columns } else { rows };
        let (batch, i, j) = (part / (rows * columns), part / columns % rows, part % columns);
        let mut sum = T::of(0.0);
        for k in 0..n {
            // The element of op(A): (i, k) on the left side, (k, j) on the right side.
            let (row, column) = if params.rightside { (k, j) } else { (i, k) };
            let (row, column) = if params.transpose { (column, row) } else { (row, column) };
            if (params.lower && column > row) || (!params.lower && column < row) {
                continue;
            }
            let of_b = if params.rightside { (i, k) } else { (k, j) };
            let b = tensors.at(1, (batch * rows + of_b.0) * columns + of_b.1);
            sum = sum + tensors.at(0, (batch * n + row) * n + column) * b;
        }
        emit(0, part, T::of(params.alpha) * sum);
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        samples_of_triangles()
    }
}
