//! Quantized convolutions and fully-connected layers, alone and with an epilogue.
//!
//! out = round((sums · quantum(data) · quantum(weight) + bias + sum · quantum(sum)) / quantum(out)), where the quantum
//! of a tensor is the real value of the integer 1, `sums` are the sums of integer products, and `sum` is the tensor that the
//! epilogue adds. The scales and the bias are divided by the quantum of `out` beforehand, so that the primitive multiplies
//! the sums of each channel once, adds bias and `sum`, and rounds once. ReLU only depends on the sign, so it needs no scale.
//! An unsigned result has no negative numbers, so it needs no ReLU.

mod params;

use super::{floats, image, layouts, numbers, range, ranges, write_ranges, written_ranges};
use crate::accumulate::{self, Written};
use crate::cache::Prepared;
use crate::epilogue::{append_relu, fetch};
use crate::kernels::convolution;
use crate::library::Library;
use crate::objects::{Attributes, MemDesc, PostOps, PrimDesc, backend_error, dims};
use crate::primitive::{Argument, PrimitiveKernel, Slot};
use crate::scratch::{FloatPart, ScratchPlan};
use mxrs_onednn_sys::{result, sys};
use mxrs_op::{Kernel, KernelArgs, OpCall};
use mxrs_ops::Range;
use mxrs_ops::fused::FusedAct;
use mxrs_ops::fused_quantized::{Addend, FusedPlaces, FusedType, Requantized};
use mxrs_processor::Feature;
use mxrs_types::{DType, Error, Layout, Result};
use params::{Params, split};
use std::ffi::c_int;
use std::sync::{Arc, Mutex, PoisonError};

/// Checks that the backend takes the call.
pub fn check(call: &OpCall<'_>) -> std::result::Result<(), String> {
    if !is_exact() {
        return Err("8-bit products are wrong on a processor without VNNI: the sum of two saturates at 16 bits".into());
    }
    let (params, epilogue) = split(call)?;
    match params {
        Params::FullyConnected(_) if call.inputs[0].shape.ndim() < 1 => Err("the data have no axes".into()),
        _ if epilogue.as_ref().is_some_and(|e| e.with_sum && e.out_type == FusedType::Float32) => {
            Err("no kernel for a quantized product with a float32 sum".into())
        }
        _ => Ok(()),
    }
}

/// Whether the library adds 8-bit products in 32 bits. Without VNNI instructions it adds pairs of products in 16 bits,
/// which saturate, and halves weights that are multiplied with signed data.
fn is_exact() -> bool {
    cfg!(not(target_arch = "x86_64")) || Feature::Avx512Vnni.is_there() || Feature::AvxVnni.is_there()
}

/// Everything that describes the call's primitive, except the scale of the tensor that the epilogue adds.
struct Recipe {
    library: Arc<Library>,
    params: Params,
    src: Arc<MemDesc>,
    weights: MemDesc,
    dst: Arc<MemDesc>,
    bias: Option<Arc<MemDesc>>,
    sum: Option<DType>,
    is_relu: bool,
    /// Number of output channels; `channel_mask` marks their axes in the weights.
    n_channels: usize,
    channel_mask: c_int,
    /// Number of scales: none, one, or one per channel.
    n_scales: usize,
}

impl Recipe {
    fn attributes(&self, sum_scale: f32) -> Result<Attributes> {
        let attributes = Attributes::user_scratchpad()?;
        if self.n_scales > 0 {
            let mask = if self.n_scales > 1 { self.channel_mask } else { 0 };
            // SAFETY: `attributes` owns the object, so it is alive. The other arguments are numbers.
            unsafe { result::primitive_attr_set_scales_mask(attributes.0, sys::DNNL_ARG_WEIGHTS, mask)? };
        }
        let post_ops = PostOps::new()?;
        if let Some(dtype) = self.sum {
            let dtype = crate::objects::data_type(dtype).unwrap_or(sys::dnnl_data_type_undef);
            // SAFETY: `post_ops` owns the list, so it is alive. The other arguments are numbers.
            unsafe { result::post_ops_append_sum(post_ops.0, sum_scale, 0, dtype)? };
        }
        if self.is_relu && self.sum == Some(DType::F32) {
            // The tensor that is added may contain NaN, which must be kept.
            append_relu(&post_ops)?;
        } else if self.is_relu {
            // SAFETY: `post_ops` owns the list, so it is alive. The other arguments are numbers.
            unsafe { result::post_ops_append_eltwise(post_ops.0, sys::dnnl_eltwise_relu, 0.0, 0.0)? };
        }
        attributes.with(&post_ops)
    }

