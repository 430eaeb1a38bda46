//! The sizes of a call, checked.

use super::geometry::Problem;
use super::packing::Merging;
use mxrs_op::param::ShapeAttr;
use mxrs_op::{OpCall, TensorDesc};
use mxrs_ops::nn::convolution::ConvolutionParams;

/// The convolution of a call, all groups together.
///
/// # Errors
/// Returns the reason as text if there is no kernel for it.
pub fn image(p: &ConvolutionParams, call: &OpCall<'_>) -> Result<Problem, String> {
    let ([data, weight, ..], Some(out)) = (call.inputs, call.outputs.first()) else {
        return Err("the call lacks data or weight".into());
    };
    image_of(p, [data, weight, out])
}

/// The convolution between these tensors: data, weight and output.
///
/// # Errors
/// Returns the reason as text if there is no kernel for it.
pub fn image_of(p: &ConvolutionParams, [data, weight, out]: [&TensorDesc; 3]) -> Result<Problem, String> {
    if [data, weight, out].iter().any(|t| t.shape.n_elements() == 0) {
        return Err("no kernel for tensors without elements".into());
    }
    if p.kernel.len() != 2 {
        return Err(format!("no kernel for windows of {} axes", p.kernel.len()));
    }
    if p.is_channels_last() {
        return Err("no kernel for weights with channels last".into());
    }
    let sizes = |shape: &[usize]| <[usize; 4]>::try_from(shape).map_err(|_| format!("shape of {} axes", shape.len()));
    let ([n, c, h, w], [k, _, kh, kw], [_, _, oh, ow]) =
        (sizes(&data.shape)?, sizes(&weight.shape)?, sizes(&out.shape)?);
    Ok(Problem {
        n,
        groups: 1,
        c,
        k,
        input: [h, w],
        output: [oh, ow],
        window: [kh, kw],
        stride: pair(&p.stride, 1)?,
        pad: pair(&p.pad, 0)?,
        dilate: pair(&p.dilate, 1)?,
    })
}

/// The problem with its channels divided into groups, which are merged into fewer ones. A depthwise convolution stays as it is.
pub fn in_groups(problem: Problem, groups: u32) -> Problem {
    let n = groups as usize;
    if n == 1 || is_depthwise(&problem, groups) {
        return problem;
    }
    let Merging { n, c, k, .. } = Merging::new(n, problem.c / n, problem.k / n);
    Problem { groups: n, c, k, ..problem }
}

/// Whether a problem with all its channels has as many groups as input and output channels.
pub fn is_depthwise(problem: &Problem, groups: u32) -> bool {
    groups > 1 && problem.c == groups as usize && problem.k == problem.c
}

/// Largest number of pixels of a row, with padding, for which gradients of weights have kernels. A strip has at least one
/// row, so strips of longer rows would be too large.
const MAX_ROW: usize = 4096;

/// Checks that a convolution of bfloat16, all of whose channels are in `p`, has kernels for its gradients.
///
/// # Errors
/// Returns the reason as text if it has none.
pub fn has_gradients(p: &Problem, groups: u32) -> Result<(), String> {
    if groups != 1 {
        return Err("no kernel for gradients of bfloat16 in groups".into());
    }
    let is_pointwise = p.window == [1, 1] && p.stride == [1, 1] && p.pad == [0, 0];
    if !is_pointwise && p.output[1] + p.window[1] * p.dilate[1] + p.pad[1] > MAX_ROW {
        return Err(format!("no kernel for gradients of rows of more than {MAX_ROW} pixels"));
    }
    Ok(())
}

/// The fully-connected layer of a call.
///
/// # Errors
/// Returns the reason as text if there is no kernel for it.
pub fn dense_of(call: &OpCall<'_>) -> Result<Problem, String> {
    let [data, weight, ..] = call.inputs else { return Err("the call lacks data or weight".into()) };
    dense(data, weight)
}

/// The fully-connected layer of these data and weights.
///
/// # Errors
/// Returns the reason as text if there is no kernel for it.
pub fn dense(data: &TensorDesc, weight: &TensorDesc) -> Result<Problem, String> {
    if data.shape.n_elements() == 0 || weight.shape.n_elements() == 0 {
        return Err("no kernel for tensors without elements".into());
    }
    let [outputs, steps] = weight.shape[..] else {
        return Err(format!("no kernel for weights of shape {}", weight.shape));
    };
    Ok(Problem::dense(data.shape.n_elements() / steps, steps, outputs))
}

fn pair(attr: &ShapeAttr, default: usize) -> Result<[usize; 2], String> {
    let size = |x: i64| usize::try_from(x).map_err(|_| format!("size {x} is negative"));
    match attr[..] {
        [] => Ok([default, default]),
        [a, b] => Ok([size(a)?, size(b)?]),
        _ => Err(format!("{} sizes are given for two axes", attr.len())),
    }
}
