//! Joins tensors of equal shape along a new axis: n inputs [a, b] with axis 1 give [a, n, b].
//!
//! Gradient: each input gets its slice of `ograd`.
//!
//! MXNet: `stack`. Inputs are `arg0`, `arg1`, …; a negative `axis` counts from the end of the output's axes. Dtypes: f32 f64
//! f16 bf16 u8 i8 i32 i64 bool, the same for all inputs.

use crate::dtypes::MOVABLE;
use crate::families::along;
use crate::families::gradients::Answers;
use crate::inference::{bad_attribute, learn, resolve_axis, unify_all, unify_dtypes};
use mxrs_op::{Attrs, Gradient, GradientScope, InputNames, Moves, OpDef, OpParams, Precision, Sample, op_params};
use mxrs_types::{PartialShape, Result};

op_params! {
    /// Parameters of `stack`.
    pub struct StackParams for "stack" {
        /// The new axis.
        axis: i32 = 0,
        /// Number of inputs.
        num_args: i32,
    }
}

/// Defines the operator `stack`.
pub fn define() -> OpDef {
    OpDef {
        summary: "joins inputs along a new axis",
        inputs: InputNames::Variable {
            prefix: "arg",
            listed: "data",
            key: "num_args",
            count: |params| usize::try_from(params.get::<StackParams>().num_args).unwrap_or(0),
        },
        infer_shape,
        infer_dtype: |_, inputs, outputs| unify_dtypes(inputs.iter_mut().chain(outputs), "data"),
        dtypes: MOVABLE,
        precision: Precision::widest,
        gradient: Gradient::By(gradient),
        moves: Moves::Parts(|params, inputs, outputs| {
            let axis = resolve_axis(i64::from(params.get::<StackParams>().axis), outputs[0].ndim(), "output")?;
            let (outer, lens) = along::lens(inputs, axis);
            Ok(Some(along::joined(0, outer, &lens)))
        }),
        reference: Some(|params, inputs, outputs, _| {
            let out = &mut outputs[0];
            let axis = resolve_axis(i64::from(params.get::<StackParams>().axis), out.desc.shape.ndim(), "output")?;
            let inner: usize = out.desc.shape[axis + 1..].iter().product();
            let row = inner * out.desc.dtype.size_of();
            for (at, input) in inputs.iter().enumerate().filter(|_| row > 0) {
                let rows = out.bytes.chunks_exact_mut(row).skip(at).step_by(inputs.len());
                rows.zip(input.bytes.chunks_exact(row)).for_each(|(to, from)| to.copy_from_slice(from));
            }
            Ok(())
        }),
        samples,
        ..OpDef::new("stack").params::<StackParams>()
    }
}

fn gradient(params: &OpParams, scope: &mut dyn GradientScope) -> Answers {
    let n = scope.n_inputs();
    let attrs = Attrs::from([
        ("num_outputs", n.to_string()),
        ("axis", params.get::<StackParams>().axis.to_string()),
        ("squeeze_axis", "True".into()),
    ]);
    let head = scope.out_grad(0)?;
    Ok(scope.call("SliceChannel", attrs, &[head])?.into_iter().map(Some).collect())
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let params = params.get::<StackParams>();
    if params.num_args < 1 {
        return Err(bad_attribute("stack", "num_args", "at least one input", params.num_args));
    }
    if let Some(mut dims) = outputs[0].dims().map(<[_]>::to_vec) {
        dims.remove(resolve_axis(i64::from(params.axis), dims.len(), "output")?);
        learn(&mut inputs[0], &PartialShape::new(dims), "data")?;
    }
    unify_all(inputs, &mut [], "data")?;
    let Some(mut dims) = inputs[0].dims().map(<[_]>::to_vec) else { return Ok(()) };
    let axis = resolve_axis(i64::from(params.axis), dims.len() + 1, "data")?;
    dims.insert(axis, Some(inputs.len()));
    learn(&mut outputs[0], &PartialShape::new(dims), "output")
}

fn samples() -> Vec<Sample> {
    let of = |name, axis, n, shape: &[usize]| {
        let shapes = vec![shape; n];
        Sample::new(name, [("axis", axis), ("num_args", if n == 3 { "3" } else { "1" })], &shapes)
    };
    vec![
        of("first", "0", 3, &[2, 5]),
        of("middle", "1", 3, &[2, 3, 4]),
        of("last", "-1", 3, &[2, 3]),
        of("one", "0", 1, &[1]),
        of("empty", "1", 3, &[0, 2]),
    ]
}