    fn describe(&self, sum_scale: f32) -> Result<PrimDesc> {
        let attributes = self.attributes(sum_scale)?;
        let bias = self.bias.as_deref();
        match &self.params {
            Params::Convolution(p) => {
                convolution::forward_of(&self.library, p, [&self.src, &self.weights, &self.dst], bias, &attributes)
            }
            Params::FullyConnected(_) => self.library.prim_desc(|out| {
                // SAFETY: the out pointer is valid, and the descriptors and attributes are alive during the call; a
                // null bias means that there is none.
                unsafe {
                    result::inner_product_forward_primitive_desc_create(
                        out,
                        self.library.engine(),
                        sys::dnnl_forward_inference,
                        self.src.0,
                        self.weights.0,
                        bias.map_or(std::ptr::null(), |bias| bias.0.cast_const()),
                        self.dst.0,
                        attributes.0,
                    )
                }
            }),
        }
    }

    /// Compiles the primitive. Its scratch memory is added to `scratch`.
    fn primitive(&self, pd: &PrimDesc, parts: &Parts, scratch: &mut ScratchPlan) -> Result<PrimitiveKernel> {
        let weights = Arc::new(pd.required_md(sys::dnnl_query_weights_md, 0)?);
        let mut arguments = vec![
            Argument { arg: sys::DNNL_ARG_SRC, slot: Slot::Input(0), md: self.src.clone() },
            Argument { arg: sys::DNNL_ARG_WEIGHTS, slot: Slot::Input(1), md: weights },
            Argument { arg: sys::DNNL_ARG_DST, slot: Slot::Output(0), md: self.dst.clone() },
        ];
        if let Some(bias) = &self.bias {
            let slot = Slot::Scratch(parts.bias.start);
            arguments.push(Argument { arg: sys::DNNL_ARG_BIAS, slot, md: bias.clone() });
        }
        if self.n_scales > 0 {
            let arg = sys::DNNL_ARG_ATTR_SCALES | sys::DNNL_ARG_WEIGHTS;
            let slot = Slot::Scratch(parts.scales.start);
            arguments.push(Argument { arg, slot, md: numbers(self.n_scales)? });
        }
        PrimitiveKernel::in_scratch(&self.library, pd, arguments, scratch)
    }
}

/// The parts of the scratch memory that code of this crate writes and the primitive reads.
#[derive(Clone, Copy)]
struct Parts {
    scales: FloatPart,
    bias: FloatPart,
}

/// A quantized product. The scale of the tensor that the epilogue adds is part of the primitive, so the primitive is
/// prepared again if the scale changes. In a calibrated network the scale never changes after the first run.
struct Quantized {
    recipe: Recipe,
    epilogue: Option<Requantized>,
    places: FusedPlaces,
    data: DType,
    parts: Parts,
    scratch_bytes: usize,
    out_range: Option<Range>,
    written: Vec<Written>,
    made: Mutex<(u32, Arc<PrimitiveKernel>)>,
    name: String,
}

