//! Cuts an axis into parts: `_split_v2`, `_npi_hsplit` and `_npi_dsplit`. With `sections` n there are n equal parts;
//! otherwise `indices` holds the first position of each part, and the first index is 0. With `squeeze_axis` the axis, on
//! which each part must have size 1, is left out. `_npi_hsplit` cuts the second axis, of a vector the only one, and
//! `_npi_dsplit` the third.
//!
//! Gradient: the parts of the gradient, joined again.
//!
//! MXNet: `_split_v2` is also `_npi_split`. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool.

use crate::dtypes::MOVABLE;
use crate::families::along;
use crate::families::gradients::{Answers, params_of};
use crate::families::indexing::around_axis;
use crate::inference::{OP, bad_attribute, learn, resolve_axis, unify, unify_dtypes};
use mxrs_op::param::ShapeAttr;
use mxrs_op::{
    Gradient, GradientScope, InputNames, Moves, OpDef, OpParams, OutputCount, Precision, RefInput, RefOutput, RunMode,
    Sample, op_params,
};
use mxrs_types::{Error, PartialShape, Result};

op_params! {
    /// Parameters of `_split_v2`.
    pub struct SplitParams for "_split_v2" {
        /// First positions of the parts, if `sections` is 0.
        indices: ShapeAttr,
        /// Axis to cut.
        axis: i32 = 1,
        /// Whether the axis is left out of the outputs.
        squeeze_axis: bool = false,
        /// Number of equal parts; 0 if `indices` decides.
        sections: i32 = 0,
    }
}

/// Functions that define the operators.
pub const DEFINITIONS: &[fn() -> OpDef] = &[define::<Split>, define::<HSplit>, define::<DSplit>];

/// Which axis is cut.
trait Kind: 'static {
    const NAME: &'static str;
    const ALIASES: &'static [&'static str] = &[];
    const BACKWARD: &'static str;
    /// What mixed precision in float16 does, if not float32.
    const PRECISION_FLOAT16: Option<fn(&OpParams) -> Precision> = None;
    fn axis(params: &SplitParams, ndim: usize) -> Result<usize>;
}

struct Split;

impl Kind for Split {
    const NAME: &'static str = "_split_v2";
    const ALIASES: &'static [&'static str] = &["_npi_split"];
    const BACKWARD: &'static str = "_backward_split_v2";
    const PRECISION_FLOAT16: Option<fn(&OpParams) -> Precision> = Some(Precision::follows);
    fn axis(params: &SplitParams, ndim: usize) -> Result<usize> {
        resolve_axis(i64::from(params.axis), ndim, "data")
    }
}

struct HSplit;

impl Kind for HSplit {
    const NAME: &'static str = "_npi_hsplit";
    const BACKWARD: &'static str = "_backward_npi_hsplit";
    fn axis(_: &SplitParams, ndim: usize) -> Result<usize> {
        resolve_axis(if ndim == 1 { 0 } else { 1 }, ndim, "data")
    }
}

struct DSplit;

impl Kind for DSplit {
    const NAME: &'static str = "_npi_dsplit";
    const BACKWARD: &'static str = "_backward_npi_dsplit";
    fn axis(_: &SplitParams, ndim: usize) -> Result<usize> {
        resolve_axis(2, ndim, "data")
    }
}

/// Number of parts.
fn count(params: &OpParams) -> usize {
    let params: &SplitParams = params.get();
    if params.sections > 0 { params.sections as usize } else { params.indices.len() }
}

/// The sizes of the parts of an axis.
fn parts(params: &SplitParams, size: usize) -> Result<Vec<usize>> {
    if params.sections > 0 {
        let n = params.sections as usize;
        if !size.is_multiple_of(n) {
            return Err(Error::shape(OP, "data", format!("a multiple of {n} elements on the axis"), format!("{size}")));
        }
        return Ok(vec![size / n; n]);
    }
    let wrong = || {
        bad_attribute("_split_v2", "indices", format!("ascending positions from 0 to {size}"), params.indices.to_text())
    };
    let starts =
        params.indices.iter().map(|at| usize::try_from(*at).map_err(|_| wrong())).collect::<Result<Vec<_>>>()?;
    let ends = starts.iter().skip(1).copied().chain([size]);
    let sizes: Option<Vec<usize>> = starts.iter().zip(ends).map(|(start, end)| end.checked_sub(*start)).collect();
    sizes.filter(|sizes| !sizes.is_empty() && starts[0] == 0).ok_or_else(wrong)
}

fn infer_shape<K: Kind>(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let params: &SplitParams = params.get();
    let Some(mut dims) = inputs[0].dims().map(<[_]>::to_vec) else { return Ok(()) };
    let axis = K::axis(params, dims.len())?;
    let sizes = dims[axis].map(|size| parts(params, size)).transpose()?;
    for (i, output) in outputs.iter_mut().enumerate() {
        dims[axis] = sizes.as_ref().map(|sizes| sizes[i]);
        if params.squeeze_axis && dims[axis].is_some_and(|size| size != 1) {
            return Err(Error::shape(OP, "data", "parts of size 1 to leave the axis out", &inputs[0]));
        }
        let kept = dims.iter().enumerate().filter(|(i, _)| !params.squeeze_axis || *i != axis).map(|(_, size)| *size);
        learn(output, &PartialShape::new(kept), "output")?;
    }
    Ok(())
}

