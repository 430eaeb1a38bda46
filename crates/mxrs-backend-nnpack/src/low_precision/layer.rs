//! The kernel of a convolution or fully-connected layer: computes scales and bias of the channels, then runs the product.

use super::Context;
use super::block::{PANEL, STEP};
use super::depthwise::Depthwise;
use super::finish::{Output, Rule};
use super::geometry::{Geometry, Problem};
use super::level::Level;
use super::packing::Packing;
use super::product::{Compute, Memory, Product};
use super::requests::{Written, meet};
use super::unit::Factors;
use crate::epilogue::Bounds;
use crate::layouts::{LARGE_BYTES, NAME, channels_last};
use mxrs_op::{Kernel, KernelArgs, OpCall, PlannedKernel};
use mxrs_types::{Error, Layout, Result};
use std::sync::Arc;

/// Factors and bias of the channels, and the factor of the tensor that is added, for one run of a call.
pub trait Channels: Send + Sync {
    /// Writes a factor and a bias for each channel, and returns the factor of the tensor that is added.
    fn fill(&self, args: &KernelArgs<'_>, scales: &mut [f32], bias: &mut [f32]) -> f32;

    /// Writes the outputs other than the first.
    fn write_others(&self, args: &KernelArgs<'_>) -> Result<()>;
}

/// A layer: what is multiplied and what happens to the sums.
pub struct Layer {
    /// The sizes.
    pub problem: Problem,
    /// The types of the numbers that are multiplied.
    pub factors: Factors,
    /// How the sums are stored.
    pub rule: Rule,
    /// Position of the tensor that is added.
    pub sum: Option<usize>,
    /// Bounds of the result.
    pub bounds: Bounds,
    /// Whether data and output are images, not rows.
    pub is_image: bool,
    /// Whether each channel has a window of its own.
    pub is_depthwise: bool,
    /// Number of groups of channels in the call, before groups are merged.
    pub groups: u32,
}

/// Largest number of channels of row-major images that are read plane by plane. The first layer of a network has so few.
const FEW_PLANES: usize = 4;

/// Number of values of scales and of bias to allocate for this number of channels. It has room for a whole panel behind
/// them, because the last group of channels may be read as a whole panel.
fn padded(channels: usize) -> usize {
    (channels + PANEL).next_multiple_of(PANEL)
}

struct LayerKernel<C> {
    name: String,
    compute: Arc<dyn Compute>,
    channels: Arc<C>,
    n_channels: usize,
    sum: Option<usize>,
    bounds: Bounds,
    written: Arc<[Written]>,
    /// Whether a kernel that also adds a tensor can be made of this one. It can if the output is in bfloat16.
    may_add: bool,
}

/// Prepares the kernel of a layer.
///
/// # Errors
/// Returns an error if the layer adds a tensor of a type that no kernel adds.
pub fn plan<C: Channels + 'static>(
    call: &OpCall<'_>,
    layer: &Layer,
    channels: C,
    context: &Context,
) -> Result<PlannedKernel> {
    let p = layer.problem;
    let bytes = layer.factors != Factors::Bf16;
    let merged = p.dilate[1] == 1 || p.window[1] == 1;
    let groups = if layer.is_depthwise { 1 } else { layer.groups };
    let packing = Packing { bytes, merged, depthwise: layer.is_depthwise, groups };
    let (all_c, all_k) = (p.groups * p.c, p.groups * p.k);
    let is_planes = p.c <= FEW_PLANES && p.groups == 1 && call.inputs[0].layout.is_row_major();
    let planes = layer.is_image && !layer.is_depthwise && is_planes;
    let unknown = || Error::not_built(call.op.name, "no kernel adds a tensor of this type");
    let (compute, unit): (Arc<dyn Compute>, _) = if layer.is_depthwise {
        let store = layer.rule.store(Level::of(context.isa)).ok_or_else(unknown)?;
        (Arc::new(Depthwise::new(p, layer.factors, store, context)), context.isa.name())
    } else {
        let geometry = Geometry::new(p, packing.number_bytes(), packing.merged, planes, context.threads);
        let product = Product::new(geometry, layer.factors, layer.rule, context.isa, context.threads);
        let product = product.ok_or_else(unknown)?;
        let unit = product.unit_name();
        (Arc::new(product), unit)
    };
    let image = |sizes| if layer.is_image { channels_last(sizes) } else { Layout::RowMajor };
    let [h, w] = p.input;
    let data = if planes { Layout::RowMajor } else { image([p.n, all_c, h, w]) };
    let out = image([p.n, all_k, p.output[0], p.output[1]]);
    let mut input_layouts = vec![Layout::RowMajor; call.inputs.len()];
    input_layouts[0] = data;
    input_layouts[1] = packing.layout([all_k, all_c / layer.groups as usize, p.window[0], p.window[1]]);
    if let Some(sum) = layer.sum {
        input_layouts[sum] = out.clone();
    }
    let mut output_layouts = vec![Layout::RowMajor; call.outputs.len()];
    output_layouts[0] = out;
    let what = match (layer.is_depthwise, bytes) {
        (false, false) => "product_bf16",
        (false, true) => "product_bytes",
        (true, false) => "depthwise_bf16",
        (true, true) => "depthwise_bytes",
    };
    let name = format!("{NAME}:{what}:{unit}:{}", context.threads);
    let epilogue = (layer.sum, layer.bounds);
    let may_add = layer.rule == Rule::Bf16;
    Ok(planned(call, name, compute, (channels, all_k), epilogue, may_add, [input_layouts, output_layouts]))
}

/// The plan of a computation of sums. `channels` come with their number, and the epilogue is the position of the tensor
/// that is added and the bounds. `may_add` says whether a kernel that also adds a tensor can be made of this one.
pub fn planned<C: Channels + 'static>(
    call: &OpCall<'_>,
    name: String,
    compute: Arc<dyn Compute>,
    (channels, n_channels): (C, usize),
    (sum, bounds): (Option<usize>, Bounds),
    may_add: bool,
    [input_layouts, output_layouts]: [Vec<Layout>; 2],
) -> PlannedKernel {
    let per_channel = 2 * padded(n_channels) * size_of::<f32>();
    PlannedKernel {
        scratch_bytes: per_channel.next_multiple_of(STEP) + compute.scratch_bytes(),
        can_run_inplace: sum.is_some(),
        kernel: Arc::new(LayerKernel {
            name,
            compute,
            channels: Arc::new(channels),
            n_channels,
            sum,
            bounds,
            written: Written::all(call.outputs, &output_layouts).into(),
            may_add,
        }),
        input_layouts,
        output_layouts,
    }
}