impl Quantized {
    /// The primitive in which the tensor that the epilogue adds has the scale `sum_scale`.
    fn primitive(&self, sum_scale: f32) -> Result<Arc<PrimitiveKernel>> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if made.0 != sum_scale.to_bits() {
            let pd = self.recipe.describe(sum_scale)?;
            let mut scratch = ScratchPlan::default();
            let parts = parts(&mut scratch, self.recipe.n_scales, self.recipe.n_channels);
            let primitive = self.recipe.primitive(&pd, &parts, &mut scratch)?;
            if scratch.n_bytes() > self.scratch_bytes {
                return Err(backend_error("a kernel with new scales needs more scratch memory"));
            }
            *made = (sum_scale.to_bits(), Arc::new(primitive));
        }
        Ok(made.1.clone())
    }

    /// Writes scales and bias to scratch memory, and returns the scale of the tensor that the epilogue adds.
    fn fill(&self, args: &KernelArgs<'_>) -> f32 {
        let at = self.places.product.ranges;
        let of_data = range(args, at).quantum(self.data);
        // 1 divided by the quantum of the output, or 1 if the output consists of the sums.
        let per_unit = match (&self.epilogue, self.out_range) {
            (Some(e), Some(range)) => range.per_unit(e.output_dtype()),
            _ => 1.0,
        };
        if self.epilogue.is_some() {
            // SAFETY: `prepare` planned the scratch memory with this part, this is the only slice of the part, and the
            // primitive runs after `fill`.
            let scales = unsafe { self.parts.scales.of(args) };
            // The quantum of a weight is proportional to the range of the weights. So it is the end of that range times
            // the quantum that weights in the range 0 to 1 would have.
            let of_one = of_data * Range { min: 0.0, max: 1.0 }.quantum(DType::I8) * per_unit;
            let ranges = floats(args, at + 2).iter().zip(floats(args, at + 3));
            let reaches = ranges.map(|(min, max)| min.abs().max(max.abs()));
            scales.iter_mut().zip(reaches).for_each(|(to, reach)| *to = (f64::from(reach) * of_one) as f32);
        }
        if let Some(bias) = self.places.product.bias {
            // SAFETY: `prepare` planned the scratch memory with the part of the bias, this is the only slice of the
            // part, and the primitive runs after `fill`.
            let to = unsafe { self.parts.bias.of(args) };
            match &self.epilogue {
                Some(_) => self.fill_real_bias(args, bias, per_unit, to),
                None => self.fill_counted_bias(args, bias, of_data, to),
            }
        }
        match self.places.sum {
            Some(Addend::Quantized { range: at, .. }) => {
                let dtype = self.recipe.sum.unwrap_or(DType::I8);
                (range(args, at).quantum(dtype) * per_unit) as f32
            }
            Some(Addend::Real { .. }) | None => 1.0,
        }
    }

    /// Returns the bias if it is float32.
    fn real_bias<'a>(&self, args: &KernelArgs<'a>, bias: usize) -> Option<&'a [f32]> {
        let is_real = args.inputs[bias].len_bytes() == self.recipe.n_channels * size_of::<f32>();
        is_real.then(|| floats(args, bias))
    }

    /// Returns the integers of an 8-bit bias, and their quantum.
    fn integer_bias<'a>(&self, args: &KernelArgs<'a>, bias: usize) -> (&'a [i8], f64) {
        // SAFETY: this is an input of the running call that no output may share memory with, so nothing writes it
        // during the call.
        let integers = bytemuck::cast_slice(unsafe { args.inputs[bias].bytes() });
        (integers, range(args, self.places.product.ranges + 4).quantum(DType::I8))
    }

    /// Writes the bias, divided by the quantum of the output, to `to`.
    fn fill_real_bias(&self, args: &KernelArgs<'_>, bias: usize, per_unit: f64, to: &mut [f32]) {
        match self.real_bias(args, bias) {
            Some(real) => to.iter_mut().zip(real).for_each(|(to, b)| *to = (f64::from(*b) * per_unit) as f32),
            None => {
                let (integers, quantum) = self.integer_bias(args, bias);
                let step = quantum * per_unit;
                to.iter_mut().zip(integers).for_each(|(to, b)| *to = (f64::from(*b) * step) as f32);
            }
        }
    }

    /// Writes the bias, divided by the quantum of the sums, to `to` as 32-bit integers.
    fn fill_counted_bias(&self, args: &KernelArgs<'_>, bias: usize, of_data: f64, to: &mut [f32]) {
        let at = self.places.product.ranges + 2;
        let quanta: Vec<f64> = ranges(args, at).map(|r| of_data * r.quantum(DType::I8)).collect();
        let real = self.real_bias(args, bias);
        for (c, to) in to.iter_mut().enumerate() {
            let value = match real {
                Some(real) => f64::from(real[c]),
                None => {
                    let (integers, quantum) = self.integer_bias(args, bias);
                    f64::from(integers[c]) * quantum
                }
            };
            let quantum = quanta[c.min(quanta.len() - 1)];
            let counted = if quantum > 0.0 { (value / quantum).trunc() } else { 0.0 };
            // For sums in 32 bits, the primitive reads the bias as a 32-bit integer from the same address.
            *to = f32::from_bits((counted.clamp(f64::from(i32::MIN), f64::from(i32::MAX)) as i32).cast_unsigned());
        }
    }

    fn write_ranges(&self, args: &KernelArgs<'_>) -> Result<()> {
        match &self.epilogue {
            Some(e) => {
                let reported = e.reported_range()?;
                write_ranges(args, reported.into_iter());
            }
            None => {
                let at = self.places.product.ranges;
                let of_data = range(args, at).quantum(self.data);
                let all: Vec<Range> = ranges(args, at + 2)
                    .map(|r| of_data * r.quantum(DType::I8) * f64::from(i32::MAX))
                    .map(|reach| Range { min: -reach, max: reach })
                    .collect();
                write_ranges(args, all.into_iter());
            }
        }
        Ok(())
    }
}

