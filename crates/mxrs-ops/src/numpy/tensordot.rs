//! The product of two tensors over chosen axes: axis `a_axes_summed[i]` of a is summed together with axis `b_axes_summed[i]` of
//! b. The other axes of a, then those of b, are the axes of the result. If one tensor is a scalar, it multiplies the other, and
//! the axes are not read.
//!
//! Gradient: of both inputs.
//!
//! MXNet: `_npi_tensordot`, only in float32 and float64. Dtypes: f32 f64 f16 bf16.

use super::products;
use crate::families::formula::{self, Emit, Formula, Number, Tensors};
use crate::families::indexing::for_each_index;
use crate::inference::{OP, bad_attribute, learn, resolve_axis};
use mxrs_op::param::ShapeAttr;
use mxrs_op::{DescribeProducts, OpDef, Sample, op_params};
use mxrs_types::{Error, PartialShape, Result, Shape};

op_params! {
    /// Parameters of `_npi_tensordot`.
    pub struct TensordotAxesParams for "_npi_tensordot" {
        /// Axes of a to sum over; negative axes count from the end.
        a_axes_summed: ShapeAttr,
        /// The axes of b that are summed with them, in the same order.
        b_axes_summed: ShapeAttr,
    }
}

/// Reads axes that must be different.
fn distinct(axes: &[i64], shape: &Shape, arg: &str, name: &str) -> Result<Vec<usize>> {
    let mut found = Vec::new();
    for axis in axes {
        let resolved = resolve_axis(*axis, shape.ndim(), arg)?;
        if found.contains(&resolved) {
            return Err(bad_attribute("_npi_tensordot", name, "each axis once", axis));
        }
        found.push(resolved);
    }
    Ok(found)
}

/// A product as sums: the sizes of the result, the strides of each input along the axes of the result, and the size and both
/// strides of each axis that is summed.
struct Sums {
    out: Vec<usize>,
    strides: [Vec<usize>; 2],
    summed: Vec<[usize; 3]>,
}

impl Sums {
    fn new(params: &TensordotAxesParams, a: &Shape, b: &Shape) -> Result<Self> {
        let [of_a, of_b] = match a.is_empty() || b.is_empty() {
            true => [Vec::new(), Vec::new()],
            false => [
                distinct(&params.a_axes_summed, a, "a", "a_axes_summed")?,
                distinct(&params.b_axes_summed, b, "b", "b_axes_summed")?,
            ],
        };
        if of_a.len() != of_b.len() {
            let expected = format!("as many axes as a_axes_summed ({})", of_a.len());
            return Err(bad_attribute("_npi_tensordot", "b_axes_summed", expected, params.b_axes_summed.to_text()));
        }
        let (left, right) = (a.strides(), b.strides());
        let mut summed = Vec::with_capacity(of_a.len());
        for (i, k) in of_a.iter().zip(&of_b) {
            if a[*i] != b[*k] {
                return Err(Error::shape(OP, "b", format!("{} elements on axis {k}, as axis {i} of a", a[*i]), b));
            }
            summed.push([a[*i], left[*i], right[*k]]);
        }
        let kept = |shape: &Shape, axes: &[usize]| (0..shape.ndim()).filter(|i| !axes.contains(i)).collect::<Vec<_>>();
        let (kept_a, kept_b) = (kept(a, &of_a), kept(b, &of_b));
        Ok(Self {
            out: kept_a.iter().map(|i| a[*i]).chain(kept_b.iter().map(|k| b[*k])).collect(),
            strides: [
                kept_a.iter().map(|i| left[*i]).chain(kept_b.iter().map(|_| 0)).collect(),
                kept_a.iter().map(|_| 0).chain(kept_b.iter().map(|k| right[*k])).collect(),
            ],
            summed,
        })
    }

    /// The same sums with one summed axis, if the summed axes of both inputs follow each other in memory.
    fn merged(self) -> Option<products::Sums> {
        let mut merged = [1, 1, 1];
        for axis in self.summed.iter().rev().filter(|axis| axis[0] != 1) {
            let [size, left, right] = merged;
            merged = match size {
                1 => *axis,
                _ if axis[1] == size * left && axis[2] == size * right => [size * axis[0], left, right],
                _ => return None,
            };
        }
        let [n_terms, left, right] = merged;
        if n_terms == 0 {
            return None;
        }
        Some(products::Sums { out: self.out, n_terms, strides: self.strides, steps: [left, right] })
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
        let sizes: Vec<usize> = self.summed.iter().map(|axis| axis[0]).collect();
        let mut sum = T::of(0.0);
        for_each_index(&sizes, |index| {
            let at = |input: usize| {
                let steps = index.iter().zip(&self.summed).map(|(i, axis)| i * axis[1 + input]);
                tensors.at(input, starts[input] + steps.sum::<usize>())
            };
            sum = sum + at(0) * at(1);
        });
        sum
    }
}

