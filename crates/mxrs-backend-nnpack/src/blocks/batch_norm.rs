//! Batch normalization with the moving statistics, alone or with a relu behind it: `(x - mean) · scale + shift` per channel.
//!
//! Data stay in the layout they come in: blocks of 16 channels, where a piece is a row of pixels of a block, or row-major
//! order, where it is what lies together of one channel. The scale is made from the statistics in double precision in every
//! run, as they may be other ones by then.

use super::Fit;
use super::pass::{Memory, Pass};
use crate::Isa;
use crate::epilogue::Bounds;
use crate::gemm::lanes::Lanes;
use crate::isa::for_each_set;
use crate::layouts::{BLOCK, image, is_blocked};
use mxrs_op::OpCall;
use mxrs_ops::nn::batch_norm::BatchNormParams;
use mxrs_types::Layout;
use std::ops::Range;

/// The normalization prepared.
struct BatchNorm {
    /// Products of the sizes before the channels, and after.
    outer: usize,
    channels: usize,
    inner: usize,
    /// Rows that a plane of blocks is cut into; none where data are row-major.
    rows: Option<usize>,
    eps: f64,
    fix_gamma: bool,
    bounds: Bounds,
    kernel: unsafe fn(&Run<'_>),
}

/// What a run of numbers is normalized by, one after the other, again from the first after 16.
pub struct Factors {
    /// Subtracted first.
    pub mean: [f32; BLOCK],
    /// Multiplied by then.
    pub scale: [f32; BLOCK],
    /// Added at last.
    pub shift: [f32; BLOCK],
}

/// Numbers that lie together.
pub struct Run<'a> {
    /// Where they are.
    pub src: *const f32,
    /// Where the results go.
    pub dst: *mut f32,
    /// How many.
    pub len: usize,
    /// What they are normalized by.
    pub factors: &'a Factors,
    /// What results are kept within.
    pub bounds: Bounds,
    /// Whether they are stored past the caches. Then they begin at a cache line, are so many as to fill some, and are no source.
    pub past_caches: bool,
}

for_each_set! {
    /// Code for a run of numbers.
    pub fn normalize: unsafe fn(run: &Run<'_>) = normalize_run
}

/// The kernel of a call, or why there is none.
pub fn fit(call: &OpCall<'_>, isa: Isa) -> Result<Fit, String> {
    let p = call.params.get::<BatchNormParams>();
    if p.output_mean_var {
        return Err("statistics as outputs".into());
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
    Ok(Fit { pass: Box::new(pass), what, data: layout.clone(), out: layout, can_run_inplace: true })
}

impl BatchNorm {
    /// Numbers of a piece.
    fn piece_len(&self) -> usize {
        self.rows.map_or(self.inner, |rows| self.inner / rows * BLOCK)
    }

    /// Channel `c` and those behind it, as many as `n`; what is behind them keeps a 0.
    ///
    /// # Safety
    /// The inputs are those of the call.
    unsafe fn factors(&self, memory: &Memory, c: usize, n: usize) -> Factors {
        let mut factors = Factors { mean: [0.0; BLOCK], scale: [0.0; BLOCK], shift: [0.0; BLOCK] };
        for i in 0..n {
            // SAFETY: below the number of channels, which these inputs have.
            let [gamma, beta, mean, var] = [1, 2, 3, 4].map(|input| unsafe { *memory.inputs[input].add(c + i) });
            let gamma = if self.fix_gamma { 1.0 } else { f64::from(gamma) };
            factors.mean[i] = mean;
            factors.scale[i] = (gamma / (f64::from(var) + self.eps).sqrt()) as f32;
            factors.shift[i] = beta;
        }
        factors
    }

    /// Factors for one channel alone.
    ///
    /// # Safety
    /// As [`Self::factors`].
    unsafe fn factors_of_one(&self, memory: &Memory, c: usize) -> Factors {
        // SAFETY: the caller's promise.
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
            // SAFETY: pieces of this size follow each other in both tensors; channels are those of the call.
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

    /// Mean and inverse deviation, which a gradient may ask for.
    unsafe fn write_other(&self, memory: &Memory, output: usize, to: &mut [f32]) {
        for (c, to) in to.iter_mut().enumerate().take(self.channels) {
            // SAFETY: below the number of channels.
            let [mean, var] = [3, 4].map(|input| unsafe { *memory.inputs[input].add(c) });
            *to = if output == 1 { mean } else { (1.0 / (f64::from(var) + self.eps).sqrt()) as f32 };
        }
    }
}

/// # Safety
/// The numbers may be read and written, and the instructions of `L` are there.
#[inline(always)]
unsafe fn normalize_run<L: Lanes>(run: &Run<'_>) {
    let f = run.factors;
    let whole = run.len / BLOCK * BLOCK;
    // SAFETY: the caller's promise; each number is read before it is written.
    unsafe {
        let (src, dst) = (run.src, run.dst);
        let rest = run.len - whole;
        let mut buffer = [0.0f32; BLOCK];
        let place = buffer.as_mut_ptr();
        place.copy_from_nonoverlapping(src.add(whole), rest);
        for lane in (0..BLOCK).step_by(L::N) {
            let of = |values: &[f32; BLOCK]| values.as_ptr().add(lane);
            let factors = [L::load(of(&f.mean)), L::load(of(&f.scale)), L::load(of(&f.shift))];
            let bounds = [L::splat(run.bounds.low), L::splat(run.bounds.high)];
            if run.past_caches {
                for start in (lane..whole).step_by(BLOCK) {
                    normalized(src.add(start), factors, bounds).store_past(dst.add(start));
                }
            } else {
                for start in (lane..whole).step_by(BLOCK) {
                    normalized(src.add(start), factors, bounds).store(dst.add(start));
                }
            }
            normalized(place.add(lane), factors, bounds).store(place.add(lane));
        }
        if run.past_caches {
            L::drain();
        }
        dst.add(whole).copy_from_nonoverlapping(place, rest);
    }
}

/// # Safety
/// As [`normalize_run`], for the numbers of one register.
#[inline(always)]
unsafe fn normalized<L: Lanes>(src: *const f32, factors: [L; 3], bounds: [L; 2]) -> L {
    let ([mean, scale, shift], [low, high]) = (factors, bounds);
    // SAFETY: the caller's promise.
    unsafe { L::load(src).sub(mean).mul_add(scale, shift).clamp(low, high) }
}
