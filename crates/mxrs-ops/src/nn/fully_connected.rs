//! `out = data · weightᵀ + bias`: each row of data is multiplied by the transposed weight matrix.
//!
//! With `flatten`, data [N, …] is viewed as [N, K], and out is [N, H]. Without `flatten`, the last axis of data is K, the
//! others are kept, and out is [N, …, H]. The weight is [H, K]; the bias, which is absent with `no_bias`, is `[H]`.
//!
//! Its gradients are computed by `_backward_FullyConnected_data`, `_backward_FullyConnected_weight` and
//! `_backward_FullyConnected_bias`.
//!
//! MXNet: `FullyConnected`, also `_npx_fully_connected`, `_sparse_FullyConnected`. Dtypes: f32 f64 f16 bf16, the same
//! for all tensors.

use crate::families::products;
use crate::families::products::Product;
use crate::fused;
use crate::inference::{OP, bad_attribute, learn, learn_dim, product};
use crate::numeric;
use mxrs_op::{OpDef, OpParams, Precision, RefInput, RefOutput, ReferenceFn, RunMode, Sample, op_params};
use mxrs_types::{Error, PartialShape, Result, Shape};

op_params! {
    /// Parameters of `FullyConnected`.
    pub struct FullyConnectedParams for "FullyConnected" {
        /// Number of outputs per row of data.
        num_hidden: i32,
        /// Whether there is no bias input.
        no_bias: bool = false,
        /// Whether all axes but the first are merged.
        flatten: bool = true,
    }
}

/// Defines the operator `FullyConnected`.
pub fn define() -> OpDef {
    OpDef {
        aliases: &["_npx_fully_connected", "_sparse_FullyConnected"],
        summary: "out = data weight^T + bias",
        precision: Precision::short,
        companions: || {
            let mut companions = products::companions::<FullyConnected>();
            companions.push(fused::fully_connected::define());
            companions
        },
        samples,
        ..products::operator::<FullyConnected>()
    }
}

/// Infers the shapes of the inputs (`data`, `weight` and, if there is one, `bias`) and of the output.
fn infer_shape(params: &FullyConnectedParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let hidden = match usize::try_from(params.num_hidden) {
        Ok(n) if n > 0 => n,
        _ => return Err(bad_attribute("FullyConnected", "num_hidden", "a positive number", params.num_hidden)),
    };
    let [data, weight, rest @ ..] = inputs else { return Ok(()) };
    let out = &mut outputs[0];
    learn(weight, &PartialShape::new([Some(hidden), None]), "weight")?;
    if let [bias] = rest {
        learn(bias, &PartialShape::new([Some(hidden)]), "bias")?;
    }
    if params.flatten {
        learn(out, &PartialShape::new([data.dim(0), Some(hidden)]), "output")?;
    }
    let Some(dims) = data.dims().map(<[_]>::to_vec) else {
        if let (false, Some(out_dims)) = (params.flatten, out.dims().map(<[_]>::to_vec)) {
            let Some((_, leading)) = out_dims.split_last() else {
                return Err(Error::shape(OP, "output", "at least one axis", &*out));
            };
            let dims = leading.iter().copied().chain([weight.dim(1)]);
            learn(data, &PartialShape::new(dims), "data")?;
        }
        return Ok(());
    };
    let Some((last, leading)) = dims.split_last() else {
        return Err(Error::shape(OP, "data", "at least one axis", &*data));
    };
    if params.flatten {
        learn_dim(data, 0, out.dim(0), "data")?;
        learn_dim(weight, 1, product(&dims[1..]), "weight")?;
        // If a single size of data is unknown, this size follows from the number of columns of the weight.
        let unknown: Vec<usize> = (1..dims.len()).filter(|axis| dims[*axis].is_none()).collect();
        let known = product(&dims[1..].iter().copied().filter(Option::is_some).collect::<Vec<_>>());
        if let ([axis], Some(columns), Some(known @ 1..)) = (unknown.as_slice(), weight.dim(1), known)
            && columns.is_multiple_of(known)
        {
            learn_dim(data, *axis, Some(columns / known), "data")?;
        }
    } else {
        learn_dim(weight, 1, *last, "weight")?;
        learn_dim(data, dims.len() - 1, weight.dim(1), "data")?;
        learn(out, &PartialShape::new(leading.iter().copied().chain([Some(hidden)])), "output")?;
        for axis in 0..leading.len() {
            learn_dim(data, axis, out.dim(axis), "data")?;
        }
    }
    Ok(())
}

