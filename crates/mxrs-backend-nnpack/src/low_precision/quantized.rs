//! Quantized convolutions and fully-connected layers, alone and with an epilogue.
//!
//! Sums of 8-bit products are exact. They are multiplied once, in float32, by the quantum of the sums divided by the
//! quantum of the output. A quantum is the real value of one unit of the integers. Then bias and sum are added, and the
//! result is rounded once.

use super::finish::Rule;
use super::layer::{Channels, Layer, plan};
use super::problem::{dense_of, image, in_groups, is_depthwise};
use super::ranges::{floats, range, ranges, write_ranges};
use super::unit::Factors;
use super::{Build, Context};
use crate::epilogue::Bounds;
use mxrs_op::param::Choice;
use mxrs_op::{KernelArgs, OpCall};
use mxrs_ops::Range;
use mxrs_ops::fused::FusedAct;
use mxrs_ops::fused_quantized::{Addend, FusedPlaces, Requantized, WithRequantized};
use mxrs_ops::nn::convolution::ConvolutionParams;
use mxrs_ops::nn::fully_connected::FullyConnectedParams;
use mxrs_types::{DType, Result};

/// Returns the function that prepares the kernel of a call, or the reason why there is none. Returns `None` if the call is
/// not a quantized product.
pub fn look_at<'a>(call: &'a OpCall<'a>, context: &Context) -> Option<Result<Build<'a>, String>> {
    let (convolution, no_bias, epilogue) = match call.op.name {
        "_contrib_quantized_conv" => {
            let p = call.params.get::<ConvolutionParams>();
            (Some(p), p.no_bias, None)
        }
        "_contrib_quantized_fully_connected" => (None, call.params.get::<FullyConnectedParams>().no_bias, None),
        "_sg_quantized_conv" => {
            let both = call.params.get::<WithRequantized<ConvolutionParams>>();
            (Some(&both.product), both.product.no_bias, Some(&both.epilogue))
        }
        "_sg_quantized_fully_connected" => {
            let both = call.params.get::<WithRequantized<FullyConnectedParams>>();
            (None, both.product.no_bias, Some(&both.epilogue))
        }
        _ => return None,
    };
    Some(fit(call, convolution, FusedPlaces::new(no_bias, epilogue), epilogue, context))
}

fn fit<'a>(
    call: &'a OpCall<'a>,
    convolution: Option<&ConvolutionParams>,
    places: FusedPlaces,
    epilogue: Option<&Requantized>,
    context: &Context,
) -> Result<Build<'a>, String> {
    let factors = match call.inputs[0].dtype {
        DType::U8 => Factors::Unsigned,
        DType::I8 => Factors::Signed,
        other => return Err(format!("no kernel for {other}")),
    };
    let problem = match convolution {
        Some(p) => image(p, call)?,
        None => dense_of(call)?,
    };
    // More products of this size could exceed the range of the sums.
    if problem.c * problem.window[0] * problem.window[1] > MOST_PRODUCTS {
        return Err(format!("no kernel for sums of more than {MOST_PRODUCTS} products"));
    }
    let sum = places.sum.map(Addend::input);
    let rule = match epilogue {
        None => Rule::Sums,
        Some(e) => Rule::Bytes(sum.map(|i| call.inputs[i].dtype), e.output_dtype()),
    };
    if rule.store(super::level::Level::Portable).is_none() {
        return Err("no kernel for a sum of this type".into());
    }
    if let Some(e) = epilogue.filter(|e| !matches!(e.act, FusedAct::None | FusedAct::Relu)) {
        return Err(format!("no kernel for act {}", e.act.to_word()));
    }
    let is_relu = epilogue.is_some_and(|e| e.act == FusedAct::Relu);
    let groups = convolution.map_or(1, |p| p.num_group);
    let layer = Layer {
        problem: in_groups(problem, groups),
        factors,
        rule,
        sum,
        bounds: if is_relu { Bounds::RELU } else { Bounds::NONE },
        is_image: convolution.is_some(),
        is_depthwise: is_depthwise(&problem, groups),
        groups,
    };
    let channels = Quantized {
        places,
        data: call.inputs[0].dtype,
        addend: sum.map_or(DType::F32, |i| call.inputs[i].dtype),
        real_bias: places.product.bias.is_some_and(|i| call.inputs[i].dtype == DType::F32),
        epilogue: epilogue.cloned(),
    };
    let context = context.clone();
    Ok(Box::new(move || plan(call, &layer, channels, &context)))
}

