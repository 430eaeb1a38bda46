//! The same elements in row-major order under another shape. The output is a view of data.
//!
//! Codes in `shape`, applied to the axes of data in order: a positive number is a size; 0 copies the axis; -1 is inferred;
//! -2 copies all remaining axes; -3 merges two axes; -4 splits an axis into the next two numbers, one of which may be -1.
//! `reverse` applies the codes from right to left. The older `target_shape` lists sizes, with 0 for an inferred size.
//! `keep_highest` has an effect only with `target_shape`: it keeps the first axis.
//!
//! Gradient: `ograd` in the shape of data, a view.
//!
//! MXNet: `Reshape`, also `reshape`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool.

use crate::families::reshape_back;
use crate::inference::{OP, bad_attribute, learn, learn_dim, product};
use mxrs_op::param::ShapeAttr;
use mxrs_op::{OpDef, OpParams, Sample, op_params};
use mxrs_types::{Error, PartialShape, Result};

op_params! {
    /// Parameters of `Reshape`.
    pub struct ReshapeParams for "Reshape" {
        /// The new shape, with codes.
        shape: ShapeAttr = ShapeAttr::default(),
        /// Whether codes are applied from right to left.
        reverse: bool = false,
        /// The new shape in the older form.
        target_shape: ShapeAttr = ShapeAttr::default(),
        /// With `target_shape`: whether the first axis is kept.
        keep_highest: bool = false,
    }
}

/// Defines the operator `Reshape`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["reshape"],
        summary: "the same elements under another shape",
        infer_shape,
        companions: || vec![reshape_back::define()],
        samples,
        ..reshape_back::define_view("Reshape").params::<ReshapeParams>()
    }
}

/// The result of matching codes with the axes of the input. The sizes of copied, merged and split axes are known to agree.
/// For the axes that remain, the product of the sizes of the input must equal the product of the sizes of the result.
#[derive(Default)]
struct Matched {
    out: Vec<Option<usize>>,
    /// Position of the inferred axis (-1) in `out`.
    inferred: Option<usize>,
    /// Axes of the result that are given as numbers.
    out_left: Vec<usize>,
    /// Axes of the input that no copy, merge or split used.
    in_left: Vec<usize>,
    /// Pairs (axis of the input, axis of the result) of equal size.
    copied: Vec<(usize, usize)>,
}

fn code_error(code: &str, params: &ReshapeParams) -> Error {
    bad_attribute("Reshape", "shape", format!("an axis of data for every code, {code}"), params.shape.to_text())
}

fn match_codes(params: &ReshapeParams, codes: &[i64], dims: &[Option<usize>]) -> Result<Matched> {
    let mut m = Matched::default();
    let (mut axis, mut i) = (0, 0);
    let next = |axis: &mut usize, code: &str| {
        *axis += 1;
        if *axis <= dims.len() { Ok(*axis - 1) } else { Err(code_error(code, params)) }
    };
    while i < codes.len() {
        match codes[i] {
            0 => {
                let from = next(&mut axis, "0 has none")?;
                m.copied.push((from, m.out.len()));
                m.out.push(dims[from]);
            }
            -1 if m.inferred.is_some() => {
                return Err(bad_attribute("Reshape", "shape", "one -1 at most", params.shape.to_text()));
            }
            -1 => {
                m.inferred = Some(m.out.len());
                m.out.push(None);
                m.in_left.extend((axis < dims.len()).then_some(axis));
                axis += 1;
            }
            -2 => {
                while axis < dims.len() {
                    m.copied.push((axis, m.out.len()));
                    m.out.push(dims[axis]);
                    axis += 1;
                }
            }
            -3 => {
                let (a, b) = (next(&mut axis, "-3 has less than two")?, next(&mut axis, "-3 has less than two")?);
                m.out.push(product(&[dims[a], dims[b]]));
            }
            -4 => {
                let from = next(&mut axis, "-4 has none")?;
                let [a, b] = codes.get(i + 1..i + 3).unwrap_or_default() else {
                    return Err(bad_attribute("Reshape", "shape", "two numbers after -4", params.shape.to_text()));
                };
                let (a, b) = split(params, *a, *b, dims[from])?;
                m.out.extend([a, b]);
                i += 2;
            }
            size => {
                let size = usize::try_from(size).map_err(|_| {
                    bad_attribute("Reshape", "shape", "sizes and the codes 0 to -4", params.shape.to_text())
                })?;
                m.out_left.push(m.out.len());
                m.out.push(Some(size));
                m.in_left.extend((axis < dims.len()).then_some(axis));
                axis += 1;
            }
        }
        i += 1;
    }
    m.in_left.extend(axis..dims.len().max(axis));
    Ok(m)
}

