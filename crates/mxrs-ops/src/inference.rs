//! Helpers for shape and type inference: learn a size, unify types, name the argument that disagrees.
//!
//! Every function only adds knowledge, so inference can be repeated until nothing changes. Errors name the operator
//! `operator`, which [`mxrs_op::OpDef::infer_shapes`] replaces by the real name.

use mxrs_types::{DType, Error, ErrorKind, PartialShape, Result};

/// The placeholder for the operator's name, which `OpDef` replaces.
pub const OP: &str = "operator";

/// Adds known sizes to `shape`, the shape of `arg`.
pub fn learn(shape: &mut PartialShape, known: &PartialShape, arg: &str) -> Result<()> {
    let before = shape.clone();
    shape.merge(known).map(drop).map_err(|()| Error::shape(OP, arg, known.to_string(), before))
}

/// Infers that two shapes are equal: each gets the known sizes of the other.
pub fn unify(a: &mut PartialShape, b: &mut PartialShape, arg_of_b: &str) -> Result<()> {
    learn(b, a, arg_of_b)?;
    learn(a, b, arg_of_b)
}

/// Adds the size of one axis to `shape`, the shape of `arg`. Does nothing if the size or the rank of `shape` is unknown.
///
/// # Errors
/// Fails if the axis has another size, or if the shape has no such axis.
pub fn learn_dim(shape: &mut PartialShape, axis: usize, size: Option<usize>, arg: &str) -> Result<()> {
    let (Some(ndim), Some(size)) = (shape.ndim(), size) else { return Ok(()) };
    if axis >= ndim {
        return Err(Error::shape(OP, arg, format!("at least {} axes", axis + 1), &*shape));
    }
    learn(shape, &PartialShape::new((0..ndim).map(|i| (i == axis).then_some(size))), arg)
}

/// Infers that all shapes are equal: each gets all known sizes.
pub fn unify_all(inputs: &mut [PartialShape], outputs: &mut [PartialShape], arg: &str) -> Result<()> {
    let mut all = PartialShape::unknown();
    for shape in inputs.iter().chain(outputs.iter()) {
        let before = all.clone();
        all.merge(shape).map_err(|()| Error::shape(OP, arg, before.to_string(), shape))?;
    }
    inputs.iter_mut().chain(outputs).for_each(|s| *s = all.clone());
    Ok(())
}

/// Requires a rank, and sets it if it is unknown.
pub fn require_ndim(shape: &mut PartialShape, ndim: usize, arg: &str) -> Result<()> {
    let got = shape.to_string();
    shape.merge(&PartialShape::of_rank(ndim)).map(drop).map_err(|()| Error::shape(OP, arg, format!("{ndim} axes"), got))
}

/// Resolves an axis that may be negative.
pub fn resolve_axis(axis: i64, ndim: usize, arg: &str) -> Result<usize> {
    let count = ndim as i64;
    let resolved = if axis < 0 { axis.saturating_add(count) } else { axis };
    if (0..count).contains(&resolved) {
        Ok(resolved as usize)
    } else {
        Err(Error::shape(
            OP,
            arg,
            format!("at least {} axes for axis {axis}", needed_axes(axis)),
            format!("{ndim} axes"),
        ))
    }
}

fn needed_axes(axis: i64) -> u64 {
    if axis < 0 { axis.unsigned_abs() } else { axis.unsigned_abs() + 1 }
}

/// Infers that all types are equal: unknown types become the known type.
pub fn unify_dtypes<'a>(types: impl IntoIterator<Item = &'a mut Option<DType>>, arg: &str) -> Result<()> {
    let types: Vec<&mut Option<DType>> = types.into_iter().collect();
    let Some(known) = types.iter().find_map(|t| **t) else { return Ok(()) };
    for t in types {
        learn_dtype(t, known, arg)?;
    }
    Ok(())
}

/// Adds the known type of `arg`.
pub fn learn_dtype(dtype: &mut Option<DType>, known: DType, arg: &str) -> Result<()> {
    match *dtype {
        Some(other) if other != known => Err(Error::dtype(OP, arg, known.name(), other.name())),
        _ => {
            *dtype = Some(known);
            Ok(())
        }
    }
}

/// Makes the error for a parameter whose text can be parsed but whose value is impossible.
pub fn bad_attribute(op: &str, name: &str, expected: impl Into<String>, got: impl ToString) -> Error {
    Error::new(ErrorKind::Attribute {
        op: op.into(),
        name: name.into(),
        expected: expected.into(),
        got: got.to_string(),
    })
}

/// Product of sizes. If a size is 0, the product is 0 even if other sizes are unknown. Otherwise, the product is `None` if a
/// size is unknown or the product overflows.
pub fn product(dims: &[Option<usize>]) -> Option<usize> {
    if dims.contains(&Some(0)) {
        return Some(0);
    }
    dims.iter().try_fold(1usize, |n, d| n.checked_mul((*d)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_resolve_from_both_ends() {
        assert_eq!(resolve_axis(-1, 3, "data").unwrap(), 2);
        assert_eq!(resolve_axis(0, 3, "data").unwrap(), 0);
        for axis in [3, -4, i64::MIN, i64::MAX] {
            assert!(resolve_axis(axis, 3, "data").is_err(), "{axis}");
        }
    }

    #[test]
    fn sizes_are_learnt_once() {
        let mut shape = PartialShape::of_rank(2);
        learn_dim(&mut shape, 1, Some(4), "data").unwrap();
        learn_dim(&mut shape, 1, Some(4), "data").unwrap();
        assert_eq!(shape.to_string(), "(?, 4)");
        assert!(learn_dim(&mut shape, 1, Some(5), "data").is_err());
    }

    #[test]
    fn products_know_zero() {
        assert_eq!(product(&[None, Some(0)]), Some(0));
        assert_eq!(product(&[None, Some(2)]), None);
        assert_eq!(product(&[Some(usize::MAX), Some(2)]), None);
        assert_eq!(product(&[]), Some(1));
    }
}
