//! NumPy's products: `_np_dot` (inner products, matrices with vectors, the last axis of a with the second last of b, or a
//! product with a scalar), `_npi_matmul` (matrices in batches that broadcast) and `_npi_tensordot_int_axes` (the last `axes`
//! axes of a with the first of b).
//!
//! Gradient: of both inputs.
//!
//! Dtypes: f32 f64 f16 bf16.

use crate::families::formula::{self, Emit, Formula, Number, Tensors};
use crate::inference::{OP, bad_attribute, learn};
use mxrs_op::param::NoParams;
use mxrs_op::{DescribeProducts, Matrices, OpDef, Products, Sample, op_params};
use mxrs_types::{Error, PartialShape, Result, Shape};

op_params! {
    /// Parameters of `_npi_tensordot_int_axes`.
    pub struct TensordotParams for "_npi_tensordot_int_axes" {
        /// Number of axes to sum over.
        axes: i32,
    }
}

/// Functions that define the operators.
pub const DEFINITIONS: &[fn() -> OpDef] =
    &[formula::define::<Dot>, formula::define::<MatMul>, formula::define::<Tensordot>];

/// A product as sums: the sizes of the result, the number of terms, and, for each input, the strides of the axes of the
/// result and of the terms.
pub(super) struct Sums {
    pub(super) out: Vec<usize>,
    pub(super) n_terms: usize,
    pub(super) strides: [Vec<usize>; 2],
    pub(super) steps: [usize; 2],
}

/// Several axes of the result that together form the rows or the columns of a matrix.
struct Merged {
    size: usize,
    stride: usize,
}

impl Merged {
    /// Removes axes from the end of the list and merges them. It stops at an axis that the other input has too, or that does
    /// not continue the axis before it in memory.
    fn take(axes: &mut Vec<[usize; 3]>, mine: usize) -> Self {
        let mut merged = Self { size: 1, stride: 0 };
        while let Some(axis) = axes.last() {
            let ([size, stride], other) = ([axis[0], axis[1 + mine]], axis[2 - mine]);
            let fits = merged.size == 1 || merged.size.checked_mul(merged.stride) == Some(stride);
            if other != 0 && size != 1 || !fits {
                break;
            }
            merged = Self { size: merged.size * size, stride: if merged.size == 1 { stride } else { merged.stride } };
            axes.pop();
        }
        merged
    }
}

impl Sums {
    /// The sums as products of matrices: the last axes of b are columns, the axes before them are rows of a, and the others
    /// are the batch.
    pub(super) fn products(&self) -> Products {
        let mut axes: Vec<[usize; 3]> =
            (0..self.out.len()).map(|axis| [self.out[axis], self.strides[0][axis], self.strides[1][axis]]).collect();
        let columns = Merged::take(&mut axes, 1);
        let rows = Merged::take(&mut axes, 0);
        let batch: Vec<usize> = axes.iter().map(|axis| axis[0]).collect();
        let matrix = rows.size * columns.size;
        let distances: Vec<usize> =
            (0..batch.len()).map(|axis| batch[axis + 1..].iter().product::<usize>() * matrix).collect();
        let of = |tensor: usize| axes.iter().map(|axis| axis[1 + tensor]).collect();
        Products {
            batch,
            rows: rows.size,
            columns: columns.size,
            terms: self.n_terms,
            left: Matrices { tensor: 0, start: 0, batch: of(0), row: rows.stride, column: self.steps[0] },
            right: Matrices { tensor: 1, start: 0, batch: of(1), row: self.steps[1], column: columns.stride },
            result: Matrices { tensor: 0, start: 0, batch: distances, row: columns.size, column: 1 },
            factor: 1.0,
        }
    }

    /// Element `part` of the result.
    fn element<T: Number>(&self, tensors: &Tensors<'_, T>, part: usize) -> T {
        let mut starts = [0, 0];
        let mut rest = part;
        for axis in (0..self.out.len()).rev() {
            let index = rest % self.out[axis];
            rest /= self.out[axis];
            for (start, strides) in starts.iter_mut().zip(&self.strides) {
                *start += index * strides[axis];
            }
        }
        (0..self.n_terms).fold(T::of(0.0), |sum, k| {
            sum + tensors.at(0, starts[0] + k * self.steps[0]) * tensors.at(1, starts[1] + k * self.steps[1])
        })
    }
}

