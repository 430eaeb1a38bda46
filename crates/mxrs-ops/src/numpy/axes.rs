//! NumPy's operators that permute, turn and shift axes: `_np_transpose`, `_np_moveaxis`, `_np_roll`, `_npi_rot90`, `_npi_flip`.
//!
//! Gradient: the elements of `ograd` moved back. MXNet turns the gradient of `_npi_rot90` in the wrong direction if `k` is odd.
//!
//! Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool.

use crate::families::along::{self, Along};
use crate::families::indexing::flat;
use crate::families::moved::{by_index, moves};
use crate::inference::{bad_attribute, learn, resolve_axis, unify};
use crate::init::full::ShapeOrNone;
use crate::shape::reverse::reversed;
use mxrs_op::param::ShapeAttr;
use mxrs_op::{MovedParts, RefInput, Sample, op_params};
use mxrs_types::{PartialShape, Result, Shape};

op_params! {
    /// Parameters of `_np_transpose`.
    pub struct TransposeParams for "_np_transpose" {
        /// The axis of the input for each axis of the output; all axes in reverse order if absent.
        axes: ShapeOrNone = ShapeOrNone(None),
    }
}

op_params! {
    /// Parameters of `_np_moveaxis`.
    pub struct MoveAxisParams for "_np_moveaxis" {
        /// Axes to move.
        source: ShapeAttr,
        /// Where each of them goes.
        destination: ShapeAttr,
    }
}

op_params! {
    /// Parameters of `_np_roll`.
    pub struct RollParams for "_np_roll" {
        /// Number of places to shift by, one for each axis or one for all.
        shift: Option<ShapeAttr> = None,
        /// Axes to shift along; the flattened data if absent.
        axis: Option<ShapeAttr> = None,
    }
}

op_params! {
    /// Parameters of `_npi_rot90`.
    pub struct Rot90Params for "_npi_rot90" {
        /// Number of quarter turns from the first axis to the second.
        k: i32 = 1,
        /// The two axes of the plane.
        axes: Option<ShapeAttr> = None,
    }
}

op_params! {
    /// Parameters of `_npi_flip`.
    pub struct FlipParams for "_npi_flip" {
        /// Axes to reverse.
        axis: ShapeAttr,
    }
}

impl TransposeParams {
    fn order(&self, ndim: usize) -> Result<Vec<usize>> {
        let Some(axes) = self.axes.0.as_ref().filter(|axes| !axes.is_empty() || ndim == 0) else {
            return Ok((0..ndim).rev().collect());
        };
        let order = axes.iter().map(|axis| resolve_axis(*axis, ndim, "a")).collect::<Result<Vec<_>>>()?;
        if order.len() != ndim || (0..ndim).any(|axis| !order.contains(&axis)) {
            let expected = format!("each of the {ndim} axes once");
            return Err(bad_attribute("_np_transpose", "axes", expected, axes.to_text()));
        }
        Ok(order)
    }
}

impl MoveAxisParams {
    fn order(&self, ndim: usize) -> Result<Vec<usize>> {
        let resolve =
            |axes: &ShapeAttr| axes.iter().map(|axis| resolve_axis(*axis, ndim, "a")).collect::<Result<Vec<_>>>();
        let (source, destination) = (resolve(&self.source)?, resolve(&self.destination)?);
        let is_repeated = |axes: &[usize]| axes.iter().enumerate().any(|(i, axis)| axes[..i].contains(axis));
        if source.len() != destination.len() || is_repeated(&source) || is_repeated(&destination) {
            let got = format!("{} and {}", self.source.to_text(), self.destination.to_text());
            return Err(bad_attribute("_np_moveaxis", "source and destination", "as many different axes", got));
        }
        let mut moves: Vec<(usize, usize)> = destination.into_iter().zip(source.iter().copied()).collect();
        moves.sort_unstable();
        let mut order: Vec<usize> = (0..ndim).filter(|axis| !source.contains(axis)).collect();
        moves.into_iter().for_each(|(to, from)| order.insert(to.min(order.len()), from));
        Ok(order)
    }
}

