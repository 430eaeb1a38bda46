//! `out = act(Convolution(data * factors, weight, bias) + sum)`: the last step of a squeeze-and-excite layer and the
//! convolution after it.
//!
//! data, weight, bias and sum are those of `_sg_conv` ([`super::convolution`]), and so are all parameters. factors, the last
//! input, is `[N, C, 1, 1]` for data `[N, C, H, W]`: one factor per image and channel. Out may be written in place of sum.
//! Inference only.
//!
//! MXNet does not have this operator. Dtypes: f32 f64 f16 bf16, the same for all tensors.

use super::convolution::{self, SgConvParams};
use crate::families::products::Product;
use crate::inference::{OP, learn, learn_dim, require_ndim};
use crate::nn::convolution::Convolution;
use crate::numeric;
use mxrs_op::{InputNames, OpDef, OpParams, RefInput, RefOutput, RunMode, Sample, TensorDesc};
use mxrs_types::{DType, Error, PartialShape, Result};

/// Name of the operator.
pub const NAME: &str = "_sg_scaled_conv";

/// Defines the operator `_sg_scaled_conv`.
pub fn define() -> OpDef {
    let plain = convolution::define();
    OpDef {
        summary: "convolution of images times one factor per channel, a sum and a function in one call",
        inputs: InputNames::ByParams {
            all: &["data", "weight", "bias", "sum", "factors"],
            chosen: |params| {
                let SgConvParams { product, epilogue } = params.get();
                let bias = (!product.no_bias).then_some("bias");
                let sum = epilogue.with_sum.then_some("sum");
                ["data", "weight"].into_iter().chain(bias).chain(sum).chain(["factors"]).collect()
            },
        },
        infer_shape,
        reference: Some(run),
        samples,
        name: NAME,
        ..plain
    }
}

fn infer_shape(params: &OpParams, inputs: &mut [PartialShape], outputs: &mut [PartialShape]) -> Result<()> {
    let Some((factors, others)) = inputs.split_last_mut() else { return Ok(()) };
    (convolution::define().infer_shape)(params, others, outputs)?;
    let Some(data) = others.first_mut() else { return Ok(()) };
    require_ndim(data, 4, "data")?;
    learn(factors, &PartialShape::new([data.dim(0), data.dim(1), Some(1), Some(1)]), "factors")?;
    learn_dim(data, 0, factors.dim(0), "data")?;
    learn_dim(data, 1, factors.dim(1), "data")
}

fn run(params: &OpParams, inputs: &[RefInput<'_>], outputs: &mut [RefOutput<'_>], _: RunMode) -> Result<()> {
    let SgConvParams { product, epilogue } = params.get();
    let Some((factors, others)) = inputs.split_last() else { return Ok(()) };
    let (of_product, sum) = others.split_at(epilogue.n_product_inputs(others.len()));
    let shape = &of_product[0].desc.shape;
    let pixels = match shape[..] {
        [_, _, h, w] => h * w,
        _ => return Err(Error::shape(OP, "data", "four axes", shape)),
    };
    let factors = numeric::read(factors);
    let mut values = numeric::read(&of_product[0]);
    values.iter_mut().enumerate().for_each(|(i, x)| *x *= factors[i / pixels]);
    let desc = TensorDesc::dense(shape.clone(), DType::F64);
    let scaled = RefInput { desc: &desc, bytes: bytemuck::cast_slice(&values) };
    let inputs: Vec<RefInput<'_>> = std::iter::once(scaled).chain(of_product[1..].iter().cloned()).collect();
    let y = Convolution::values(product, &inputs, &outputs[0].desc.shape)?;
    numeric::write(&mut outputs[0], &epilogue.apply(y, sum.first()));
    Ok(())
}

fn samples() -> Vec<Sample> {
    let of = |name, filters: &'static str, more: &[(&'static str, &'static str)], shapes: &[&[usize]]| {
        let first = [("kernel", "(1, 1)"), ("num_filter", filters)];
        Sample { attrs: first.iter().chain(more).copied().collect(), ..Sample::new(name, first, shapes) }
    };
    let (sum, bare) = (("with_sum", "True"), ("no_bias", "True"));
    let data: &[usize] = &[2, 24, 5, 4];
    let factors: &[usize] = &[2, 24, 1, 1];
    let weight: &[usize] = &[20, 24, 1, 1];
    let out: &[usize] = &[2, 20, 5, 4];
    vec![
        of("plain", "20", &[], &[data, weight, &[20], factors]),
        of("sum", "20", &[sum], &[data, weight, &[20], out, factors]),
        of("bare", "20", &[bare], &[data, weight, factors]),
        of("sum_silu", "20", &[sum, bare, ("act", "silu")], &[data, weight, out, factors]),
        of("no_images", "20", &[bare], &[&[0, 24, 5, 4], weight, &[0, 24, 1, 1]]),
        of("wide", "96", &[], &[&[1, 48, 15, 14], &[96, 48, 1, 1], &[96], &[1, 48, 1, 1]]),
    ]
}
