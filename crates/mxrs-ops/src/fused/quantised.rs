//! `out = act(product + sum)` of quantised tensors: a quantised convolution or fully connected layer with what follows it,
//! brought back to 8 bits, or to real numbers.
//!
//! Inputs are data, weight, bias unless `no_bias`, sum (a quantised tensor of out's shape) with `with_sum`, then min_data,
//! max_data, min_weight, max_weight, min_bias and max_bias where there is a bias, min_sum and max_sum where there is a sum;
//! shapes and types are those of [`_contrib_quantized_conv`](crate::quant::quantized_conv). With `out_type` int8 or uint8
//! out is quantised in the calibrated range, and min_output and max_output `[1]` follow it; with float32 it is the only
//! output. `act` is none or relu. Everything is computed in real numbers and rounded once: what the single calls saturate
//! or round in between is not. Out may be made in the place of sum.
//!
//! MXNet: `_sg_mkldnn_conv` and `_sg_mkldnn_fully_connected` with `quantized`, under other names. Inference only. Dtypes:
//! data and sum i8 u8, weight i8, bias i8 f32.

use super::epilogue::FusedAct;
use crate::inference::{bad_attribute, learn_dtype, unify};
use crate::nn::convolution::Convolution;
use crate::nn::fully_connected::FullyConnected;
use crate::numeric;
use crate::quant::{quantized_conv, requantize};
use crate::quantised::{
    ACTIVATIONS, OUTPUTS, Range, floats, integers, learn_range_types, learn_ranges, range, require_type, sample,
    to_integer, write_ranges,
};
use crate::quantised_product::{self, Channels, Places, QuantisedProduct, Sums, sums};
use mxrs_op::param::{Choice, ParamSpec, Parameters};
use mxrs_op::{
    Accuracy, Attrs, InputNames, OpDef, OpParams, OutputCount, RefInput, RefOutput, RunMode, Sample, SampleInput,
    op_enum, op_params,
};
use mxrs_types::{DType, PartialShape, Result};

/// Name of the convolution.
pub const CONV: &str = "_sg_quantized_conv";
/// Name of the fully connected layer.
pub const FULLY_CONNECTED: &str = "_sg_quantized_fully_connected";

op_enum! {
    /// What a fused call makes.
    pub enum FusedType { Int8 = "int8", Uint8 = "uint8", Float32 = "float32" }
}

op_params! {
    /// What follows a quantised product.
    pub struct Requantized for "_sg_quantized_conv" {
        /// Whether a quantised tensor of out's shape is added.
        with_sum: bool = false,
        /// none or relu.
        act: FusedAct = FusedAct::None,
        /// What out is.
        out_type: FusedType = FusedType::Int8,
        /// Lower end of out's range.
        min_calib_range: Option<f32> = None,
        /// Upper end of out's range.
        max_calib_range: Option<f32> = None,
    }
}

impl Requantized {
    /// Element type of out.
    pub fn output_dtype(&self) -> DType {
        match self.out_type {
            FusedType::Int8 => DType::I8,
            FusedType::Uint8 => DType::U8,
            FusedType::Float32 => DType::F32,
        }
    }

    /// Range of out; `None` for real numbers.
    ///
    /// # Errors
    /// [`mxrs_types::ErrorKind::Attribute`]: integers without a range.
    pub fn output_range(&self) -> Result<Option<Range>> {
        let range = Range::of_params(CONV, self.min_calib_range, self.max_calib_range)?;
        match (self.out_type, range) {
            (FusedType::Float32, _) => Ok(None),
            (_, None) => Err(bad_attribute(CONV, "min_calib_range", "a range for integers", "None")),
            (_, range) => Ok(range),
        }
    }

    /// The range that goes with out.
    ///
    /// # Errors
    /// As [`Self::output_range`].
    pub fn reported_range(&self) -> Result<Option<Range>> {
        let range = self.output_range()?;
        // As the calls that it stands for: a sum reports what it was given.
        Ok(range.map(|r| if self.with_sum { r } else { requantize::reported(r, self.output_dtype()) }))
    }
}

/// Parameters of a quantised product with what follows.
#[derive(Clone, Debug, PartialEq)]
pub struct WithRequantized<P> {
    /// Those of the product.
    pub product: P,
    /// What follows.
    pub epilogue: Requantized,
}