/// Number of products of 255 by 128 that fit into a sum of 32 bits.
const MOST_PRODUCTS: usize = 1 << 16;

/// What the scales and the bias of a quantized product are computed from.
struct Quantized {
    places: FusedPlaces,
    data: DType,
    /// Type of the tensor that is added.
    addend: DType,
    /// Whether the bias is float32.
    real_bias: bool,
    /// The epilogue; `None` if the output is the sums.
    epilogue: Option<Requantized>,
}

impl Quantized {
    /// The real value of the bias of each channel.
    fn bias<'a>(&self, args: &KernelArgs<'a>, input: usize) -> Box<dyn Iterator<Item = f64> + 'a> {
        if self.real_bias {
            return Box::new(floats(args, input).iter().map(|b| f64::from(*b)));
        }
        // SAFETY: this is an input of the running call that no output may share memory with, so nothing writes it during the
        // call.
        let integers = bytemuck::cast_slice::<u8, i8>(unsafe { args.inputs[input].bytes() });
        let quantum = range(args, self.places.product.ranges + 4).quantum(DType::I8);
        Box::new(integers.iter().map(move |b| f64::from(*b) * quantum))
    }

    /// The real value of one unit of the sums: a single one, or one per channel.
    fn quanta<'a>(&self, args: &KernelArgs<'a>) -> impl Iterator<Item = f64> + Clone + use<'a> {
        let of_data = range(args, self.places.product.ranges).quantum(self.data);
        ranges(args, self.places.product.weight_range()).map(move |r| of_data * r.quantum(DType::I8))
    }

    fn per_unit(&self) -> f64 {
        let range = self.epilogue.as_ref().and_then(|e| Some((e.output_range().ok()??, e.output_dtype())));
        range.map_or(1.0, |(range, dtype)| range.per_unit(dtype))
    }
}

impl Channels for Quantized {
    fn fill(&self, args: &KernelArgs<'_>, scales: &mut [f32], bias: &mut [f32]) -> f32 {
        let (per_unit, last) = (self.per_unit(), self.quanta(args).last().unwrap_or_default());
        let quanta = self.quanta(args).chain(std::iter::repeat(last));
        if self.epilogue.is_some() {
            scales.iter_mut().zip(quanta.clone()).for_each(|(to, quantum)| *to = (quantum * per_unit) as f32);
        }
        if let Some(input) = self.places.product.bias {
            for ((to, value), quantum) in bias.iter_mut().zip(self.bias(args, input)).zip(quanta) {
                *to = match &self.epilogue {
                    Some(_) => (value * per_unit) as f32,
                    // Without an epilogue, the product reads the bias as int32 from the memory of these float32 values. So
                    // the bits of an integer are stored.
                    None => {
                        let counted = if quantum > 0.0 { (value / quantum).trunc() } else { 0.0 };
                        f32::from_bits((counted as i32).cast_unsigned())
                    }
                };
            }
        }
        match self.places.sum {
            Some(Addend::Quantized { range: at, .. }) => (range(args, at).quantum(self.addend) * per_unit) as f32,
            _ => 1.0,
        }
    }

    fn write_others(&self, args: &KernelArgs<'_>) -> Result<()> {
        match &self.epilogue {
            Some(epilogue) => write_ranges(args, epilogue.reported_range()?.into_iter()),
            None => {
                let reach = |quantum: f64| quantum * f64::from(i32::MAX);
                write_ranges(args, self.quanta(args).map(|q| Range { min: -reach(q), max: reach(q) }));
            }
        }
        Ok(())
    }
}
