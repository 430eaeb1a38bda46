//! Winograd's algorithm as one of the backend's: the plan for a problem.

use crate::Isa;
use crate::convolve::{Convolve, Operands};
use crate::problem::ConvProblem;
use crate::winograd::{Blocking, Epilogue, Plan, Shape, Variant};
use mxrs_sync::Team;
use mxrs_types::Result;

/// The convolution prepared.
pub struct WinogradConv {
    plan: Plan,
}

/// Tiles of a problem: across, down and of all images.
pub fn n_tiles(p: &ConvProblem, variant: Variant) -> usize {
    let [down, across] = variant.outputs();
    p.n * p.oh.div_ceil(down) * p.ow.div_ceil(across)
}

/// A problem as Winograd's algorithms see it.
pub fn shape(p: &ConvProblem) -> Shape {
    Shape { n: p.n, c: p.c, k: p.k, size: [p.h, p.w], kernel: [p.kh, p.kw], pad: [p.pad.0, p.pad.1], out: [p.oh, p.ow] }
}

impl WinogradConv {
    /// Prepares a variant, cut like that.
    ///
    /// # Errors
    /// Where the variant is for other windows.
    pub fn new(p: &ConvProblem, variant: Variant, blocking: Blocking, isa: Isa) -> Result<Self> {
        Ok(Self { plan: Plan::new(shape(p), variant, blocking, isa)? })
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
