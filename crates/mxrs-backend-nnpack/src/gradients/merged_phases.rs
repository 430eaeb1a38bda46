//! The gradient of the data of a convolution with a stride, for data with few channels, such as a network's input. One
//! convolution computes all [phases](super::phases).
//!
//! If each phase were computed alone, most of a block of 16 channels would be padding. But the phases of a pixel's
//! neighborhood read the same few pixels of the output's gradient. So the channels of all phases together are the
//! output channels of one convolution with stride 1: for three channels and a stride of 2 they fill twelve of the 16
//! channels of a block. A filter is zero at the pixels that its phase does not read. The result is then copied to
//! row-major order.

use super::phases::{Phase, Steps};
use super::{Chosen, GradientContext};
use crate::convolve::{Convolve, Operands, part};
use crate::direct::product::ProductConv;
use crate::estimate;
use crate::layouts::{BLOCK, PackedForm, blocked};
use crate::problem::ConvProblem;
use mxrs_sync::Team;
use mxrs_types::Layout;

/// Part of the processor's peak speed that a vendor library reaches in this gradient.
const VENDOR: f64 = 0.14;

/// All phases as one convolution.
#[derive(Clone, Debug)]
pub struct MergedPhases {
    phases: Vec<Phase>,
    /// Height and width of the merged window.
    pub window: [usize; 2],
    pad: [usize; 2],
    /// Width of the original window, before the phases were merged.
    across: usize,
}

impl MergedPhases {
    /// Merges the phases of a window; `None` if a phase is not a convolution, because it would need negative padding.
    pub fn new(steps: Steps, window: [usize; 2]) -> Option<Self> {
        let phases = steps.phases(window)?;
        let pad = [0, 1].map(|i| phases.iter().map(|phase| phase.lines[i].pad).max().unwrap_or(0));
        let behind = |i: usize| {
            phases.iter().map(move |phase| phase.lines[i].taps.len().saturating_sub(phase.lines[i].pad)).max()
        };
        let merged = [0, 1].map(|i| pad[i] + behind(i).unwrap_or(0));
        Some(Self { window: merged, pad, across: window[1], phases })
    }

    /// Number of output channels of the merged convolution, if the weights have `c` input channels.
    pub fn channels(&self, c: usize) -> usize {
        self.phases.len() * c
    }

    /// The convolution whose outputs are the gradient of the data of `p`.
    fn problem(&self, p: &ConvProblem) -> ConvProblem {
        let [kh, kw] = self.window;
        let (oh, ow) = (p.h.div_ceil(p.stride.0), p.w.div_ceil(p.stride.1));
        let pad = (self.pad[0], self.pad[1]);
        ConvProblem { c: p.k, k: self.channels(p.c), h: p.oh, w: p.ow, oh, ow, kh, kw, stride: (1, 1), pad, ..*p }
    }

    /// The filters of the merged convolution, `[channels][k][window]`, from weights `[k][c][cells]`, where `cells` is
    /// the number of taps of the original window.
    pub fn filters(&self, weights: &[f32], [k, c]: [usize; 2], cells: usize) -> Vec<f32> {
        let [kh, kw] = self.window;
        let mut filters = vec![0.0; self.channels(c) * k * kh * kw];
        for (at, phase) in self.phases.iter().enumerate() {
            let [rows, columns] = &phase.lines;
            for (i, tap) in phase.cells(self.across).into_iter().enumerate() {
                let Some(tap) = tap else { continue };
                let y = i / columns.taps.len() + self.pad[0] - rows.pad;
                let x = i % columns.taps.len() + self.pad[1] - columns.pad;
                for (k_at, c_at) in (0..k).flat_map(|k| (0..c).map(move |c| (k, c))) {
                    let to = (((at * c + c_at) * k + k_at) * kh + y) * kw + x;
                    filters[to] = weights[(k_at * c + c_at) * cells + tap];
                }
            }
        }
        filters
    }
}