/// The product over the last `n` axes of a and the first `n` axes of b; the summed axes of each count as one.
fn over_ends(a: &Shape, b: &Shape, n: usize) -> Result<Sums> {
    let (of_a, of_b) = (a.len().checked_sub(n), b.len().checked_sub(n));
    match of_a.zip(of_b) {
        Some((outer, _)) if a[outer..] == b[..n] => {
            let n_terms = b[..n].iter().product();
            let inner: usize = b[n..].iter().product();
            let (left, right) = (a.strides(), b.strides());
            Ok(Sums {
                out: [&a[..outer], &b[n..]].concat(),
                n_terms,
                strides: [
                    left[..outer].iter().copied().chain(vec![0; b.len() - n]).collect(),
                    vec![0; outer].into_iter().chain(right[n..].iter().copied()).collect(),
                ],
                steps: [1, inner],
            })
        }
        _ => Err(Error::shape(OP, "b", format!("the last {n} sizes of {a} as the first sizes"), b)),
    }
}

/// The product of the last axis of a and the second last of b, or its only one.
fn over_inner(a: &Shape, b: &Shape) -> Result<Sums> {
    let axis = b.len().saturating_sub(2);
    match (a.last(), b.get(axis)) {
        (Some(terms), Some(other)) if terms == other => {
            let (left, right) = (a.strides(), b.strides());
            let outer = a.len() - 1;
            let others: Vec<usize> = (0..b.len()).filter(|i| *i != axis).collect();
            Ok(Sums {
                out: a[..outer].iter().copied().chain(others.iter().map(|i| b[*i])).collect(),
                n_terms: *terms,
                strides: [
                    left[..outer].iter().copied().chain(vec![0; others.len()]).collect(),
                    vec![0; outer].into_iter().chain(others.iter().map(|i| right[*i])).collect(),
                ],
                steps: [1, right[axis]],
            })
        }
        _ => Err(Error::shape(OP, "b", format!("the last size of {a} on axis {axis}"), b)),
    }
}

fn dot_of(a: &Shape, b: &Shape) -> Result<Sums> {
    match (a.len(), b.len()) {
        (0, _) | (_, 0) => over_ends(a, b, 0),
        _ => over_inner(a, b),
    }
}

/// The product of matrices in batches. A vector on the left side is a matrix of one row, a vector on the right side one of
/// one column. The result does not have this axis of size 1.
fn matmul_of(a: &Shape, b: &Shape) -> Result<Sums> {
    if a.is_empty() || b.is_empty() {
        return Err(Error::shape(OP, "b", "at least one axis of each input", b));
    }
    let (n_a, n_b) = (a.len().saturating_sub(2), b.len().saturating_sub(2));
    let (terms, inner) = (a[a.len() - 1], b[b.len().saturating_sub(2)]);
    let wrong = || Error::shape(OP, "b", format!("matrices that {a} can be multiplied with"), b);
    if terms != inner {
        return Err(wrong());
    }
    let n_batch = n_a.max(n_b);
    let (left, right) = (a.strides(), b.strides());
    let mut sums = Sums {
        out: Vec::new(),
        n_terms: terms,
        strides: [Vec::new(), Vec::new()],
        steps: [1, right[b.len().saturating_sub(2)]],
    };
    for axis in 0..n_batch {
        let of = |shape: &Shape, strides: &[usize], n: usize| match (axis + n).checked_sub(n_batch) {
            Some(own) if shape[own] != 1 => (shape[own], strides[own]),
            _ => (1, 0),
        };
        let ((size_a, stride_a), (size_b, stride_b)) = (of(a, &left, n_a), of(b, &right, n_b));
        if size_a != size_b && size_a != 1 && size_b != 1 {
            return Err(wrong());
        }
        sums.out.push(if size_a == 1 { size_b } else { size_a });
        sums.strides[0].push(stride_a);
        sums.strides[1].push(stride_b);
    }
    if a.len() > 1 {
        sums.out.push(a[a.len() - 2]);
        sums.strides[0].push(left[a.len() - 2]);
        sums.strides[1].push(0);
    }
    if b.len() > 1 {
        sums.out.push(b[b.len() - 1]);
        sums.strides[0].push(0);
        sums.strides[1].push(right[b.len() - 1]);
    }
    Ok(sums)
}

