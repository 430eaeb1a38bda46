//! Operators that read only the shape of one of their inputs. `reshape_like` gives lhs the shape of rhs; or, with
//! `lhs_begin`, `lhs_end`, `rhs_begin` and `rhs_end`, replaces a range of lhs's axes by a range of rhs's axes.
//! `_identity_with_attr_like_rhs` returns lhs, whose shape is that of rhs. `_contrib_arange_like` gives evenly spaced
//! numbers: one for each element of data, in data's shape, or one for each position along `axis`.
//!
//! Gradient: of lhs; that of `_contrib_arange_like` is zero.
//!
//! MXNet: also `_npx_reshape_like` and `_npx_arange_like`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64, and bool except for
//! `_contrib_arange_like`.

use crate::dtypes::{MOVABLE, NUMBERS};
use crate::families::reshape_back;
use crate::inference::{OP, bad_attribute, learn, product, resolve_axis, unify_all, unify_dtypes};
use crate::numeric;
use mxrs_op::{Gradient, InputNames, OpDef, OpParams, Precision, Sample, op_params};
use mxrs_types::{Error, PartialShape, Result};

op_params! {
    /// Parameters of `reshape_like`.
    pub struct ReshapeLikeParams for "reshape_like" {
        /// First axis of lhs to replace; 0 if absent.
        lhs_begin: Option<i32> = None,
        /// End of the axes of lhs to replace; all if absent.
        lhs_end: Option<i32> = None,
        /// First axis of rhs to take; 0 if absent.
        rhs_begin: Option<i32> = None,
        /// End of the axes of rhs to take; all if absent.
        rhs_end: Option<i32> = None,
    }
}

op_params! {
    /// Parameters of `_contrib_arange_like`.
    pub struct ArangeLikeParams for "_contrib_arange_like" {
        /// First number.
        start: f64 = 0.0,
        /// Distance of neighbors.
        step: f64 = 1.0,
        /// How often each number is repeated.
        repeat: i32 = 1,
        /// Device, such as `cpu(0)`. The graph decides where nodes run; kernels ignore it.
        ctx: String = String::new(),
        /// The axis that decides how many numbers there are; all elements if absent.
        axis: Option<i32> = None,
    }
}

/// Functions that define the operators.
pub const DEFINITIONS: &[fn() -> OpDef] = &[reshape_like, identity_like, arange_like];

/// The range of axes from `begin` to `end`; negative numbers count from the end.
fn range(begin: Option<i32>, end: Option<i32>, ndim: usize, arg: &str) -> Result<std::ops::Range<usize>> {
    let place = |at: Option<i32>, absent: usize| match at {
        None => Some(absent),
        Some(at) if at < 0 => ndim.checked_sub(at.unsigned_abs() as usize),
        Some(at) => Some(at as usize).filter(|at| *at <= ndim),
    };
    match place(begin, 0).zip(place(end, ndim)) {
        Some((begin, end)) if begin <= end => Ok(begin..end),
        _ => Err(bad_attribute(
            "reshape_like",
            arg,
            format!("a range of the {ndim} axes"),
            format!("{begin:?} to {end:?}"),
        )),
    }
}

fn reshape_like() -> OpDef {
    OpDef {
        aliases: &["_npx_reshape_like"],
        summary: "the elements of lhs under the shape of rhs",
        inputs: InputNames::Fixed(&["lhs", "rhs"]),
        ignored_inputs: &[1],
        precision: Precision::float32,
        infer_shape: infer_reshaped,
        infer_dtype: |_, inputs, outputs| {
            let [lhs, rhs] = inputs else { return Ok(()) };
            unify_dtypes([&mut *lhs, &mut outputs[0]], "output")?;
            *rhs = rhs.or(*lhs);
            Ok(())
        },
        samples: || {
            let part = [("lhs_begin", "1"), ("lhs_end", "2"), ("rhs_begin", "0"), ("rhs_end", "2")];
            vec![
                Sample::plain("all", &[&[6], &[2, 3]]),
                Sample::new("part", part, &[&[2, 6], &[3, 2]]),
                Sample::plain("one", &[&[1], &[1, 1]]),
                Sample::plain("empty", &[&[0, 3], &[3, 0]]),
            ]
        },
        precision_float16: Some(Precision::follows),
        ..reshape_back::define_view("reshape_like").params::<ReshapeLikeParams>()
    }
}

