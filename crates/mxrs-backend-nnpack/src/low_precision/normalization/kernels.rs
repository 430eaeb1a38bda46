//! The kernels. They have three phases: the sums over each part of the pixels; the numbers of each channel, such as mean
//! and scale, from these sums; and the results, part by part.

use super::loops::{self, Factors, Pixels, Sums};
use super::{BACKWARD, FORWARD, PLAIN, PLAIN_BACKWARD, Problem};
use crate::barrier::Phases;
use crate::blocks::put;
use crate::convolve::part;
use crate::layouts::{LARGE_BYTES, NAME};
use crate::low_precision::column_sums::PARTS;
use crate::low_precision::loops::Shared;
use half::bf16;
use mxrs_op::{Kernel, KernelArgs, OpCall, PlannedKernel};
use mxrs_types::{Layout, Result, WriteReq};
use std::sync::Arc;

/// Channels whose numbers are computed at a time from the sums of all parts.
const SETTLED: usize = 64;
/// Outputs of the forward call before the inputs that it rewrites.
const N_OUTPUTS: usize = 3;

/// What a kernel computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pass {
    /// The forward call, with the positions of the inputs that the operator rewrites, such as the moving statistics.
    Forward(&'static [usize]),
    Again,
    Backward,
}

struct Normalization {
    name: String,
    problem: Problem,
    pass: Pass,
}

/// The plan of a call, whose images have this layout.
pub fn plan(call: &OpCall<'_>, problem: Problem, layout: &Layout) -> PlannedKernel {
    let (n_images, what, pass) = match call.op.name {
        FORWARD | PLAIN => (1, "batch_norm", Pass::Forward((call.op.rewrites)(call.params, call.is_train))),
        BACKWARD | PLAIN_BACKWARD => (2, "batch_norm_gradient", Pass::Backward),
        _ => (1, "batch_norm_again", Pass::Again),
    };
    let layouts = |n: usize, images: usize| {
        (0..n).map(|i| if i < images { layout.clone() } else { Layout::RowMajor }).collect::<Vec<_>>()
    };
    let relu = if problem.relu { "_relu" } else { "" };
    PlannedKernel {
        input_layouts: layouts(call.inputs.len(), n_images),
        output_layouts: layouts(call.outputs.len(), 1),
        // Two sums of each part, and six numbers of each channel.
        scratch_bytes: problem.channels * (2 * PARTS * size_of::<f64>() + 6 * size_of::<f32>()),
        can_run_inplace: pass == Pass::Backward,
        kernel: Arc::new(Normalization {
            name: format!("{NAME}:{what}{relu}_bf16:{}", problem.threads),
            problem,
            pass,
        }),
    }
}

/// Indices of the six numbers that are kept for each channel. From `RESULTS` on, two results: forward, mean and inverse
/// standard deviation; backward, the gradients of gamma and beta. `SCALE` and `SHIFT` normalize the data. From `LESS` on:
/// forward, the variance; backward, two numbers that are subtracted from the gradient.
const RESULTS: usize = 0;
const SCALE: usize = 2;
const SHIFT: usize = 3;
const LESS: usize = 4;

impl Normalization {
    /// Input `i` as numbers of the channels.
    fn per_channel<'a>(&self, args: &KernelArgs<'a>, i: usize) -> &'a [f32] {
        // SAFETY: this is an input of the running call with a value for each channel. The executor lets rewritten inputs share
        // memory with outputs that are written only after all threads have read them.
        unsafe { std::slice::from_raw_parts(args.inputs[i].as_ptr().cast::<f32>(), self.problem.channels) }
    }

    /// The parameters and statistics that are inputs: gamma, beta, mean, and variance or inverse standard deviation.
    fn parameters<'a>(&self, args: &KernelArgs<'a>) -> [&'a [f32]; 4] {
        let at = match self.pass {
            Pass::Backward if self.problem.relu => [2, 3, 4, 5],
            // The gradient without ReLU does not have beta as an input and does not need it. Gamma is passed in its
            // position.
            Pass::Backward => [2, 2, 3, 4],
            Pass::Forward(_) | Pass::Again => [1, 2, 3, 4],
        };
        at.map(|i| self.per_channel(args, i))
    }
}

