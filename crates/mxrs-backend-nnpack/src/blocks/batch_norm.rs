//! Batch normalization with the moving statistics, alone or followed by ReLU: `(x - mean) · scale + shift` per channel.
//!
//! The data keep their layout. The work is divided into pieces: in blocks of 16 channels, a piece is one row of pixels of a
//! block; in row-major order, a piece is the contiguous run of one channel. Every run computes the scale again, in double
//! precision, because the statistics may have changed since the last run.

use super::Fit;
use super::pass::{Memory, Pass};
use crate::dispatch::for_each_set;
use crate::epilogue::Bounds;
use crate::gemm::lanes::Lanes;
use crate::layouts::{BLOCK, image, is_blocked};
use mxrs_op::OpCall;
use mxrs_ops::nn::batch_norm::BatchNormParams;
use mxrs_processor::Isa;
use mxrs_types::Layout;
use std::ops::Range;

/// A prepared batch normalization.
struct BatchNorm {
    /// Product of the sizes before the channel axis; `inner` is the product of those after it.
    outer: usize,
    channels: usize,
    inner: usize,
    /// Rows of pixels in the plane of a block; `None` if the data are row-major.
    rows: Option<usize>,
    eps: f64,
    fix_gamma: bool,
    bounds: Bounds,
    kernel: unsafe fn(&Run<'_>),
}

/// Mean, scale and shift that 16 neighboring values are normalized with; value `i` uses the entries `i % 16`.
pub struct Factors {
    /// Values that are subtracted first.
    pub mean: [f32; BLOCK],
    /// Factors that the differences are then multiplied by.
    pub scale: [f32; BLOCK],
    /// Values that are added last.
    pub shift: [f32; BLOCK],
}

/// A contiguous run of values.
pub struct Run<'a> {
    /// The first value.
    pub src: *const f32,
    /// The first result; may equal `src`.
    pub dst: *mut f32,
    /// Number of values.
    pub len: usize,
    /// Mean, scale and shift to normalize with.
    pub factors: &'a Factors,
    /// The bounds that results are clamped to.
    pub bounds: Bounds,
    /// Whether to store the results directly to memory, bypassing the caches. Then `dst` must begin at a cache line, `len`
    /// must be a multiple of 16, and `dst` must not be `src`.
    pub past_caches: bool,
}