impl<P: Parameters> Parameters for WithRequantized<P> {
    fn parse(attrs: &Attrs) -> Result<Self> {
        Ok(Self { product: P::parse(attrs)?, epilogue: Requantized::parse(attrs)? })
    }

    fn specs() -> Vec<ParamSpec> {
        let mut specs = P::specs();
        specs.extend(Requantized::specs());
        specs
    }

    const OP: &'static str = P::OP;
}

/// Where the inputs of a fused call are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FusedPlaces {
    /// Those of the product.
    pub product: Places,
    /// Of the sum and of min_sum, if there is one.
    pub sum: Option<(usize, usize)>,
}

impl FusedPlaces {
    /// Of a product with or without bias and sum.
    pub const fn new(no_bias: bool, with_sum: bool) -> Self {
        let n_factors = if no_bias { 2 } else { 3 };
        let product = Places::new(no_bias, with_sum as usize);
        let n_ranges = if no_bias { 4 } else { 6 };
        Self { product, sum: if with_sum { Some((n_factors, product.ranges + n_ranges)) } else { None } }
    }
}

fn places<P: QuantisedProduct>(params: &WithRequantized<P::Params>) -> FusedPlaces {
    FusedPlaces::new(P::no_bias(&params.product), params.epilogue.with_sum)
}

/// `_sg_quantized_conv`.
pub fn define_conv() -> OpDef {
    OpDef {
        samples: samples_of_conv,
        ..define::<Convolution>(CONV, "quantised convolution, a sum and relu in one call")
    }
}

/// `_sg_quantized_fully_connected`.
pub fn define_fully_connected() -> OpDef {
    let summary = "quantised matrix product, a sum and relu in one call";
    OpDef { samples: samples_of_fully_connected, ..define::<FullyConnected>(FULLY_CONNECTED, summary) }
}

const INPUTS: &[&str] = &[
    "data",
    "weight",
    "bias",
    "sum",
    "min_data",
    "max_data",
    "min_weight",
    "max_weight",
    "min_bias",
    "max_bias",
    "min_sum",
    "max_sum",
];

fn n_outputs<P: QuantisedProduct>(params: &OpParams) -> usize {
    let is_real = params.get::<WithRequantized<P::Params>>().epilogue.out_type == FusedType::Float32;
    if is_real { 1 } else { 3 }
}

fn define<P: QuantisedProduct>(name: &'static str, summary: &'static str) -> OpDef {
    OpDef {
        summary,
        inputs: InputNames::ByParams {
            all: INPUTS,
            chosen: |params| {
                let params = params.get::<WithRequantized<P::Params>>();
                let is_there = |name: &&str| match *name {
                    "bias" | "min_bias" | "max_bias" => !P::no_bias(&params.product),
                    "sum" | "min_sum" | "max_sum" => params.epilogue.with_sum,
                    _ => true,
                };
                INPUTS.iter().copied().filter(is_there).collect()
            },
        },
        n_outputs: OutputCount::ByParams(n_outputs::<P>),
        n_visible: OutputCount::ByParams(n_outputs::<P>),
        output_names: OUTPUTS,
        inplace_by_params: Some(|params| match places::<P>(params.get()).sum {
            None => &[],
            Some((2, _)) => &[(2, 0)],
            Some(_) => &[(3, 0)],
        }),
        infer_shape: infer_shape::<P>,
        infer_dtype: infer_dtype::<P>,
        dtypes: ACTIVATIONS,
        accuracy: Accuracy::Quantum,
        reference: Some(run::<P>),
        ..quantised_product::define::<P>(name).params::<WithRequantized<P::Params>>()
    }
}

fn infer_shape<P: QuantisedProduct>(
    params: &OpParams,
    inputs: &mut [PartialShape],
    outputs: &mut [PartialShape],
) -> Result<()> {
    let params = params.get::<WithRequantized<P::Params>>();
    let places = places::<P>(params);
    params.epilogue.output_range()?;
    if !matches!(params.epilogue.act, FusedAct::None | FusedAct::Relu) {
        return Err(bad_attribute(CONV, "act", "none or relu", params.epilogue.act.to_word()));
    }
    let (out, ranges) = outputs.split_at_mut(1);
    learn_ranges(ranges)?;
    for _ in 0..2 {
        if let Some((sum, _)) = places.sum {
            unify(&mut out[0], &mut inputs[sum], "sum")?;
        }
        quantised_product::infer_shape::<P>(&params.product, places.product, inputs, out)?;
    }
    Ok(())
}

