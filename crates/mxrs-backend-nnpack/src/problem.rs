//! A two-dimensional convolution in the form that the kernels expect: sizes, stride, padding and dilation.

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
    /// Rows of zeros above and below the data; columns of zeros to its left and right.
    pub pad: (usize, usize),
    /// Dtype and layout of data and output.
    pub data: Data,
    /// Distance between neighboring taps of a window, down and across.
    pub dilate: (usize, usize),
}

impl ConvProblem {
    /// The convolution of a call with these parameters, whose first two inputs are data and weight. The numbers of
    /// channels are those of all groups together.
    ///
    /// # Errors
    /// Returns the reason as text if the kernels do not support the convolution.
    pub fn of(p: &ConvolutionParams, call: &OpCall<'_>) -> Result<Self, String> {
        let ([data, weight, ..], Some(out)) = (call.inputs, call.outputs.first()) else {
            return Err("the call lacks data or weight".into());
        };
        let taken = if out.dtype == DType::BF16 { DType::BF16 } else { DType::F32 };
        if let Some(other) = call.inputs.iter().chain(call.outputs).find(|t| t.dtype != taken) {
            return Err(format!("no kernel for {}", other.dtype));
        }
        Self::between(p, call, [data, weight, out])
    }

    /// The convolution between the given data, weight and output. The caller has checked the dtypes of the call.
    ///
    /// # Errors
    /// Returns the reason as text if the kernels do not support the convolution.
    pub fn between(
        p: &ConvolutionParams,
        call: &OpCall<'_>,
        [data, weight, out]: [&TensorDesc; 3],
    ) -> Result<Self, String> {
        let mut tensors = call.inputs.iter().chain(call.outputs);
        let numbers = match out.dtype {
            DType::BF16 => Data::Bf16Pixels,
            _ => Data::Blocks,
        };
        if tensors.any(|t| t.shape.n_elements() == 0) {
            return Err("no kernel for tensors without elements".into());
        }
        if let [_, _] = p.kernel[..] {
        } else {
            return Err(format!("no kernel for windows of {} axes", p.kernel.len()));
        }
        if p.is_channels_last() {
            return Err("no kernel for channels-last data".into());
        }
        let (stride, pad, dilate) = (pair(&p.stride, 1)?, pair(&p.pad, 0)?, pair(&p.dilate, 1)?);
        let ([n, c, h, w], [k, _, kh, kw], [_, _, oh, ow]) = (sizes(data)?, sizes(weight)?, sizes(out)?);
        if numbers == Data::Bf16Pixels && p.num_group != 1 {
            return Err("no kernel for bfloat16 convolutions in groups".into());
        }
        if numbers == Data::Bf16Pixels && !(c.is_multiple_of(BLOCK) && k.is_multiple_of(BLOCK)) {
            return Err(format!("no kernel for bfloat16 with {c} input and {k} output channels"));
        }
        Ok(Self { n, c, k, h, w, oh, ow, kh, kw, stride, pad, dilate, data: numbers })
    }

    /// The convolution of the output's gradient that computes the gradient of the data, with flipped filters. `None` if
    /// the stride is not 1, the window is dilated, or the padding is larger than the window allows.
    pub fn flipped(&self) -> Option<Self> {
        let pad = (self.kh.checked_sub(1 + self.pad.0)?, self.kw.checked_sub(1 + self.pad.1)?);
        let fits = self.stride == (1, 1) && self.is_dense();
        let Self { c, k, h, w, oh, ow, .. } = *self;
        fits.then_some(Self { c: k, k: c, h: oh, w: ow, oh: h, ow: w, pad, ..*self })
    }

    /// Multiplications and additions of a direct sum.
    pub fn flops(&self) -> f64 {
        2.0 * (self.n * self.k * self.oh * self.ow) as f64 * (self.c * self.kh * self.kw) as f64
    }

    /// Number of values of the weights.
    pub fn n_weights(&self) -> usize {
        self.k * self.c * self.kh * self.kw
    }

    /// Number of values of data and output together.
    pub fn n_data(&self) -> usize {
        self.n * (self.c * self.h * self.w + self.k * self.pixels())
    }

    /// Whether the window has no dilation, so that its taps are neighbors.
    pub fn is_dense(&self) -> bool {
        self.dilate == (1, 1)
    }

    /// Output pixels of one image.
    pub fn pixels(&self) -> usize {
        self.oh * self.ow
    }

    /// Whether the window is 1x1 and the stride is 1. Without padding, each output pixel then depends only on the input
    /// pixel at the same position.
    pub fn is_pointwise(&self) -> bool {
        (self.kh, self.kw) == (1, 1) && self.stride == (1, 1)
    }
}

/// Returns the two sizes of an attribute, one per axis; if the attribute is empty, both are `default`.
fn pair(attr: &ShapeAttr, default: usize) -> Result<(usize, usize), String> {
    let size = |x: i64| usize::try_from(x).map_err(|_| format!("size {x} is negative"));
    match attr[..] {
        [] => Ok((default, default)),
        [a, b] => Ok((size(a)?, size(b)?)),
        _ => Err(format!("{} sizes are given for two axes", attr.len())),
    }
}

fn sizes(tensor: &TensorDesc) -> Result<[usize; 4], String> {
    tensor.shape[..].try_into().map_err(|_| format!("shape {}", tensor.shape))
}
