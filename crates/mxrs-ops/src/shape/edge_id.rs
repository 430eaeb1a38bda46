//! Looks up the edges of a graph: `out[i] = data[u[i], v[i]]`, and -1 where data is 0, which means that there is no edge. Data has
//! a row and a column for each vertex; u, v and out are `[k]`. Fractions of u and v are dropped. A vertex outside data has no edges,
//! and neither has NaN.
//!
//! Gradient: zero.
//!
//! MXNet: `_contrib_edge_id`. It takes only data in CSR storage, where an edge can have the number 0. Arrays are dense here, so 0 is
//! not the number of an edge. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64; u and v any of these. In u8, -1 is 255.

use crate::dtypes::NUMBERS;
use crate::inference::{require_ndim, unify, unify_dtypes};
use crate::numeric;
use mxrs_op::{Fill, Gradient, InputNames, OpDef, OpParams, Precision, RefInput, RefOutput, RunMode, Sample};
use mxrs_types::{DType, PartialShape, Result};

/// Defines the operator `_contrib_edge_id`.
pub fn define() -> OpDef {
    OpDef {
        summary: "numbers of the edges between vertices; -1 where there is none",
        inputs: InputNames::Fixed(&["data", "u", "v"]),
        infer_shape,
        infer_dtype,
        dtypes: NUMBERS,
        precision: Precision::widest,
        gradient: Gradient::Zero,
        reference: Some(run),
        samples,
        ..OpDef::new("_contrib_edge_id")
    }
}

fn infer_shape(_: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let ([data, u, v], [out]) = (inputs, outputs) else { return Ok(()) };
    require_ndim(data, 2, "data")?;
    for (shape, name) in [(&mut *u, "u"), (&mut *v, "v"), (&mut *out, "output")] {
        require_ndim(shape, 1, name)?;
    }
    unify(u, v, "v")?;
    unify(v, out, "output")?;
    unify(u, v, "v")
}

fn infer_dtype(_: &OpParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
    let ([data, places @ ..], [out]) = (inputs, outputs) else { return Ok(()) };
    unify_dtypes([&mut *data, out], "output")?;
    places.iter_mut().for_each(|place| *place = place.or(*data));
    Ok(())
}

/// The vertex that an element of u or v names; `None` if it is not one of `n` vertices.
fn vertex(place: f64, n: usize) -> Option<usize> {
    // The cast drops the fraction and saturates. NaN would become vertex 0, but it is not above -1.
    (place > -1.0).then_some(place as usize).filter(|vertex| *vertex < n)
}

/// The position in data of each looked-up element; `None` outside data.
fn positions(inputs: &[RefInput<'_>]) -> Vec<Option<usize>> {
    let shape = &inputs[0].desc.shape;
    let position = |(u, v): (f64, f64)| Some(vertex(u, shape[0])? * shape[1] + vertex(v, shape[1])?);
    numeric::read(&inputs[1]).into_iter().zip(numeric::read(&inputs[2])).map(position).collect()
}

/// The elements at `positions`; `none` in place of elements that are `zero` or outside data.
fn looked_up<T: Copy + PartialEq>(data: &[T], positions: &[Option<usize>], zero: T, none: T) -> Vec<T> {
    let edge = |position: &Option<usize>| position.map(|at| data[at]).filter(|edge| *edge != zero).unwrap_or(none);
    positions.iter().map(edge).collect()
}

fn run(_: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let positions = positions(inputs);
    if inputs[0].desc.dtype.is_float() {
        let edges = looked_up(&numeric::read(&inputs[0]), &positions, 0.0, -1.0);
        numeric::write(&mut outputs[0], &edges);
    } else {
        let edges = looked_up(&numeric::read_integers(&inputs[0]), &positions, 0, -1);
        numeric::write_integers(&mut outputs[0], &edges);
    }
    Ok(())
}

fn samples() -> Vec<Sample> {
    let of = |name, n: usize, edges: &[f64], u: &[f64], v: &[f64]| {
        Sample::plain(name, &[&[n, n], &[u.len()], &[v.len()]])
            .fill(0, Fill::Values(edges.to_vec()))
            .fill(1, Fill::Values(u.to_vec()))
            .fill(2, Fill::Values(v.to_vec()))
    };
    let edges = [1.0, 0.0, 0.0, 0.0, 2.0, 5.0, 4.0, 0.0, 3.0];
    vec![
        of("six", 3, &edges, &[0.0, 0.0, 1.0, 1.0, 2.0, 2.0], &[0.0, 1.0, 1.0, 2.0, 0.0, 1.0]),
        of("outside", 3, &edges, &[3.0, 1.0, 100.0, -1.0], &[0.0, 7.0, 100.0, 0.0]),
        of("no_edges", 2, &[0.0], &[0.0, 1.0], &[1.0, 1.0]),
        of("no_vertices", 0, &[], &[0.0, 1.0], &[0.0, 0.0]),
        of("empty", 3, &edges, &[], &[]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_op::Attrs;

    #[test]
    fn shapes_follow_from_the_output() {
        let op = define();
        let params = op.parse(&Attrs::new()).expect("no parameters");
        let mut inputs = vec![PartialShape::unknown(); 3];
        op.infer_shapes(&params, &mut inputs, &mut [PartialShape::new([Some(4)])]).expect("a possible call");
        assert_eq!([&inputs[1], &inputs[2]].map(ToString::to_string), ["(4,)", "(4,)"]);
        let mut wrong = [PartialShape::new([None; 2]), PartialShape::new([Some(4)]), PartialShape::new([Some(5)])];
        assert!(op.infer_shapes(&params, &mut wrong, &mut [PartialShape::unknown()]).is_err());
    }

    #[test]
    fn numbers_outside_are_no_vertices() {
        assert_eq!([0.0, -0.5, 2.9].map(|place| vertex(place, 3)), [Some(0), Some(0), Some(2)]);
        for place in [3.0, -1.0, 1e300, f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            assert_eq!(vertex(place, 3), None, "{place}");
        }
    }

    #[test]
    fn integers_of_64_bits_stay_exact() {
        let large = (1i64 << 53) + 1;
        assert_eq!(looked_up(&[large, 0], &[Some(0), Some(1), None], 0, -1), [large, -1, -1]);
    }
}