fn infer_reshaped(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let params: &ReshapeLikeParams = params.get();
    let (Some(lhs), Some(rhs)) = (inputs[0].dims(), inputs[1].dims()) else { return Ok(()) };
    let replaced = range(params.lhs_begin, params.lhs_end, lhs.len(), "lhs_begin")?;
    let taken = range(params.rhs_begin, params.rhs_end, rhs.len(), "rhs_begin")?;
    let out = [&lhs[..replaced.start], &rhs[taken], &lhs[replaced.end..]].concat();
    match (product(lhs), product(&out)) {
        (Some(a), Some(b)) if a != b => {
            Err(Error::shape(OP, "rhs", format!("as many elements as {}", inputs[0]), PartialShape::new(out)))
        }
        _ => learn(&mut outputs[0], &PartialShape::new(out), "output"),
    }
}

fn identity_like() -> OpDef {
    OpDef {
        summary: "out = lhs, with the shape of rhs",
        inputs: InputNames::Fixed(&["lhs", "rhs"]),
        infer_shape: |_, inputs, outputs| unify_all(inputs, outputs, "rhs"),
        infer_dtype: |_, inputs, outputs| unify_dtypes(inputs.iter_mut().chain(outputs), "rhs"),
        dtypes: MOVABLE,
        inplace: &[(0, 0)],
        ignored_inputs: &[1],
        gradient: Gradient::By(|_, scope| Ok(vec![Some(scope.out_grad(0)?), None])),
        reference: Some(|_, inputs, outputs, _| {
            numeric::copy_bytes(inputs, outputs);
            Ok(())
        }),
        samples: || {
            vec![
                Sample::plain("matrix", &[&[3, 5], &[3, 5]]),
                Sample::plain("vector", &[&[4], &[4]]),
                Sample::plain("one", &[&[1], &[1]]),
                Sample::plain("empty", &[&[0, 3], &[0, 3]]),
            ]
        },
        precision_float16: Some(Precision::follows),
        ..OpDef::new("_identity_with_attr_like_rhs")
    }
}

fn arange_like() -> OpDef {
    OpDef {
        aliases: &["_npx_arange_like"],
        summary: "evenly spaced numbers, as many as data has elements",
        dtypes: NUMBERS,
        gradient: Gradient::Zero,
        ignored_inputs: &[0],
        infer_shape: |params, inputs, outputs| {
            let params: &ArangeLikeParams = params.get();
            if params.repeat < 1 {
                return Err(bad_attribute("_contrib_arange_like", "repeat", "at least 1", params.repeat));
            }
            match (params.axis, inputs[0].ndim()) {
                (_, None) => Ok(()),
                (None, _) => unify_all(inputs, outputs, "output"),
                (Some(axis), Some(ndim)) => {
                    let axis = resolve_axis(i64::from(axis), ndim, "data")?;
                    learn(&mut outputs[0], &PartialShape::new([inputs[0].dim(axis)]), "output")
                }
            }
        },
        reference: Some(|params, _, outputs, _| {
            let params: &ArangeLikeParams = params.get();
            let repeat = params.repeat.max(1) as usize;
            let number = |i: usize| params.start + params.step * (i / repeat) as f64;
            let n = outputs[0].desc.shape.n_elements();
            numeric::write(&mut outputs[0], &(0..n).map(number).collect::<Vec<f64>>());
            Ok(())
        }),
        samples: || {
            vec![
                Sample::plain("all", &[&[2, 3]]),
                Sample::new("axis", [("axis", "-1"), ("start", "2"), ("step", "3")], &[&[2, 4]]),
                Sample::new("repeated", [("repeat", "2")], &[&[5]]),
                Sample::plain("empty", &[&[0, 3]]),
            ]
        },
        ..OpDef::new("_contrib_arange_like").params::<ArangeLikeParams>()
    }
}
