//! Calls an operator that the program defines. All attributes of the call are passed to it.
//!
//! Gradient: what the program defines; it may read the inputs, the outputs and the gradients of the outputs. The operator that ran
//! the call computes it.
//!
//! MXNet: `Custom`, also `_npi_Custom`. Auxiliary states are not supported: a program keeps them in its operator. Dtypes: f32 f64
//! f16 bf16 u8 i8 i32 i64 bool.

use super::backward;
use super::registry::CustomParams;
use super::square;
use crate::dtypes::MOVABLE;
use mxrs_op::{Accuracy, Gradient, InputNames, OpDef, OutputCount, Sample};

/// Defines the operator `Custom`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_npi_Custom"],
        summary: "an operator that the program defines",
        is_custom: true,
        inputs: InputNames::Listed { listed: "data", names: |params| params.get::<CustomParams>().inputs.clone() },
        n_outputs: OutputCount::ByParams(|params| params.get::<CustomParams>().n_outputs),
        n_visible: OutputCount::ByParams(|params| params.get::<CustomParams>().n_outputs),
        infer_shape: |params, inputs, outputs| params.get::<CustomParams>().op.infer_shape(inputs, outputs),
        infer_dtype: |params, inputs, outputs| params.get::<CustomParams>().op.infer_dtype(inputs, outputs),
        dtypes: MOVABLE,
        accuracy: Accuracy::Elementwise,
        gradient: Gradient::By(|params, scope| {
            let params: &CustomParams = params.get();
            let mut inputs = Vec::new();
            for output in 0..params.n_outputs {
                inputs.push(scope.out_grad(output)?);
            }
            inputs.extend((0..params.inputs.len()).map(|input| scope.input(input)));
            inputs.extend((0..params.n_outputs).map(|output| scope.output(output)));
            let gradients = scope.call(backward::NAME, params.attrs_of_gradient(), &inputs)?;
            Ok(gradients.into_iter().map(Some).collect())
        }),
        companions: || vec![super::backward::define()],
        reference: Some(|params, inputs, outputs, mode| {
            params.get::<CustomParams>().op.forward(inputs, outputs, mode.is_train)
        }),
        samples: || {
            let square = |name, shape| Sample::new(name, [("op_type", square::NAME)], &[shape]);
            vec![square("matrix", &[2, 3]), square("more", &[2, 3, 4]), square("one", &[1]), square("empty", &[0, 3])]
        },
        ..OpDef::new("Custom").params::<CustomParams>()
    }
}
