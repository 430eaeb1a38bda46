//! `_backward_bn_relu` and `_backward_BatchNorm`: sums the output's gradient over a block of channels, then computes the gradient of the data.

use super::super::batch_norm::Factors;
use super::Problem;
use super::factors::given_factors;
use super::forward::put;
use super::sums::{Products, Sums, let_through, products};
use super::sweep::{self, Kept, Sweep};
use crate::dispatch::for_each_set;
use crate::gemm::lanes::Lanes;
use crate::layouts::BLOCK;
use mxrs_op::{Kernel, KernelArgs};
use mxrs_types::{Result, WriteReq};

/// The kernel of both gradients.
pub struct Backward {
    name: String,
    problem: Problem,
}

/// The planes (height by width by 16 channels) of one block of channels of one image, in gradient, data and result.
struct Planes<'a> {
    ograd: *const f32,
    data: *const f32,
    dst: *mut f32,
    pixels: usize,
    factors: &'a Factors,
    /// Two values per channel that are subtracted from the gradient: the first as it is, the second multiplied by the
    /// distance of the data from the mean.
    less: &'a [[f32; BLOCK]; 2],
    /// Whether the result is added to the old values in `dst`.
    adds: bool,
    /// Whether the result is stored directly to memory, bypassing the caches.
    past_caches: bool,
}

for_each_set! {
    /// Returns the function that computes the gradient of the data.
    fn gradient[const RELU: bool] [RELU]: unsafe fn(planes: &Planes<'_>) = gradient_of
}

/// # Safety
/// `planes.ograd` and `planes.data` must be readable and `planes.dst` writable for `planes.pixels * BLOCK` values; with
/// `past_caches`, `dst` must begin at a cache line. The processor must have the instructions of `L`.
#[inline(always)]
unsafe fn gradient_of<L: Lanes, const RELU: bool>(planes: &Planes<'_>) {
    // No store can change these copies, so the compiler keeps them in registers.
    let [mean, scale, shift] = [planes.factors.mean, planes.factors.scale, planes.factors.shift];
    let less = *planes.less;
    // Each cache line is completed before the next one, as in `normalize_run`.
    for pixel in 0..planes.pixels {
        for lane in (0..BLOCK).step_by(L::N) {
            // SAFETY: `pixel < planes.pixels` and `lane + L::N <= BLOCK`, so `at + L::N <= pixels * BLOCK`. `dst` may be one of
            // the inputs, because each value is read before its address is written.
            unsafe {
                let at = pixel * BLOCK + lane;
                let of = |values: &[f32; BLOCK]| L::load(values.as_ptr().add(lane));
                let factors = [of(&mean), of(&scale), of(&shift)];
                let [ograd, data] = [planes.ograd, planes.data].map(|from| L::load(from.add(at)));
                let (through, distance) = let_through::<L, RELU>(ograd, data, factors);
                let result = distance.neg_mul_add(of(&less[1]), through.sub(of(&less[0]))).mul(factors[1]);
                let to = planes.dst.add(at);
                let result = if planes.adds { L::load(to).add(result) } else { result };
                if planes.past_caches { result.store_past(to) } else { result.store(to) }
            }
        }
    }
    if planes.past_caches {
        L::drain();
    }
}

/// The running call.
struct Call<'a> {
    problem: &'a Problem,
    /// The output's gradient, data, gamma, beta, mean and inverse standard deviation.
    inputs: [*const f32; 6],
    /// The gradient of the data; null if it is not requested.
    dst: *mut f32,
    adds: bool,
    products: unsafe fn(&Products<'_>, &mut Sums),
    gradient: unsafe fn(&Planes<'_>),
}

// SAFETY: sharing only copies the addresses. The memory behind them is accessed in the methods of `Sweep`, whose
// contracts exclude conflicting accesses.
unsafe impl Sync for Call<'_> {}

impl Call<'_> {
    /// # Safety
    /// The conditions of [`Sweep::gather`] must hold.
    unsafe fn factors(&self, block: usize) -> (Factors, [f32; BLOCK]) {
        let [_, _, gamma, beta, mean, inverse] = self.inputs;
        // SAFETY: `inputs[2..6]` are gamma, beta, mean and inverse standard deviation of the call, which have a value
        // for every channel.
        unsafe { given_factors(self.problem, block, [gamma, beta, mean, inverse]) }
    }
}

impl Sweep for Call<'_> {
    unsafe fn gather(&self, n: usize, block: usize) -> Sums {
        let (mut sums, at) = (Sums::NONE, self.problem.at(n, block));
        // SAFETY: `n` is an image and `block` a block of channels, by the contract of `gather`. So `at(n, block)` is
        // the start of a plane of `pixels * BLOCK` values of both tensors. The function `self.products` was chosen for
        // `isa`, which this processor has.
        unsafe {
            let (factors, _) = self.factors(block);
            let [ograd, data] = [0, 1].map(|input: usize| self.inputs[input].add(at));
            let planes = Products { ograd, data, pixels: self.problem.pixels, factors: &factors };
            (self.products)(&planes, &mut sums);
        }
        sums
    }

    fn join(&self, all: &mut Sums, next: &Sums) {
        all.join_sums(next.count, &next.first, &next.second);
    }

    unsafe fn settle(&self, block: usize, all: &Sums) -> Kept {
        // SAFETY: the contract of `settle` includes that of `factors`.
        let (_, inverse) = unsafe { self.factors(block) };
        let mut kept = Kept { results: [[0.0; BLOCK]; 2], factors: [[0.0; BLOCK]; 2] };
        for i in 0..self.problem.channels_of(block).1 {
            let inverse = f64::from(inverse[i]);
            let to_gamma = all.second[i] * inverse;
            kept.results[0][i] = if self.problem.fix_gamma { 0.0 } else { to_gamma as f32 };
            kept.results[1][i] = all.first[i] as f32;
            // The statistics of the batch depend on the data, so they contribute to the gradient. Moving statistics are
            // constants.
            if self.problem.uses_batch {
                kept.factors[0][i] = (all.first[i] / all.count) as f32;
                kept.factors[1][i] = (to_gamma * inverse / all.count) as f32;
            }
        }
        kept
    }

    unsafe fn write(&self, n: usize, block: usize, kept: &Kept) {
        if self.dst.is_null() {
            return;
        }
        let at = self.problem.at(n, block);
        // SAFETY: `n` is an image and `block` a block of channels, by the contract of `write`. So `at(n, block)` is the
        // start of a plane of all three tensors, and the caller gives this plane of `dst` to this thread. Tensors are
        // aligned to 64 bytes and planes are multiples of 64 bytes, so `dst` begins at a cache line.
        unsafe {
            let (factors, _) = self.factors(block);
            let [ograd, data] = [0, 1].map(|input: usize| self.inputs[input].add(at));
            (self.gradient)(&Planes {
                ograd,
                data,
                dst: self.dst.add(at),
                pixels: self.problem.pixels,
                factors: &factors,
                less: &kept.factors,
                adds: self.adds,
                past_caches: self.problem.is_large() && !self.adds && !std::ptr::eq(self.dst, self.inputs[0]),
            });
        }
    }
}

