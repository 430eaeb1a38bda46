//! BatchNorm with mean and inverse standard deviation as outputs, hidden or visible. In training these are the statistics of
//! the batch, otherwise the moving statistics.
//!
//! If the primitive computes statistics, it writes mean and variance to scratch memory. The code after it computes the
//! inverse standard deviation from the variance, and rewrites the moving statistics and a fixed gamma. Outputs with a
//! null request are not computed.

use crate::cache::Prepared;
use crate::library::Library;
use crate::objects::{MemDesc, dims};
use crate::primitive::{Argument, PrimitiveKernel, Slot};
use crate::scratch::{FloatPart, ScratchPlan};
use crate::sequence::{Sequence, Step};
use mxrs_onednn_sys::{result, sys};
use mxrs_op::{KernelArgs, OpCall, RawTensor};
use mxrs_ops::nn::batch_norm::BatchNormParams;
use mxrs_types::{DType, Layout, Result, WriteReq};
use std::sync::Arc;

/// Number of outputs of the operator. In a call's list of outputs, the inputs that the operator rewrites follow these
/// outputs.
const N_OUTPUTS: usize = 3;

/// The code that runs after the primitive.
struct Finish {
    /// Mean and variance of the batch, written by the primitive; `None` if the primitive used the moving statistics.
    batch: Option<[FloatPart; 2]>,
    channels: usize,
    eps: f64,
    momentum: f64,
    rewrites: &'static [usize],
}

/// Writes or adds one value per channel to an output, as `req` says.
fn write(output: &RawTensor<'_>, req: WriteReq, n: usize, value: impl Fn(usize) -> f64) {
    if req == WriteReq::Null {
        return;
    }
    debug_assert!(output.len_bytes() >= n * size_of::<f32>(), "an output of {} bytes", output.len_bytes());
    let first = output.as_ptr().cast::<f32>();
    for c in 0..n {
        let value = value(c);
        // SAFETY: this is an output of the running call with `n` f32 values, one per channel (debug builds assert it),
        // and no slice of it exists. A rewritten input is the same memory; it is also read through raw pointers, each
        // element before it is written.
        unsafe {
            let to = first.wrapping_add(c);
            to.write(if req == WriteReq::Add { (f64::from(to.read()) + value) as f32 } else { value as f32 });
        }
    }
}

impl Finish {
    fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        // SAFETY: inputs 3 and 4, the moving statistics, have `channels` f32 values, and `write` passes `c < channels`.
        // They may be rewritten below, each element after this read.
        let moving = |input: usize, c: usize| unsafe {
            f64::from(args.inputs[input].as_ptr().cast::<f32>().wrapping_add(c).read())
        };
        let batch = self.batch.map(|parts| {
            // SAFETY: `prepare` planned the scratch memory with these parts, the primitive has finished, and these are
            // the only slices of the parts.
            parts.map(|part| &*unsafe { part.of(args) })
        });
        let statistic = |k: usize, c: usize| batch.map_or_else(|| moving(3 + k, c), |b| f64::from(b[k][c]));
        write(&args.outputs[1], args.reqs[1], self.channels, |c| statistic(0, c));
        write(&args.outputs[2], args.reqs[2], self.channels, |c| 1.0 / (statistic(1, c) + self.eps).sqrt());
        let outputs = args.outputs.iter().zip(args.reqs).skip(N_OUTPUTS);
        for (&input, (output, &req)) in self.rewrites.iter().zip(outputs) {
            // The new moving statistic is computed from the old one, so a request to add is executed as a request to write.
            let req = if req == WriteReq::Null { req } else { WriteReq::Write };
            write(output, req, self.channels, |c| match input {
                3 | 4 => self.momentum * moving(input, c) + (1.0 - self.momentum) * statistic(input - 3, c),
                _ => 1.0,
            });
        }
        Ok(())
    }
}

/// Prepares the call.
pub fn prepare(library: &Arc<Library>, call: &OpCall<'_>) -> Result<Prepared> {
    let p = call.params.get::<BatchNormParams>();
    let channels = call.inputs[0].shape[1];
    let src = library.md(&call.inputs[0])?;
    let uses_batch = p.uses_batch(call.is_train);
    let scale = if p.fix_gamma { 0 } else { sys::dnnl_use_scale };
    let global = if uses_batch { 0 } else { sys::dnnl_use_global_stats };
    let pd = library.prim_desc(|out| {
        // SAFETY: the out pointer is valid, and `src` and the attributes are alive during the call.
        unsafe {
            result::batch_normalization_forward_primitive_desc_create(
                out,
                library.engine(),
                if uses_batch { sys::dnnl_forward_training } else { sys::dnnl_forward_inference },
                src.0,
                src.0,
                p.eps as f32,
                global | sys::dnnl_use_shift | scale,
                library.attributes(),
            )
        }
    })?;
    let mut scratch = ScratchPlan::default();
    let batch = uses_batch.then(|| [(); 2].map(|()| FloatPart::new(&mut scratch, channels)));
    let statistic = |k: usize| batch.map_or(Slot::Input(3 + k), |parts| Slot::Scratch(parts[k].start));
    let channel = Arc::new(MemDesc::dense(&dims([channels]), DType::F32)?);
    let mut arguments = vec![
        Argument { arg: sys::DNNL_ARG_SRC, slot: Slot::Input(0), md: src.clone() },
        Argument { arg: sys::DNNL_ARG_SHIFT, slot: Slot::Input(2), md: channel.clone() },
        Argument { arg: sys::DNNL_ARG_MEAN, slot: statistic(0), md: channel.clone() },
        Argument { arg: sys::DNNL_ARG_VARIANCE, slot: statistic(1), md: channel.clone() },
        Argument { arg: sys::DNNL_ARG_DST, slot: Slot::Output(0), md: src },
    ];
    if !p.fix_gamma {
        arguments.push(Argument { arg: sys::DNNL_ARG_SCALE, slot: Slot::Input(1), md: channel });
    }
    let primitive = PrimitiveKernel::in_scratch(library, &pd, arguments, &mut scratch)?;
    let finish = Finish {
        batch,
        channels,
        eps: p.eps,
        momentum: f64::from(p.momentum),
        rewrites: (call.op.rewrites)(call.params, call.is_train),
    };
    let steps = vec![Step::Primitive(primitive), Step::Code(Box::new(move |args| finish.run(args)))];
    let mut input_layouts = vec![Layout::RowMajor; call.inputs.len()];
    input_layouts[0] = call.inputs[0].layout.clone();
    let mut output_layouts = vec![Layout::RowMajor; call.outputs.len()];
    output_layouts[0] = call.inputs[0].layout.clone();
    Ok(Prepared {
        input_layouts,
        output_layouts,
        scratch_bytes: scratch.n_bytes(),
        can_run_inplace: true,
        kernel: Arc::new(Sequence::new(steps, Vec::new())),
    })
}