/// The scratch memory of a run.
struct Scratch {
    sums: Shared<f64>,
    kept: Shared<f32>,
    channels: usize,
}

impl Scratch {
    /// The two sums of a part.
    ///
    /// # Safety
    /// Only one thread may use the sums of a part at a time, unless all only read them.
    unsafe fn sums<'a>(&self, part: usize, count: f64) -> Sums<'a> {
        let of = |i: usize| {
            // SAFETY: scratch memory has two sums of each channel for each part.
            unsafe { std::slice::from_raw_parts_mut(self.sums.at((2 * part + i) * self.channels), self.channels) }
        };
        Sums { count, first: of(0), second: of(1) }
    }

    /// Number `i` ([`RESULTS`] and following) of every channel, for reading.
    ///
    /// # Safety
    /// The numbers must be written, and no thread may write them.
    unsafe fn kept<'a>(&self, i: usize) -> &'a [f32] {
        // SAFETY: scratch memory has six numbers of each channel.
        unsafe { std::slice::from_raw_parts(self.kept.at(i * self.channels), self.channels) }
    }

    /// Writes number `i` of a channel.
    ///
    /// # Safety
    /// No other thread may use this number.
    unsafe fn set(&self, i: usize, channel: usize, value: f32) {
        // SAFETY: scratch memory has six numbers of each channel.
        unsafe { *self.kept.at(i * self.channels + channel) = value }
    }
}

impl Normalization {
    /// Whether the sums over the pixels are needed.
    fn has_sums(&self) -> bool {
        match self.pass {
            Pass::Forward(_) => self.problem.uses_batch,
            Pass::Again => false,
            Pass::Backward => true,
        }
    }

    /// The pixels of a part.
    ///
    /// # Safety
    /// The tensors must be those of the running call.
    unsafe fn pixels<'a>(&self, args: &KernelArgs<'_>, index: usize, dst: *mut bf16, f: Factors<'a>) -> Pixels<'a> {
        let range = part(self.problem.pixels, PARTS, index);
        let at = range.start * self.problem.channels;
        let is_backward = self.pass == Pass::Backward;
        let input = |i: usize| args.inputs[i].as_ptr().cast_const().cast::<bf16>().wrapping_add(at);
        Pixels {
            data: input(usize::from(is_backward)),
            ograd: if is_backward { input(0) } else { std::ptr::null() },
            dst: if dst.is_null() { dst } else { dst.wrapping_add(at) },
            n: range.len(),
            factors: f,
            less: [f.shift; 2],
            past_caches: false,
        }
    }