/// Infers the shape of the result, if both inputs are known.
fn infer(inputs: &[PartialShape], out: &mut PartialShape, sums: impl Fn(&Shape, &Shape) -> Result<Sums>) -> Result<()> {
    let [a, b] = inputs else { return Ok(()) };
    let (Some(a), Some(b)) = (a.known(), b.known()) else { return Ok(()) };
    learn(out, &PartialShape::new(sums(&a, &b)?.out.into_iter().map(Some)), "output")
}

macro_rules! products {
    ($($type:ident($params:ident) $name:literal $summary:literal ($p:ident, $a:ident, $b:ident) =
        $sums:expr, $samples:expr;)*) => {
        $(struct $type;

        impl Formula for $type {
            type Params = $params;
            const NAME: &'static str = $name;
            const SUMMARY: &'static str = $summary;
            const BACKWARD: &'static str = concat!("_backward", $name);
            const INPUTS: &'static [&'static str] = &["a", "b"];
            const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "a", "b"];
            const DIFFERENTIATED: &'static [usize] = &[0, 1];

            const PRODUCTS: Option<DescribeProducts> = Some(|call| {
                let $p: &$params = call.params.get();
                let _ = $p;
                let ($a, $b) = (&call.inputs[0].shape, &call.inputs[1].shape);
                let sums: Result<Sums> = $sums;
                Some(sums.ok()?.products())
            });

            fn infer_shape($p: &$params, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
                let _ = $p;
                infer(inputs, &mut outputs[0], |$a, $b| $sums)
            }
            fn part<T: Number>($p: &$params, tensors: &Tensors<'_, T>, part: usize, emit: Emit<'_, T>) -> Result<()> {
                let _ = $p;
                let ($a, $b) = (&tensors.inputs[0], &tensors.inputs[1]);
                let sums: Result<Sums> = $sums;
                emit(0, part, sums?.element(tensors, part));
                Ok(())
            }
            fn samples() -> Vec<Sample> {
                $samples
            }
        })*
    };
}

products! {
    Dot(NoParams) "_np_dot" "products of matrices, vectors and scalars" (_p, a, b) = dot_of(a, b), vec![
        Sample::plain("matrices", &[&[3, 4], &[4, 2]]),
        Sample::plain("vectors", &[&[4], &[4]]),
        Sample::plain("vector", &[&[2, 3, 4], &[4]]),
        Sample::plain("scalar", &[&[], &[2, 3]]),
        Sample::plain("more_axes", &[&[2, 3], &[2, 3, 2]]),
        Sample::plain("empty", &[&[0, 3], &[3, 2]]),
    ];
    MatMul(NoParams) "_npi_matmul" "products of matrices in batches" (_p, a, b) = matmul_of(a, b), vec![
        Sample::plain("matrices", &[&[3, 4], &[4, 2]]),
        Sample::plain("batches", &[&[2, 1, 3, 4], &[3, 4, 2]]),
        Sample::plain("row", &[&[4], &[2, 4, 3]]),
        Sample::plain("column", &[&[2, 3, 4], &[4]]),
        Sample::plain("vectors", &[&[4], &[4]]),
        Sample::plain("empty", &[&[0, 3, 2], &[2, 4]]),
    ];
    Tensordot(TensordotParams) "_npi_tensordot_int_axes" "product over the last and the first axes" (p, a, b) = {
        match usize::try_from(p.axes) {
            Ok(n) => over_ends(a, b, n),
            Err(_) => Err(bad_attribute("_npi_tensordot_int_axes", "axes", "no negative number", p.axes)),
        }
    }, vec![
        Sample::new("one", [("axes", "1")], &[&[3, 4], &[4, 2]]),
        Sample::new("two", [("axes", "2")], &[&[2, 3, 4], &[3, 4, 2]]),
        Sample::new("outer", [("axes", "0")], &[&[2], &[3]]),
        Sample::new("empty", [("axes", "1")], &[&[0, 3], &[3, 2]]),
    ];
}
