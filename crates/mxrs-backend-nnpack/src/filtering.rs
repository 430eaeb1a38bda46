//! Winograd's algorithm as one of the backend's: the plan for a problem.

use crate::Isa;
use crate::convolve::{Convolve, Operands};
use crate::gemm::element::widen;
use crate::problem::ConvProblem;
use crate::winograd::{Blocking, Data, Epilogue, Plan, Shape, Variant};
use mxrs_sync::Team;
use mxrs_types::Result;

/// The convolution prepared.
pub struct WinogradConv {
    plan: Plan,
    data: Data,
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
        Ok(Self { plan: Plan::with_data(shape(p), variant, blocking, isa, p.data)?, data: p.data })
    }

    /// Numbers of the widened bias.
    fn n_widened(&self) -> usize {
        match self.data {
            Data::Blocks => 0,
            Data::ShortPixels => self.plan.shape().k,
        }
    }
}

impl Convolve for WinogradConv {
    fn scratch_bytes(&self) -> usize {
        self.plan.scratch_bytes() + self.n_widened() * size_of::<f32>()
    }

    unsafe fn run(&self, o: &Operands, team: &Team) -> Result<()> {
        let k = self.plan.shape().k;
        // SAFETY: the caller's promise: scratch memory of the planned size, only used here.
        let scratch = unsafe { std::slice::from_raw_parts_mut(o.scratch, self.scratch_bytes() / size_of::<f32>()) };
        let (widened, scratch) = scratch.split_at_mut(self.n_widened());
        let bias = match self.data {
            _ if o.bias.is_null() => None,
            // SAFETY: the caller's promise: a bias of `k` numbers, only read.
            Data::Blocks => Some(unsafe { std::slice::from_raw_parts(o.bias, k) }),
            Data::ShortPixels => {
                // SAFETY: as above, of 16 bits each.
                let short = unsafe { std::slice::from_raw_parts(o.bias.cast::<u16>(), k) };
                widened.iter_mut().zip(short).for_each(|(to, x)| *to = widen(*x));
                Some(&*widened)
            }
        };
        let sum = (!o.sum.is_null()).then_some(o.sum.cast());
        let epilogue = Epilogue { bias, sum, lo: o.bounds.low, hi: o.bounds.high };
        // SAFETY: the caller's promise.
        unsafe { self.plan.run(o.src.cast(), o.weights, &epilogue, o.dst.cast(), scratch, team) }
    }
}
