//! Facts about arrays: `_npi_share_memory`, whether two arrays have a byte in common; `_npx_constraint_check`, which fails with a
//! message if an element is false; `_npi_diag_indices_from`, the indices of the main diagonal of a cube.
//!
//! Gradient: zero.
//!
//! Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64 bool; `_npx_constraint_check` only bool.

use crate::dtypes::MOVABLE;
use crate::inference::{OP, learn, learn_dim, learn_dtype};
use crate::numeric;
use mxrs_op::{Fill, Gradient, InputNames, OpDef, Sample, op_params};
use mxrs_types::{DType, Error, PartialShape};

op_params! {
    /// Parameters of `_npx_constraint_check`.
    pub struct ConstraintParams for "_npx_constraint_check" {
        /// The message of the failure.
        msg: String = "Constraint violated.".into(),
    }
}

/// Functions that define the operators.
pub const DEFINITIONS: &[fn() -> OpDef] = &[share_memory, constraint_check, diag_indices_from];

/// An operator whose only output is a truth value.
fn truth(name: &'static str, summary: &'static str) -> OpDef {
    OpDef {
        summary,
        infer_shape: |_, _, outputs| learn(&mut outputs[0], &PartialShape::new([]), "output"),
        gradient: Gradient::Zero,
        ..OpDef::new(name)
    }
}

fn share_memory() -> OpDef {
    OpDef {
        inputs: InputNames::Fixed(&["a", "b"]),
        infer_dtype: |_, inputs, outputs| {
            let known = inputs[0].or(inputs[1]);
            inputs.iter_mut().for_each(|dtype| *dtype = dtype.or(known));
            learn_dtype(&mut outputs[0], DType::Bool, "output")
        },
        dtypes: MOVABLE,
        reference: Some(|_, inputs, outputs, _| {
            let [a, b] = [0, 1].map(|i| inputs[i].bytes.as_ptr_range());
            let is_empty = inputs.iter().any(|input| input.bytes.is_empty());
            outputs[0].bytes.fill(u8::from(!is_empty && a.start < b.end && b.start < a.end));
            Ok(())
        }),
        samples: || {
            vec![
                Sample::plain("matrices", &[&[2, 3], &[2, 3]]),
                Sample::plain("different", &[&[4], &[2, 3]]),
                Sample::plain("scalars", &[&[], &[]]),
                Sample::plain("empty", &[&[0], &[2]]),
            ]
        },
        ..truth("_npi_share_memory", "whether two arrays have a byte in common")
    }
}

fn constraint_check() -> OpDef {
    OpDef {
        inputs: InputNames::Fixed(&["input"]),
        infer_dtype: |_, inputs, outputs| {
            learn_dtype(&mut inputs[0], DType::Bool, "input")?;
            learn_dtype(&mut outputs[0], DType::Bool, "output")
        },
        dtypes: &[DType::Bool],
        reference: Some(|params, inputs, outputs, _| {
            if inputs[0].bytes.contains(&0) {
                let message = &params.get::<ConstraintParams>().msg;
                return Err(Error::invalid(message, "a false element", "true everywhere"));
            }
            outputs[0].bytes.fill(1);
            Ok(())
        }),
        samples: || {
            let of = |name, shape: &[usize]| {
                Sample::plain(name, &[shape])
                    .dtype(0, DType::Bool)
                    .fill(0, Fill::Values(vec![1.0; shape.iter().product()]))
            };
            vec![of("matrix", &[2, 3]), of("scalar", &[]), of("vector", &[5]), of("empty", &[0])]
        },
        ..truth("_npx_constraint_check", "fails if an element is false").params::<ConstraintParams>()
    }
}

fn diag_indices_from() -> OpDef {
    OpDef {
        summary: "indices of the main diagonal",
        infer_shape: |_, inputs, outputs| {
            let Some(ndim) = inputs[0].ndim() else { return Ok(()) };
            if ndim < 2 {
                return Err(Error::shape(OP, "data", "at least two axes", &inputs[0]));
            }
            let size = inputs[0].dims().and_then(|dims| dims.iter().copied().flatten().next()).or(outputs[0].dim(1));
            (0..ndim).try_for_each(|axis| learn_dim(&mut inputs[0], axis, size, "data"))?;
            learn(&mut outputs[0], &PartialShape::new([Some(ndim), size]), "output")
        },
        infer_dtype: |_, _, outputs| learn_dtype(&mut outputs[0], DType::I64, "output"),
        dtypes: MOVABLE,
        gradient: Gradient::Zero,
        ignored_inputs: &[0],
        reference: Some(|_, _, outputs, _| {
            let (n, size) = (outputs[0].desc.shape.n_elements(), outputs[0].desc.shape[1]);
            numeric::write_integers(&mut outputs[0], &(0..n).map(|at| (at % size) as i64).collect::<Vec<i64>>());
            Ok(())
        }),
        samples: || {
            vec![
                Sample::plain("matrix", &[&[3, 3]]),
                Sample::plain("cube", &[&[2, 2, 2]]),
                Sample::plain("one", &[&[1, 1]]),
                Sample::plain("empty", &[&[0, 0]]),
            ]
        },
        ..OpDef::new("_npi_diag_indices_from")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_op::{RefInput, RefOutput, RunMode, TensorDesc};

    /// Whether the operator finds a byte in common.
    fn shares(a: &[u8], b: &[u8]) -> bool {
        let of = |bytes: &[u8]| TensorDesc::dense([bytes.len()], DType::U8);
        let (descs, out) = ([of(a), of(b)], TensorDesc::dense(mxrs_types::Shape::scalar(), DType::Bool));
        let inputs = [RefInput { desc: &descs[0], bytes: a }, RefInput { desc: &descs[1], bytes: b }];
        let mut found = [7];
        let op = share_memory();
        let params = op.parse(&mxrs_op::Attrs::new()).expect("no parameters");
        let run = op.reference.expect("a kernel");
        run(&params, &inputs, &mut [RefOutput { desc: &out, bytes: &mut found }], RunMode::default())
            .expect("a result");
        found == [1]
    }

    #[test]
    fn arrays_that_overlap_share_memory() {
        let bytes = [0u8; 8];
        assert!(shares(&bytes, &bytes));
        assert!(shares(&bytes[..5], &bytes[4..]));
        assert!(!shares(&bytes[..4], &bytes[4..]));
        assert!(!shares(&bytes[2..2], &bytes));
    }

    #[test]
    fn the_failure_of_a_constraint_has_the_message() {
        let op = constraint_check();
        let params = op.parse(&mxrs_op::Attrs::from([("msg", "scale must be positive")])).expect("a message");
        let (desc, out) = (TensorDesc::dense([2], DType::Bool), TensorDesc::dense([1], DType::Bool));
        let input = RefInput { desc: &desc, bytes: &[1, 0] };
        let mut written = [0];
        let mut output = [RefOutput { desc: &out, bytes: &mut written }];
        let run = op.reference.expect("a kernel");
        let error = run(&params, &[input], &mut output, RunMode::default()).expect_err("a false element");
        assert!(error.to_string().contains("scale must be positive"), "{error}");
    }
}