/// Infers shapes if axis `order[i]` of the input becomes axis `i` of the output.
fn learn_permuted(
    data: &mut PartialShape,
    out: &mut PartialShape,
    order: impl Fn(usize) -> Result<Vec<usize>>,
) -> Result<()> {
    let Some(ndim) = data.ndim().or(out.ndim()) else { return Ok(()) };
    let order = order(ndim)?;
    learn(out, &PartialShape::new(order.iter().map(|from| data.dim(*from))), "output")?;
    let from_out = |axis: usize| order.iter().position(|from| *from == axis).and_then(|to| out.dim(to));
    learn(data, &PartialShape::new((0..ndim).map(from_out)), "data")
}

/// The positions of the elements if axis `order[i]` of the input becomes axis `i` of the output.
fn permuted(data: &Shape, out: &Shape, order: &[usize]) -> Vec<Option<usize>> {
    let strides = data.strides();
    by_index(out, |index| Some(index.iter().zip(order).map(|(i, from)| i * strides[*from]).sum()))
}

impl RollParams {
    /// The axes to shift, each with the number of positions by which its elements move; `None` if the flattened data is
    /// shifted.
    fn shifts(&self, ndim: usize) -> Result<Option<Vec<(usize, i64)>>> {
        let Some(shift) = self.shift.as_ref().filter(|shift| !shift.is_empty()) else {
            return Err(bad_attribute("_np_roll", "shift", "at least one number", "none"));
        };
        let Some(axes) = &self.axis else {
            return match shift.len() {
                1 => Ok(None),
                _ => Err(bad_attribute("_np_roll", "shift", "one number without `axis`", shift.to_text())),
            };
        };
        if shift.len() != 1 && axes.len() != 1 && shift.len() != axes.len() {
            return Err(bad_attribute("_np_roll", "shift", "one number, or one for each axis", shift.to_text()));
        }
        let n = shift.len().max(axes.len());
        let pair =
            |i: usize| Ok((resolve_axis(axes[i.min(axes.len() - 1)], ndim, "data")?, shift[i.min(shift.len() - 1)]));
        if axes.is_empty() { Ok(Some(Vec::new())) } else { (0..n).map(pair).collect::<Result<Vec<_>>>().map(Some) }
    }
}

impl Rot90Params {
    /// The quarter turns, 0 to 3, and the two axes.
    fn turns(&self, ndim: usize) -> Result<(i32, [usize; 2])> {
        let axes = self.axes.as_ref().map(|axes| axes.0.as_slice()).unwrap_or_default();
        let wrong = |got: String| bad_attribute("_npi_rot90", "axes", "two different axes", got);
        let [a, b] = axes else { return Err(wrong(format!("{} axes", axes.len()))) };
        let [a, b] = [resolve_axis(*a, ndim, "data")?, resolve_axis(*b, ndim, "data")?];
        if a == b { Err(wrong(format!("{a} twice"))) } else { Ok((self.k.rem_euclid(4), [a, b])) }
    }
}

