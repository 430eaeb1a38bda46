//! `out = data / temperature - ln Σ e^(data / temperature)`, the sum over `axis`: the logarithm of [`super::softmax`],
//! computed without its division. out has the shape of data.
//!
//! `dtype` sets the element type of the output. `use_length` is refused: MXNet has the parameter, but its operator has
//! no input for lengths.
//!
//! The gradient of data, `(ograd - e^out · Σ ograd) / temperature`, is computed by `_backward_log_softmax`.
//!
//! MXNet: `log_softmax`, also `_npx_log_softmax`. Dtypes: f32 f64 f16 bf16.

use super::softmax::{self, SoftmaxParams, for_each_row};
use crate::inference::bad_attribute;
use crate::numeric;
use mxrs_op::{Fill, Gradient, InputNames, OpDef, OpParams, RefInput, RefOutput, RunMode, Sample};
use mxrs_types::{PartialShape, Result};

/// Defines the operator `log_softmax`.
pub fn define() -> OpDef {
    OpDef {
        name: "log_softmax",
        aliases: &["_npx_log_softmax"],
        summary: "logarithm of softmax over an axis",
        inputs: InputNames::Fixed(&["data"]),
        infer_shape,
        gradient: Gradient::By(|params, scope| softmax::gradient_by("_backward_log_softmax", params, scope)),
        companions: || vec![define_backward()],
        reference: Some(log_softmax),
        samples: || without_length(softmax::samples()),
        ..softmax::define()
    }
}

fn define_backward() -> OpDef {
    OpDef {
        name: "_backward_log_softmax",
        summary: "gradient of log_softmax",
        inputs: InputNames::Fixed(&["ograd", "output", "data"]),
        reference: Some(backward),
        // The output of log_softmax is a logarithm of a probability, which is negative.
        samples: || {
            let samples = without_length(softmax::backward_samples()).into_iter();
            samples.map(|sample| sample.fill(1, Fill::Uniform(-3.0, -0.1))).collect()
        },
        ..softmax::define_backward()
    }
}

fn without_length(samples: Vec<Sample>) -> Vec<Sample> {
    samples.into_iter().filter(|sample| sample.attrs.get("use_length").is_none()).collect()
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    if params.get::<SoftmaxParams>().has_length() {
        return Err(bad_attribute("log_softmax", "use_length", "False: there is no input for lengths", "True"));
    }
    softmax::infer_shape(params, inputs, outputs)
}

fn log_softmax(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let params = params.get::<SoftmaxParams>();
    let mut values = numeric::read(&inputs[0]);
    let temperature = params.temperature.unwrap_or(1.0);
    for_each_row(params, &inputs[0].desc.shape, None, |row_at, _| {
        let row: Vec<f64> = row_at.iter().map(|i| values[*i] / temperature).collect();
        let max = row.iter().copied().fold(f64::NEG_INFINITY, numeric::max_nan);
        let sum: f64 = row.iter().map(|x| (x - max).exp()).sum();
        row_at.iter().zip(row).for_each(|(i, x)| values[*i] = x - max - sum.ln());
    })?;
    numeric::write(&mut outputs[0], &values);
    Ok(())
}

fn backward(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    softmax::backward_by(params, inputs, outputs, (|g, _| g, |g, y, sum| g - y.exp() * sum))
}
