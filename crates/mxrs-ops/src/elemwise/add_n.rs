//! `out = args[0] + args[1] + …`, elementwise over equal shapes, summed in this order. Integers wrap.
//!
//! Gradient: `ograd` for every input.
//!
//! MXNet: `add_n`, also `ElementWiseSum`, `_sparse_ElementWiseSum`, `_sparse_add_n`. Inputs are `arg0`, `arg1`, …; the
//! attribute `num_args` counts them. Dtypes: f32 f64 f16 bf16 u8 i8 i32 i64.

use crate::dtypes::NUMBERS;
use crate::families::gradients;
use crate::inference::{bad_attribute, unify_all, unify_dtypes};
use crate::numeric;
use mxrs_op::param::{Parameters, parse_field};
use mxrs_op::{Accuracy, Attrs, Combines, Gradient, InputNames, OpDef, ParamSpec, Pointwise, Precision, Sample};
use mxrs_types::Result;

/// Parameters of `add_n`. MXNet's C API lists no parameter, because `num_args` follows from the number of inputs.
#[derive(Clone, Debug, PartialEq)]
pub struct AddNParams {
    /// Number of inputs.
    pub num_args: usize,
}

impl Parameters for AddNParams {
    const OP: &'static str = "add_n";

    fn parse(attrs: &Attrs) -> Result<Self> {
        let text =
            attrs.get("num_args").ok_or_else(|| mxrs_op::param::missing(Self::OP, "num_args", "int, required"))?;
        let count: i32 = parse_field(Self::OP, "num_args", text)?;
        match usize::try_from(count) {
            Ok(num_args) if num_args > 0 => Ok(Self { num_args }),
            _ => Err(bad_attribute(Self::OP, "num_args", "at least 1", count)),
        }
    }

    fn specs() -> Vec<ParamSpec> {
        Vec::new()
    }
}

/// Defines the operator `add_n`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["ElementWiseSum", "_sparse_ElementWiseSum", "_sparse_add_n"],
        summary: "out = sum of all inputs",
        inputs: InputNames::Variable {
            prefix: "arg",
            listed: "args",
            key: "num_args",
            count: |params| params.get::<AddNParams>().num_args,
        },
        infer_shape: |_, inputs, outputs| unify_all(inputs, outputs, "args"),
        infer_dtype: |_, inputs, outputs| unify_dtypes(inputs.iter_mut().chain(outputs), "args"),
        dtypes: NUMBERS,
        inplace: &[(0, 0)],
        pointwise: Pointwise::Yes,
        precision: Precision::widest,
        gradient: Gradient::By(gradients::pass_to_all),
        accuracy: Accuracy::Elementwise,
        reference: Some(|_, inputs, outputs, _| {
            if outputs[0].desc.dtype.is_float() {
                let mut sum = numeric::read(&inputs[0]);
                for input in &inputs[1..] {
                    sum.iter_mut().zip(numeric::read(input)).for_each(|(s, x)| *s += x);
                }
                numeric::write(&mut outputs[0], &sum);
            } else {
                let mut sum = numeric::read_integers(&inputs[0]);
                for input in &inputs[1..] {
                    sum.iter_mut().zip(numeric::read_integers(input)).for_each(|(s, x)| *s = s.wrapping_add(x));
                }
                numeric::write_integers(&mut outputs[0], &sum);
            }
            Ok(())
        }),
        combines: Combines::GradientSum,
        samples,
        ..OpDef::new("add_n").params::<AddNParams>()
    }
}

fn samples() -> Vec<Sample> {
    vec![
        Sample::new("one_input", [("num_args", "1")], &[&[3]]),
        Sample::new("three", [("num_args", "3")], &[&[2, 5], &[2, 5], &[2, 5]]),
        Sample::new("four_axes", [("num_args", "2")], &[&[2, 3, 5, 7], &[2, 3, 5, 7]]),
        Sample::new("empty", [("num_args", "2")], &[&[0], &[0]]),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_op::Attrs;

    #[test]
    fn a_count_that_only_a_damaged_file_would_give_is_refused() {
        let op = define();
        assert_eq!(op.n_inputs(&op.parse(&Attrs::from([("num_args", "65536")])).unwrap()), 65_536);
        let error = op.parse(&Attrs::from([("num_args", "2147483647")])).unwrap_err().to_string();
        assert!(error.contains("num_args") && error.contains("2147483647") && error.contains("65536"), "{error}");
    }
}
