//! NumPy's operators that change only the shape: `_np_reshape`, `_npx_reshape`, `_np_squeeze`, `_np_copy`. The output is a view.
//!
//! Codes of `_np_reshape`: -1 is inferred. Codes of `_npx_reshape`, applied to the axes in order, from right to left with
//! `reverse`: -1 is inferred; -2 copies an axis; -3 drops an axis of size 1; -4 copies all remaining axes; -5 merges two axes;
//! -6 splits an axis into the next two numbers, one of which may be -1. Only the order `C` (row-major) is built.
//!
//! Gradient: `ograd` in the shape of the input.
//!
//! Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool.

use crate::families::reshape_back;
use crate::inference::{OP, bad_attribute, learn, product, resolve_axis, unify};
use mxrs_op::param::ShapeAttr;
use mxrs_op::{InputNames, OpDef, OpParams, Sample, View, op_params};
use mxrs_types::{Error, PartialShape, Result};

op_params! {
    /// Parameters of `_np_reshape`.
    pub struct ReshapeParams for "_np_reshape" {
        /// The new shape; -1 is inferred.
        newshape: ShapeAttr,
        /// Order of the elements: `C`, row-major.
        order: String = "C".into(),
    }
}

op_params! {
    /// Parameters of `_npx_reshape`.
    pub struct NpxReshapeParams for "_npx_reshape" {
        /// The new shape, with codes.
        newshape: ShapeAttr,
        /// Whether codes are applied from right to left.
        reverse: bool = false,
        /// Order of the elements: `C`, row-major.
        order: String = "C".into(),
    }
}

op_params! {
    /// Parameters of `_np_squeeze`.
    pub struct SqueezeParams for "_np_squeeze" {
        /// Axes of size 1 to drop; all of them if absent.
        axis: Option<ShapeAttr> = None,
    }
}

/// Functions that define the operators.
pub const DEFINITIONS: &[fn() -> OpDef] = &[reshape, npx_reshape, squeeze, copy];

fn view(name: &'static str, summary: &'static str) -> OpDef {
    OpDef { summary, inputs: InputNames::Fixed(&["a"]), ..reshape_back::define_view(name) }
}

fn refuse_order(order: &str) -> Result<()> {
    match order {
        "C" => Ok(()),
        _ => Err(Error::not_built(format!("reshape in the order {order}"), "elements are in row-major order, C")),
    }
}

fn reshape() -> OpDef {
    OpDef {
        infer_shape: |params, inputs, outputs| {
            let params: &ReshapeParams = params.get();
            refuse_order(&params.order)?;
            let code = |size: &i64| match *size {
                -1 => Ok(None),
                size if size >= 0 => Ok(Some(size as usize)),
                size => Err(bad_attribute("_np_reshape", "newshape", "sizes, and at most one -1", size)),
            };
            let sizes = params.newshape.iter().map(code).collect::<Result<Vec<_>>>()?;
            learn_sizes("_np_reshape", sizes, &inputs[0], &mut outputs[0])
        },
        samples: || {
            let of = |name, shape, data: &[usize]| Sample::new(name, [("newshape", shape)], &[data]);
            vec![
                of("inferred", "(3, -1)", &[2, 3]),
                of("flat", "(-1,)", &[2, 3, 4]),
                of("scalar", "()", &[1]),
                of("empty", "(3, 0)", &[0, 3]),
            ]
        },
        ..view("_np_reshape", "the same elements under another shape").params::<ReshapeParams>()
    }
}

/// Infers the shape of the output from sizes, of which at most one is unknown.
fn learn_sizes(op: &str, mut sizes: Vec<Option<usize>>, data: &PartialShape, out: &mut PartialShape) -> Result<()> {
    if sizes.iter().filter(|size| size.is_none()).count() > 1 {
        return Err(bad_attribute(op, "newshape", "at most one inferred size", "several"));
    }
    let Some(n) = data.dims().and_then(product) else { return learn(out, &PartialShape::new(sizes), "output") };
    let known = sizes.iter().flatten().try_fold(1usize, |n, size| n.checked_mul(*size));
    let wrong = || Error::shape(OP, "a", format!("as many elements as {}", PartialShape::new(sizes.clone())), data);
    let Some(known) = known else { return Err(wrong()) };
    match sizes.iter().position(Option::is_none) {
        Some(_) if known == 0 || !n.is_multiple_of(known) => return Err(wrong()),
        Some(at) => sizes[at] = Some(n / known),
        None if known != n => return Err(wrong()),
        None => {}
    }
    learn(out, &PartialShape::new(sizes), "output")
}