for_each_set! {
    /// Returns the code that normalizes one run.
    pub fn normalize: unsafe fn(run: &Run<'_>) = normalize_run
}

/// Prepares the kernel of a call, or returns the reason why there is none.
pub fn fit(call: &OpCall<'_>, isa: Isa) -> Result<Fit, String> {
    let p = call.params.get::<BatchNormParams>();
    if p.output_mean_var {
        return Err("no kernel that also outputs the statistics".into());
    }
    let data = &call.inputs[0];
    let axis = data.shape.axis(i64::from(p.axis)).map_err(|error| error.to_string())?;
    let blocked = image(data).filter(|_| axis == 1 && is_blocked(data));
    let product = |sizes: &[usize]| sizes.iter().product::<usize>();
    let (bounds, what) =
        if call.op.name == "_sg_bn_relu" { (Bounds::RELU, "bn_relu") } else { (Bounds::NONE, "batch_norm") };
    let layout = if blocked.is_some() { data.layout.clone() } else { Layout::RowMajor };
    let pass = BatchNorm {
        outer: product(&data.shape[..axis]),
        channels: data.shape[axis],
        inner: product(&data.shape[axis + 1..]),
        rows: blocked.map(|[_, _, h, _]| h),
        eps: p.eps,
        fix_gamma: p.fix_gamma,
        bounds,
        kernel: normalize(isa),
    };
    Ok(Fit { can_run_inplace: true, ..Fit::new(what, [layout.clone(), layout], || pass) })
}

impl BatchNorm {
    /// Number of values of one piece, the unit of work.
    fn piece_len(&self) -> usize {
        self.rows.map_or(self.inner, |rows| self.inner / rows * BLOCK)
    }

    /// Returns mean, scale and shift of channels `c..c + n`. The entries from `n` on are 0, so padding channels stay 0.
    ///
    /// # Safety
    /// `memory.inputs[1..5]` point to gamma, beta, mean and variance with at least `c + n` values each.
    unsafe fn factors(&self, memory: &Memory, c: usize, n: usize) -> Factors {
        let mut factors = Factors { mean: [0.0; BLOCK], scale: [0.0; BLOCK], shift: [0.0; BLOCK] };
        for i in 0..n {
            // SAFETY: `i < n`, and the caller passes inputs of at least `c + n` values.
            let [gamma, beta, mean, var] = [1, 2, 3, 4].map(|input| unsafe { *memory.inputs[input].add(c + i) });
            let gamma = if self.fix_gamma { 1.0 } else { f64::from(gamma) };
            factors.mean[i] = mean;
            factors.scale[i] = (gamma / (f64::from(var) + self.eps).sqrt()) as f32;
            factors.shift[i] = beta;
        }
        factors
    }

    /// Returns mean, scale and shift of one channel, each repeated for all 16 entries.
    ///
    /// # Safety
    /// The conditions of [`Self::factors`] must hold for `n = 1`.
    unsafe fn factors_of_one(&self, memory: &Memory, c: usize) -> Factors {
        // SAFETY: the contract of this function is that of `factors` with `n = 1`.
        let Factors { mean, scale, shift } = unsafe { self.factors(memory, c, 1) };
        Factors { mean: [mean[0]; BLOCK], scale: [scale[0]; BLOCK], shift: [shift[0]; BLOCK] }
    }
}

impl Pass for BatchNorm {
    fn pieces(&self) -> usize {
        match self.rows {
            None => self.outer * self.channels,
            Some(rows) => self.outer * self.channels.div_ceil(BLOCK) * rows,
        }
    }

    fn numbers(&self) -> usize {
        2 * self.piece_len()
    }

    unsafe fn run(&self, memory: &Memory, pieces: Range<usize>) {
        let (blocks, len) = (self.channels.div_ceil(BLOCK), self.piece_len());
        let mut piece = pieces.start;
        while piece < pieces.end {
            // SAFETY: a tensor consists of `self.pieces()` pieces of `len` values each, and `piece < end <= pieces.end
            // <= self.pieces()`. The caller owns `pieces` of the output. In row-major order the channel is `piece %
            // channels`; in blocks `first < channels`, and the count is cut at `channels - first`. So `factors` reads
            // below `channels`, the length of its inputs.
            unsafe {
                let (factors, end) = match self.rows {
                    None => (self.factors_of_one(memory, piece % self.channels), piece + 1),
                    Some(rows) => {
                        let block = piece / rows;
                        let first = block % blocks * BLOCK;
                        let factors = self.factors(memory, first, (self.channels - first).min(BLOCK));
                        (factors, ((block + 1) * rows).min(pieces.end))
                    }
                };
                (self.kernel)(&Run {
                    src: memory.inputs[0].add(piece * len),
                    dst: memory.dst.add(piece * len),
                    len: (end - piece) * len,
                    factors: &factors,
                    bounds: self.bounds,
                    past_caches: false,
                });
                piece = end;
            }
        }
    }

    /// Writes the mean (output 1) or the inverse standard deviation (output 2), which a gradient may read.
    unsafe fn write_other(&self, memory: &Memory, output: usize, to: &mut [f32]) {
        for (c, to) in to.iter_mut().enumerate().take(self.channels) {
            // SAFETY: the call of `take` keeps `c` below `channels`, the length of both inputs. By the contract of
            // `write_other` nothing writes them.
            let [mean, var] = [3, 4].map(|input| unsafe { *memory.inputs[input].add(c) });
            *to = if output == 1 { mean } else { (1.0 / (f64::from(var) + self.eps).sqrt()) as f32 };
        }
    }
}

/// # Safety
/// `run.src` must be readable and `run.dst` writable for `run.len` values, `run.past_caches` must meet the conditions
/// of its doc, and the processor must have the instructions of `L`.
#[inline(always)]
unsafe fn normalize_run<L: Lanes>(run: &Run<'_>) {
    // No store can change these copies, so the compiler keeps them in registers.
    let [mean, scale, shift] = [run.factors.mean, run.factors.scale, run.factors.shift];
    let whole = run.len / BLOCK * BLOCK;
    // SAFETY: `start + lane + L::N <= whole <= run.len`, and the last `rest = len - whole < 16` values are copied
    // through `buffer`, which has 16. Source and result may be the same memory, because every value is read before its
    // address is written.
    unsafe {
        let (src, dst) = (run.src, run.dst);
        let rest = run.len - whole;
        let mut buffer = [0.0f32; BLOCK];
        let place = buffer.as_mut_ptr();
        place.copy_from_nonoverlapping(src.add(whole), rest);
        let bounds = [L::splat(run.bounds.low), L::splat(run.bounds.high)];
        let result = |from: *const f32, lane: usize| {
            let of = |values: &[f32; BLOCK]| L::load(values.as_ptr().add(lane));
            normalized(from.add(lane), [of(&mean), of(&scale), of(&shift)], bounds)
        };
        // Each cache line is completed before the next one: if the parts of a line are stored at different times while
        // bypassing the caches, each part is a separate write to memory.
        if run.past_caches {
            for start in (0..whole).step_by(BLOCK) {
                for lane in (0..BLOCK).step_by(L::N) {
                    result(src.add(start), lane).store_past(dst.add(start + lane));
                }
            }
            L::drain();
        } else {
            for start in (0..whole).step_by(BLOCK) {
                for lane in (0..BLOCK).step_by(L::N) {
                    result(src.add(start), lane).store(dst.add(start + lane));
                }
            }
        }
        for lane in (0..BLOCK).step_by(L::N) {
            result(place, lane).store(place.add(lane));
        }
        dst.add(whole).copy_from_nonoverlapping(place, rest);
    }
}

/// # Safety
/// `src` must be readable for `L::N` values, and the processor must have the instructions of `L`.
#[inline(always)]
unsafe fn normalized<L: Lanes>(src: *const f32, factors: [L; 3], bounds: [L; 2]) -> L {
    let ([mean, scale, shift], [low, high]) = (factors, bounds);
    // SAFETY: the only read is the load of `L::N` values, which the caller allows.
    unsafe { L::load(src).sub(mean).mul_add(scale, shift).clamp(low, high) }
}
