//! `out = quantize(relu(BatchNorm(data)))` with the moving statistics, in a calibrated range. In networks that normalize
//! before each product, this operator reads a residual sum or the image, and a quantized product reads its output.
//!
//! Inputs are those of [`BatchNorm`](crate::nn::batch_norm). With `quantized_data`, data is quantized, and min_data and
//! max_data `[1]` follow beta. Outputs are those of [`_contrib_quantize_v2`](crate::quant::quantize_v2): the integers,
//! int8 or uint8 as `out_type` selects, and the ends of their range. Parameters are those of both operators. Without
//! `with_relu`, negative numbers are kept. All is computed in real numbers and rounded once. NaN becomes 0.
//!
//! Inference only. Dtypes: data f32, or i8 u8 if it is quantized.

use crate::families::quantized::{
    self, ACTIVATIONS, Range, floats, integers, learn_range_types, learn_ranges, range, require_type, to_integer,
    write_ranges,
};
use crate::inference::{bad_attribute, learn_dtype};
use crate::nn::batch_norm::{self, BatchNormParams};
use crate::numeric;
use crate::quant::quantize_v2::QuantizeParams;
use mxrs_op::param::{ParamSpec, Parameters};
use mxrs_op::{Accuracy, Attrs, InputNames, OpDef, OpParams, RefInput, RefOutput, RunMode, Sample, op_params};
use mxrs_types::{DType, PartialShape, Result};

/// Name of the operator.
pub const NAME: &str = "_sg_bn_relu_quantize";

op_params! {
    /// Parameters of the operations before and after the normalization.
    pub struct Around for "_sg_bn_relu_quantize" {
        /// Whether data is quantized.
        quantized_data: bool = false,
        /// Whether to apply ReLU.
        with_relu: bool = true,
    }
}

/// Parameters of batch normalization and of the quantization of its result.
#[derive(Clone, Debug, PartialEq)]
pub struct BnReluQuantizeParams {
    /// Parameters of the normalization.
    pub norm: BatchNormParams,
    /// Type and range of the integers.
    pub quantize: QuantizeParams,
    /// Parameters of the operations before and after the normalization.
    pub around: Around,
}

impl BnReluQuantizeParams {
    /// The range of the integers.
    ///
    /// # Errors
    /// [`mxrs_types::ErrorKind::Attribute`] if the range or one end of it is missing.
    pub fn range(&self) -> Result<Range> {
        let none = || bad_attribute(NAME, "min_calib_range", "a calibrated range", "None");
        self.quantize.calibrated()?.ok_or_else(none)
    }

    /// Position of the input `min_data`, if data is quantized.
    pub fn data_range(&self) -> Option<usize> {
        self.around.quantized_data.then_some(3)
    }

    /// Positions of gamma, beta, moving_mean and moving_var.
    pub fn per_channel(&self) -> [usize; 4] {
        let statistics = if self.around.quantized_data { 5 } else { 3 };
        [1, 2, statistics, statistics + 1]
    }
}

impl Parameters for BnReluQuantizeParams {
    fn parse(attrs: &Attrs) -> Result<Self> {
        let (norm, quantize) = (BatchNormParams::parse(attrs)?, QuantizeParams::parse(attrs)?);
        Ok(Self { norm, quantize, around: Around::parse(attrs)? })
    }

    fn specs() -> Vec<ParamSpec> {
        // `BatchNorm` and quantization both have the parameters of the range, which must be listed once.
        let of_quantize = QuantizeParams::specs();
        let is_shared = |spec: &ParamSpec| of_quantize.iter().any(|other| other.name == spec.name);
        let mut specs: Vec<ParamSpec> = BatchNormParams::specs().into_iter().filter(|s| !is_shared(s)).collect();
        specs.extend(of_quantize);
        specs.extend(Around::specs());
        specs
    }

    const OP: &'static str = NAME;
}

const INPUTS: &[&str] = &["data", "gamma", "beta", "min_data", "max_data", "moving_mean", "moving_var"];

/// Defines the operator `_sg_bn_relu_quantize`.
pub fn define() -> OpDef {
    OpDef {
        summary: "batch normalization at inference, relu and quantization in one call",
        inputs: InputNames::ByParams {
            all: INPUTS,
            chosen: |params| match params.get::<BnReluQuantizeParams>().around.quantized_data {
                true => INPUTS.to_vec(),
                false => batch_norm::INPUTS.to_vec(),
            },
        },
        n_aux: 2,
        infer_shape,
        infer_dtype,
        dtypes: &[DType::F32, DType::I8, DType::U8],
        accuracy: Accuracy::Quantum,
        reference: Some(run),
        samples,
        ..quantized::define(NAME).params::<BnReluQuantizeParams>()
    }
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let params = params.get::<BnReluQuantizeParams>();
    params.range()?;
    let (out, ranges) = outputs.split_at_mut(1);
    learn_ranges(ranges)?;
    let Some(at) = params.data_range() else {
        return batch_norm::infer_shape_along(params.norm.axis, inputs, out);
    };
    learn_ranges(&mut inputs[at..at + 2])?;
    // The shape inference of the normalization does not know the inputs `min_data` and `max_data`, so they are left
    // out.
    let places = params.per_channel();
    let mut of_norm = vec![std::mem::take(&mut inputs[0])];
    of_norm.extend(places.map(|i| std::mem::take(&mut inputs[i])));
    let result = batch_norm::infer_shape_along(params.norm.axis, &mut of_norm, out);
    for (i, shape) in [0].into_iter().chain(places).zip(of_norm) {
        inputs[i] = shape;
    }
    result
}

