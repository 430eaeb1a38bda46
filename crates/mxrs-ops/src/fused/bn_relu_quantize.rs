//! `out = quantise(relu(BatchNorm(data)))` with the moving statistics, in a calibrated range: what stands between real
//! numbers and a quantised product in networks that normalise before they multiply.
//!
//! Inputs are those of [`BatchNorm`](crate::nn::batch_norm), outputs those of
//! [`_contrib_quantize_v2`](crate::quant::quantize_v2): the integers, int8 or uint8 as `out_type` says, and the ends of their
//! range; parameters are those of both. Everything is computed in real numbers and rounded once. NaN becomes 0.
//!
//! Inference only. Dtypes: f32.

use crate::inference::{bad_attribute, learn_dtype};
use crate::nn::batch_norm::{self, BatchNormParams};
use crate::numeric;
use crate::quant::quantize_v2::QuantizeParams;
use crate::quantised::{OUTPUTS, Range, learn_range_types, learn_ranges, to_integer, write_ranges};
use mxrs_op::param::{ParamSpec, Parameters};
use mxrs_op::{Accuracy, Attrs, InputNames, OpDef, OpParams, OutputCount, RefInput, RefOutput, RunMode, Sample};
use mxrs_types::{DType, PartialShape, Result};

/// Its name.
pub const NAME: &str = "_sg_bn_relu_quantize";

/// Parameters of batch normalisation and of what quantises its result.
#[derive(Clone, Debug, PartialEq)]
pub struct BnReluQuantizeParams {
    /// Those of the normalisation.
    pub norm: BatchNormParams,
    /// Type and range of the integers.
    pub quantize: QuantizeParams,
}

impl BnReluQuantizeParams {
    /// The range of the integers.
    ///
    /// # Errors
    /// [`mxrs_types::ErrorKind::Attribute`]: none, or half of one.
    pub fn range(&self) -> Result<Range> {
        let none = || bad_attribute(NAME, "min_calib_range", "a calibrated range", "None");
        self.quantize.calibrated()?.ok_or_else(none)
    }
}

impl Parameters for BnReluQuantizeParams {
    fn parse(attrs: &Attrs) -> Result<Self> {
        Ok(Self { norm: BatchNormParams::parse(attrs)?, quantize: QuantizeParams::parse(attrs)? })
    }

    fn specs() -> Vec<ParamSpec> {
        // The range is a parameter of both.
        let of_quantize = QuantizeParams::specs();
        let is_shared = |spec: &ParamSpec| of_quantize.iter().any(|other| other.name == spec.name);
        let mut specs: Vec<ParamSpec> = BatchNormParams::specs().into_iter().filter(|s| !is_shared(s)).collect();
        specs.extend(of_quantize);
        specs
    }

    const OP: &'static str = NAME;
}

/// `_sg_bn_relu_quantize`.
pub fn define() -> OpDef {
    OpDef {
        summary: "batch normalisation at inference, relu and quantisation in one call",
        inputs: InputNames::Fixed(batch_norm::INPUTS),
        n_aux: 2,
        n_outputs: OutputCount::Fixed(3),
        n_visible: OutputCount::Fixed(3),
        output_names: OUTPUTS,
        infer_shape,
        infer_dtype,
        dtypes: &[DType::F32],
        accuracy: Accuracy::Quantum,
        reference: Some(run),
        samples,
        ..OpDef::new(NAME).params::<BnReluQuantizeParams>()
    }
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let params = params.get::<BnReluQuantizeParams>();
    params.range()?;
    let (out, ranges) = outputs.split_at_mut(1);
    learn_ranges(ranges)?;
    batch_norm::infer_shape_along(params.norm.axis, inputs, out)
}

fn infer_dtype(params: &OpParams, inputs: &mut [Option<DType>], outputs: &mut [Option<DType>]) -> Result<()> {
    for (dtype, name) in inputs.iter_mut().zip(batch_norm::INPUTS) {
        learn_dtype(dtype, DType::F32, name)?;
    }
    learn_range_types(&mut outputs[1..])?;
    learn_dtype(&mut outputs[0], params.get::<BnReluQuantizeParams>().quantize.output_dtype()?, "output")
}

fn run(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let params = params.get::<BnReluQuantizeParams>();
    let (range, dtype) = (params.range()?, outputs[0].desc.dtype);
    let [x, gamma, beta, mean, var] = [0, 1, 2, 3, 4].map(|i| numeric::read(&inputs[i]));
    let mut y = batch_norm::scaled(&params.norm, &inputs[0].desc.shape, &x, [&gamma, &beta, &mean, &var])?;
    let per_unit = range.per_unit(dtype);
    y.iter_mut().for_each(|y| *y = to_integer(dtype, numeric::relu(*y) * per_unit));
    numeric::write(&mut outputs[0], &y);
    write_ranges(outputs, &[range.reported(dtype)]);
    Ok(())
}

fn samples() -> Vec<Sample> {
    let of = |name, attrs: &[(&str, &str)], shape: &[usize], channels| {
        let attrs: Attrs = attrs.iter().copied().collect();
        let mut sample = Sample { attrs, ..batch_norm::sample(name, [], shape, channels) };
        sample.inputs.iter_mut().for_each(|input| input.dtype = Some(DType::F32));
        sample
    };
    let free = ("fix_gamma", "False");
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
    ]
}
