//! A convolution as the kernels see it: sizes, stride, padding and dilation in two dimensions.

use crate::layouts::BLOCK;
use crate::winograd::Data;
use mxrs_op::param::ShapeAttr;
use mxrs_op::{OpCall, TensorDesc};
use mxrs_ops::nn::convolution::ConvolutionParams;
use mxrs_types::DType;

/// Sizes of a two-dimensional convolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConvProblem {
    /// Images.
    pub n: usize,
    /// Input channels.
    pub c: usize,
    /// Output channels.
    pub k: usize,
    /// Input height.
    pub h: usize,
    /// Input width.
    pub w: usize,
    /// Output height.
    pub oh: usize,
    /// Output width.
    pub ow: usize,
    /// Window height.
    pub kh: usize,
    /// Window width.
    pub kw: usize,
    /// Distance between windows, down and across.
    pub stride: (usize, usize),
    /// Zeros before the first and behind the last cell, down and across.
    pub pad: (usize, usize),
    /// What numbers data and output are.
    pub data: Data,
    /// Distance between cells of a window, down and across.
    pub dilate: (usize, usize),
}

impl ConvProblem {
    /// That of a call with these parameters, whose first inputs are data and weight. Channels are those of all groups.
    ///
    /// # Errors
    /// In words, why the kernels do not take it.
    pub fn of(p: &ConvolutionParams, call: &OpCall<'_>) -> Result<Self, String> {
        let ([data, weight, ..], Some(out)) = (call.inputs, call.outputs.first()) else {
            return Err("a convolution without data or weight".into());
        };
        let taken = if out.dtype == DType::BF16 { DType::BF16 } else { DType::F32 };
        if let Some(other) = call.inputs.iter().chain(call.outputs).find(|t| t.dtype != taken) {
            return Err(format!("{} numbers", other.dtype));
        }
        Self::between(p, call, [data, weight, out])
    }

    /// That between these tensors of a call, data, weight and output; what numbers the call takes is known to be right.
    ///
    /// # Errors
    /// As [`Self::of`].
    pub fn between(
        p: &ConvolutionParams,
        call: &OpCall<'_>,
        [data, weight, out]: [&TensorDesc; 3],
    ) -> Result<Self, String> {
        let mut tensors = call.inputs.iter().chain(call.outputs);
        let numbers = match out.dtype {
            DType::BF16 => Data::ShortPixels,
            _ => Data::Blocks,
        };
        if tensors.any(|t| t.shape.n_elements() == 0) {
            return Err("a tensor without elements".into());
        }
        if let [_, _] = p.kernel[..] {
        } else {
            return Err(format!("windows of {} axes", p.kernel.len()));
        }
        if p.is_channels_last() {
            return Err("channels last".into());
        }
        let (stride, pad, dilate) = (pair(&p.stride, 1)?, pair(&p.pad, 0)?, pair(&p.dilate, 1)?);
        let ([n, c, h, w], [k, _, kh, kw], [_, _, oh, ow]) = (sizes(data)?, sizes(weight)?, sizes(out)?);
        if numbers == Data::ShortPixels && p.num_group != 1 {
            return Err("bfloat16 in groups".into());
        }
        if numbers == Data::ShortPixels && !(c.is_multiple_of(BLOCK) && k.is_multiple_of(BLOCK)) {
            return Err(format!("bfloat16 in {c} and {k} channels"));
        }
        Ok(Self { n, c, k, h, w, oh, ow, kh, kw, stride, pad, dilate, data: numbers })
    }

    /// The convolution of the output's gradient that the data's gradient is, with the filters turned around. `None` where the stride
    /// is not 1, or padding reaches beyond the window.
    pub fn turned(&self) -> Option<Self> {
        let pad = (self.kh.checked_sub(1 + self.pad.0)?, self.kw.checked_sub(1 + self.pad.1)?);
        let fits = self.stride == (1, 1) && self.is_dense();
        let Self { c, k, h, w, oh, ow, .. } = *self;
        fits.then_some(Self { c: k, k: c, h: oh, w: ow, oh: h, ow: w, pad, ..*self })
    }

    /// Multiplications and additions of the direct sum.
    pub fn flops(&self) -> f64 {
        2.0 * (self.n * self.k * self.oh * self.ow) as f64 * (self.c * self.kh * self.kw) as f64
    }

    /// Numbers of the weights.
    pub fn n_weights(&self) -> usize {
        self.k * self.c * self.kh * self.kw
    }

    /// Numbers of the data and of the output together.
    pub fn n_data(&self) -> usize {
        self.n * (self.c * self.h * self.w + self.k * self.pixels())
    }

    /// Whether the cells of a window lie side by side.
    pub fn is_dense(&self) -> bool {
        self.dilate == (1, 1)
    }

    /// Output pixels of one image.
    pub fn pixels(&self) -> usize {
        self.oh * self.ow
    }

    /// Whether each output pixel depends on the input pixel at its place only.
    pub fn is_pointwise(&self) -> bool {
        (self.kh, self.kw) == (1, 1) && self.stride == (1, 1)
    }
}

/// A pair of sizes, one for each axis, or twice the default.
fn pair(attr: &ShapeAttr, default: usize) -> Result<(usize, usize), String> {
    let size = |x: i64| usize::try_from(x).map_err(|_| format!("a size of {x}"));
    match attr[..] {
        [] => Ok((default, default)),
        [a, b] => Ok((size(a)?, size(b)?)),
        _ => Err(format!("{} sizes for two axes", attr.len())),
    }
}

fn sizes(tensor: &TensorDesc) -> Result<[usize; 4], String> {
    tensor.shape[..].try_into().map_err(|_| format!("shape {}", tensor.shape))
}
