//! Winograd's algorithm as one of the backend's: the plan for a problem, and how it is cut for the threads.

use crate::Isa;
use crate::convolve::{Convolve, Operands};
use crate::layouts::BLOCK;
use crate::problem::ConvProblem;
use crate::winograd::{Blocking, Epilogue, Plan, Schedule, Shape, Variant};
use mxrs_sync::Team;
use mxrs_types::Result;

/// Bytes of transformed data and products of a block of tiles that a thread keeps in its second-level cache.
const OWN_BYTES: usize = 512 << 10;
/// Bytes of one group of panels' products, where the team shares the transformed data.
const PRODUCT_BYTES: usize = 384 << 10;
/// Most channels for which each thread transforms its own tiles: with more, all weights would be read once per thread.
const MOST_OWN_CHANNELS: usize = 128;
/// Rows of the largest product.
const ROWS: usize = crate::gemm::MAX_ROWS;

/// The convolution prepared.
pub struct WinogradConv {
    plan: Plan,
}

/// Tiles of a problem: across, down and of all images.
pub fn n_tiles(p: &ConvProblem, variant: Variant) -> usize {
    let [down, across] = variant.outputs();
    p.n * p.oh.div_ceil(down) * p.ow.div_ceil(across)
}

/// How a problem is cut for these threads.
pub fn blocking(p: &ConvProblem, variant: Variant, threads: usize) -> Blocking {
    let [down, across] = variant.inputs();
    let (products, tiles) = (down * across, n_tiles(p, variant));
    let panels = p.k.div_ceil(crate::layouts::PANEL);
    let bytes_of = |channels: usize| products * channels.next_multiple_of(BLOCK) * size_of::<f32>();
    // Whole groups of rows.
    let whole = |tiles: usize| (tiles / ROWS * ROWS).max(ROWS);
    if p.c.max(p.k) <= MOST_OWN_CHANNELS && tiles >= 2 * ROWS * threads {
        let tiles = whole(OWN_BYTES / (bytes_of(p.c) + bytes_of(p.k))).min(12 * ROWS);
        return Blocking { schedule: Schedule::Independent, tiles, panels, threads };
    }
    let tiles = whole(PRODUCT_BYTES / bytes_of(crate::layouts::PANEL));
    Blocking { schedule: Schedule::Cooperative, tiles, panels: 1, threads }
}

impl WinogradConv {
    /// Prepares a variant for so many threads.
    ///
    /// # Errors
    /// Where the variant is for other windows.
    pub fn new(p: &ConvProblem, variant: Variant, isa: Isa, threads: usize) -> Result<Self> {
        let shape = Shape {
            n: p.n,
            c: p.c,
            k: p.k,
            size: [p.h, p.w],
            kernel: [p.kh, p.kw],
            pad: [p.pad.0, p.pad.1],
            out: [p.oh, p.ow],
        };
        Ok(Self { plan: Plan::new(shape, variant, blocking(p, variant, threads), isa)? })
    }
}

impl Convolve for WinogradConv {
    fn scratch_bytes(&self) -> usize {
        self.plan.scratch_bytes()
    }

    unsafe fn run(&self, o: &Operands, team: &Team) -> Result<()> {
        let k = self.plan.shape().k;
        // SAFETY: the caller's promise: a bias of `k` numbers, and scratch memory of the planned size, both only read or
        // only used here.
        let (bias, scratch) = unsafe {
            let bias = (!o.bias.is_null()).then(|| std::slice::from_raw_parts(o.bias, k));
            (bias, std::slice::from_raw_parts_mut(o.scratch, self.scratch_bytes() / size_of::<f32>()))
        };
        let sum = (!o.sum.is_null()).then_some(o.sum);
        let epilogue = Epilogue { bias, sum, lo: o.bounds.low, hi: o.bounds.high };
        // SAFETY: the caller's promise.
        unsafe { self.plan.run(o.src, o.weights, &epilogue, o.dst, scratch, team) }
    }
}