impl Backward {
    /// Makes the kernel, which has the name `name` in traces.
    pub fn new(name: String, problem: Problem) -> Self {
        Self { name, problem }
    }
}

impl Kernel for Backward {
    fn name(&self) -> &str {
        &self.name
    }

    fn adds(&self, output: usize) -> bool {
        output == 0
    }

    unsafe fn run(&self, args: &KernelArgs<'_>) -> Result<()> {
        let problem = &self.problem;
        let is_wanted = args.reqs[0] != WriteReq::Null;
        let call = Call {
            problem,
            // The call without ReLU does not have beta as an input and does not need it. Gamma is passed in its position.
            inputs: (if problem.relu { [0, 1, 2, 3, 4, 5] } else { [0, 1, 2, 2, 3, 4] })
                .map(|i: usize| args.inputs[i].as_ptr().cast_const().cast()),
            dst: if is_wanted { args.outputs[0].as_ptr().cast() } else { std::ptr::null_mut() },
            adds: args.reqs[0] == WriteReq::Add,
            products: if problem.relu { products::<true>(problem.isa) } else { products::<false>(problem.isa) },
            gradient: if problem.relu { gradient::<true>(problem.isa) } else { gradient::<false>(problem.isa) },
        };
        let settled = |first: usize, n: usize, kept: &Kept| {
            for (output, values) in [(1, &kept.results[0]), (2, &kept.results[1])] {
                put(&args.outputs[output], args.reqs[output], first, &values[..n]);
            }
        };
        // SAFETY: the tensors belong to the running call and have the planned layouts; the scratch memory has the
        // planned `scratch_bytes`. The first input may be the first output, because `gradient_of` reads each value
        // before it writes its address.
        unsafe { sweep::run(problem, &call, args, settled) };
        Ok(())
    }
}
