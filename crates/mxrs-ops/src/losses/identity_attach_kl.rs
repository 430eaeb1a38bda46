//! `out = data`, whose gradient pulls the mean of each column towards a target (Hinton 2010, "A Practical Guide to Training
//! Restricted Boltzmann Machines"). Data are activations between 0 and 1, such as those of `sigmoid`.
//!
//! With the moving mean m of a column, `sparseness_target` t and `penalty` p, the gradient of each element of the column is
//! `ograd + p · ((1 - t) / (1 - m) - t / m)`: p times the derivative of the divergence of m from t.
//!
//! Shapes: data [N, C], moving_avg `[C]`, an auxiliary state. Data of more axes are rows of their last axis, which must be as
//! long as axis 1. In training a call rewrites `moving_avg = momentum · moving_avg + (1 - momentum) · mean`, and the gradient
//! uses the new mean. The gradient at inference uses it too, but does not store it.
//!
//! MXNet: `IdentityAttachKLSparseReg`; it lists only the first of the two inputs, and rewrites moving_avg in its gradient.
//! Dtypes: f32 f64 f16 bf16, the same for all tensors.

use crate::dtypes::FLOATS;
use crate::families::gradients::params_of;
use crate::inference::{OP, bad_attribute, learn, learn_dim, unify};
use crate::numeric;
use mxrs_op::{Accuracy, Fill, Gradient, InputNames, OpDef, OpParams, RefInput, RefOutput, RunMode, Sample, op_params};
use mxrs_types::{Error, PartialShape, Result};

op_params! {
    /// Parameters of `IdentityAttachKLSparseReg`.
    pub struct SparseRegParams for "IdentityAttachKLSparseReg" {
        /// The mean that the gradient pulls columns towards, from 0 to 1.
        sparseness_target: f32 = 0.1,
        /// Factor of the pull.
        penalty: f32 = 0.001,
        /// Weight of the old value when the moving mean is updated, from 0 to 1.
        momentum: f32 = 0.9,
    }
}

const BACKWARD: &str = "_backward_IdentityAttachKLSparseReg";

