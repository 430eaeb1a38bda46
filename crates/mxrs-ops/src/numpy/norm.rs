//! The norms of vectors or matrices that `numpy.linalg.norm` gives. `axis` names the axis of the vectors, or the two axes of
//! the matrices: rows and columns. Without it they are the last two axes, or the only one.
//!
//! - Of vectors: `(Σ |x|^ord)^(1/ord)` over the elements other than 0, and their number for `ord` 0.
//! - Of matrices: the root of the sum of squares for `flag` 1; for `ord` 2 and -2 the largest and the smallest singular value,
//!   or the sum of all with `flag` 2. For `ord` 1 and -1 the largest and the smallest sum of absolute values of a column, and
//!   for all other `ord` that of a row: the largest if `ord` is positive.
//! - For `flag` -2 without `axis`: the root of the sum of squares of all elements.
//!
//! Other values of `flag` change nothing. Three hidden outputs exist because MXNet's operator has them; they have no elements.
//!
//! Gradient: of several largest (or smallest) sums or singular values each gets the whole gradient. An element 0 of a vector
//! has gradient 0, where MXNet gives NaN if all elements are 0 or if `ord` is below 1.
//!
//! MXNet: `_npi_norm`; it lists no parameter. It refuses singular values of matrices with more rows than columns. Its gradient
//! of the largest or smallest sum or singular value multiplies by `ograd` twice, and that of singular values is wrong if the
//! matrices are not the last two axes. Dtypes: f32 f64 f16 bf16.

use crate::families::formula::{self, Emit, Formula, Number, Tensors};
use crate::families::indexing::for_each_index;
use crate::inference::{OP, bad_attribute, learn, learn_dim, resolve_axis};
use crate::linalg::matrix::Matrix;
use mxrs_op::param::ShapeAttr;
use mxrs_op::{OpDef, Sample, op_params};
use mxrs_types::{Error, PartialShape, Result, Shape};

op_params! {
    /// Parameters of `_npi_norm`.
    pub struct NpNormParams for "_npi_norm" {
        /// Order of the norm.
        ord: f64 = 2.0,
        /// One axis of vectors, or two axes of matrices.
        axis: Option<ShapeAttr> = None,
        /// Whether reduced axes are kept with size 1.
        keepdims: bool = false,
        /// A norm without a number: 1 for the root of the sum of squares, 2 for the sum of singular values, -2 for all elements.
        flag: i32 = -1,
    }
}

/// What a call computes, and the axes that it reduces.
enum Kind {
    /// Norms of this order over the axes.
    Order(Vec<usize>, f64),
    /// The largest or smallest sum of absolute values. The sums are over the second axis, one for each place on the first.
    Sums([usize; 2]),
    /// A singular value, or their sum, of matrices with these axes of rows and columns.
    Singular([usize; 2]),
}

impl Kind {
    fn axes(&self) -> &[usize] {
        match self {
            Self::Order(axes, _) => axes,
            Self::Sums(axes) | Self::Singular(axes) => axes,
        }
    }
}

impl NpNormParams {
    fn kind(&self, ndim: usize) -> Result<Kind> {
        if self.axis.is_none() && self.flag == -2 {
            return Ok(Kind::Order((0..ndim).collect(), 2.0));
        }
        let axes: Vec<usize> = match &self.axis {
            None => (ndim.saturating_sub(2)..ndim).collect(),
            Some(axes) => axes.iter().map(|axis| resolve_axis(*axis, ndim, "data")).collect::<Result<_>>()?,
        };
        let refuse = |name: &str, expected: &str, got: String| Err(bad_attribute("_npi_norm", name, expected, got));
        match axes[..] {
            [] if self.axis.is_none() => Err(Error::shape(OP, "data", "at least one axis", Shape::scalar())),
            [_] if self.flag == 2 => refuse("flag", "two axes for singular values", "2".into()),
            [_] if !self.ord.is_finite() => refuse("ord", "a finite number for vectors", self.ord.to_string()),
            [axis] => Ok(Kind::Order(vec![axis], self.ord)),
            [rows, columns] if rows != columns => Ok(match self.ord.abs() {
                _ if self.flag == 1 => Kind::Order(vec![rows, columns], 2.0),
                2.0 => Kind::Singular([rows, columns]),
                1.0 => Kind::Sums([columns, rows]),
                _ => Kind::Sums([rows, columns]),
            }),
            _ => {
                let got = self.axis.as_ref().map_or("None".into(), ShapeAttr::to_text);
                refuse("axis", "one axis, two different axes or None", got)
            }
        }
    }

