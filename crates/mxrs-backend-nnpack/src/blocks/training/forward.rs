//! `_bn_relu` and `BatchNorm`: compute the statistics of a block of channels, then its output.

use super::Problem;
use super::factors::factors;
use super::sums::{Moments, Sums, moments};
use super::sweep::{self, Kept, Sweep};
use crate::kernel::meet_request;
use crate::layouts::BLOCK;
use mxrs_op::{Kernel, KernelArgs, RawTensor};
use mxrs_types::{DType, Result, WriteReq};

/// The kernel of both operators.
pub struct Forward {
    /// The name in traces.
    pub name: String,
    /// Sizes of the tensor that is normalized, and the settings.
    pub problem: Problem,
    /// Indices of the inputs that the operator updates, such as the moving statistics.
    pub rewrites: &'static [usize],
}

/// The running call.
struct Call<'a> {
    problem: &'a Problem,
    /// Data, gamma, beta and the two moving statistics.
    inputs: [*const f32; 5],
    dst: *mut f32,
    moments: unsafe fn(&Moments, &mut Sums),
}

// SAFETY: sharing only copies the addresses. The memory behind them is accessed in the methods of `Sweep`, whose
// contracts exclude conflicting accesses.
unsafe impl Sync for Call<'_> {}

impl Sweep for Call<'_> {
    unsafe fn gather(&self, n: usize, block: usize) -> Sums {
        let mut sums = Sums::NONE;
        if self.problem.uses_batch {
            // SAFETY: `n` is an image and `block` a block of channels, by the contract of `gather`. So `at(n, block)`
            // is the start of a plane of the data. The function `self.moments` was chosen for `isa`, which this
            // processor has.
            unsafe {
                let data = self.inputs[0].add(self.problem.at(n, block));
                (self.moments)(&Moments { data, pixels: self.problem.pixels }, &mut sums);
            }
        }
        sums
    }

    fn join(&self, all: &mut Sums, next: &Sums) {
        if self.problem.uses_batch {
            all.join_moments(next.count, &next.first, &next.second);
        }
    }

    unsafe fn settle(&self, block: usize, all: &Sums) -> Kept {
        let mut kept = Kept { results: [[0.0; BLOCK]; 2], factors: [[0.0; BLOCK]; 2] };
        let (first, n) = self.problem.channels_of(block);
        for i in 0..n {
            // SAFETY: `first + i < first + n <= channels`, the length of both moving statistics.
            let moving = |input: usize| unsafe { f64::from(*self.inputs[input].add(first + i)) };
            let (mean, variance) = match self.problem.uses_batch {
                true => (all.first[i], all.second[i] / all.count),
                false => (moving(3), moving(4)),
            };
            kept.results[0][i] = mean as f32;
            kept.results[1][i] = (1.0 / (variance + self.problem.eps).sqrt()) as f32;
            // The variance that updates the moving variance.
            kept.factors[0][i] = variance as f32;
        }
        kept
    }

    unsafe fn write(&self, n: usize, block: usize, kept: &Kept) {
        if self.dst.is_null() {
            return;
        }
        let [mean, inverse] = &kept.results;
        // SAFETY: `inputs[1]` and `inputs[2]` are gamma and beta, which have a value for every channel. `n` is an image
        // and `block` a block of channels, by the contract of `write`. So `at(n, block)` is the start of a plane of
        // data and output. The caller gives this plane of the output to this thread.
        unsafe {
            let factors = factors(self.problem, block, [self.inputs[1], self.inputs[2]], [mean, inverse]);
            let at = self.problem.at(n, block);
            self.problem.normalize(self.inputs[0].add(at), self.dst.add(at), &factors);
        }
    }
}

impl Forward {
    fn write(&self, args: &KernelArgs<'_>, dst: *mut f32) {
        let problem = &self.problem;
        let inputs = [0, 1, 2, 3, 4].map(|i| args.inputs[i].as_ptr().cast_const().cast());
        let call = Call { problem, inputs, dst, moments: moments(problem.isa) };
        let settled = |first: usize, n: usize, kept: &Kept| {
            for (output, values) in [(1, kept.results[0]), (2, kept.results[1])] {
                put(&args.outputs[output], args.reqs[output], first, &values[..n]);
            }
            for (input, (output, req)) in self.rewrites.iter().zip(args.outputs.iter().zip(args.reqs).skip(N_OUTPUTS)) {
                let batch = if *input == 3 { kept.results[0] } else { kept.factors[0] };
                let mut values = [1.0; BLOCK];
                if *input != 1 {
                    for i in 0..n {
                        // SAFETY: `first + i < first + n <= channels`, the length of a moving statistic. The same
                        // memory is written only below, by `put`.
                        let old = f64::from(unsafe { *inputs[*input].add(first + i) });
                        let moved = problem.momentum * old + (1.0 - problem.momentum) * f64::from(batch[i]);
                        values[i] = moved as f32;
                    }
                }
                // The new value already contains the old one, so a request to add means to write.
                let req = if *req == WriteReq::Null { *req } else { WriteReq::Write };
                put(output, req, first, &values[..n]);
            }
        };
        // SAFETY: the tensors belong to the running call and have the planned layouts, no other thread uses them, and
        // the scratch memory has the planned `scratch_bytes`.
        unsafe { sweep::run(problem, &call, args, settled) }
    }
}

/// Number of outputs that precede the updated inputs in the list of outputs.
const N_OUTPUTS: usize = 3;

/// Writes or adds `values` to the elements of an output from `first` on, as `req` says.
pub fn put(output: &RawTensor<'_>, req: WriteReq, first: usize, values: &[f32]) {
    if req == WriteReq::Null {
        return;
    }
    for (i, value) in values.iter().enumerate() {
        // SAFETY: the output belongs to the running call and has a value for each channel. Callers pass the channels of
        // one block, so `first + i < first + values.len() <= channels`. No slice of this memory exists.
        unsafe {
            let to = output.as_ptr().cast::<f32>().add(first + i);
            *to = if req == WriteReq::Add { *to + value } else { *value };
        }
    }
}

impl Kernel for Forward {
    fn name(&self) -> &str {
        &self.name
    }

    unsafe fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        if args.reqs.first() == Some(&WriteReq::Null) {
            self.write(args, std::ptr::null_mut());
        }
        meet_request(args, DType::F32, |dst| {
            self.write(args, dst.as_ptr().cast());
            Ok(())
        })
    }
}
