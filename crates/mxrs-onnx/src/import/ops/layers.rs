//! Import of convolution, matrix products, normalization and softmax.

use super::elementwise::scalar_attr;
use crate::import::assembly::known;
use crate::import::node::{Answer, Reading, flag, tuple};
use crate::refusal::{Refusal, refuse};

/// The padding `pads` per axis. It must be equal at both ends, because MXNet's operators have only one padding per axis.
pub(super) fn symmetric_pads(node: &mut Reading<'_, '_>, ndim: usize) -> Result<Vec<i64>, Refusal> {
    let Some(pads) = node.ints("pads")? else { return Ok(vec![0; ndim]) };
    match pads.split_at_checked(ndim) {
        Some((before, behind)) if before == behind => Ok(before.to_vec()),
        _ => refuse(format!("padding {pads:?}, which is not the same on both sides")),
    }
}

/// Imports `Conv`.
pub(crate) fn convolution(node: &mut Reading<'_, '_>) -> Answer {
    node.require_text("auto_pad", &["NOTSET", "VALID"])?;
    let inputs = node.operands()?;
    let Some(weight) = inputs.get(1).and_then(|weight| known(&node.shape(*weight))).filter(|w| w.ndim() > 2) else {
        return refuse("the shape of its weight is not known");
    };
    let ndim = weight.ndim() - 2;
    let of_weight: Vec<i64> = weight[2..].iter().map(|size| *size as i64).collect();
    let ones = vec![1; ndim];
    let kernel = node.ints("kernel_shape")?.unwrap_or(&of_weight).to_vec();
    let attrs = [
        ("kernel", tuple(&kernel)),
        ("stride", tuple(node.ints("strides")?.unwrap_or(&ones))),
        ("dilate", tuple(node.ints("dilations")?.unwrap_or(&ones))),
        ("pad", tuple(&symmetric_pads(node, ndim)?)),
        ("num_filter", weight[0].to_string()),
        ("num_group", node.int("group", 1)?.to_string()),
        ("no_bias", flag(inputs.len() < 3)),
    ];
    node.call("Convolution", &attrs, inputs)
}

/// Imports `Gemm`: a `FullyConnected` whose weight is the second matrix, if its factors are 1 and the first matrix is not
/// transposed, and otherwise a product and a sum.
pub(crate) fn gemm(node: &mut Reading<'_, '_>) -> Answer {
    let is_left_transposed = node.int("transA", 0)? != 0;
    let factors = [node.float("alpha", 1.0)?, node.float("beta", 1.0)?];
    let is_transposed = node.int("transB", 0)? != 0;
    let mut inputs = node.operands()?;
    if inputs.len() < 2 {
        return refuse("it has less than two inputs");
    }
    let weight = known(&node.shape(inputs[1])).filter(|shape| shape.ndim() == 2);
    let Some(mut weight) = weight.filter(|_| !is_left_transposed && factors == [1.0; 2]) else {
        let attrs = [("transpose_a", flag(is_left_transposed)), ("transpose_b", flag(is_transposed))];
        let mut product = node.call("dot", &attrs, inputs[..2].to_vec())?;
        if factors[0] != 1.0 {
            product = node.call("_mul_scalar", &scalar_attr(factors[0].into()), vec![product])?;
        }
        let Some(bias) = inputs.get(2).copied() else { return Ok(product) };
        let bias = if factors[1] == 1.0 {
            bias
        } else {
            node.call("_mul_scalar", &scalar_attr(factors[1].into()), vec![bias])?
        };
        return node.call("broadcast_add", &[], vec![product, bias]);
    };
    if !is_transposed {
        inputs[1] = node.call("transpose", &[("axes", "(1, 0)".into())], vec![inputs[1]])?;
        weight.dims_mut().reverse();
    }
    let attrs = |no_bias| [("num_hidden", weight[0].to_string()), ("no_bias", flag(no_bias))];
    match inputs.get(2).map(|bias| node.shape(*bias).known()) {
        None => node.call("FullyConnected", &attrs(true), inputs),
        Some(Some(bias)) if *bias == [weight[0]] => node.call("FullyConnected", &attrs(false), inputs),
        Some(_) => {
            let product = node.call("FullyConnected", &attrs(true), inputs[..2].to_vec())?;
            node.call("broadcast_add", &[], vec![product, inputs[2]])
        }
    }
}

/// Imports `MatMul`. A second input that is a constant matrix is the weight of a `FullyConnected`.
pub(crate) fn mat_mul(node: &mut Reading<'_, '_>) -> Answer {
    let (data, right) = (node.operand(0)?, node.operand(1)?);
    let matrix = known(&node.shape(right)).filter(|shape| shape.ndim() == 2 && node.assembly.is_variable(right));
    let Some(shape) = matrix.filter(|_| node.shape(data).ndim().is_some_and(|ndim| ndim > 1)) else {
        return node.call("_npi_matmul", &[], vec![data, right]);
    };
    let weight = node.call("transpose", &[("axes", "(1, 0)".into())], vec![right])?;
    let attrs = [("num_hidden", shape[1].to_string()), ("no_bias", flag(true)), ("flatten", flag(false))];
    node.call("FullyConnected", &attrs, vec![data, weight])
}

