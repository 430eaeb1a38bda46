//! The gradient of the data for stride 1: a convolution of the output's gradient with the filters [flipped
//! around](crate::filters), by any algorithm that runs convolutions.

use super::{Chosen, GradientContext};
use crate::candidate::Candidate;
use crate::choose::Algorithm;
use crate::estimate;
use crate::layouts::{PackedForm, image_layout};
use crate::options::Weights;
use crate::problem::ConvProblem;

/// Number of threads to estimate with. It is fixed, so that the same algorithm is chosen, and results have the same
/// bits, on any number of threads.
const ESTIMATE_THREADS: usize = 2;
/// Speed of a vendor library in the gradient of the data, relative to its speed in the forward convolution.
const VENDOR: f64 = 0.86;

/// Chooses the algorithm for the gradient of the data of `p`.
///
/// # Errors
/// Returns the reason as text if no algorithm supports the problem.
pub fn choose(p: &ConvProblem, context: &GradientContext<'_>) -> Result<Chosen, String> {
    let flipped = p.flipped().ok_or_else(|| {
        format!("no kernel for the gradient of data with stride {:?} and padding {:?}", p.stride, p.pad)
    })?;
    let GradientContext { options, threads, rates } = *context;
    let (algorithm, time) = Algorithm::allowed(&flipped, options)
        .into_iter()
        .filter_map(|algorithm| Some((algorithm, form(algorithm)?)))
        .map(|(algorithm, _)| (algorithm, algorithm.estimate_with_packing(&flipped, ESTIMATE_THREADS, rates)))
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .ok_or_else(|| format!("no kernel for the gradient of data from {} output channels", flipped.c))?;
    let form = form(algorithm).ok_or("no packed form of flipped filters for the algorithm")?;
    let sizes = [p.k, p.c, p.kh, p.kw];
    let candidate = Candidate { algorithm, blocking: None, threads };
    let options = options.clone();
    let image = |sizes| image_layout(p.data, sizes);
    let vendor = estimate::vendor(&flipped, ESTIMATE_THREADS, rates) / VENDOR;
    Ok(Chosen {
        algorithm: Box::new(move || candidate.prepare(&flipped, Weights::Float32, &options)),
        what: format!("data_gradient_{}", algorithm.name()),
        layouts: [image([p.n, p.k, p.oh, p.ow]), form.layout(sizes), image([p.n, p.c, p.h, p.w])],
        cost: time / vendor,
    })
}

/// The packed form of the weights for an algorithm; `None` if the algorithm cannot take flipped filters.
fn form(algorithm: Algorithm) -> Option<PackedForm> {
    match algorithm {
        Algorithm::Product => Some(PackedForm::FlippedBlocks),
        Algorithm::Winograd(variant) => Some(PackedForm::FlippedWinograd(variant)),
        Algorithm::Taps | Algorithm::Fourier(_) => None,
    }
}