struct Tensordot;

impl Formula for Tensordot {
    type Params = TensordotAxesParams;
    const NAME: &'static str = "_npi_tensordot";
    const SUMMARY: &'static str = "product over chosen axes";
    const BACKWARD: &'static str = "_backward_npi_tensordot";
    const INPUTS: &'static [&'static str] = &["a", "b"];
    const BACKWARD_INPUTS: &'static [&'static str] = &["ograd", "a", "b"];
    const DIFFERENTIATED: &'static [usize] = &[0, 1];
    const PRODUCTS: Option<DescribeProducts> = Some(|call| {
        let sums = Sums::new(call.params.get(), &call.inputs[0].shape, &call.inputs[1].shape);
        Some(sums.ok()?.merged()?.products())
    });

    fn infer_shape(
        params: &TensordotAxesParams,
        inputs: &mut [PartialShape],
        outputs: &mut [PartialShape],
    ) -> Result<()> {
        let [a, b] = inputs else { return Ok(()) };
        let (Some(a), Some(b)) = (a.known(), b.known()) else { return Ok(()) };
        learn(&mut outputs[0], &PartialShape::new(Sums::new(params, &a, &b)?.out.into_iter().map(Some)), "output")
    }

    /// Sums of no terms are 0, so they need no part.
    fn n_parts(_: &TensordotAxesParams, inputs: &[Shape], outputs: &[Shape]) -> usize {
        if inputs.iter().any(|shape| shape.contains(&0)) { 0 } else { outputs[0].n_elements() }
    }

    fn part<T: Number>(
        params: &TensordotAxesParams,
        tensors: &Tensors<'_, T>,
        part: usize,
        emit: Emit<'_, T>,
    ) -> Result<()> {
        let sums = Sums::new(params, &tensors.inputs[0], &tensors.inputs[1])?;
        emit(0, part, sums.element(tensors, part));
        Ok(())
    }

    fn samples() -> Vec<Sample> {
        let of = |name, a_axes, b_axes, shapes: [&[usize]; 2]| {
            Sample::new(name, [("a_axes_summed", a_axes), ("b_axes_summed", b_axes)], &shapes)
        };
        vec![
            of("last_and_first", "(1,)", "(0,)", [&[3, 4], &[4, 2]]),
            of("two", "(1, 2)", "(0, 1)", [&[2, 3, 4], &[3, 4, 2]]),
            of("crossed", "(2, 0)", "(0, 1)", [&[2, 3, 4], &[4, 2, 3]]),
            of("from_the_end", "(-1,)", "(-1,)", [&[2, 3], &[4, 3]]),
            of("middle", "(1,)", "(1,)", [&[2, 3, 2], &[4, 3]]),
            of("whole", "(0, 1)", "(0, 1)", [&[2, 3], &[2, 3]]),
            of("outer", "()", "()", [&[2], &[3]]),
            of("scalar", "()", "()", [&[], &[2, 3]]),
            of("no_terms", "(1,)", "(0,)", [&[2, 0], &[0, 3]]),
            of("empty", "(1,)", "(0,)", [&[0, 3], &[3, 2]]),
        ]
    }
}

/// Defines the operator `_npi_tensordot`.
pub fn define() -> OpDef {
    formula::define::<Tensordot>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(a_axes: &[i64], b_axes: &[i64], a: &[usize], b: &[usize]) -> Result<Sums> {
        let [a_axes_summed, b_axes_summed] = [a_axes, b_axes].map(|axes| ShapeAttr::new(axes.iter().copied()));
        Sums::new(&TensordotAxesParams { a_axes_summed, b_axes_summed }, &a.into(), &b.into())
    }

    #[test]
    fn axes_that_do_not_match_are_refused() {
        for (a_axes, b_axes) in [(&[0, 0][..], &[0, 1][..]), (&[0], &[0, 1]), (&[2], &[0]), (&[1], &[0]), (&[-3], &[0])]
        {
            assert!(sums(a_axes, b_axes, &[2, 3], &[2, 2]).is_err(), "{a_axes:?} {b_axes:?}");
        }
    }

    #[test]
    fn axes_that_follow_each_other_are_one() {
        let of = |a_axes: &[i64], b_axes: &[i64], a: &[usize], b: &[usize]| {
            sums(a_axes, b_axes, a, b).unwrap().merged().map(|sums| (sums.n_terms, sums.steps))
        };
        assert_eq!(of(&[1, 2], &[0, 1], &[2, 3, 4], &[3, 4, 5]), Some((12, [1, 5])));
        assert_eq!(of(&[2, 0], &[0, 1], &[2, 3, 4], &[4, 2, 3]), None);
        assert_eq!(of(&[1], &[1], &[2, 3, 2], &[4, 3]), Some((3, [2, 1])));
        assert_eq!(of(&[], &[], &[2], &[3]), Some((1, [1, 1])));
    }
}