/// Imports `Einsum`.
pub(crate) fn einsum(node: &mut Reading<'_, '_>) -> Answer {
    let Some(equation) = node.text("equation")? else { return refuse("it has no equation") };
    let inputs = node.operands()?;
    node.call("_npi_einsum", &[("num_args", inputs.len().to_string()), ("subscripts", equation)], inputs)
}

/// Imports `BatchNormalization` at inference.
pub(crate) fn batch_norm(node: &mut Reading<'_, '_>) -> Answer {
    node.require_int("training_mode", 0)?;
    node.require_int("spatial", 1)?;
    let inputs = node.operands()?;
    if inputs.len() != 5 || inputs[3..].iter().any(|statistic| !node.assembly.is_variable(*statistic)) {
        return refuse("its mean and variance are not constants");
    }
    let attrs = [
        ("eps", f64::from(node.float("epsilon", 1e-5)?).to_string()),
        ("momentum", node.float("momentum", 0.9)?.to_string()),
        ("fix_gamma", flag(false)),
    ];
    node.call("BatchNorm", &attrs, inputs)
}

/// Imports `LRN`.
pub(crate) fn lrn(node: &mut Reading<'_, '_>) -> Answer {
    let attrs = [
        ("alpha", node.float("alpha", 1e-4)?.to_string()),
        ("beta", node.float("beta", 0.75)?.to_string()),
        ("knorm", node.float("bias", 1.0)?.to_string()),
        ("nsize", node.int("size", 0)?.to_string()),
    ];
    let inputs = node.operands()?;
    node.call("LRN", &attrs, inputs)
}

/// Imports `ConvTranspose` as `Deconvolution`.
pub(crate) fn deconvolution(node: &mut Reading<'_, '_>) -> Answer {
    node.require_text("auto_pad", &["NOTSET", "VALID"])?;
    if node.ints("output_shape")?.is_some() {
        return refuse("an output shape that is given is not read");
    }
    let inputs = node.operands()?;
    let Some(weight) = inputs.get(1).and_then(|weight| known(&node.shape(*weight))).filter(|w| w.ndim() > 2) else {
        return refuse("the shape of its weight is not known");
    };
    let ndim = weight.ndim() - 2;
    let of_weight: Vec<i64> = weight[2..].iter().map(|size| *size as i64).collect();
    let (ones, zeros) = (vec![1; ndim], vec![0; ndim]);
    let group = node.int("group", 1)?;
    let attrs = [
        ("kernel", tuple(node.ints("kernel_shape")?.unwrap_or(&of_weight))),
        ("stride", tuple(node.ints("strides")?.unwrap_or(&ones))),
        ("dilate", tuple(node.ints("dilations")?.unwrap_or(&ones))),
        ("pad", tuple(&symmetric_pads(node, ndim)?)),
        ("adj", tuple(node.ints("output_padding")?.unwrap_or(&zeros))),
        ("num_filter", (weight[1] as i64).saturating_mul(group).to_string()),
        ("num_group", group.to_string()),
        ("no_bias", flag(inputs.len() < 3)),
    ];
    node.call("Deconvolution", &attrs, inputs)
}

/// Imports `Softmax`.
pub(crate) fn softmax(node: &mut Reading<'_, '_>) -> Answer {
    softmax_as(node, "softmax")
}

/// Imports a softmax or its logarithm over one axis. Before version 13 it is over all axes from `axis` on; these axes are
/// reshaped to one axis for the call.
pub(super) fn softmax_as(node: &mut Reading<'_, '_>, op: &str) -> Answer {
    let is_one_axis = node.opset() >= 13;
    let axis = node.int("axis", if is_one_axis { -1 } else { 1 })?;
    let data = node.operand(0)?;
    let shape = node.shape(data);
    let place = super::shape::place(&shape, axis);
    if is_one_axis || place.is_some_and(|place| Some(place + 1) == shape.ndim()) {
        return node.call(op, &[("axis", axis.to_string())], vec![data]);
    }
    // A softmax over several axes together needs their sizes.
    let sizes = node.known_shape(data, "its input")?;
    let Some(place) = place else { return refuse(format!("axis {axis} of {sizes}")) };
    let as_i64 = |sizes: &[usize]| sizes.iter().map(|size| *size as i64).collect::<Vec<i64>>();
    let Some(last) = super::shape::product(&sizes[place..]) else {
        return refuse(format!("a product of sizes of {sizes}"));
    };
    let flat = [as_i64(&sizes[..place]), vec![last]].concat();
    let flat = node.call("Reshape", &[("shape", tuple(&flat))], vec![data])?;
    let result = node.call(op, &[("axis", "-1".into())], vec![flat])?;
    node.call("Reshape", &[("shape", tuple(&as_i64(&sizes)))], vec![result])
}
