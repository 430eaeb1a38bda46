//! The gradient of the data for any stride, dilation and number of groups: one product for each of its
//! [phases](super::phases), whose pixels are one stride apart. Pixels that no window covers become 0.

use super::phases::{Phase, Steps};
use super::{Chosen, GradientContext};
use crate::choose::UNMEASURED;
use crate::convolve::{Convolve, Operands, part};
use crate::direct::grouped::{GroupedConv, Groups};
use crate::direct::product::{Place, ProductConv};
use crate::estimate;
use crate::layouts::{BLOCK, MOST_GROUPS, PackedForm, blocked};
use crate::problem::ConvProblem;
use mxrs_processor::Isa;
use mxrs_sync::Team;
use mxrs_types::Result;

/// Speed of a vendor library in this gradient, relative to its speed in the forward convolution.
const VENDOR: f64 = 0.85;

/// Chooses how to compute the gradient of the data of `p`, a convolution with this number of groups.
///
/// # Errors
/// Returns the reason as text if this algorithm does not support the problem.
pub fn choose(p: &ConvProblem, groups: usize, context: &GradientContext<'_>) -> std::result::Result<Chosen, String> {
    let refused = || {
        let ConvProblem { stride, pad, dilate, .. } = p;
        format!("no kernel for the gradient of data with stride {stride:?}, padding {pad:?} and dilation {dilate:?}")
    };
    let p = *p;
    let steps = Steps::of(&p).ok_or_else(refused)?;
    let phases = steps.phases([p.kh, p.kw]).ok_or_else(refused)?;
    let GradientContext { options, threads, rates } = *context;
    let form = match u16::try_from(groups) {
        Ok(1) => PackedForm::Phases(steps),
        Ok(groups @ 0..=MOST_GROUPS) => PackedForm::GroupPhases(steps, groups),
        _ => return Err(format!("no kernel for the gradient of data in more than {MOST_GROUPS} groups")),
    };
    let (isa, sizes) = (options.isa, [p.k, p.c / groups, p.kh, p.kw]);
    let cost = if groups == 1 && p.is_dense() && p.c >= BLOCK {
        let problems = phases.iter().filter_map(|phase| phase.problem(&p));
        let time: f64 = problems.map(|problem| estimate::product(&problem, threads, rates)).sum();
        (time + estimate::packing(form.len(sizes), threads)) * VENDOR / estimate::vendor(&p, threads, rates)
    } else {
        UNMEASURED
    };
    let merged = Groups::flipped(groups, [p.k, p.c / groups]);
    let what = if groups == 1 { "data_gradient_phases" } else { "data_gradient_groups" };
    Ok(Chosen {
        algorithm: Box::new(move || Ok(Box::new(StridedData::new(&p, merged, &phases, isa, threads)))),
        what: what.into(),
        layouts: [blocked([p.n, p.k, p.oh, p.ow]), form.layout(sizes), blocked([p.n, p.c, p.h, p.w])],
        cost,
    })
}

/// A prepared gradient of the data.
struct StridedData {
    /// The product of each phase, and the offset of its weights in the packed weights.
    products: Vec<(Box<dyn Convolve>, usize)>,
    /// Number of values that are set to 0 before the products run: all values of the gradient, or none if the products
    /// write all of them.
    to_clear: usize,
    threads: usize,
}

impl StridedData {
    fn new(p: &ConvProblem, groups: Groups, phases: &[Phase], isa: Isa, threads: usize) -> Self {
        let (mut products, mut weights, mut is_partial) = (Vec::new(), 0, false);
        for phase in phases {
            let cells = phase.n_cells();
            match phase.problem(p) {
                Some(problem) => {
                    let place = Place { size: [p.h, p.w], first: phase.first, step: [p.stride.0, p.stride.1] };
                    let product: Box<dyn Convolve> = match groups {
                        Groups { n: 1, .. } => Box::new(ProductConv::placed(problem, place, isa, threads)),
                        groups => Box::new(GroupedConv::placed(problem, groups, place, isa, threads)),
                    };
                    products.push((product, weights));
                }
                None => is_partial |= cells == 0,
            }
            weights += groups.n * groups.packed_len(cells);
        }
        let len = p.n * p.c.next_multiple_of(BLOCK) * p.h * p.w;
        Self { products, to_clear: if is_partial { len } else { 0 }, threads }
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
