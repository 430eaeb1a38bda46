//! Import of convolution, matrix products, normalization and softmax.

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

/// Imports `Gemm` whose `alpha` and `beta` are 1, as a `FullyConnected` whose weight is the second matrix.
pub(crate) fn gemm(node: &mut Reading<'_, '_>) -> Answer {
    node.require_int("transA", 0)?;
    if node.float("alpha", 1.0)? != 1.0 || node.float("beta", 1.0)? != 1.0 {
        return refuse("factors `alpha` and `beta` other than 1 are not read");
    }
    let is_transposed = node.int("transB", 0)? != 0;
    let mut inputs = node.operands()?;
    if inputs.len() < 2 {
        return refuse("it has less than two inputs");
    }
    let Some(mut weight) = known(&node.shape(inputs[1])).filter(|shape| shape.ndim() == 2) else {
        return refuse("the shape of its second matrix is not known");
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

/// Imports `MatMul` whose second input is a matrix.
pub(crate) fn mat_mul(node: &mut Reading<'_, '_>) -> Answer {
    let (data, right) = (node.operand(0)?, node.operand(1)?);
    let Some(shape) = known(&node.shape(right)).filter(|shape| shape.ndim() == 2) else {
        return refuse("its second input is not a matrix of known shape");
    };
    let weight = node.call("transpose", &[("axes", "(1, 0)".into())], vec![right])?;
    let attrs = [("num_hidden", shape[1].to_string()), ("no_bias", flag(true)), ("flatten", flag(false))];
    node.call("FullyConnected", &attrs, vec![data, weight])
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

/// Imports `Softmax` over one axis. Before version 13, `Softmax` normalizes over all axes from `axis`, so `axis` must be the
/// last one.
pub(crate) fn softmax(node: &mut Reading<'_, '_>) -> Answer {
    let is_one_axis = node.opset() >= 13;
    let axis = node.int("axis", if is_one_axis { -1 } else { 1 })?;
    let inputs = node.operands()?;
    if !is_one_axis {
        let ndim = inputs.first().and_then(|data| node.shape(*data).ndim());
        if axis != -1 && ndim.is_none_or(|ndim| ndim as i64 != axis.saturating_add(1)) {
            return refuse("a softmax over several axes together (before version 13) is not read");
        }
    }
    node.call("softmax", &[("axis", axis.to_string())], inputs)
}