impl<C: Channels + 'static> Kernel for LayerKernel<C> {
    fn name(&self) -> &str {
        &self.name
    }

    fn fuse_add(self: Arc<Self>, position: usize) -> Option<Arc<dyn Kernel>> {
        let fits = self.may_add && self.sum.is_none() && self.bounds == Bounds::NONE;
        fits.then(|| {
            Arc::new(Self {
                name: format!("{}+sum", self.name),
                compute: self.compute.clone(),
                channels: self.channels.clone(),
                sum: Some(position),
                written: self.written.clone(),
                ..*self
            }) as _
        })
    }

    unsafe fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        meet(args, &self.written, |args| {
            let n = padded(self.n_channels);
            // SAFETY: the scratch memory has the planned size, which begins with two values for each of `n` channels, and it
            // belongs to this call alone.
            let scratch = unsafe { args.scratch.bytes_mut() };
            let (per_channel, strips) = scratch.split_at_mut((2 * n * size_of::<f32>()).next_multiple_of(STEP));
            let (scales, rest) = bytemuck::cast_slice_mut::<u8, f32>(per_channel).split_at_mut(n);
            let bias = &mut rest[..n];
            scales.fill(0.0);
            bias.fill(0.0);
            let sum_scale = self.channels.fill(args, &mut scales[..self.n_channels], &mut bias[..self.n_channels]);
            let sum = self.sum.map_or(std::ptr::null(), |i| args.inputs[i].as_ptr().cast_const());
            let output = Output {
                dst: args.outputs[0].as_ptr(),
                channels: self.n_channels,
                row_step: self.n_channels,
                past_caches: self.written[0].n_bytes() > LARGE_BYTES && sum != args.outputs[0].as_ptr().cast_const(),
                scales: scales.as_ptr(),
                bias: bias.as_ptr(),
                sum,
                sum_scale,
                low: self.bounds.low,
                high: self.bounds.high,
            };
            let memory = Memory {
                data: args.inputs[0].as_ptr(),
                weights: args.inputs[1].as_ptr(),
                output: &output,
                scratch: strips.as_mut_ptr(),
            };
            // SAFETY: the tensors belong to the running call and have the planned layouts, so nothing else writes them. The
            // plan allows an output in the memory of an input only if that input is the tensor that is added.
            unsafe { self.compute.run(&memory, args.team) }
            self.channels.write_others(args)
        })
    }
}