impl Kernel for Quantized {
    fn name(&self) -> &str {
        &self.name
    }

    unsafe fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        accumulate::run(args, &self.written, |args| {
            let primitive = self.primitive(self.fill(args))?;
            if let Some(sum) = self.places.sum {
                fetch(args, sum.input(), self.recipe.dst.size_bytes());
            }
            primitive.execute(args)?;
            self.write_ranges(args)
        })
    }
}

fn parts(scratch: &mut ScratchPlan, n_scales: usize, n_channels: usize) -> Parts {
    Parts { scales: FloatPart::new(scratch, n_scales), bias: FloatPart::new(scratch, n_channels) }
}

/// Prepares a quantized product.
pub fn prepare(library: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    let (params, epilogue) = split(call).map_err(|reason| Error::not_built(call.op.name, reason))?;
    let no_bias = match &params {
        Params::Convolution(p) => p.no_bias,
        Params::FullyConnected(p) => p.no_bias,
    };
    let places = FusedPlaces::new(no_bias, epilogue.as_ref());
    let (data, weight, out) = (&call.inputs[0], &call.inputs[1], &call.outputs[0]);
    let n_channels = weight.shape[0];
    let (src, weights, dst, [src_layout, out_layout], sizes, channel_mask) = match &params {
        Params::Convolution(p) => {
            let (src, src_layout) = image(library, data)?;
            let (dst, dst_layout) = image(library, out)?;
            let sizes = convolution::weights_sizes(p, &weight.shape);
            let mask = if sizes.len() > weight.shape.ndim() { 0b11 } else { 0b1 };
            let weights = MemDesc::any(&sizes, DType::I8)?;
            (src, weights, dst, [src_layout, dst_layout], sizes, mask)
        }
        Params::FullyConnected(_) => {
            let k = weight.shape[1];
            let n = data.shape.n_elements() / k;
            let src = MemDesc::dense(&dims([n, k]), data.dtype)?;
            let dst = MemDesc::dense(&dims([n, n_channels]), out.dtype)?;
            let sizes = dims([n_channels, k]);
            let weights = library.layer_weights(n_channels, k, DType::I8)?;
            (Arc::new(src), weights, Arc::new(dst), [Layout::RowMajor, Layout::RowMajor], sizes, 0b1)
        }
    };
    let bias_type = if epilogue.is_some() { DType::F32 } else { DType::I32 };
    let bias = (!no_bias).then(|| MemDesc::dense(&dims([n_channels]), bias_type).map(Arc::new)).transpose()?;
    let n_ranges = call.inputs[places.product.weight_range()].shape.n_elements();
    let out_range = epilogue.as_ref().map(Requantized::output_range).transpose()?.flatten();
    let recipe = Recipe {
        library: library.clone(),
        src,
        weights,
        dst,
        bias,
        sum: places.sum.map(|sum| call.inputs[sum.input()].dtype),
        is_relu: epilogue.as_ref().is_some_and(|e| e.act == FusedAct::Relu && e.out_type != FusedType::Uint8),
        n_channels,
        channel_mask,
        n_scales: if epilogue.is_some() { n_ranges } else { 0 },
        params,
    };
    let pd = recipe.describe(1.0)?;
    let mut scratch = ScratchPlan::default();
    let parts = parts(&mut scratch, recipe.n_scales, n_channels);
    let primitive = recipe.primitive(&pd, &parts, &mut scratch)?;
    let weights_md = pd.required_md(sys::dnnl_query_weights_md, 0)?;
    let weights_layout = library.registry.weights_layout(weights_md, &sizes)?;
    let mut input_layouts = layouts(src_layout, call.inputs.len());
    input_layouts[1] = weights_layout;
    if let Some(sum) = places.sum {
        input_layouts[sum.input()] = out_layout.clone();
    }
    let mut written = written_ranges(call.outputs);
    written.extend(primitive.written());
    let name = primitive.name().to_owned();
    let kernel = Quantized {
        recipe,
        epilogue,
        places,
        data: data.dtype,
        parts,
        scratch_bytes: scratch.n_bytes(),
        out_range,
        written,
        made: Mutex::new((1f32.to_bits(), Arc::new(primitive))),
        name,
    };
    Ok(Prepared {
        input_layouts,
        output_layouts: layouts(out_layout, call.outputs.len()),
        scratch_bytes: scratch.n_bytes(),
        can_run_inplace: places.sum.is_some(),
        kernel: Arc::new(kernel),
    })
}
