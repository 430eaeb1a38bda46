//! Arrays with at least one, two or three axes: `_np_atleast_1d`, `_np_atleast_2d`, `_np_atleast_3d`. Axes of size 1 are added as in
//! NumPy: a vector `[n]` becomes `[1, n]` or `[1, n, 1]`, a matrix `[n, m]` becomes `[n, m, 1]`. Each input has an output.
//!
//! Gradient: `ograd` in the shape of the input. That of MXNet is zero.
//!
//! Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool, the same for all inputs.

use crate::dtypes::MOVABLE;
use crate::inference::{bad_attribute, learn, unify_dtypes};
use mxrs_op::{Gradient, InputNames, OpDef, OpParams, OutputCount, Sample, op_params};
use mxrs_types::PartialShape;

op_params! {
    /// Parameters of the operators.
    pub struct AtleastParams for "_np_atleast_1d" {
        /// Number of inputs.
        num_args: i32,
    }
}

/// Functions that define the operators.
pub const DEFINITIONS: &[fn() -> OpDef] = &[
    || define::<1>("_np_atleast_1d", "at least one axis"),
    || define::<2>("_np_atleast_2d", "at least two axes"),
    || define::<3>("_np_atleast_3d", "at least three axes"),
];

fn count(params: &OpParams) -> usize {
    usize::try_from(params.get::<AtleastParams>().num_args).unwrap_or(0)
}

/// The shape with at least `N` axes.
fn extended<const N: usize>(dims: &[Option<usize>]) -> PartialShape {
    let one = Some(1);
    PartialShape::new(match (N, dims) {
        (1, []) => vec![one],
        (2, []) => vec![one; 2],
        (3, []) => vec![one; 3],
        (2, [n]) => vec![one, *n],
        (3, [n]) => vec![one, *n, one],
        (3, [n, m]) => vec![*n, *m, one],
        (_, dims) => dims.to_vec(),
    })
}

fn define<const N: usize>(name: &'static str, summary: &'static str) -> OpDef {
    OpDef {
        summary,
        inputs: InputNames::Variable { prefix: "ary", listed: "arys", key: "num_args", count },
        n_outputs: OutputCount::ByParams(count),
        n_visible: OutputCount::ByParams(count),
        infer_shape: |params, inputs, outputs| {
            if inputs.is_empty() {
                let got = params.get::<AtleastParams>().num_args;
                return Err(bad_attribute("_np_atleast_1d", "num_args", "at least one array", got));
            }
            inputs.iter().zip(outputs).try_for_each(|(input, output)| match input.dims() {
                Some(dims) => learn(output, &extended::<N>(dims), "output"),
                None => Ok(()),
            })
        },
        infer_dtype: |_, inputs, outputs| unify_dtypes(inputs.iter_mut().chain(outputs), "arys"),
        dtypes: MOVABLE,
        gradient: Gradient::By(|_, scope| {
            let mut answers = Vec::new();
            for i in 0..scope.n_inputs() {
                let (head, input) = (scope.out_grad(i)?, scope.input(i));
                answers.push(Some(scope.call_one("_backward_reshape", &[head, input])?));
            }
            Ok(answers)
        }),
        reference: Some(|_, inputs, outputs, _| {
            inputs.iter().zip(outputs).for_each(|(input, output)| output.bytes.copy_from_slice(input.bytes));
            Ok(())
        }),
        samples: || {
            let of = |name, n, shapes: &[&[usize]]| Sample::new(name, [("num_args", n)], shapes);
            vec![
                of("scalar", "1", &[&[]]),
                of("vector", "1", &[&[3]]),
                of("several", "3", &[&[2, 3], &[], &[2, 1, 3]]),
                of("empty", "1", &[&[0]]),
            ]
        },
        ..OpDef::new(name).params::<AtleastParams>()
    }
}
