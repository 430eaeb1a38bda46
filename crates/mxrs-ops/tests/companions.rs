//! Tests the shape inference of operators that only gradients call: it works from inputs to outputs and back, is consistent,
//! and refuses contradictions.

use mxrs_op::{OpDef, OpParams, Sample};
use mxrs_types::{DType, PartialShape, Result, Shape};

/// Shapes of a call after inference: those of the inputs, then those of the outputs.
fn inferred(op: &OpDef, params: &OpParams, given: Vec<PartialShape>, n_inputs: usize) -> Result<Vec<PartialShape>> {
    let mut shapes = given;
    // Three rounds of inference are enough for all shapes to settle.
    for _ in 0..3 {
        let (inputs, outputs) = shapes.split_at_mut(n_inputs);
        op.infer_shapes(params, inputs, outputs)?;
    }
    Ok(shapes)
}

fn whole(op: &OpDef, params: &OpParams, sample: &Sample) -> Vec<PartialShape> {
    let mut given: Vec<PartialShape> = sample.inputs.iter().map(|i| PartialShape::from(&i.shape)).collect();
    given.extend(vec![PartialShape::unknown(); op.n_outputs.get(params)]);
    inferred(op, params, given, sample.inputs.len()).expect("a possible call")
}

#[test]
fn g7_shapes_that_are_found_agree_with_the_whole_call() {
    let ops = mxrs_ops::catalog();
    assert!(ops.companions().count() >= 19, "only {} backward operators", ops.companions().count());
    for op in ops.companions() {
        for sample in (op.samples)() {
            let context = format!("{}/{}", op.name, sample.name);
            let params = op.parse(&sample.attrs).expect("readable parameters");
            let all = whole(op, &params, &sample);
            assert!(all.iter().all(|s| s.known().is_some()), "{context}: {all:?}");
            for hidden in 0..all.len() {
                for keep_rank in [false, true] {
                    let mut given = all.clone();
                    let ndim = all[hidden].ndim().unwrap_or_default();
                    given[hidden] = if keep_rank { PartialShape::of_rank(ndim) } else { PartialShape::unknown() };
                    let found = inferred(op, &params, given, sample.inputs.len());
                    let found = found.unwrap_or_else(|e| panic!("{context} without {hidden}: {e}"));
                    let agrees = found[hidden].clone().merge(&all[hidden]).is_ok();
                    assert!(agrees, "{context}: {hidden} is {}, found {}", all[hidden], found[hidden]);
                    if hidden >= sample.inputs.len() {
                        assert_eq!(found[hidden], all[hidden], "{context}: output {hidden}");
                    }
                }
            }
        }
    }
}

/// A tensor and its gradient have the same shape, so each shape is inferred from the other.
#[test]
fn g7_data_follows_from_its_gradient() {
    let ops = mxrs_ops::catalog();
    let names = ["_backward_relu", "_backward_sum", "_backward_max", "_backward_slice_axis", "_backward_reshape"];
    for op in names.map(|name| ops.get(name).expect("a companion")) {
        for sample in (op.samples)() {
            let params = op.parse(&sample.attrs).expect("readable parameters");
            let all = whole(op, &params, &sample);
            let mut given = all.clone();
            given[1] = PartialShape::unknown();
            let found = inferred(op, &params, given, sample.inputs.len()).expect("a possible call");
            assert_eq!(found[1], all[1], "{}/{}", op.name, sample.name);
        }
    }
}

#[test]
fn impossible_head_gradients_are_refused() {
    let huge = Shape::from([11, 11, 11, 11, 11, 11, 11, 11, 11]);
    for op in mxrs_ops::catalog().companions() {
        let mut n_refused = 0;
        for sample in (op.samples)() {
            let params = op.parse(&sample.attrs).expect("readable parameters");
            let mut given = whole(op, &params, &sample);
            given[0] = PartialShape::from(&huge);
            n_refused += usize::from(inferred(op, &params, given, sample.inputs.len()).is_err());
        }
        assert!(n_refused > 0, "{}: any head gradient is accepted", op.name);
    }
}

/// Companions whose first input is not a gradient: they take the place of operators with output shapes that depend on values.
const RESOLVED: [&str; 3] = ["_bincount_sized", "_nonzero_rows", "_unique_sized"];

#[test]
fn types_follow_from_the_gradients() {
    for op in mxrs_ops::catalog().companions().filter(|op| !RESOLVED.contains(&op.name)) {
        // Samples whose first input has a fixed type are left out: there, a parameter names the type of the output's
        // gradient.
        for sample in (op.samples)().into_iter().filter(|s| s.inputs[0].dtype.is_none()) {
            let params = op.parse(&sample.attrs).expect("readable parameters");
            let mut inputs = vec![None; sample.inputs.len()];
            inputs[0] = Some(DType::F64);
            let mut outputs = vec![None; op.n_outputs.get(&params)];
            op.infer_dtypes(&params, &mut inputs, &mut outputs).expect("consistent types");
            let expected = if op.name == "_backward_cast" { None } else { Some(DType::F64) };
            assert!(outputs.iter().all(|t| *t == expected), "{}/{}: {outputs:?}", op.name, sample.name);
        }
    }
}

/// `_amp_scale_gradient` passes data on, and multiplies the gradient by the scale of a loss.
#[test]
fn a_scaled_gradient_is_a_product_with_the_scale() {
    let ops = mxrs_ops::catalog();
    let op = ops.get("_amp_scale_gradient").expect("a companion");
    let params = op.parse(&Default::default()).expect("no parameters");
    let mut inputs = [PartialShape::from(&Shape::from([2, 3, 4])), PartialShape::unknown()];
    let mut outputs = [PartialShape::unknown()];
    op.infer_shapes(&params, &mut inputs, &mut outputs).expect("consistent shapes");
    assert_eq!(inputs[1], PartialShape::from(&Shape::from([1, 1, 1])));
    assert_eq!(outputs[0], inputs[0]);
    let mut wrong = [inputs[0].clone(), PartialShape::from(&Shape::from([2, 1, 1]))];
    assert!(op.infer_shapes(&params, &mut wrong, &mut outputs).is_err());
    assert_eq!(op.precision_in(&params, DType::F16), mxrs_op::Precision::Float32);
}