fn define<K: Kind>() -> OpDef {
    OpDef {
        aliases: K::ALIASES,
        summary: "cuts an axis into parts",
        n_outputs: OutputCount::ByParams(count),
        n_visible: OutputCount::ByParams(count),
        infer_shape: infer_shape::<K>,
        infer_dtype: |_, inputs, outputs| unify_dtypes(inputs.iter_mut().chain(outputs), "data"),
        dtypes: MOVABLE,
        gradient: Gradient::By(gradient::<K>),
        companions: || vec![backward::<K>()],
        moves: Moves::Parts(|params, inputs, outputs| {
            let (outer, lens) = along::lens(outputs, K::axis(params.get(), inputs[0].ndim())?);
            Ok(Some(along::cut(outer, &lens)))
        }),
        reference: Some(|params, inputs, outputs, _| {
            let data = &inputs[0].desc.shape;
            let (outer, _, _) = around_axis(data, K::axis(params.get(), data.ndim())?);
            let mut start = 0;
            for output in outputs {
                let len = output.bytes.len().checked_div(outer).unwrap_or(0);
                let row = inputs[0].bytes.len().checked_div(outer).unwrap_or(0);
                for i in 0..outer {
                    output.bytes[i * len..][..len].copy_from_slice(&inputs[0].bytes[i * row + start..][..len]);
                }
                start += len;
            }
            Ok(())
        }),
        samples,
        precision_float16: K::PRECISION_FLOAT16,
        ..OpDef::new(K::NAME).params::<SplitParams>()
    }
}

fn gradient<K: Kind>(params: &OpParams, scope: &mut dyn GradientScope) -> Answers {
    let mut inputs = vec![scope.input(0)];
    for i in 0..count(params) {
        inputs.push(scope.out_grad(i)?);
    }
    let attrs = params_of(scope);
    Ok(vec![Some(scope.call(K::BACKWARD, attrs, &inputs)?[0])])
}

/// Takes data, of which only the shape matters, and the gradients of the parts, and returns the gradient of data.
fn backward<K: Kind>() -> OpDef {
    OpDef {
        summary: "parts of a gradient, joined",
        inputs: InputNames::Variable {
            prefix: "tensor",
            listed: "data",
            key: "num_args",
            count: |params| count(params) + 1,
        },
        infer_shape: |params, inputs, outputs| {
            let Some((data, ograds)) = inputs.split_first_mut() else { return Ok(()) };
            unify(data, &mut outputs[0], "data")?;
            infer_shape::<K>(params, std::slice::from_mut(data), ograds)?;
            unify(data, &mut outputs[0], "data")
        },
        infer_dtype: |_, inputs, outputs| unify_dtypes(inputs.iter_mut().chain(outputs), "data"),
        dtypes: MOVABLE,
        ignored_inputs: &[0],
        moves: Moves::Parts(|params, inputs, outputs| {
            let (outer, lens) = along::lens(&inputs[1..], K::axis(params.get(), outputs[0].ndim())?);
            Ok(Some(along::joined(1, outer, &lens)))
        }),
        gradient: Gradient::By(|_, scope| {
            let head = scope.out_grad(0)?;
            let attrs = params_of(scope);
            let parts = scope.call(K::NAME, attrs, &[head])?;
            Ok(std::iter::once(None).chain(parts.into_iter().map(Some)).collect())
        }),
        reference: Some(join::<K>),
        samples: || {
            crate::families::backward::samples_of(&define::<K>(), |sample, outputs| {
                Some([&sample.inputs[..1], outputs].concat())
            })
        },
        ..OpDef::new(K::BACKWARD).params::<SplitParams>()
    }
}

fn join<K: Kind>(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let out = &mut outputs[0];
    let (outer, _, _) = around_axis(&out.desc.shape, K::axis(params.get(), out.desc.shape.ndim())?);
    let row = out.bytes.len().checked_div(outer).unwrap_or(0);
    let mut start = 0;
    for input in &inputs[1..] {
        let len = input.bytes.len().checked_div(outer).unwrap_or(0);
        for i in 0..outer {
            out.bytes[i * row + start..][..len].copy_from_slice(&input.bytes[i * len..][..len]);
        }
        start += len;
    }
    Ok(())
}

fn samples() -> Vec<Sample> {
    // The operators split different axes. Their samples are shared, so both axes have the same size.
    let of = |name, indices: &str, more: &[(&str, &str)], shape: &[usize]| {
        let attrs = [("axis", "2"), ("indices", indices)].into_iter().chain(more.iter().copied());
        Sample { attrs: attrs.collect(), ..Sample::plain(name, &[shape]) }
    };
    vec![
        of("indices", "(0, 1, 4)", &[], &[2, 5, 5]),
        of("sections", "()", &[("sections", "3")], &[2, 3, 3]),
        of("squeezed", "()", &[("sections", "3"), ("squeeze_axis", "True")], &[1, 3, 3]),
        of("empty", "(0, 1)", &[], &[0, 2, 2]),
    ]
}