moves! {
    Transpose(TransposeParams) "_np_transpose" [] ["a"] "permuted axes", {
        fn infer_shape(params: &TransposeParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
            learn_permuted(&mut inputs[0], &mut outputs[0], |ndim| params.order(ndim))
        }
        fn parts(params: &TransposeParams, inputs: &[&Shape], out: &Shape) -> Result<Option<MovedParts>> {
            Ok(along::permuted(inputs[0], &params.order(out.ndim())?, out))
        }
        fn sources(params: &TransposeParams, inputs: &[RefInput<'_>], out: &Shape) -> Result<Vec<Option<usize>>> {
            Ok(permuted(&inputs[0].desc.shape, out, &params.order(out.ndim())?))
        }
        fn samples() -> Vec<Sample> {
            vec![
                Sample::plain("reversed", &[&[2, 3, 4]]),
                Sample::new("given", [("axes", "(1, 2, 0)")], &[&[2, 3, 4]]),
                Sample::new("from_the_end", [("axes", "(-1, 0)")], &[&[2, 3]]),
                Sample::plain("empty", &[&[0, 3]]),
            ]
        }
    }
    MoveAxis(MoveAxisParams) "_np_moveaxis" [] ["a"] "axes moved to other places", {
        fn infer_shape(params: &MoveAxisParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
            learn_permuted(&mut inputs[0], &mut outputs[0], |ndim| params.order(ndim))
        }
        fn parts(params: &MoveAxisParams, inputs: &[&Shape], out: &Shape) -> Result<Option<MovedParts>> {
            Ok(along::permuted(inputs[0], &params.order(out.ndim())?, out))
        }
        fn sources(params: &MoveAxisParams, inputs: &[RefInput<'_>], out: &Shape) -> Result<Vec<Option<usize>>> {
            Ok(permuted(&inputs[0].desc.shape, out, &params.order(out.ndim())?))
        }
        fn samples() -> Vec<Sample> {
            let of = |name, source, destination, shape: &[usize]| {
                Sample::new(name, [("source", source), ("destination", destination)], &[shape])
            };
            vec![
                of("first", "(0,)", "(-1,)", &[2, 3, 4]),
                of("two", "(0, 1)", "(-1, -2)", &[2, 3, 4]),
                of("in_place", "(1,)", "(1,)", &[2, 3]),
                of("empty", "(0,)", "(1,)", &[0, 3]),
            ]
        }
    }
    Roll(RollParams) "_np_roll" [] ["data"] "elements shifted around", {
        fn infer_shape(params: &RollParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
            inputs[0].ndim().map(|ndim| params.shifts(ndim)).transpose()?;
            unify(&mut inputs[0], &mut outputs[0], "output")
        }
        fn parts(params: &RollParams, inputs: &[&Shape], out: &Shape) -> Result<Option<MovedParts>> {
            let rolled = |size: usize, shift: i64, stride: usize| {
                let first = shift.checked_rem_euclid(size as i64).unwrap_or(0) as usize;
                let end = Along::new().then((size - first) * stride, &[(first, stride as isize)]);
                end.then(0, &[(size - first, stride as isize)])
            };
            let data = inputs[0];
            let Some(shifts) = params.shifts(data.ndim())? else {
                let (n, shift) = (data.n_elements(), params.shift.as_ref().map_or(0, |shift| shift[0]));
                return Ok(along::parts(0, &[rolled(n, shift, 1)], &Shape::from([n]), 0.0));
            };
            let mut by = vec![0i64; data.ndim()];
            shifts.iter().for_each(|(axis, shift)| by[*axis] = by[*axis].wrapping_add(*shift));
            let axes: Vec<Along> =
                data.strides().iter().enumerate().map(|(i, stride)| rolled(data[i], by[i], *stride)).collect();
            Ok(along::parts(0, &axes, out, 0.0))
        }
        fn sources(params: &RollParams, _: &[RefInput<'_>], out: &Shape) -> Result<Vec<Option<usize>>> {
            let back = |at: usize, shift: i64, size: usize| {
                (at as i64 - shift.rem_euclid(size as i64)).rem_euclid(size as i64) as usize
            };
            Ok(match params.shifts(out.ndim())? {
                None => {
                    let (n, shift) = (out.n_elements(), params.shift.as_ref().map_or(0, |shift| shift[0]));
                    (0..n).map(|at| Some(back(at, shift, n))).collect()
                }
                Some(shifts) => by_index(out, |index| {
                    let mut index = index.to_vec();
                    shifts.iter().for_each(|(axis, shift)| index[*axis] = back(index[*axis], *shift, out[*axis]));
                    Some(flat(out, &index))
                }),
            })
        }
        fn samples() -> Vec<Sample> {
            vec![
                Sample::new("flat", [("shift", "(2,)")], &[&[2, 3]]),
                Sample::new("axis", [("shift", "(-1,)"), ("axis", "(1,)")], &[&[2, 3, 2]]),
                Sample::new("both", [("shift", "(1, 2)"), ("axis", "(0, 1)")], &[&[3, 4]]),
                Sample::new("empty", [("shift", "(1,)"), ("axis", "(1,)")], &[&[0, 3]]),
            ]
        }
    }
    Rot90(Rot90Params) "_npi_rot90" [] ["data"] "a plane turned by quarter turns", {
        fn infer_shape(params: &Rot90Params, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
            learn_permuted(&mut inputs[0], &mut outputs[0], |ndim| {
                let (k, [a, b]) = params.turns(ndim)?;
                let mut order: Vec<usize> = (0..ndim).collect();
                if k % 2 == 1 {
                    order.swap(a, b);
                }
                Ok(order)
            })
        }
        fn parts(params: &Rot90Params, inputs: &[&Shape], out: &Shape) -> Result<Option<MovedParts>> {
            let data = inputs[0];
            let (k, [a, b]) = params.turns(data.ndim())?;
            let strides = data.strides();
            let ahead = |axis: usize| Along::whole(data[axis], strides[axis]);
            let back = |axis: usize| {
                let last = data[axis].saturating_sub(1) * strides[axis];
                Along::new().then(last, &[(data[axis], -(strides[axis] as isize))])
            };
            let mut axes: Vec<Along> = (0..data.ndim()).map(ahead).collect();
            (axes[a], axes[b]) = match k {
                1 => (back(b), ahead(a)),
                2 => (back(a), back(b)),
                3 => (ahead(b), back(a)),
                _ => (ahead(a), ahead(b)),
            };
            Ok(along::parts(0, &axes, out, 0.0))
        }
        fn sources(params: &Rot90Params, inputs: &[RefInput<'_>], out: &Shape) -> Result<Vec<Option<usize>>> {
            let data = &inputs[0].desc.shape;
            let (k, [a, b]) = params.turns(data.ndim())?;
            Ok(by_index(out, |index| {
                let mut from = index.to_vec();
                let (i, j) = (index[a], index[b]);
                (from[a], from[b]) = match k {
                    1 => (j, data[b] - 1 - i),
                    2 => (data[a] - 1 - i, data[b] - 1 - j),
                    3 => (data[a] - 1 - j, i),
                    _ => (i, j),
                };
                Some(flat(data, &from))
            }))
        }
        fn samples() -> Vec<Sample> {
            vec![
                Sample::new("once", [("axes", "(0, 1)")], &[&[2, 3]]),
                Sample::new("twice", [("k", "2"), ("axes", "(0, 1)")], &[&[2, 3]]),
                Sample::new("back", [("k", "-1"), ("axes", "(1, 2)")], &[&[2, 3, 4]]),
                Sample::new("empty", [("axes", "(0, 1)")], &[&[0, 3]]),
            ]
        }
    }
    Flip(FlipParams) "_npi_flip" [] ["data"] "reversed axes", {
        fn infer_shape(params: &FlipParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
            if let Some(ndim) = inputs[0].ndim() {
                params.axis.iter().try_for_each(|axis| resolve_axis(*axis, ndim, "data").map(drop))?;
            }
            unify(&mut inputs[0], &mut outputs[0], "output")
        }
        fn parts(params: &FlipParams, _: &[&Shape], out: &Shape) -> Result<Option<MovedParts>> {
            let mut turned = vec![false; out.ndim()];
            for axis in params.axis.iter() {
                turned[resolve_axis(*axis, out.ndim(), "data")?] ^= true;
            }
            Ok(reversed(&turned, out))
        }
        fn sources(params: &FlipParams, _: &[RefInput<'_>], out: &Shape) -> Result<Vec<Option<usize>>> {
            let axes = params.axis.iter().map(|axis| resolve_axis(*axis, out.ndim(), "data")).collect::<Result<Vec<_>>>()?;
            Ok(by_index(out, |index| {
                let mut index = index.to_vec();
                axes.iter().for_each(|axis| index[*axis] = out[*axis] - 1 - index[*axis]);
                Some(flat(out, &index))
            }))
        }
        fn samples() -> Vec<Sample> {
            vec![
                Sample::new("rows", [("axis", "(0,)")], &[&[3, 5]]),
                Sample::new("both", [("axis", "(0, -1)")], &[&[2, 3, 4]]),
                Sample::new("one", [("axis", "(0,)")], &[&[1]]),
                Sample::new("empty", [("axis", "(1,)")], &[&[0, 3]]),
            ]
        }
    }
}