fn npx_reshape() -> OpDef {
    OpDef {
        aliases: &["_npi_reshape"],
        infer_shape: |params, inputs, outputs| {
            let params: &NpxReshapeParams = params.get();
            refuse_order(&params.order)?;
            let Some(mut dims) = inputs[0].dims().map(<[_]>::to_vec) else { return Ok(()) };
            let mut codes = params.newshape.to_vec();
            if params.reverse {
                dims.reverse();
                codes.reverse();
                // A split has the code -6 followed by its two parts. Reversing put the parts before the code, so the code is
                // moved back.
                for at in 0..codes.len().saturating_sub(2) {
                    if codes[at + 2] == -6 {
                        codes[at..at + 3].rotate_right(1);
                    }
                }
            }
            let mut sizes = matched(&dims, &codes)?;
            if params.reverse {
                sizes.reverse();
            }
            learn_sizes("_npx_reshape", sizes, &inputs[0], &mut outputs[0])
        },
        samples: || {
            let of = |name, shape, data: &[usize]| Sample::new(name, [("newshape", shape)], &[data]);
            vec![
                of("inferred", "(-2, -1)", &[2, 3, 4]),
                of("merged", "(-5, -4)", &[2, 3, 4, 5]),
                of("split", "(-6, 2, -1, -4)", &[6, 3]),
                of("dropped", "(-2, -3, -2)", &[2, 1, 3]),
                of("empty", "(-2, 0)", &[0, 3]),
            ]
        },
        ..view("_npx_reshape", "the same elements under another shape, by codes").params::<NpxReshapeParams>()
    }
}

/// The sizes that codes give for the axes of an input; `None` for an inferred one.
fn matched(dims: &[Option<usize>], codes: &[i64]) -> Result<Vec<Option<usize>>> {
    let wrong = |expected: &str, code: i64| bad_attribute("_npx_reshape", "newshape", expected, code);
    let mut axes = dims.iter().copied();
    let mut sizes = Vec::new();
    let mut codes = codes.iter().copied();
    while let Some(code) = codes.next() {
        let mut axis = || axes.next().ok_or_else(|| wrong("an axis of the input for every code", code));
        match code {
            -1 => {
                // An inferred size consumes an axis if there is one.
                let _ = axis();
                sizes.push(None);
            }
            -2 => sizes.push(axis()?),
            -3 => {
                if axis()?.is_some_and(|size| size != 1) {
                    return Err(wrong("an axis of size 1 to drop", code));
                }
            }
            -4 => {
                while let Ok(size) = axis() {
                    sizes.push(size);
                }
            }
            -5 => {
                let (first, second) = (axis()?, axis()?);
                sizes.push(first.zip(second).and_then(|(a, b)| a.checked_mul(b)));
            }
            -6 => {
                let whole = axis()?;
                let mut part = || codes.next().ok_or_else(|| wrong("two numbers after -6", code));
                let (a, b) = (part()?, part()?);
                sizes.extend(split(whole, a, b).ok_or_else(|| wrong("two factors of the axis after -6", code))?);
            }
            size if size >= 0 => {
                let _ = axis();
                sizes.push(Some(size as usize));
            }
            _ => return Err(wrong("codes from -6 on", code)),
        }
    }
    Ok(sizes)
}

/// The two parts of an axis that is split; one of the numbers may be -1.
fn split(whole: Option<usize>, a: i64, b: i64) -> Option<[Option<usize>; 2]> {
    let size = |size: i64| usize::try_from(size).ok().filter(|size| *size > 0);
    let rest = |known: usize| whole.filter(|whole| whole.is_multiple_of(known)).map(|whole| whole / known);
    match (a, b) {
        (-1, b) => Some([Some(rest(size(b)?)?), size(b)]),
        (a, -1) => Some([size(a), Some(rest(size(a)?)?)]),
        (a, b) => {
            let product = size(a)?.checked_mul(size(b)?)?;
            (whole.is_none_or(|whole| whole == product)).then_some([size(a), size(b)])
        }
    }
}

fn squeeze() -> OpDef {
    OpDef {
        infer_shape: infer_squeezed,
        samples: || {
            vec![
                Sample::plain("all", &[&[1, 2, 1, 3]]),
                Sample::new("last", [("axis", "(-1,)")], &[&[1, 2, 1]]),
                Sample::new("two", [("axis", "(0, 2)")], &[&[1, 2, 1]]),
                Sample::plain("empty", &[&[1, 0]]),
            ]
        },
        ..view("_np_squeeze", "drops axes of size 1").params::<SqueezeParams>()
    }
}

fn infer_squeezed(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let params: &SqueezeParams = params.get();
    let Some(dims) = inputs[0].dims() else { return Ok(()) };
    let kept = match &params.axis {
        None if dims.iter().any(Option::is_none) => return Ok(()),
        None => dims.iter().copied().filter(|size| *size != Some(1)).collect(),
        Some(axes) => {
            let axes = axes.iter().map(|axis| resolve_axis(*axis, dims.len(), "a")).collect::<Result<Vec<_>>>()?;
            if axes.iter().any(|axis| dims[*axis].is_some_and(|size| size != 1)) {
                return Err(Error::shape(OP, "a", "size 1 on the dropped axes", &inputs[0]));
            }
            let is_kept = |(axis, _): &(usize, &Option<usize>)| !axes.contains(axis);
            dims.iter().enumerate().filter(is_kept).map(|(_, size)| *size).collect::<Vec<_>>()
        }
    };
    learn(&mut outputs[0], &PartialShape::new(kept), "output")
}

fn copy() -> OpDef {
    OpDef {
        infer_shape: |_, inputs, outputs| unify(&mut inputs[0], &mut outputs[0], "output"),
        view: |_, _| View::No,
        samples: || {
            vec![
                Sample::plain("matrix", &[&[3, 5]]),
                Sample::plain("scalar", &[&[]]),
                Sample::plain("one", &[&[1]]),
                Sample::plain("empty", &[&[0, 3]]),
            ]
        },
        ..view("_np_copy", "out = data")
    }
}