    /// The largest or the smallest of these numbers, or NaN if one of them is NaN; 0 of no numbers.
    fn best(&self, numbers: impl Iterator<Item = f64>) -> f64 {
        let better = |a: f64, b: f64| if self.ord > 0.0 { a > b } else { a < b };
        numbers.reduce(|a, b| if better(b, a) || b.is_nan() { b } else { a }).unwrap_or(0.0)
    }

    /// The sum of the chosen values: the largest or the smallest of all, each of the equal ones once. The result is one of them.
    fn chosen<T: Number>(&self, values: &[T]) -> T {
        let best = self.best(values.iter().map(|value| value.value()));
        let equal = values.iter().filter(|value| value.value() == best);
        equal.fold(T::of(0.0), |sum, value| sum + *value).apply(best, 1.0)
    }

    /// A singular value of the matrix, or the sum of all. With singular vectors u and v the value is `Σ u[i] · x[i, j] · v[j]`,
    /// and its derivative is `u[i] · v[j]`.
    fn singular<T: Number>(&self, rows: usize, columns: usize, x: impl Fn(usize, usize) -> T) -> T {
        let is_tall = rows > columns;
        let (m, n) = if is_tall { (columns, rows) } else { (rows, columns) };
        let element = |at: usize| if is_tall { x(at % n, at / n) } else { x(at / n, at % n) };
        let elements: Vec<T> = (0..m * n).map(element).collect();
        let (u, values, v) = Matrix::by(m, n, |i, j| elements[i * n + j].value()).svd();
        let best = self.best(values.iter().copied());
        let chosen: Vec<usize> = (0..m).filter(|k| self.flag == 2 || values[*k] == best).collect();
        let result: f64 = if self.flag == 2 { values.iter().sum() } else { best };
        // One term for each element. A term for each element and singular value would fill the memory with a tape.
        let weight = |at: usize| chosen.iter().map(|k| u.at(at / n, *k) * v.at(*k, at % n)).sum::<f64>();
        let terms = elements.iter().enumerate().map(|(at, x)| *x * T::of(weight(at)));
        terms.fold(T::of(0.0), |sum, term| sum + term).apply(result, 1.0)
    }
}

/// `(Σ |x|^ord)^(1/ord)` over the elements other than 0; their number if the order is 0.
fn of_order<T: Number>(elements: &[T], ord: f64) -> T {
    let power = |x: T, p: f64| x.apply(x.value().powf(p), p * x.value().powf(p - 1.0));
    let others = elements.iter().filter(|x| x.value() != 0.0);
    if ord == 0.0 {
        return T::of(others.count() as f64);
    }
    let sum = others.fold(T::of(0.0), |sum, x| sum + power(x.abs(), ord));
    if sum.value() == 0.0 { sum } else { power(sum, 1.0 / ord) }
}

struct Norm;

