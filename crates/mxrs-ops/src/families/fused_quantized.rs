//! `out = act(product + sum)` of quantized tensors: a quantized convolution or fully-connected layer with the calls
//! that follow it, requantized to 8 bits or returned as real numbers.
//!
//! Inputs, in this order:
//! - `data` and `weight`; `bias` unless `no_bias`; `sum`, a quantized tensor of out's shape, with `with_sum`;
//! - the ranges: `min_data`, `max_data`, `min_weight`, `max_weight`; `min_bias` and `max_bias` if there is a bias; `min_sum`
//!   and `max_sum` if there is a quantized sum.
//!
//! With `real_sum`, `sum` and `out` are float32, and `sum` has no range. Shapes and types are those of
//! [`_contrib_quantized_conv`](crate::quant::quantized_conv). If `out_type` is int8 or uint8, `out` is quantized in the
//! calibrated range, and two more outputs follow: `min_output` and `max_output`, each `[1]`. If `out_type` is float32, `out`
//! is the only output. `act` is none or relu.
//!
//! A fused call computes in real numbers and rounds once; it omits the saturation and rounding of the calls that it
//! replaces. `out` may be written in place of `sum`.
//!
//! MXNet: `_sg_mkldnn_conv` and `_sg_mkldnn_fully_connected` with `quantized`, under other names. Inference only.
//! Dtypes: data i8 u8, sum i8 u8 f32, weight i8, bias i8 f32.

use crate::families::quantized::{
    ACTIVATIONS, OUTPUTS, Range, learn_range_types, learn_ranges, range, require_type, to_integer, write_ranges,
};
use crate::families::quantized_product::{self, Channels, Places, QuantizedProduct, Sums, sums};
use crate::fused::FusedAct;
use crate::fused::quantized_samples::{samples_of_conv, samples_of_fully_connected};
use crate::inference::{bad_attribute, learn_dtype, unify};
use crate::nn::convolution::Convolution;
use crate::nn::fully_connected::FullyConnected;
use crate::numeric;
use crate::quant::requantize;
use mxrs_op::param::{Choice, ParamSpec, Parameters};
use mxrs_op::{
    Accuracy, Attrs, InputNames, OpDef, OpParams, OutputCount, RefInput, RefOutput, RunMode, op_enum, op_params,
};
use mxrs_types::{DType, PartialShape, Result};

/// Name of the convolution.
pub const CONV: &str = "_sg_quantized_conv";
/// Name of the fully-connected layer.
pub const FULLY_CONNECTED: &str = "_sg_quantized_fully_connected";

op_enum! {
    /// The output type of a fused call.
    pub enum FusedType { Int8 = "int8", Uint8 = "uint8", Float32 = "float32" }
}

op_params! {
    /// The epilogue of a quantized product.
    pub struct Requantized for "_sg_quantized_conv" {
        /// Whether a quantized tensor of out's shape is added.
        with_sum: bool = false,
        /// Whether a float32 tensor of out's shape is added. Requires that out is float32, and excludes `with_sum`.
        real_sum: bool = false,
        /// The activation: none or relu.
        act: FusedAct = FusedAct::None,
        /// The type of out.
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

    /// The range of out; `None` if out is float32.
    ///
    /// # Errors
    /// [`mxrs_types::ErrorKind::Attribute`] if out is quantized and the calibrated range is missing.
    pub fn output_range(&self) -> Result<Option<Range>> {
        let range = Range::of_params(CONV, self.min_calib_range, self.max_calib_range)?;
        match (self.out_type, range) {
            (FusedType::Float32, _) => Ok(None),
            (_, None) => Err(bad_attribute(CONV, "min_calib_range", "a range for integers", "None")),
            (_, range) => Ok(range),
        }
    }

    /// The range that the call reports with out.
    ///
    /// # Errors
    /// Fails in the same cases as [`Self::output_range`].
    pub fn reported_range(&self) -> Result<Option<Range>> {
        let range = self.output_range()?;
        // These are the ranges that the unfused calls report: a quantized sum reports the calibrated range unchanged, a
        // requantization reports a symmetric range for int8.
        Ok(range.map(|r| if self.with_sum { r } else { requantize::reported(r, self.output_dtype()) }))
    }
}

/// The tensor that a fused call adds to its product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addend {
    /// A float32 tensor.
    Real {
        /// Position of the tensor among the inputs of the call.
        input: usize,
    },
    /// A quantized tensor.
    Quantized {
        /// Position of the tensor among the inputs of the call.
        input: usize,
        /// Position of the input `min_sum`; `max_sum` is the next input.
        range: usize,
    },
}

impl Addend {
    /// Position of the tensor among the inputs of the call.
    pub const fn input(self) -> usize {
        match self {
            Self::Real { input } | Self::Quantized { input, .. } => input,
        }
    }
}