fn infer_dtype(params: &OpParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
    let params = params.get::<BnReluQuantizeParams>();
    match params.around.quantized_data {
        true => require_type(inputs[0], ACTIVATIONS, "data")?,
        false => learn_dtype(&mut inputs[0], DType::F32, "data")?,
    }
    learn_range_types(&mut inputs[1..])?;
    learn_range_types(&mut outputs[1..])?;
    learn_dtype(&mut outputs[0], params.quantize.output_dtype()?, "output")
}

fn run(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let params = params.get::<BnReluQuantizeParams>();
    let (to, dtype) = (params.range()?, outputs[0].desc.dtype);
    let mut x = numeric::read(&inputs[0]);
    if let Some(at) = params.data_range() {
        let quantum = range(&inputs[at], &inputs[at + 1])?.quantum(inputs[0].desc.dtype);
        x.iter_mut().for_each(|x| *x *= quantum);
    }
    let [gamma, beta, mean, var] = params.per_channel().map(|i| numeric::read(&inputs[i]));
    let mut y = batch_norm::scaled(&params.norm, &inputs[0].desc.shape, &x, [&gamma, &beta, &mean, &var])?;
    let per_unit = to.per_unit(dtype);
    let act: fn(f64) -> f64 = if params.around.with_relu { numeric::relu } else { |y| y };
    y.iter_mut().for_each(|y| *y = to_integer(dtype, act(*y) * per_unit));
    numeric::write(&mut outputs[0], &y);
    write_ranges(outputs, &[to.reported(dtype)]);
    Ok(())
}

fn samples() -> Vec<Sample> {
    let of = |name, attrs: &[(&str, &str)], shape: &[usize], channels| {
        let attrs: Attrs = attrs.iter().copied().collect();
        let mut sample = Sample { attrs, ..batch_norm::sample(name, [], shape, channels) };
        sample.inputs.iter_mut().for_each(|input| input.dtype = Some(DType::F32));
        sample
    };
    let quantized = |name, attrs: &[(&str, &str)], shape: &[usize], channels, dtype| {
        let mut sample = of(name, attrs, shape, channels);
        sample.attrs.set("quantized_data", "True");
        sample.inputs[0] = integers(shape, dtype);
        sample.inputs.splice(3..3, [floats(&[-1.5]), floats(&[3.0])]);
        sample
    };
    let (free, bare) = (("fix_gamma", "False"), ("with_relu", "False"));
    let unsigned = [("out_type", "uint8"), ("min_calib_range", "0"), ("max_calib_range", "1.5")];
    let signed = [("out_type", "int8"), ("min_calib_range", "-1"), ("max_calib_range", "1.25")];
    let auto = [("out_type", "auto"), ("min_calib_range", "0"), ("max_calib_range", "2")];
    let none = [("out_type", "uint8"), ("min_calib_range", "0"), ("max_calib_range", "0")];
    let with = |range: [(&'static str, &'static str); 3], more: &[(&'static str, &'static str)]| {
        range.iter().chain(more).copied().collect::<Vec<_>>()
    };
    vec![
        of("unsigned", &with(unsigned, &[free]), &[2, 16, 5, 5], 16),
        of("signed", &with(signed, &[free]), &[2, 16, 5, 5], 16),
        of("fixed_gamma", &with(auto, &[("eps", "2e-05")]), &[2, 5, 6, 7], 5),
        of("many_channels", &with(unsigned, &[free]), &[2, 37, 3, 4], 37),
        of("matrix", &with(signed, &[free]), &[4, 23], 23),
        of("last_axis", &with(unsigned, &[("axis", "-1"), free]), &[2, 4, 5, 6], 6),
        of("zero_range", &with(none, &[free]), &[2, 3, 4], 3),
        of("no_images", &with(unsigned, &[free]), &[0, 3, 4, 4], 3),
        of("images_without_relu", &with(signed, &[bare]), &[2, 3, 7, 9], 3),
        of("one_channel_without_relu", &with(signed, &[free, bare]), &[3, 1, 5, 8], 1),
        of("unsigned_without_relu", &with(unsigned, &[free, bare]), &[2, 21, 3, 5], 21),
        of("no_images_without_relu", &with(signed, &[free, bare]), &[0, 3, 4, 4], 3),
        quantized("of_signed", &with(unsigned, &[free]), &[2, 48, 5, 5], 48, DType::I8),
        quantized("of_unsigned", &with(signed, &[free]), &[2, 37, 3, 4], 37, DType::U8),
        quantized("of_signed_without_relu", &with(signed, &[free, bare]), &[2, 16, 3, 3], 16, DType::I8),
        quantized("of_a_matrix", &with(unsigned, &[]), &[4, 23], 23, DType::I8),
    ]
}