/// Chooses how to compute the gradient of the data of `p`, which has few channels.
///
/// # Errors
/// Returns the reason as text if this algorithm does not support the problem.
pub fn choose(p: &ConvProblem, context: &GradientContext<'_>) -> Result<Chosen, String> {
    let refused = || {
        format!(
            "no kernel for the gradient of data with {} channels, stride {:?} and padding {:?}",
            p.c, p.stride, p.pad
        )
    };
    if !p.is_dense() || p.k < BLOCK {
        return Err(refused());
    }
    let steps = Steps::of(p).ok_or_else(refused)?;
    let merged = MergedPhases::new(steps, [p.kh, p.kw]).ok_or_else(refused)?;
    let GradientContext { options, threads, rates } = *context;
    let problem = merged.problem(p);
    let sizes = [p.k, p.c, p.kh, p.kw];
    let time = estimate::product(&problem, threads, rates);
    let vendor = p.flops() / 2.0 / VENDOR / threads as f64;
    let (data, isa) = (*p, options.isa);
    Ok(Chosen {
        algorithm: Box::new(move || {
            let product = ProductConv::new(problem, isa, threads);
            Ok(Box::new(FewChannels { data, problem, product, threads }))
        }),
        what: "data_gradient_joined".into(),
        layouts: [blocked([p.n, p.k, p.oh, p.ow]), PackedForm::MergedPhases(steps).layout(sizes), Layout::RowMajor],
        cost: time / vendor,
    })
}

/// A prepared gradient of data with few channels.
struct FewChannels {
    /// The convolution whose data gradient is computed.
    data: ConvProblem,
    /// The convolution that computes the gradient.
    problem: ConvProblem,
    product: ProductConv,
    threads: usize,
}

impl FewChannels {
    /// Number of values that the merged convolution computes, padding channels included.
    fn merged_len(&self) -> usize {
        self.problem.n * self.problem.k.next_multiple_of(BLOCK) * self.problem.pixels()
    }

    /// Copies rows of the gradient to row-major order; rows are counted over all images and channels.
    ///
    /// # Safety
    /// `rows` must be rows of the gradient `to` that no other thread uses. `from` must be the complete output of the
    /// merged convolution.
    unsafe fn place(&self, from: *const f32, to: *mut f32, rows: std::ops::Range<usize>) {
        let (p, q) = (&self.data, &self.problem);
        let plane = q.pixels() * BLOCK;
        let image = q.k.div_ceil(BLOCK) * plane;
        for row in rows {
            let (n, c, y) = (row / p.h / p.c, row / p.h % p.c, row % p.h);
            let (i, ry) = (y / p.stride.0, y % p.stride.0);
            for rx in 0..p.stride.1.min(p.w) {
                let channel = (ry * p.stride.1 + rx) * p.c + c;
                let at = n * image + channel / BLOCK * plane + i * q.ow * BLOCK + channel % BLOCK;
                for (j, x) in (rx..p.w).step_by(p.stride.1).enumerate() {
                    // SAFETY: `row` is below images times channels times `p.h` and `x < p.w`, so the destination lies
                    // in the gradient. The channel is below `q.k`, `i < q.oh` and `j < q.ow`, so the source lies in the
                    // output of the merged convolution.
                    unsafe { *to.add(row * p.w + x) = *from.add(at + j * BLOCK) }
                }
            }
        }
    }
}

impl Convolve for FewChannels {
    fn scratch_bytes(&self) -> usize {
        self.product.scratch_bytes().next_multiple_of(64) + self.merged_len() * size_of::<f32>()
    }

    fn supports_sum(&self) -> bool {
        false
    }

    unsafe fn run(&self, o: &Operands, team: &Team) -> mxrs_types::Result<()> {
        // SAFETY: the caller provides `scratch_bytes`, which counts the scratch memory of the product first, rounded up
        // to 64 bytes, then `merged_len` values.
        let merged = unsafe { o.scratch.add(self.product.scratch_bytes().next_multiple_of(64) / size_of::<f32>()) };
        // SAFETY: the operands are those of the caller, except for the output, which is `merged_len` values of scratch
        // memory: the size of the product's output.
        unsafe { self.product.run(&Operands { dst: merged, ..*o }, team)? };
        let rows = self.data.n * self.data.c * self.data.h;
        let (merged, dst) = (Shared(merged), Shared(o.dst));
        team.run(self.threads, &|i| {
            // SAFETY: the product has finished, so `merged` is its complete result. `part` cuts the rows of the
            // gradient into disjoint ranges, one per thread.
            unsafe { self.place(merged.at(), dst.at(), part(rows, self.threads, i)) }
        });
        Ok(())
    }
}

/// Address of memory that threads access in disjoint parts.
struct Shared(*mut f32);

// SAFETY: sharing only copies the address. The SAFETY comment in `run` says which thread writes which rows.
unsafe impl Sync for Shared {}

impl Shared {
    fn at(&self) -> *mut f32 {
        self.0
    }
}