impl Formula for Norm {
    type Params = NpNormParams;
    const NAME: &'static str = "_npi_norm";
    const SUMMARY: &'static str = "norms of vectors and matrices";
    const BACKWARD: &'static str = "_backward_npi_norm";
    const OUTPUTS: &'static [&'static str] = &["output", "u", "values", "v"];
    const N_HIDDEN: usize = 3;

    fn infer_shape(params: &NpNormParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
        let ([data], [out, hidden @ ..]) = (inputs, outputs) else { return Ok(()) };
        hidden.iter_mut().try_for_each(|hidden| learn(hidden, &Shape::from([0]).into(), "output"))?;
        let Some(ndim) = data.ndim() else { return Ok(()) };
        let kind = params.kind(ndim)?;
        let is_reduced = |axis: &usize| kind.axes().contains(axis);
        let kept: Vec<usize> = (0..ndim).filter(|axis| params.keepdims || !is_reduced(axis)).collect();
        let size = |axis: &usize| if is_reduced(axis) { Some(1) } else { data.dim(*axis) };
        learn(out, &PartialShape::new(kept.iter().map(size)), "output")?;
        for (position, axis) in kept.iter().enumerate().filter(|(_, axis)| !is_reduced(axis)) {
            learn_dim(data, *axis, out.dim(position), "data")?;
        }
        Ok(())
    }

    /// Norms of no elements are 0, so they need no part.
    fn n_parts(_: &NpNormParams, inputs: &[Shape], outputs: &[Shape]) -> usize {
        if inputs[0].contains(&0) { 0 } else { outputs[0].n_elements() }
    }

    fn part<T: Number>(params: &NpNormParams, tensors: &Tensors<'_, T>, part: usize, emit: Emit<'_, T>) -> Result<()> {
        let shape = &tensors.inputs[0];
        let kind = params.kind(shape.ndim())?;
        let (strides, axes) = (shape.strides(), kind.axes());
        let (mut start, mut rest) = (0, part);
        for axis in (0..shape.ndim()).rev().filter(|axis| !axes.contains(axis)) {
            start += rest % shape[axis] * strides[axis];
            rest /= shape[axis];
        }
        let at =
            |i: usize, j: usize, axes: [usize; 2]| tensors.at(0, start + i * strides[axes[0]] + j * strides[axes[1]]);
        let result = match &kind {
            Kind::Order(axes, ord) => {
                let sizes: Vec<usize> = axes.iter().map(|axis| shape[*axis]).collect();
                let mut elements = Vec::new();
                for_each_index(&sizes, |index| {
                    let steps = index.iter().zip(axes).map(|(i, axis)| i * strides[*axis]);
                    elements.push(tensors.at(0, start + steps.sum::<usize>()));
                });
                of_order(&elements, *ord)
            }
            Kind::Sums(axes) => {
                let sum = |i: usize| {
                    let elements = (0..shape[axes[1]]).map(|j| at(i, j, *axes));
                    elements.fold(T::of(0.0), |sum, x| sum + x.abs())
                };
                params.chosen(&(0..shape[axes[0]]).map(sum).collect::<Vec<T>>())
            }
            Kind::Singular(axes) => params.singular(shape[axes[0]], shape[axes[1]], |i, j| at(i, j, *axes)),
        };
        emit(0, part, result);
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        vec![
            Sample::plain("spectral", &[&[2, 3]]),
            Sample::plain("vector", &[&[5]]),
            Sample::new("all", [("flag", "-2")], &[&[2, 3, 2]]),
            Sample::new("all_kept", [("flag", "-2"), ("keepdims", "True")], &[&[3, 4]]),
            Sample::new("rows", [("axis", "(-1,)"), ("ord", "3")], &[&[2, 3, 4]]),
            Sample::new("absolute", [("axis", "(0,)"), ("ord", "1"), ("keepdims", "True")], &[&[4, 3]]),
            Sample::new("number", [("axis", "(1,)"), ("ord", "0")], &[&[2, 3]]),
            Sample::new("squares", [("axis", "(0, 2)"), ("flag", "1")], &[&[2, 3, 4]]),
            Sample::new("sums_of_columns", [("axis", "(2, 0)"), ("ord", "1")], &[&[3, 2, 4]]),
            Sample::new("sums_of_rows", [("ord", "-3")], &[&[2, 3, 4]]),
            Sample::new("smallest", [("ord", "-2"), ("axis", "(0, 1)")], &[&[4, 3]]),
            Sample::new("nuclear", [("flag", "2"), ("axis", "(1, 0)"), ("keepdims", "True")], &[&[2, 3, 2]]),
            Sample::new("empty", [("axis", "(1,)")], &[&[0, 3]]),
            Sample::new("no_terms", [("axis", "(1,)")], &[&[2, 0]]),
        ]
    }
}

/// Defines the operator `_npi_norm`.
pub fn define() -> OpDef {
    formula::define::<Norm>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_op::Attrs;

    #[test]
    fn impossible_norms_are_refused() {
        let op = define();
        for (attrs, ndim) in [
            (&[][..], 0),
            (&[("flag", "2")], 1),
            (&[("ord", "inf")], 1),
            (&[("axis", "()")], 2),
            (&[("axis", "(1, -1)")], 2),
            (&[("axis", "(0, 1, 2)")], 3),
            (&[("axis", "(2,)")], 2),
        ] {
            let attrs: Attrs = attrs.iter().copied().collect();
            let params = op.parse(&attrs).unwrap();
            let mut inputs = [PartialShape::new(vec![Some(2); ndim])];
            let mut outputs = vec![PartialShape::unknown(); 4];
            assert!(op.infer_shapes(&params, &mut inputs, &mut outputs).is_err(), "{attrs:?}");
        }
    }
}