/// Computes the output, of shape `out`, from the inputs `data`, `weight` and, if there is one, `bias`. The values are in
/// row-major order and not yet rounded.
fn values(inputs: &[RefInput<'_>], out: &Shape) -> Vec<f64> {
    let (hidden, columns) = (inputs[1].desc.shape[0], inputs[1].desc.shape[1]);
    let (x, w) = (numeric::read(&inputs[0]), numeric::read(&inputs[1]));
    let bias = inputs.get(2).map(numeric::read);
    let n_rows = out.n_elements() / hidden;
    let mut y = Vec::with_capacity(n_rows * hidden);
    for row in 0..n_rows {
        for h in 0..hidden {
            let products = (0..columns).map(|k| x[row * columns + k] * w[h * columns + k]);
            y.push(products.sum::<f64>() + bias.as_ref().map_or(0.0, |b| b[h]));
        }
    }
    y
}

/// The fully-connected layer as a [`Product`].
pub(crate) struct FullyConnected;

impl Product for FullyConnected {
    type Params = FullyConnectedParams;
    const FORWARD: &'static str = "FullyConnected";
    const TO_DATA: &'static str = "_backward_FullyConnected_data";
    const TO_WEIGHT: &'static str = "_backward_FullyConnected_weight";
    const TO_BIAS: &'static str = "_backward_FullyConnected_bias";
    const FROM_BIAS: &'static str = "_backward_backward_FullyConnected_bias";
    const DATA_KERNEL: ReferenceFn = to_data;
    const WEIGHT_KERNEL: ReferenceFn = to_weight;

    fn define() -> OpDef {
        define()
    }

    fn no_bias(params: &FullyConnectedParams) -> bool {
        params.no_bias
    }

    fn infer_shape(
        params: &FullyConnectedParams,
        inputs: &mut [PartialShape],
        outputs: &mut [PartialShape],
    ) -> Result<()> {
        infer_shape(params, inputs, outputs)
    }

    fn values(_: &FullyConnectedParams, inputs: &[RefInput<'_>], out: &Shape) -> Result<Vec<f64>> {
        Ok(values(inputs, out))
    }

    fn bias_axis(_: &FullyConnectedParams, ndim: usize) -> usize {
        ndim.saturating_sub(1)
    }
}

/// Computes the gradient of data, `ograd · weight`.
fn to_data(_: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let (hidden, columns) = (inputs[1].desc.shape[0], inputs[1].desc.shape[1]);
    let (g, w) = (numeric::read(&inputs[0]), numeric::read(&inputs[1]));
    let at = |row: usize, k: usize| (0..hidden).map(|h| g[row * hidden + h] * w[h * columns + k]).sum();
    let dx: Vec<f64> = (0..g.len() / hidden).flat_map(|row| (0..columns).map(move |k| at(row, k))).collect();
    numeric::write(&mut outputs[0], &dx);
    Ok(())
}

/// Computes the gradient of the weight, `ogradᵀ · data`.
fn to_weight(_: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let (hidden, columns) = (outputs[0].desc.shape[0], outputs[0].desc.shape[1]);
    let (g, x) = (numeric::read(&inputs[0]), numeric::read(&inputs[1]));
    let n_rows = g.len() / hidden;
    let at = |h: usize, k: usize| (0..n_rows).map(|row| g[row * hidden + h] * x[row * columns + k]).sum();
    let dw: Vec<f64> = (0..hidden).flat_map(|h| (0..columns).map(move |k| at(h, k))).collect();
    numeric::write(&mut outputs[0], &dw);
    Ok(())
}

fn samples() -> Vec<Sample> {
    vec![
        Sample::new("rows", [("num_hidden", "5")], &[&[3, 7], &[5, 7], &[5]]),
        Sample::new("images", [("num_hidden", "10")], &[&[2, 3, 4, 5], &[10, 60], &[10]]),
        Sample::new("without_bias", [("num_hidden", "16"), ("no_bias", "True")], &[&[4, 32], &[16, 32]]),
        Sample::new("last_axis", [("num_hidden", "3"), ("flatten", "False")], &[&[2, 4, 6], &[3, 6], &[3]]),
        Sample::new("one_element", [("num_hidden", "1")], &[&[1, 1], &[1, 1], &[1]]),
        Sample::new("no_rows", [("num_hidden", "3")], &[&[0, 4], &[3, 4], &[3]]),
        Sample::new("long_sum", [("num_hidden", "2")], &[&[1, 1000], &[2, 1000], &[2]]),
    ]
}
