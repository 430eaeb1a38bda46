//! Calls between quantized products that are one loop over their elements: quantization, dequantization, requantization,
//! relu and flattening of integers, and batch normalization at inference in bfloat16 or around integers.

use super::affine::{Affine, Factors, Order};
use super::level::Level;
use super::loops::planned;
use super::ranges::{floats, range, ranges, write_ranges};
use super::{Build, Context, like};
use mxrs_op::{KernelArgs, OpCall};
use mxrs_ops::Range;
use mxrs_ops::fused::bn_relu_quantize::BnReluQuantizeParams;
use mxrs_ops::nn::batch_norm::BatchNormParams;
use mxrs_ops::quant::quantize_v2::QuantizeParams;
use mxrs_ops::quant::requantize;
use mxrs_types::{DType, Error, Layout, Result};

/// Computes scales, shifts and bound from the inputs of a run.
type Fill = Box<dyn Fn(&KernelArgs<'_>) -> Factors + Send + Sync>;
/// Computes the values of the other outputs of a call, such as the range of a quantized result.
type Report = Box<dyn Fn(&KernelArgs<'_>) -> Vec<Range> + Send + Sync>;

/// What a call computes.
struct Fit {
    what: &'static str,
    layout: Layout,
    order: Order,
    fill: Fill,
    report: Report,
}

/// Returns the function that prepares the kernel of a call, or the reason why there is none. Returns `None` if another
/// module handles the call.
pub fn look_at<'a>(call: &'a OpCall<'a>, context: &Context) -> Option<Result<Build<'a>, String>> {
    let fit = match call.op.name {
        "_contrib_quantize_v2" => quantize(call),
        "_contrib_requantize" => requantized(call),
        "_contrib_dequantize" => dequantize(call),
        "_contrib_quantized_act" => relu(call),
        "_contrib_quantized_flatten" => flatten(call),
        "_sg_bn_relu_quantize" => normalized(call),
        "BatchNorm" | "_sg_bn_relu" if call.inputs[0].dtype == DType::BF16 && !call.is_train => batch_norm(call),
        _ => return None,
    };
    let context = context.clone();
    Some(fit.and_then(|fit| {
        let (n, types) = (call.inputs[0].shape.n_elements(), [call.inputs[0].dtype, call.outputs[0].dtype]);
        if n == 0 {
            return Err("no kernel for tensors without elements".into());
        }
        let Fit { what, layout, order, fill, report } = fit;
        let loop_over = Affine::new(order, n, types, Level::of(context.isa), context.threads)
            .ok_or_else(|| format!("no kernel from {} to {}", types[0], types[1]))?;
        Ok(Box::new(move || {
            let body = move |args: &KernelArgs<'_>| {
                let factors = fill(args);
                // SAFETY: both tensors belong to the running call and have the planned layout, in which they have `n`
                // elements. Nothing else writes them.
                unsafe { loop_over.run(args.inputs[0].as_ptr(), args.outputs[0].as_ptr(), &factors, args.team) }
                let all = report(args);
                if !all.is_empty() {
                    write_ranges(args, all.into_iter());
                }
                Ok(())
            };
            Ok(planned(call, what, vec![layout.clone()], layout, body))
        }) as Build<'a>)
    }))
}

fn calibrated(call: &OpCall<'_>) -> Result<Range, String> {
    match call.params.get::<QuantizeParams>().calibrated() {
        Ok(Some(range)) => Ok(range),
        Ok(None) => Err("the range is not calibrated".into()),
        Err(error) => Err(error.to_string()),
    }
}

fn quantize(call: &OpCall<'_>) -> Result<Fit, String> {
    let (to, dtype) = (calibrated(call)?, call.outputs[0].dtype);
    if call.inputs[0].dtype != DType::F32 {
        return Err("the data are already quantized".into());
    }
    Ok(Fit {
        what: "quantize",
        layout: like(&call.inputs[0]),
        order: Order::One,
        fill: Box::new(move |_| Factors::scale(to.per_unit(dtype))),
        report: Box::new(move |_| vec![to.reported(dtype)]),
    })
}

/// The layout and the order of quantized data, which have a single range, or one range per position along axis 1.
fn with_ranges(call: &OpCall<'_>, layout: Layout) -> (Layout, Order) {
    match call.inputs[1].shape.n_elements() {
        1 => (layout, Order::One),
        _ => (layout.clone(), Order::of(&call.inputs[0], &layout, 1)),
    }
}

/// The scales for a call whose input 0 holds quantized data, which are integers of type `dtype`. The real numbers that these
/// integers represent lie in ranges: input 1 holds the minima of the ranges, and input 2 the maxima. Each range has one scale.
/// An integer times the scale is the real number that it represents, times `per_unit`.
fn scales(args: &KernelArgs<'_>, dtype: DType, per_unit: f64) -> Factors {
    let scale: Vec<f32> = ranges(args, 1).map(|range| (range.quantum(dtype) * per_unit) as f32).collect();
    Factors { shift: vec![0.0; scale.len()], scale, low: f32::NEG_INFINITY }
}

fn requantized(call: &OpCall<'_>) -> Result<Fit, String> {
    let (to, dtype) = (calibrated(call)?, call.outputs[0].dtype);
    let (layout, order) = with_ranges(call, like(&call.inputs[0]));
    Ok(Fit {
        what: "requantize",
        layout,
        order,
        fill: Box::new(move |args| scales(args, DType::I32, to.per_unit(dtype))),
        report: Box::new(move |_| vec![requantize::reported(to, dtype)]),
    })
}

fn dequantize(call: &OpCall<'_>) -> Result<Fit, String> {
    // The output is row-major, because readers of float32 tensors do not expect channels last.
    let (layout, order) = with_ranges(call, Layout::RowMajor);
    let dtype = call.inputs[0].dtype;
    Ok(Fit {
        what: "dequantize",
        layout,
        order,
        fill: Box::new(move |args| scales(args, dtype, 1.0)),
        report: Box::new(|_| Vec::new()),
    })
}

fn same(call: &OpCall<'_>, what: &'static str, layout: Layout, low: f32) -> Fit {
    let _ = call;
    Fit {
        what,
        layout,
        order: Order::One,
        fill: Box::new(move |_| Factors { low, ..Factors::scale(1.0) }),
        report: Box::new(|args| ranges(args, 1).collect()),
    }
}

fn relu(call: &OpCall<'_>) -> Result<Fit, String> {
    Ok(same(call, "relu", like(&call.inputs[0]), 0.0))
}

fn flatten(call: &OpCall<'_>) -> Result<Fit, String> {
    Ok(same(call, "flatten", Layout::RowMajor, f32::NEG_INFINITY))
}

/// Scale and shift of each channel, which compute `(x · quantum - mean) · gamma / √(var + eps) + beta`, times `per_unit`.
/// `quantum` is the real value of 1 in quantized data, and 1 in other data.
fn normalization(
    args: &KernelArgs<'_>,
    p: &BatchNormParams,
    places: [usize; 4],
    quantum: f64,
    per_unit: f64,
) -> (Vec<f32>, Vec<f32>) {
    let [gamma, beta, mean, var] = places.map(|i| floats(args, i));
    let each = gamma.iter().zip(beta).zip(mean.iter().zip(var));
    each.map(|((gamma, beta), (mean, var))| {
        let gamma = if p.fix_gamma { 1.0 } else { f64::from(*gamma) };
        let scale = gamma / (f64::from(*var) + p.eps).sqrt();
        let shift = f64::from(*beta) - f64::from(*mean) * scale;
        ((scale * quantum * per_unit) as f32, (shift * per_unit) as f32)
    })
    .unzip()
}

fn layout_and_order(call: &OpCall<'_>, axis: i32) -> Result<(Layout, Order), String> {
    let data = &call.inputs[0];
    let axis = data.shape.axis(i64::from(axis)).map_err(|error| error.to_string())?;
    let layout = if axis == 1 { like(data) } else { Layout::RowMajor };
    let order = Order::of(data, &layout, axis);
    Ok((layout, order))
}

fn normalized(call: &OpCall<'_>) -> Result<Fit, String> {
    let params = call.params.get::<BnReluQuantizeParams>().clone();
    let to = params.range().map_err(|error: Error| error.to_string())?;
    let (layout, order) = layout_and_order(call, params.norm.axis)?;
    let (data, dtype) = (call.inputs[0].dtype, call.outputs[0].dtype);
    let low = if params.around.with_relu { 0.0 } else { f32::NEG_INFINITY };
    let fill = move |args: &KernelArgs<'_>| {
        let quantum = params.data_range().map_or(1.0, |at| range(args, at).quantum(data));
        let (scale, shift) = normalization(args, &params.norm, params.per_channel(), quantum, to.per_unit(dtype));
        Factors { scale, shift, low }
    };
    let report = Box::new(move |_: &KernelArgs<'_>| vec![to.reported(dtype)]);
    Ok(Fit { what: "bn_relu_quantize", layout, order, fill: Box::new(fill), report })
}

fn batch_norm(call: &OpCall<'_>) -> Result<Fit, String> {
    let p = call.params.get::<BatchNormParams>().clone();
    if p.output_mean_var {
        return Err("no kernel that also outputs the statistics".into());
    }
    if let Some(other) = call.inputs[1..].iter().find(|t| t.dtype != DType::F32) {
        return Err(format!("no kernel for parameters in {}", other.dtype));
    }
    let (layout, order) = layout_and_order(call, p.axis)?;
    let (what, low) = match call.op.name {
        "_sg_bn_relu" => ("bn_relu", 0.0),
        _ => ("batch_norm", f32::NEG_INFINITY),
    };
    // The other two outputs are the mean and the inverse standard deviation of each channel. They are returned as `min` and
    // `max`.
    let eps = p.eps;
    let statistics = move |args: &KernelArgs<'_>| {
        let each = floats(args, 3).iter().zip(floats(args, 4));
        each.map(|(mean, var)| Range { min: f64::from(*mean), max: 1.0 / (f64::from(*var) + eps).sqrt() }).collect()
    };
    let fill = move |args: &KernelArgs<'_>| {
        let (scale, shift) = normalization(args, &p, [1, 2, 3, 4], 1.0, 1.0);
        Factors { scale, shift, low }
    };
    Ok(Fit { what, layout, order, fill: Box::new(fill), report: Box::new(statistics) })
}