    /// Computes the numbers of some channels from the sums of all parts.
    ///
    /// # Safety
    /// All sums must be complete, and no other thread may use the numbers of these channels.
    unsafe fn settle(&self, args: &KernelArgs<'_>, scratch: &Scratch, channels: std::ops::Range<usize>) {
        let p = &self.problem;
        let [gamma, beta, given_mean, given] = self.parameters(args);
        let (mut first, mut second) = (vec![0.0f64; channels.len()], vec![0.0f64; channels.len()]);
        let mut all = Sums { count: 0.0, first: &mut first, second: &mut second };
        if self.has_sums() {
            for index in 0..PARTS {
                let count = part(p.pixels, PARTS, index).len() as f64;
                // SAFETY: the sums are complete, so no thread writes them.
                let sums = unsafe { scratch.sums(index, count) };
                let [a, b] = [&sums.first[channels.clone()], &sums.second[channels.clone()]];
                match self.pass {
                    Pass::Backward => all.join_sums(count, a, b),
                    _ => all.join_moments(count, a, b),
                }
            }
        }
        let count = all.count;
        for (i, c) in channels.enumerate() {
            let gamma = if p.fix_gamma { 1.0 } else { f64::from(gamma[c]) };
            let numbers = match self.pass {
                Pass::Forward(_) => {
                    let (mean, variance) = match p.uses_batch {
                        true => (first[i], second[i] / count),
                        false => (f64::from(given_mean[c]), f64::from(given[c])),
                    };
                    let inverse = (1.0 / (variance + p.eps).sqrt()) as f32;
                    [mean as f32, inverse, (gamma * f64::from(inverse)) as f32, beta[c], variance as f32, 0.0]
                }
                Pass::Again => [given_mean[c], given[c], (gamma * f64::from(given[c])) as f32, beta[c], 0.0, 0.0],
                Pass::Backward => {
                    let inverse = f64::from(given[c]);
                    let to_gamma = second[i] * inverse;
                    // The statistics of the batch depend on the data, so they contribute to the gradient. Moving statistics
                    // are constants.
                    let less = match p.uses_batch {
                        true => [first[i] / count, to_gamma * inverse / count],
                        false => [0.0; 2],
                    };
                    let result = if p.fix_gamma { 0.0 } else { to_gamma as f32 };
                    let scale = (gamma * inverse) as f32;
                    [result, first[i] as f32, scale, beta[c], less[0] as f32, less[1] as f32]
                }
            };
            for (number, value) in numbers.into_iter().enumerate() {
                // SAFETY: only this thread uses the numbers of this channel.
                unsafe { scratch.set(number, c, value) }
            }
        }
    }

