//! The gradient of the data where the stride is not 1: a product for each of its [phases](super::phases), whose pixels lie as far from
//! one another as the stride. Pixels that no window sees become 0.

use super::phases::{Phase, Steps};
use super::{Means, Prepared};
use crate::convolve::{Convolve, Operands, part};
use crate::direct::product::{Place, ProductConv};
use crate::estimate;
use crate::layouts::{BLOCK, PackedForm, blocked};
use crate::problem::ConvProblem;
use mxrs_sync::Team;
use mxrs_types::Result;

/// How much of its forward speed a vendor library reaches here.
const VENDOR: f64 = 0.85;

/// Prepares the gradient of the data of `p`, which has another stride than 1.
///
/// # Errors
/// In words, why there is none.
pub fn prepare(p: &ConvProblem, means: &Means<'_>) -> std::result::Result<Prepared, String> {
    let refused = || format!("gradients of data with stride {:?}, padding {:?}", p.stride, p.pad);
    if !p.is_dense() {
        return Err("gradients of data with dilated windows".into());
    }
    if p.c < BLOCK {
        return Err(format!("gradients of {} channels", p.c));
    }
    let steps = Steps::of(p).ok_or_else(refused)?;
    let phases = steps.phases([p.kh, p.kw]).ok_or_else(refused)?;
    let Means { options, threads, rates } = *means;
    let problems = phases.iter().filter_map(|phase| phase.problem(p));
    let time: f64 = problems.map(|problem| estimate::product(&problem, threads, rates)).sum();
    let sizes = [p.k, p.c, p.kh, p.kw];
    let packing = estimate::packing(PackedForm::Phases(steps).len(sizes), threads);
    Ok(Prepared {
        algorithm: Box::new(StridedData::new(p, &phases, options.isa, threads)),
        what: "data_gradient_phases".into(),
        layouts: [blocked([p.n, p.k, p.oh, p.ow]), steps.layout(sizes), blocked([p.n, p.c, p.h, p.w])],
        cost: (time + packing) * VENDOR / estimate::vendor(p, threads, rates),
    })
}

/// The gradient prepared.
struct StridedData {
    /// The products, and where the weights of each begin.
    products: Vec<(ProductConv, usize)>,
    /// Numbers of the gradient if some of them are not written by any product, else 0.
    to_clear: usize,
    threads: usize,
}

impl StridedData {
    fn new(p: &ConvProblem, phases: &[Phase], isa: crate::Isa, threads: usize) -> Self {
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

    fn takes_sum(&self) -> bool {
        false
    }

    unsafe fn run(&self, o: &Operands, team: &Team) -> Result<()> {
        if self.to_clear > 0 {
            team.run(self.threads, &|i| {
                let numbers = part(self.to_clear, self.threads, i);
                // SAFETY: the caller's promise: an output of so many numbers, of which each thread has its own.
                unsafe { o.dst.add(numbers.start).write_bytes(0, numbers.len()) }
            });
        }
        for (product, weights) in &self.products {
            // SAFETY: the caller's promise; the phases' weights follow one another, and their pixels differ.
            unsafe { product.run(&Operands { weights: o.weights.add(*weights), ..*o }, team)? }
        }
        Ok(())
    }
}
