//! `out = act2(Convolution2(act(Convolution(data, weight, bias)), dw_weight, dw_bias))`: a convolution with a function, and
//! a depthwise convolution with a function, as in the blocks of networks for small devices. A backend need not write the
//! result of the first convolution to memory.
//!
//! data, weight and bias are those of [`Convolution`](crate::nn::convolution). The second convolution has one filter per
//! channel: dw_weight is `[O, 1, kh, kw]`, dw_bias `[O]`. Its parameters have the prefix `dw_`. There is no bias with
//! `no_bias`, and no dw_bias with `dw_no_bias`. Inference only.
//!
//! MXNet does not have this operator. Dtypes: f32 f64 f16 bf16, the same for all tensors.

use super::epilogue::{Epilogue, FusedAct, WithEpilogue};
use crate::families::products::{self, Product};
use crate::inference::bad_attribute;
use crate::nn::convolution::{Convolution, ConvolutionParams};
use crate::numeric;
use mxrs_op::param::{ParamSpec, Parameters, ShapeAttr};
use mxrs_op::{
    Attrs, Fill, Gradient, InputNames, OpDef, OpParams, RefInput, RefOutput, RunMode, Sample, TensorDesc, op_params,
};
use mxrs_types::{DType, Error, PartialShape, Result};

/// Name of the operator.
pub const NAME: &str = "_sg_conv_depthwise";

op_params! {
    /// Parameters of the second convolution.
    pub struct DepthwiseParams for "_sg_conv_depthwise" {
        /// Size of the window.
        dw_kernel: ShapeAttr,
        /// Distance between windows; 1 if empty.
        dw_stride: ShapeAttr = ShapeAttr::default(),
        /// Distance between neighboring elements of a window; 1 if empty.
        dw_dilate: ShapeAttr = ShapeAttr::default(),
        /// Zeros added on each side; 0 if empty.
        dw_pad: ShapeAttr = ShapeAttr::default(),
        /// Whether there is no bias.
        dw_no_bias: bool = false,
        /// The function that is applied last.
        dw_act: FusedAct = FusedAct::None,
        /// Lower bound of `clip`.
        dw_a_min: f32 = 0.0,
        /// Upper bound of `clip`.
        dw_a_max: f32 = 0.0,
        /// Factor in `hard_sigmoid` and `hard_swish`.
        dw_slope: f64 = 0.2,
        /// Summand in `hard_sigmoid` and `hard_swish`.
        dw_offset: f64 = 0.5,
    }
}

/// Parameters of both convolutions.
#[derive(Clone, Debug, PartialEq)]
pub struct ConvDepthwiseParams {
    /// The first convolution.
    pub first: WithEpilogue<ConvolutionParams>,
    /// The second convolution.
    pub second: WithEpilogue<ConvolutionParams>,
}

impl Parameters for ConvDepthwiseParams {
    const OP: &'static str = NAME;

    fn parse(attrs: &Attrs) -> Result<Self> {
        let first = WithEpilogue::<ConvolutionParams>::parse(attrs)?;
        if first.epilogue.with_sum {
            return Err(bad_attribute(NAME, "with_sum", "False", "True"));
        }
        let p = DepthwiseParams::parse(attrs)?;
        let product = ConvolutionParams {
            kernel: p.dw_kernel,
            stride: p.dw_stride,
            dilate: p.dw_dilate,
            pad: p.dw_pad,
            num_group: first.product.num_filter,
            no_bias: p.dw_no_bias,
            ..first.product.clone()
        };
        let epilogue = Epilogue {
            with_sum: false,
            act: p.dw_act,
            a_min: p.dw_a_min,
            a_max: p.dw_a_max,
            slope: p.dw_slope,
            offset: p.dw_offset,
        };
        Ok(Self { first, second: WithEpilogue { product, epilogue } })
    }

    fn specs() -> Vec<ParamSpec> {
        let mut specs = WithEpilogue::<ConvolutionParams>::specs();
        specs.extend(DepthwiseParams::specs());
        specs
    }
}

impl ConvDepthwiseParams {
    /// Number of inputs of the first convolution. The other inputs are weight and bias of the second one.
    pub fn n_first_inputs(&self) -> usize {
        if self.first.product.no_bias { 2 } else { 3 }
    }
}

/// Defines the operator `_sg_conv_depthwise`.
pub fn define() -> OpDef {
    OpDef {
        summary: "convolution and depthwise convolution, each with a function, in one call",
        inputs: InputNames::ByParams {
            all: &["data", "weight", "bias", "dw_weight", "dw_bias"],
            chosen: |params| {
                let ConvDepthwiseParams { first, second } = params.get();
                let bias = (!first.product.no_bias).then_some("bias");
                let dw_bias = (!second.product.no_bias).then_some("dw_bias");
                ["data", "weight"].into_iter().chain(bias).chain(["dw_weight"]).chain(dw_bias).collect()
            },
        },
        infer_shape,
        multiply_adds,
        reference: Some(run),
        gradient: Gradient::Undefined,
        companions: Vec::new,
        samples,
        name: NAME,
        ..products::operator::<Convolution>().params::<ConvDepthwiseParams>()
    }
}

