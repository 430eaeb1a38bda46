//! Operators that a program defines: registration, inference, gradients and bad input, through the executor's public calls.

use mxrs_op::{Attrs, RefInput, RefOutput, elements};
use mxrs_ops::custom::{CustomOp, register};
use mxrs_types::{DType, Error, PartialShape, Result, Shape};

/// Adds a weight, whose shape it infers from data, and returns the sum and the difference.
struct SumAndDifference;

impl CustomOp for SumAndDifference {
    fn arguments(&self) -> Vec<String> {
        vec!["data".into(), "weight".into()]
    }

    fn n_outputs(&self) -> usize {
        2
    }

    fn forward(&self, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: bool) -> Result<()> {
        let [a, b] = [0, 1].map(|i| elements::read_f64(inputs[i].bytes, inputs[i].desc.dtype));
        for (output, sign) in outputs.iter_mut().zip([1.0, -1.0]) {
            let values: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a + sign * b).collect();
            elements::write_f64(&values, output.desc.dtype, output.bytes);
        }
        Ok(())
    }
}

fn attrs(op_type: &str) -> Attrs {
    Attrs::from([("op_type", op_type), ("any", "text")])
}

#[test]
fn names_shapes_and_types_come_from_the_program() {
    register("sum and difference", |_| Ok(Box::new(SumAndDifference))).unwrap();
    let ops = mxrs_ops::catalog();
    let op = ops.get("Custom").unwrap();
    let params = op.parse(&attrs("sum and difference")).unwrap();
    assert_eq!(op.input_names(&params), ["data", "weight"]);
    assert_eq!((op.n_inputs(&params), op.n_outputs.get(&params)), (2, 2));
    let mut inputs = [PartialShape::from(Shape::from([2, 3])), PartialShape::unknown()];
    let mut outputs = [PartialShape::unknown(), PartialShape::unknown()];
    op.infer_shapes(&params, &mut inputs, &mut outputs).unwrap();
    assert!(inputs.iter().chain(&outputs).all(|shape| shape.known() == Some(Shape::from([2, 3]))));
    let (mut inputs, mut outputs) = ([None, Some(DType::F16)], [None, None]);
    op.infer_dtypes(&params, &mut inputs, &mut outputs).unwrap();
    assert_eq!((inputs, outputs), ([Some(DType::F16); 2], [Some(DType::F16); 2]));
}

#[test]
fn unknown_operators_and_errors_of_the_program_are_errors_of_the_call() {
    register("refuses", |attrs| {
        Err(Error::invalid("attribute `any`", attrs.get("any").unwrap_or("nothing"), "a number"))
    })
    .unwrap();
    let ops = mxrs_ops::catalog();
    let op = ops.get("Custom").unwrap();
    for (attrs, expected) in [
        (attrs("refuses"), "attribute `any`"),
        (attrs("never registered"), "a custom operator that this program has registered"),
        (Attrs::new(), "op_type"),
    ] {
        let error = op.parse(&attrs).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert!(register("", |_| Ok(Box::new(SumAndDifference))).is_err());
}