/// The two sizes that an axis of size `size` is split into, by the codes `a` and `b`.
fn split(params: &ReshapeParams, a: i64, b: i64, size: Option<usize>) -> Result<(Option<usize>, Option<usize>)> {
    let wrong =
        || bad_attribute("Reshape", "shape", "two sizes after -4 that multiply to the axis", params.shape.to_text());
    let (a, b) = match (usize::try_from(a).ok(), usize::try_from(b).ok()) {
        (Some(a), Some(b)) => (Some(a), Some(b)),
        (Some(known), None) if b == -1 => (Some(known), divide(size, known).map_err(|()| wrong())?),
        (None, Some(known)) if a == -1 => (divide(size, known).map_err(|()| wrong())?, Some(known)),
        _ => return Err(wrong()),
    };
    match (product(&[a, b]), size) {
        (Some(both), Some(size)) if both != size => Err(wrong()),
        _ => Ok((a, b)),
    }
}

/// `size / by`, if it divides evenly.
fn divide(size: Option<usize>, by: usize) -> Result<Option<usize>, ()> {
    match size {
        None => Ok(None),
        Some(size) if by > 0 && size % by == 0 => Ok(Some(size / by)),
        Some(_) => Err(()),
    }
}

/// The codes in the order in which they are applied. A `target_shape` is converted to the current form.
fn reading_order(params: &ReshapeParams, ndim: usize) -> Vec<i64> {
    let mut codes: Vec<i64> = if params.shape.is_empty() {
        params.target_shape.iter().map(|size| if *size == 0 { -1 } else { *size }).collect()
    } else {
        params.shape.to_vec()
    };
    if params.shape.is_empty() && params.keep_highest && ndim > 0 && !codes.is_empty() {
        codes[0] = 0;
    }
    if params.reverse {
        codes.reverse();
    }
    codes
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let params = params.get::<ReshapeParams>();
    let (data, out) = (&mut inputs[0], &mut outputs[0]);
    let Some(mut dims) = data.dims().map(<[_]>::to_vec) else {
        return learn_from_sizes(params, out);
    };
    let codes = reading_order(params, dims.len());
    if codes.is_empty() {
        return check_count(data, out);
    }
    let ndim = dims.len();
    if params.reverse {
        dims.reverse();
    }
    let mut m = match_codes(params, &codes, &dims)?;
    let in_left = product(&m.in_left.iter().map(|axis| dims[*axis]).collect::<Vec<_>>());
    let out_left = product(&m.out_left.iter().map(|axis| m.out[*axis]).collect::<Vec<_>>());
    let mismatch = |m: &Matched| {
        let sizes = m.out.iter().copied();
        Error::shape(
            OP,
            "data",
            format!("as many elements as {}", PartialShape::new(sizes)),
            PartialShape::new(dims.iter().copied()),
        )
    };
    match (m.inferred, in_left, out_left) {
        (Some(inferred), Some(left), Some(given)) => match divide(Some(left), given) {
            Ok(size) => m.out[inferred] = size,
            Err(()) => return Err(mismatch(&m)),
        },
        (None, Some(left), Some(given)) if left != given => return Err(mismatch(&m)),
        _ => {}
    }
    // If the shape of the result is known, a single unknown size of the input follows from it.
    let unknown: Vec<usize> = m.in_left.iter().copied().filter(|axis| dims[*axis].is_none()).collect();
    let at = |axis: usize| if params.reverse { ndim - 1 - axis } else { axis };
    let n_out = m.out.len();
    let out_at = |axis: usize| if params.reverse { n_out - 1 - axis } else { axis };
    let mut sizes = m.out.clone();
    if params.reverse {
        sizes.reverse();
    }
    learn(out, &PartialShape::new(sizes), "output")?;
    for (from, to) in m.copied {
        learn_dim(data, at(from), out.dim(out_at(to)), "data")?;
    }
    if let [unknown] = unknown.as_slice() {
        let given: Vec<Option<usize>> =
            m.out_left.iter().chain(&m.inferred).map(|axis| out.dim(out_at(*axis))).collect();
        let rest: Vec<Option<usize>> = m.in_left.iter().filter(|a| *a != unknown).map(|axis| dims[*axis]).collect();
        if let (Some(given), Some(rest)) = (product(&given), product(&rest))
            && let Ok(size) = divide(Some(given), rest)
        {
            learn_dim(data, at(*unknown), size, "data")?;
        }
    }
    Ok(())
}