/// Infers the shapes of both convolutions.
fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let p: &ConvDepthwiseParams = params.get();
    let (first, rest) = inputs.split_at_mut(p.n_first_inputs().min(inputs.len()));
    let mut between = PartialShape::unknown();
    Convolution::infer_shape(&p.first.product, first, std::slice::from_mut(&mut between))?;
    let mut second: Vec<PartialShape> = std::iter::once(between).chain(rest.iter().cloned()).collect();
    Convolution::infer_shape(&p.second.product, &mut second, outputs)?;
    rest.iter_mut().zip(second.drain(..).skip(1)).for_each(|(to, shape)| *to = shape);
    Ok(())
}

/// The multiplications of both convolutions.
fn multiply_adds(call: &mxrs_op::OpCall<'_>) -> u64 {
    let p: &ConvDepthwiseParams = call.params.get();
    let (Some(data), Some(weight), Some(out), Some(dw_weight)) =
        (call.inputs.first(), call.inputs.get(1), call.outputs.first(), call.inputs.get(p.n_first_inputs()))
    else {
        return 0;
    };
    let of_window = |weight: &TensorDesc| weight.shape.iter().skip(1).map(|size| *size as u64).product::<u64>();
    let between = between(p, data, weight).map_or(0, |shape| shape.n_elements() as u64);
    between * of_window(weight) + out.shape.n_elements() as u64 * of_window(dw_weight)
}

/// The shape of the result of the first convolution.
fn between(p: &ConvDepthwiseParams, data: &TensorDesc, weight: &TensorDesc) -> Option<mxrs_types::Shape> {
    let mut inputs = [data, weight].map(|desc| PartialShape::from(&desc.shape));
    let mut shape = PartialShape::unknown();
    Convolution::infer_shape(&p.first.product, &mut inputs, std::slice::from_mut(&mut shape)).ok()?;
    shape.known()
}

fn run(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let p: &ConvDepthwiseParams = params.get();
    let (first, rest) = inputs.split_at(p.n_first_inputs());
    let shape = between(p, first[0].desc, first[1].desc)
        .ok_or_else(|| Error::shape(NAME, "data", "a shape that fits the window", &first[0].desc.shape))?;
    let values = Convolution::values(&p.first.product, first, &shape)?;
    let values = p.first.epilogue.apply(values, None);
    let desc = TensorDesc::dense(shape, DType::F64);
    let between = RefInput { desc: &desc, bytes: bytemuck::cast_slice(&values) };
    let inputs: Vec<RefInput<'_>> = std::iter::once(between).chain(rest.iter().cloned()).collect();
    let values = Convolution::values(&p.second.product, &inputs, &outputs[0].desc.shape)?;
    numeric::write(&mut outputs[0], &p.second.epilogue.apply(values, None));
    Ok(())
}

fn samples() -> Vec<Sample> {
    let of = |name, channels: [&'static str; 1], more: &[(&'static str, &'static str)], shapes: &[&[usize]]| {
        let first = [("kernel", "(1, 1)"), ("num_filter", channels[0])];
        Sample { attrs: first.iter().chain(more).copied().collect(), ..Sample::new(name, first, shapes) }
    };
    let bare = [("no_bias", "True"), ("dw_no_bias", "True"), ("dw_kernel", "(3, 3)"), ("dw_pad", "(1, 1)")];
    let clips = [
        ("act", "clip"),
        ("a_max", "0.5"),
        ("dw_act", "clip"),
        ("dw_a_max", "0.25"),
        ("dw_kernel", "(3, 3)"),
        ("dw_stride", "(2, 2)"),
        ("dw_pad", "(1, 1)"),
    ];
    let wide = [("act", "silu"), ("dw_act", "silu"), ("dw_kernel", "(5, 5)"), ("dw_pad", "(2, 2)")];
    let valid = [("act", "hard_swish"), ("dw_act", "hard_swish"), ("dw_kernel", "(3, 3)")];
    let sigmoids = [("act", "sigmoid"), ("dw_act", "sigmoid"), ("dw_kernel", "(3, 3)"), ("dw_pad", "(1, 1)")];
    vec![
        of("plain", ["20"], &bare, &[&[1, 8, 6, 5], &[20, 8, 1, 1], &[20, 1, 3, 3]]),
        of("clips", ["24"], &clips, &[&[2, 16, 9, 8], &[24, 16, 1, 1], &[24], &[24, 1, 3, 3], &[24]]),
        of("silu", ["40"], &wide, &[&[1, 20, 7, 7], &[40, 20, 1, 1], &[40], &[40, 1, 5, 5], &[40]]),
        of("hard_swish", ["16"], &valid, &[&[2, 16, 5, 6], &[16, 16, 1, 1], &[16], &[16, 1, 3, 3], &[16]]),
        of("sigmoid", ["18"], &sigmoids, &[&[1, 16, 4, 4], &[18, 16, 1, 1], &[18], &[18, 1, 3, 3], &[18]]),
        of("no_images", ["20"], &bare, &[&[0, 8, 6, 5], &[20, 8, 1, 1], &[20, 1, 3, 3]]),
        of("large", ["64"], &wide, &[&[1, 16, 33, 40], &[64, 16, 1, 1], &[64], &[64, 1, 5, 5], &[64]])
            .fill(0, Fill::Uniform(-0.5, 0.5)),
    ]
}