/// Defines the operator `IdentityAttachKLSparseReg`.
pub fn define() -> OpDef {
    OpDef {
        summary: "out = data; the gradient makes columns sparse",
        inputs: InputNames::ByParams { all: &["data"], chosen: |_| vec!["data", "moving_avg"] },
        n_aux: 1,
        infer_shape,
        dtypes: FLOATS,
        rewrites: |_, is_train| if is_train { &[1] } else { &[] },
        init_hints: &[("moving_avg", r#"["zero", {}]"#)],
        accuracy: Accuracy::Reduction,
        gradient: Gradient::By(|_, scope| {
            // After a call in training the second input holds the new mean.
            let inputs = [scope.out_grad(0)?, scope.input(0), scope.input(1)];
            let attrs = params_of(scope);
            Ok(vec![Some(scope.call(BACKWARD, attrs, &inputs)?[0]), None])
        }),
        companions: || vec![backward()],
        reference: Some(|params, inputs, outputs, _| {
            numeric::copy_bytes(inputs, outputs);
            if let [_, moving_avg] = outputs {
                numeric::write(moving_avg, &moved(params, &inputs[0], &inputs[1]));
            }
            Ok(())
        }),
        samples: || {
            vec![
                sample("matrix", [], &[4, 3]),
                Sample { is_train: true, ..sample("training", [("penalty", "0.5")], &[4, 3]) },
                Sample { is_train: true, ..sample("more_axes", [("momentum", "0.3")], &[2, 3, 3]) },
                sample("empty", [("sparseness_target", "0.4")], &[0, 3]),
            ]
        },
        ..OpDef::new("IdentityAttachKLSparseReg").params::<SparseRegParams>()
    }
}

fn backward() -> OpDef {
    OpDef {
        summary: "gradient of IdentityAttachKLSparseReg",
        inputs: InputNames::Fixed(&["ograd", "data", "moving_avg"]),
        infer_shape: |params, inputs, outputs| {
            let [ograd, others @ ..] = inputs else { return Ok(()) };
            unify(ograd, &mut outputs[0], "output")?;
            infer_shape(params, others, outputs)?;
            learn(ograd, &outputs[0], "ograd")
        },
        dtypes: FLOATS,
        inplace: &[(0, 0)],
        accuracy: Accuracy::Reduction,
        reference: Some(run_backward),
        samples: || {
            let with_ograd = |mut sample: Sample| {
                let ograd = sample.inputs[0].clone();
                sample.inputs.insert(0, ograd);
                sample
            };
            (define().samples)().into_iter().map(with_ograd).collect()
        },
        ..OpDef::new(BACKWARD).params::<SparseRegParams>()
    }
}

fn sample<const N: usize>(name: &'static str, attrs: [(&str, &str); N], data: &[usize]) -> Sample {
    let sample = Sample::new(name, attrs, &[data, &[data[1]]]);
    sample.fill(0, Fill::Uniform(0.1, 0.9)).fill(1, Fill::Uniform(0.2, 0.8))
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let params: &SparseRegParams = params.get();
    for (name, value) in [("sparseness_target", params.sparseness_target), ("momentum", params.momentum)] {
        if !(0.0..=1.0).contains(&value) {
            return Err(bad_attribute("IdentityAttachKLSparseReg", name, "a number from 0 to 1", value));
        }
    }
    let [data, moving_avg] = inputs else { return Ok(()) };
    unify(data, &mut outputs[0], "output")?;
    learn(moving_avg, &PartialShape::of_rank(1), "moving_avg")?;
    let Some(ndim) = data.ndim() else { return Ok(()) };
    if ndim < 2 {
        return Err(Error::shape(OP, "data", "at least 2 axes", &*data));
    }
    let columns = moving_avg.dim(0).or(data.dim(1)).or(data.dim(ndim - 1));
    for axis in [1, ndim - 1] {
        learn_dim(data, axis, columns, "data")?;
    }
    learn_dim(moving_avg, 0, columns, "moving_avg")?;
    learn(&mut outputs[0], data, "output")
}

/// The moving means after a step.
fn moved(params: &OpParams, data: &RefInput<'_>, moving_avg: &RefInput<'_>) -> Vec<f64> {
    let momentum = f64::from(params.get::<SparseRegParams>().momentum);
    let (x, old) = (numeric::read(data), numeric::read(moving_avg));
    let n_rows = x.len() / old.len().max(1);
    if n_rows == 0 {
        return old;
    }
    let mean = |column: usize| x.iter().skip(column).step_by(old.len()).sum::<f64>() / n_rows as f64;
    old.iter().enumerate().map(|(column, old)| momentum * old + (1.0 - momentum) * mean(column)).collect()
}

fn run_backward(all: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], mode: RunMode) -> Result<()> {
    let params: &SparseRegParams = all.get();
    let means = if mode.is_train { numeric::read(&inputs[2]) } else { moved(all, &inputs[1], &inputs[2]) };
    let (target, penalty) = (f64::from(params.sparseness_target), f64::from(params.penalty));
    let pulls: Vec<f64> = means.iter().map(|m| penalty * ((1.0 - target) / (1.0 - m) - target / m)).collect();
    let gradient: Vec<f64> = numeric::read(&inputs[0]).iter().zip(pulls.iter().cycle()).map(|(g, p)| g + p).collect();
    numeric::write(&mut outputs[0], &gradient);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_op::{Attrs, TensorDesc};
    use mxrs_testkit::gradient::Tape;
    use mxrs_testkit::{AlignedBuffer, Tolerance, compare};
    use mxrs_types::DType;

    /// The means of the columns are 0.3 and 0.7, so half a step from 0.5 leads to 0.4 and 0.6.
    #[test]
    fn the_gradient_uses_the_mean_after_the_step() {
        let ops = crate::catalog();
        let op = ops.get("IdentityAttachKLSparseReg").unwrap();
        let attrs = Attrs::from([("momentum", "0.5"), ("penalty", "1"), ("sparseness_target", "0.5")]);
        for is_train in [true, false] {
            let mut tape = Tape::new(&ops, is_train);
            let mut leaf = |shape: &[usize], values: &[f64]| {
                let desc = TensorDesc::dense(shape, DType::F64);
                tape.leaf(desc, AlignedBuffer::from_f64(values, DType::F64)).unwrap()
            };
            let data = leaf(&[2, 2], &[0.2, 0.6, 0.4, 0.8]);
            let moving_avg = leaf(&[2], &[0.5, 0.5]);
            let head = leaf(&[2, 2], &[1.0, 2.0, 3.0, 4.0]);
            let out = tape.apply(op, attrs.clone(), &[data, moving_avg]).unwrap()[0];
            let found = tape.gradients(&[(out, head)], &[data]).unwrap()[0].unwrap();
            let pull = 0.5 / 0.4 - 0.5 / 0.6;
            let expected = [1.0 - pull, 2.0 + pull, 3.0 - pull, 4.0 + pull];
            compare(&tape.numbers(found), &expected, Tolerance::F64).unwrap();
            let stored = if is_train { [0.4, 0.6] } else { [0.5, 0.5] };
            compare(&tape.numbers(moving_avg), &stored, Tolerance::F64).unwrap();
        }
    }

    #[test]
    fn rows_of_another_length_are_refused() {
        let ops = crate::catalog();
        let op = ops.get("IdentityAttachKLSparseReg").unwrap();
        for (attrs, shape) in [
            (Attrs::new(), &[2, 3, 4][..]),
            (Attrs::new(), &[3]),
            (Attrs::from([("momentum", "1.5")]), &[2, 3]),
            (Attrs::from([("sparseness_target", "nan")]), &[2, 3]),
        ] {
            let params = op.parse(&attrs).unwrap();
            let mut inputs = [PartialShape::new(shape.iter().copied().map(Some)), PartialShape::unknown()];
            let mut outputs = [PartialShape::unknown()];
            assert!(op.infer_shapes(&params, &mut inputs, &mut outputs).is_err(), "{attrs:?} {shape:?}");
        }
    }
}