/// Infers what it can of the result if not even the rank of data is known. Each code from -1 up stands for one axis of the
/// result, so a list of such codes gives the rank.
fn learn_from_sizes(params: &ReshapeParams, out: &mut PartialShape) -> Result<()> {
    let is_plain = !params.shape.is_empty() && params.shape.iter().all(|code| *code >= -1);
    if is_plain {
        let sizes = params.shape.iter().map(|code| usize::try_from(*code).ok().filter(|size| *size > 0));
        learn(out, &PartialShape::new(sizes), "output")?;
    }
    Ok(())
}

/// Checks that the output has as many elements as data, if both shapes are known.
fn check_count(data: &PartialShape, out: &PartialShape) -> Result<()> {
    match (data.known(), out.known()) {
        (Some(from), Some(to)) if from.n_elements() != to.n_elements() => {
            Err(Error::shape(OP, "output", format!("{} elements", from.n_elements()), to))
        }
        _ => Ok(()),
    }
}

fn samples() -> Vec<Sample> {
    vec![
        Sample::new("flat", [("shape", "(-1,)")], &[&[2, 3, 4]]),
        Sample::new("sizes", [("shape", "(4, 6)")], &[&[2, 3, 4]]),
        Sample::new("keep_rows", [("shape", "(0, -1)")], &[&[2, 3, 4]]),
        Sample::new("copy_rest", [("shape", "(1, -2)")], &[&[1, 3, 4]]),
        Sample::new("join", [("shape", "(-3, 0)")], &[&[2, 3, 4]]),
        Sample::new("split", [("shape", "(-4, 2, -1, -2)")], &[&[6, 5]]),
        Sample::new("reverse", [("shape", "(-1, 0)"), ("reverse", "True")], &[&[10, 5, 4]]),
        Sample::new("old_form", [("target_shape", "(2, 0)")], &[&[2, 3, 4]]),
        Sample::new("no_rows", [("shape", "(0, -1)")], &[&[0, 3, 4]]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_op::Attrs;

    fn infer(attrs: &[(&str, &str)], data: &str, out: &str) -> (String, String) {
        let op = define();
        let params = op.parse(&attrs.iter().copied().collect::<Attrs>()).expect("readable");
        let read = |text: &str| match text {
            "?" => PartialShape::unknown(),
            text => PartialShape::new(text.split(' ').map(|d| d.parse().ok())),
        };
        let (mut inputs, mut outputs) = ([read(data)], [read(out)]);
        match op.infer_shapes(&params, &mut inputs, &mut outputs) {
            Ok(()) => (inputs[0].to_string(), outputs[0].to_string()),
            Err(e) => ("error".into(), e.to_string()),
        }
    }

    #[test]
    fn unknown_sizes_cancel() {
        let keep = [("shape", "(0, -1)")];
        assert_eq!(infer(&keep, "? 3 4", "?").1, "(?, 12)");
        assert_eq!(infer(&keep, "? 3 4", "7 ?").0, "(7, 3, 4)");
        assert_eq!(infer(&keep, "0 3 4", "?").1, "(0, 12)");
        assert_eq!(infer(&[("shape", "(2, 3)")], "?", "?").1, "(2, 3)");
        assert_eq!(infer(&[("shape", "(2, 3)")], "2 ?", "?").0, "(2, 3)");
        assert_eq!(infer(&[("shape", "(-3, -2)")], "2 ? 5", "?").1, "(?, 5)");
    }

    #[test]
    fn impossible_codes_are_errors() {
        for (shape, data) in [
            ("(-1, -1)", "2 3"),
            ("(4,)", "2 3"),
            ("(5, -1)", "2 3"),
            ("(0, 0, 0)", "2 3"),
            ("(-3,)", "2"),
            ("(-4, 2)", "6"),
            ("(-4, -1, -1)", "6"),
            ("(-4, 4, -1)", "6"),
            ("(-5,)", "6"),
            ("(0, -1)", "0"),
        ] {
            let (first, message) = infer(&[("shape", shape)], data, "?");
            if shape == "(0, -1)" {
                assert_eq!(message, "(0, 1)", "an empty product is 1");
            } else {
                assert_eq!(first, "error", "{shape} of {data} gave {message}");
            }
        }
    }
}