    fn compute(&self, args: &KernelArgs<'_>, dst: *mut bf16, adds: bool) {
        let p = &self.problem;
        let bytes = args.scratch.as_ptr();
        let scratch = Scratch {
            sums: Shared(bytes.cast()),
            kept: Shared(bytes.wrapping_add(2 * PARTS * p.channels * size_of::<f64>()).cast()),
            channels: p.channels,
        };
        let blocks = p.channels.div_ceil(SETTLED);
        let has_sums = self.has_sums();
        let phases = Phases::new(p.threads, [if has_sums { PARTS } else { 0 }, blocks, PARTS]);
        // A result in the memory of an input is in the caches already, so its stores do not bypass them.
        let is_input = args.inputs[0].as_ptr().cast::<bf16>() == dst;
        let past_caches = p.pixels * p.channels * size_of::<bf16>() > LARGE_BYTES && !adds && !is_input;
        let dst = Shared(dst);
        let [gamma, beta, given_mean, given] = self.parameters(args);
        // The backward sums count only what ReLU let through. The scale is needed to find this out, before the numbers of
        // the channels are computed.
        let scale: Vec<f32> = match self.pass {
            Pass::Backward => {
                let scaled = |(gamma, inverse): (&f32, &f32)| {
                    (if p.fix_gamma { 1.0 } else { f64::from(*gamma) } * f64::from(*inverse)) as f32
                };
                gamma.iter().zip(given).map(scaled).collect()
            }
            _ => Vec::new(),
        };
        args.team.run(p.threads, &|thread| {
            let (scratch, dst) = (&scratch, &dst);
            phases.work(0, thread, |i| {
                let given = Factors { mean: given_mean, scale: &scale, shift: beta };
                // SAFETY: only this item uses the sums of its part; the tensors are those of the running call.
                unsafe {
                    let pixels = self.pixels(args, i, std::ptr::null_mut(), given);
                    let mut sums = scratch.sums(i, 0.0);
                    sums.first.fill(0.0);
                    sums.second.fill(0.0);
                    match (self.pass, p.relu) {
                        (Pass::Backward, true) => loops::products_behind_relu(p.level)(&pixels, &mut sums),
                        (Pass::Backward, false) => loops::products(p.level)(&pixels, &mut sums),
                        _ => loops::moments(p.level)(&pixels, &mut sums),
                    }
                }
            });
            phases.wait(0);
            phases.work(1, thread, |i| {
                let first = i * SETTLED;
                // SAFETY: phase 0 is finished, and items are different channels.
                unsafe { self.settle(args, scratch, first..(first + SETTLED).min(p.channels)) }
            });
            phases.wait(1);
            if dst.0.is_null() {
                return;
            }
            phases.work(2, thread, |i| {
                // SAFETY: phase 1 is finished, so the numbers of all channels are written. Items are different pixels. They
                // are visited in reverse order, because the pixels that were read last may still be in the caches.
                unsafe {
                    let mean = if self.pass == Pass::Backward { given_mean } else { scratch.kept(RESULTS) };
                    let factors = Factors { mean, scale: scratch.kept(SCALE), shift: scratch.kept(SHIFT) };
                    let pixels = self.pixels(args, PARTS - 1 - i, dst.0, factors);
                    let less = [scratch.kept(LESS), scratch.kept(LESS + 1)];
                    let pixels = Pixels { less, past_caches, ..pixels };
                    match (self.pass, p.relu) {
                        (Pass::Backward, true) => loops::gradient_behind_relu(p.level)(&pixels, adds),
                        (Pass::Backward, false) => loops::gradient(p.level)(&pixels, adds),
                        (_, true) => loops::normalize_with_relu(p.level)(&pixels),
                        (_, false) => loops::normalize(p.level)(&pixels),
                    }
                }
            });
            phases.wait(2);
        });
        if self.pass == Pass::Again {
            return;
        }
        // SAFETY: all phases are finished.
        let kept = |i: usize| unsafe { scratch.kept(i) };
        for output in [1, 2] {
            put(&args.outputs[output], args.reqs[output], 0, kept(RESULTS + output - 1));
        }
        let Pass::Forward(rewrites) = self.pass else { return };
        for (input, (output, req)) in rewrites.iter().zip(args.outputs.iter().zip(args.reqs).skip(N_OUTPUTS)) {
            let batch = if *input == 3 { kept(RESULTS) } else { kept(LESS) };
            let moved = |(old, new): (&f32, &f32)| match input {
                // If gamma is fixed, the operator also sets it to ones.
                1 => 1.0,
                _ => (p.momentum * f64::from(*old) + (1.0 - p.momentum) * f64::from(*new)) as f32,
            };
            let values: Vec<f32> = self.per_channel(args, *input).iter().zip(batch).map(moved).collect();
            // The new value already contains the old one, so a request to add means to write.
            let req = if *req == WriteReq::Null { *req } else { WriteReq::Write };
            put(output, req, 0, &values);
        }
    }
}

impl Kernel for Normalization {
    fn name(&self) -> &str {
        &self.name
    }

    fn adds(&self, output: usize) -> bool {
        output == 0 && self.pass == Pass::Backward
    }

    unsafe fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        let dst = args.outputs[0].as_ptr().cast();
        match args.reqs[0] {
            WriteReq::Null => self.compute(args, std::ptr::null_mut(), false),
            WriteReq::Add if self.pass != Pass::Backward => {
                let n = self.problem.pixels * self.problem.channels;
                let mut side = vec![bf16::ZERO; n];
                self.compute(args, side.as_mut_ptr(), false);
                // SAFETY: this is an output of the running call, and no other slice of it exists: the result is in `side`.
                let to = bytemuck::cast_slice_mut::<u8, bf16>(unsafe { args.outputs[0].bytes_mut() });
                let add = |a: bf16, b: bf16| mxrs_types::bfloat16::narrow(a.to_f32() + b.to_f32());
                to.iter_mut().zip(side).for_each(|(to, x)| *to = add(*to, x));
            }
            req => self.compute(args, dst, req == WriteReq::Add),
        }
        Ok(())
    }
}