/// Parameters of a quantized product with an epilogue.
#[derive(Clone, Debug, PartialEq)]
pub struct WithRequantized<P> {
    /// Parameters of the product.
    pub product: P,
    /// Parameters of the epilogue.
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

/// The positions of the inputs of a fused call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FusedPlaces {
    /// The inputs of the product.
    pub product: Places,
    /// The tensor to add, if there is one.
    pub sum: Option<Addend>,
}

impl FusedPlaces {
    /// The positions for a product with or without bias, and its epilogue, if there is one.
    pub const fn new(no_bias: bool, epilogue: Option<&Requantized>) -> Self {
        let input = if no_bias { 2 } else { 3 };
        let (with_sum, real_sum) = match epilogue {
            Some(epilogue) => (epilogue.with_sum, epilogue.real_sum),
            None => (false, false),
        };
        let product = Places::new(no_bias, (with_sum || real_sum) as usize);
        let n_ranges = if no_bias { 4 } else { 6 };
        let sum = match (with_sum, real_sum) {
            (_, true) => Some(Addend::Real { input }),
            (true, false) => Some(Addend::Quantized { input, range: product.ranges + n_ranges }),
            (false, false) => None,
        };
        Self { product, sum }
    }
}

fn places<P: QuantizedProduct>(params: &WithRequantized<P::Params>) -> FusedPlaces {
    FusedPlaces::new(P::no_bias(&params.product), Some(&params.epilogue))
}

/// Defines the operator `_sg_quantized_conv`.
pub fn define_conv() -> OpDef {
    OpDef {
        samples: samples_of_conv,
        ..define::<Convolution>(CONV, "quantized convolution, a sum and relu in one call")
    }
}

/// Defines the operator `_sg_quantized_fully_connected`.
pub fn define_fully_connected() -> OpDef {
    let summary = "quantized matrix product, a sum and relu in one call";
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

fn n_outputs<P: QuantizedProduct>(params: &OpParams) -> usize {
    let is_real = params.get::<WithRequantized<P::Params>>().epilogue.out_type == FusedType::Float32;
    if is_real { 1 } else { 3 }
}

fn define<P: QuantizedProduct>(name: &'static str, summary: &'static str) -> OpDef {
    OpDef {
        summary,
        inputs: InputNames::ByParams {
            all: INPUTS,
            chosen: |params| {
                let params = params.get::<WithRequantized<P::Params>>();
                let is_there = |name: &&str| match *name {
                    "bias" | "min_bias" | "max_bias" => !P::no_bias(&params.product),
                    "sum" => params.epilogue.with_sum || params.epilogue.real_sum,
                    "min_sum" | "max_sum" => params.epilogue.with_sum,
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
            Some(addend) if addend.input() == 2 => &[(2, 0)],
            Some(_) => &[(3, 0)],
        }),
        infer_shape: infer_shape::<P>,
        infer_dtype: infer_dtype::<P>,
        dtypes: ACTIVATIONS,
        accuracy: Accuracy::Quantum,
        reference: Some(run::<P>),
        ..quantized_product::define::<P>(name).params::<WithRequantized<P::Params>>()
    }
}

fn infer_shape<P: QuantizedProduct>(
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
    let is_real = params.epilogue.out_type == FusedType::Float32;
    if params.epilogue.real_sum && (params.epilogue.with_sum || !is_real) {
        return Err(bad_attribute(CONV, "real_sum", "False, or True with out_type float32 and no with_sum", "True"));
    }
    let (out, ranges) = outputs.split_at_mut(1);
    learn_ranges(ranges)?;
    for _ in 0..2 {
        if let Some(sum) = places.sum {
            unify(&mut out[0], &mut inputs[sum.input()], "sum")?;
        }
        quantized_product::infer_shape::<P>(&params.product, places.product, inputs, out)?;
    }
    Ok(())
}

fn infer_dtype<P: QuantizedProduct>(
    params: &OpParams,
    inputs: &mut [Option<DType>],
    outputs: &mut [Option<DType>],
) -> Result<()> {
    let params = params.get::<WithRequantized<P::Params>>();
    let places = places::<P>(params);
    quantized_product::infer_dtype(places.product, inputs)?;
    match places.sum {
        Some(Addend::Quantized { input, .. }) => require_type(inputs[input], ACTIVATIONS, "sum")?,
        Some(Addend::Real { input }) => learn_dtype(&mut inputs[input], DType::F32, "sum")?,
        None => {}
    }
    learn_range_types(&mut outputs[1..])?;
    learn_dtype(&mut outputs[0], params.epilogue.output_dtype(), "output")
}

fn run<P: QuantizedProduct>(
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
    if let Some(sum) = places.sum {
        let addend = &inputs[sum.input()];
        let quantum = match sum {
            Addend::Real { .. } => 1.0,
            Addend::Quantized { range: at, .. } => range(&inputs[at], &inputs[at + 1])?.quantum(addend.desc.dtype),
        };
        y.iter_mut().zip(numeric::read(addend)).for_each(|(y, s)| *y += s * quantum);
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
