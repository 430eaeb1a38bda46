//! The gradient of few channels of data, the network's, behind a stride: all [phases](super::phases) at a time.
//!
//! A block of 16 channels would be mostly padding for each phase. But the phases of a pixel's neighborhood see the same few cells of
//! the output's gradient: their channels together are the output channels of one convolution with stride 1 (twelve of the 16 of a
//! block, for three channels and a stride of 2), with zeros where a phase does not see a cell. What it leaves is then put in its places, row by
//! row as data of few channels lie.

use super::phases::{Phase, Steps};
use super::{Means, Prepared};
use crate::convolve::{Convolve, Operands, part};
use crate::direct::product::ProductConv;
use crate::estimate;
use crate::layouts::{BLOCK, PackedForm, blocked};
use crate::problem::ConvProblem;
use mxrs_sync::Team;
use mxrs_types::Layout;

/// Part of the peak that a vendor library reaches here.
const VENDOR: f64 = 0.14;

/// All phases as one convolution.
#[derive(Clone, Debug)]
pub struct Joined {
    phases: Vec<Phase>,
    /// Height and width of its window.
    pub window: [usize; 2],
    pad: [usize; 2],
    /// Across, of the window of the weights.
    across: usize,
}

impl Joined {
    /// That for a window; `None` where phases are no convolutions.
    pub fn new(steps: Steps, window: [usize; 2]) -> Option<Self> {
        let phases = steps.phases(window)?;
        let pad = [0, 1].map(|i| phases.iter().map(|phase| phase.lines[i].pad).max().unwrap_or(0));
        let behind = |i: usize| {
            phases.iter().map(move |phase| phase.lines[i].taps.len().saturating_sub(phase.lines[i].pad)).max()
        };
        let joined = [0, 1].map(|i| pad[i] + behind(i).unwrap_or(0));
        Some(Self { window: joined, pad, across: window[1], phases })
    }

    /// Output channels of `c` input channels of the weights.
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

    /// Its filters, `[channels][k][window]`, of weights `[k][c][cells]`.
    pub fn filters(&self, weights: &[f32], [k, c]: [usize; 2], cells: usize) -> Vec<f32> {
        let [kh, kw] = self.window;
        let mut filters = vec![0.0; self.channels(c) * k * kh * kw];
        for (at, phase) in self.phases.iter().enumerate() {
            let [rows, columns] = &phase.lines;
            for (i, tap) in phase.cells(self.across).into_iter().enumerate() {
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

/// Prepares the gradient of the data of `p`, of few channels.
///
/// # Errors
/// In words, why there is none.
pub fn prepare(p: &ConvProblem, means: &Means<'_>) -> Result<Prepared, String> {
    let refused = || format!("gradients of {} channels of data with stride {:?}, padding {:?}", p.c, p.stride, p.pad);
    if !p.is_dense() || p.k < BLOCK {
        return Err(refused());
    }
    let steps = Steps::of(p).ok_or_else(refused)?;
    let joined = Joined::new(steps, [p.kh, p.kw]).ok_or_else(refused)?;
    let Means { options, threads, rates } = *means;
    let problem = joined.problem(p);
    let sizes = [p.k, p.c, p.kh, p.kw];
    let time = estimate::product(&problem, threads, rates);
    let vendor = p.flops() / 2.0 / VENDOR / threads as f64;
    let product = ProductConv::new(problem, options.isa, threads);
    Ok(Prepared {
        algorithm: Box::new(FewChannels { data: *p, problem, product, threads }),
        what: "data_gradient_joined".into(),
        layouts: [blocked([p.n, p.k, p.oh, p.ow]), PackedForm::Joined(steps).layout(sizes), Layout::RowMajor],
        cost: time / vendor,
    })
}

/// The gradient prepared.
struct FewChannels {
    /// The convolution whose data's gradient it is.
    data: ConvProblem,
    /// The one that makes it.
    problem: ConvProblem,
    product: ProductConv,
    threads: usize,
}

impl FewChannels {
    /// Numbers that the product leaves.
    fn joined_len(&self) -> usize {
        self.problem.n * self.problem.k.next_multiple_of(BLOCK) * self.problem.pixels()
    }

    /// Puts rows of all images and channels in their places.
    ///
    /// # Safety
    /// Rows of the gradient that nobody else uses, and all that the product leaves.
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
                    // SAFETY: a number of this row, from its place in the product.
                    unsafe { *to.add(row * p.w + x) = *from.add(at + j * BLOCK) }
                }
            }
        }
    }
}

impl Convolve for FewChannels {
    fn scratch_bytes(&self) -> usize {
        self.product.scratch_bytes().next_multiple_of(64) + self.joined_len() * size_of::<f32>()
    }

    fn takes_sum(&self) -> bool {
        false
    }

    unsafe fn run(&self, o: &Operands, team: &Team) -> mxrs_types::Result<()> {
        // SAFETY: the caller's promise: scratch memory of the planned size, of which the product has its own.
        let joined = unsafe { o.scratch.add(self.product.scratch_bytes().next_multiple_of(64) / size_of::<f32>()) };
        // SAFETY: as above; the product's output has its own memory.
        unsafe { self.product.run(&Operands { dst: joined, ..*o }, team)? };
        let rows = self.data.n * self.data.c * self.data.h;
        let (joined, dst) = (Shared(joined), Shared(o.dst));
        team.run(self.threads, &|i| {
            // SAFETY: the product is done, and each row belongs to one part.
            unsafe { self.place(joined.at(), dst.at(), part(rows, self.threads, i)) }
        });
        Ok(())
    }
}

/// Memory that threads share in disjoint parts.
struct Shared(*mut f32);

// SAFETY: who splits the loop says who writes what.
unsafe impl Sync for Shared {}

impl Shared {
    fn at(&self) -> *mut f32 {
        self.0
    }
}