fn infer_dtype<P: QuantisedProduct>(
    params: &OpParams,
    inputs: &mut [Option<DType>],
    outputs: &mut [Option<DType>],
) -> Result<()> {
    let params = params.get::<WithRequantized<P::Params>>();
    let places = places::<P>(params);
    quantised_product::infer_dtype(places.product, inputs)?;
    if let Some((sum, _)) = places.sum {
        require_type(inputs[sum], ACTIVATIONS, "sum")?;
    }
    learn_range_types(&mut outputs[1..])?;
    learn_dtype(&mut outputs[0], params.epilogue.output_dtype(), "output")
}

fn run<P: QuantisedProduct>(
    params: &OpParams,
    inputs: &[RefInput<'_>],
    outputs: &mut [RefOutput<'_>],
    _: RunMode,
) -> Result<()> {
    let params = params.get::<WithRequantized<P::Params>>();
    let places = places::<P>(params);
    let shape = &outputs[0].desc.shape;
    let Sums { sums: mut y, quanta, bias } = sums::<P>(&params.product, places.product, inputs, shape)?;
    let channels = Channels::of::<P>(&params.product, shape);
    for (i, y) in y.iter_mut().enumerate() {
        let c = channels.at(i);
        *y = *y * quanta[c.min(quanta.len() - 1)] + bias.as_ref().map_or(0.0, |b| b[c]);
    }
    if let Some((sum, at)) = places.sum {
        let quantum = range(&inputs[at], &inputs[at + 1])?.quantum(inputs[sum].desc.dtype);
        y.iter_mut().zip(numeric::read(&inputs[sum])).for_each(|(y, s)| *y += s * quantum);
    }
    if params.epilogue.act == FusedAct::Relu {
        y.iter_mut().for_each(|y| *y = numeric::relu(*y));
    }
    if let Some(out) = params.epilogue.output_range()? {
        let dtype = params.epilogue.output_dtype();
        let per_unit = out.per_unit(dtype);
        y.iter_mut().for_each(|y| *y = to_integer(dtype, *y * per_unit));
        write_ranges(outputs, params.epilogue.reported_range()?.as_slice());
    }
    numeric::write(&mut outputs[0], &y);
    Ok(())
}

/// The inputs of a product's sample with a sum of this shape and type.
fn with_sum(mut inputs: Vec<SampleInput>, n_factors: usize, shape: &[usize], dtype: DType) -> Vec<SampleInput> {
    inputs.insert(n_factors, integers(shape, dtype));
    inputs.extend([floats(&[if dtype == DType::U8 { 0.0 } else { -2.0 }]), floats(&[2.5])]);
    inputs
}

const SIGNED: &[(&str, &str)] = &[("min_calib_range", "-4.5"), ("max_calib_range", "5"), ("out_type", "int8")];
const UNSIGNED: &[(&str, &str)] = &[("min_calib_range", "0"), ("max_calib_range", "5"), ("out_type", "uint8")];
const REAL: &[(&str, &str)] = &[("out_type", "float32")];
const RELU: (&str, &str) = ("act", "relu");
const BARE: (&str, &str) = ("no_bias", "True");
const SUM: (&str, &str) = ("with_sum", "True");

fn samples_of_conv() -> Vec<Sample> {
    let inputs = quantized_conv::inputs;
    let (i8, u8, real) = (DType::I8, DType::U8, DType::F32);
    let of = |name, out: &[(&str, &str)], more: &[(&str, &str)], inputs: Vec<SampleInput>| {
        let conv = [("kernel", "(3, 3)"), ("num_filter", "4"), ("pad", "(1, 1)")];
        let attrs: Vec<(&str, &str)> = conv.iter().chain(out).chain(more).copied().collect();
        sample(name, &attrs, inputs)
    };
    let (data, weight, out): (&[usize], &[usize], &[usize]) = (&[2, 3, 7, 9], &[4, 3, 3, 3], &[2, 4, 7, 9]);
    let wide = [("kernel", "(1, 1)"), ("num_filter", "16"), BARE, SUM, RELU].into_iter();
    let wide: Vec<_> = wide.chain(SIGNED.iter().copied()).collect();
    let wide_inputs = with_sum(inputs(&[1, 16, 6, 6], i8, &[16, 16, 1, 1], None, true), 2, &[1, 16, 6, 6], i8);
    let groups = [("kernel", "(3, 3)"), ("num_filter", "6"), ("num_group", "3")].into_iter();
    let groups: Vec<_> = groups.chain(UNSIGNED.iter().copied()).collect();
    let deep = [("kernel", "(3, 3)"), ("num_filter", "8"), ("num_group", "8"), BARE].into_iter();
    let deep: Vec<_> = deep.chain(SIGNED.iter().copied()).collect();
    let empty = with_sum(inputs(&[0, 3, 7, 9], u8, weight, None, false), 2, &[0, 4, 7, 9], i8);
    vec![
        of("signed", SIGNED, &[], inputs(data, u8, weight, Some(i8), false)),
        of("signed_data", SIGNED, &[], inputs(data, i8, weight, Some(i8), true)),
        of("unsigned", UNSIGNED, &[], inputs(data, u8, weight, Some(i8), true)),
        of("relu", SIGNED, &[RELU], inputs(data, u8, weight, Some(real), true)),
        of("real", REAL, &[], inputs(data, u8, weight, Some(real), false)),
        of("real_relu", REAL, &[RELU], inputs(data, i8, weight, Some(i8), true)),
        of("without_bias", UNSIGNED, &[BARE], inputs(data, u8, weight, None, true)),
        of("sum", SIGNED, &[SUM], with_sum(inputs(data, u8, weight, Some(i8), true), 3, out, i8)),
        of("sum_relu", SIGNED, &[SUM, RELU], with_sum(inputs(data, u8, weight, Some(real), true), 3, out, i8)),
        of("unsigned_sum", SIGNED, &[SUM, RELU], with_sum(inputs(data, u8, weight, Some(real), true), 3, out, u8)),
        of("all_unsigned", UNSIGNED, &[SUM, RELU], with_sum(inputs(data, u8, weight, Some(i8), true), 3, out, u8)),
        of("real_sum", REAL, &[SUM], with_sum(inputs(data, i8, weight, Some(i8), true), 3, out, i8)),
        sample("one_by_one", &wide, wide_inputs),
        sample("groups", &groups, inputs(&[1, 6, 5, 5], u8, &[6, 2, 3, 3], Some(i8), true)),
        sample("depthwise", &deep, inputs(&[1, 8, 6, 6], u8, &[8, 1, 3, 3], None, true)),
        of("no_images", SIGNED, &[BARE, SUM], empty),
    ]
}

fn samples_of_fully_connected() -> Vec<Sample> {
    let inputs = quantized_conv::inputs;
    let (i8, u8, real) = (DType::I8, DType::U8, DType::F32);
    let of = |name, out: &[(&str, &str)], more: &[(&str, &str)], inputs: Vec<SampleInput>| {
        let attrs: Vec<(&str, &str)> = [("num_hidden", "5")].iter().chain(out).chain(more).copied().collect();
        sample(name, &attrs, inputs)
    };
    let not_flat = ("flatten", "False");
    vec![
        of("signed", SIGNED, &[], inputs(&[3, 7], u8, &[5, 7], Some(i8), true)),
        of("signed_data", UNSIGNED, &[], inputs(&[3, 7], i8, &[5, 7], Some(i8), false)),
        of("real", REAL, &[], inputs(&[2, 3, 4, 5], u8, &[5, 60], Some(real), true)),
        of("relu", SIGNED, &[RELU, BARE], inputs(&[3, 7], u8, &[5, 7], None, true)),
        of("sum_relu", SIGNED, &[SUM, RELU], with_sum(inputs(&[3, 7], u8, &[5, 7], Some(i8), true), 3, &[3, 5], i8)),
        of("last_axis", SIGNED, &[not_flat], inputs(&[2, 4, 6], i8, &[5, 6], Some(i8), false)),
        of("no_rows", SIGNED, &[], inputs(&[0, 4], u8, &[5, 4], Some(i8), false)),
    ]
}
