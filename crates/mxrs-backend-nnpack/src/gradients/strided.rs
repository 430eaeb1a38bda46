//! The gradient of the data for a stride other than 1: one product for each of its [phases](super::phases), whose
//! pixels are one stride apart. Pixels that no window covers become 0.

use super::phases::{Phase, Steps};
use super::{Chosen, GradientContext};
use crate::convolve::{Convolve, Operands, part};
use crate::direct::product::{Place, ProductConv};
use crate::estimate;
use crate::layouts::{BLOCK, PackedForm, blocked};
use crate::problem::ConvProblem;
use mxrs_sync::Team;
use mxrs_types::Result;

/// Speed of a vendor library in this gradient, relative to its speed in the forward convolution.
const VENDOR: f64 = 0.85;

/// Chooses how to compute the gradient of the data of `p`, whose stride is not 1.
///
/// # Errors
/// Returns the reason as text if this algorithm does not support the problem.
pub fn choose(p: &ConvProblem, context: &GradientContext<'_>) -> std::result::Result<Chosen, String> {
    let refused = || format!("no kernel for the gradient of data with stride {:?} and padding {:?}", p.stride, p.pad);
    if !p.is_dense() {
        return Err("no kernel for the gradient of data with dilated windows".into());
    }
    let p = *p;
    if p.c < BLOCK {
        return Err(format!("no kernel for the gradient of data with {} channels", p.c));
    }
    let steps = Steps::of(&p).ok_or_else(refused)?;
    let phases = steps.phases([p.kh, p.kw]).ok_or_else(refused)?;
    let GradientContext { options, threads, rates } = *context;
    let problems = phases.iter().filter_map(|phase| phase.problem(&p));
    let time: f64 = problems.map(|problem| estimate::product(&problem, threads, rates)).sum();
    let (isa, sizes) = (options.isa, [p.k, p.c, p.kh, p.kw]);
    let packing = estimate::packing(PackedForm::Phases(steps).len(sizes), threads);
    Ok(Chosen {
        algorithm: Box::new(move || Ok(Box::new(StridedData::new(&p, &phases, isa, threads)))),
        what: "data_gradient_phases".into(),
        layouts: [blocked([p.n, p.k, p.oh, p.ow]), steps.layout(sizes), blocked([p.n, p.c, p.h, p.w])],
        cost: (time + packing) * VENDOR / estimate::vendor(&p, threads, rates),
    })
}

/// A prepared gradient of the data.
struct StridedData {
    /// The product of each phase, and the offset of its weights in the packed weights.
    products: Vec<(ProductConv, usize)>,
    /// Number of values that are set to 0 before the products run: all values of the gradient, or none if the products
    /// write all of them.
    to_clear: usize,
    threads: usize,
}

impl StridedData {
    fn new(p: &ConvProblem, phases: &[Phase], isa: mxrs_processor::Isa, threads: usize) -> Self {
        let [k, c] = [p.k, p.c].map(|n| n.next_multiple_of(BLOCK));
        let (mut products, mut weights, mut is_partial) = (Vec::new(), 0, false);
        for phase in phases {
            let cells = phase.lines[0].taps.len() * phase.lines[1].taps.len();
            match phase.problem(p) {
                Some(problem) => {
                    let place = Place { size: [p.h, p.w], first: phase.first, step: [p.stride.0, p.stride.1] };
                    products.push((ProductConv::placed(problem, place, isa, threads), weights));
                }
                None => is_partial |= cells == 0,
            }
            weights += k * c * cells;
        }
        Self { products, to_clear: if is_partial { p.n * c * p.h * p.w } else { 0 }, threads }
    }
}

impl Convolve for StridedData {
    fn scratch_bytes(&self) -> usize {
        self.products.iter().map(|(product, _)| product.scratch_bytes()).max().unwrap_or(0)
    }

    fn supports_sum(&self) -> bool {
        false
    }

    unsafe fn run(&self, o: &Operands, team: &Team) -> Result<()> {
        if self.to_clear > 0 {
            team.run(self.threads, &|i| {
                let numbers = part(self.to_clear, self.threads, i);
                // SAFETY: `numbers.end <= to_clear`, the number of values of the output, and `part` gives each range to
                // one thread.
                unsafe { o.dst.add(numbers.start).write_bytes(0, numbers.len()) }
            });
        }
        for (product, weights) in &self.products {
            // SAFETY: `weights` is the offset of this phase in the packed weights, as `new` counted it. The products
            // run one after another, so each may use the scratch memory, which is large enough for the largest of them.
            // The other operands are those of the caller.
            unsafe { product.run(&Operands { weights: o.weights.add(*weights), ..*o }, team)? }
        }
        Ok(())
    }
}
