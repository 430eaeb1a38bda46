//! The gradient of the data where the stride is 1: a convolution of the output's gradient with the filters
//! [turned around](crate::filters), by any algorithm that runs convolutions.

use super::{Means, Prepared};
use crate::choose::Algorithm;
use crate::estimate;
use crate::layouts::{PackedForm, image_layout};
use crate::options::Weights;
use crate::problem::ConvProblem;
use crate::way::Way;

/// Threads that estimates are made for, so that any number of them runs the same algorithm and makes the same bits.
const ALIKE: usize = 2;
/// How much of its forward speed a vendor library reaches here.
const VENDOR: f64 = 0.86;

/// Prepares the gradient of the data of `p`.
///
/// # Errors
/// In words, why there is none.
pub fn prepare(p: &ConvProblem, means: &Means<'_>) -> Result<Prepared, String> {
    let turned =
        p.turned().ok_or_else(|| format!("gradients of data with stride {:?} and padding {:?}", p.stride, p.pad))?;
    let Means { options, threads, rates } = *means;
    let (algorithm, time) = Algorithm::allowed(&turned, options)
        .into_iter()
        .filter_map(|algorithm| Some((algorithm, form(algorithm)?)))
        .map(|(algorithm, _)| (algorithm, algorithm.estimate_with_packing(&turned, ALIKE, rates)))
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .ok_or_else(|| format!("gradients of data from {} channels", turned.c))?;
    let form = form(algorithm).ok_or("no weights for it")?;
    let sizes = [p.k, p.c, p.kh, p.kw];
    let way = Way { algorithm, blocking: None, threads };
    let prepared = way.prepare(&turned, Weights::Float32, options).map_err(|error| error.to_string())?;
    let image = |sizes| image_layout(p.data, sizes);
    let vendor = estimate::vendor(&turned, ALIKE, rates) / VENDOR;
    Ok(Prepared {
        algorithm: prepared,
        what: format!("data_gradient_{}", algorithm.name()),
        layouts: [image([p.n, p.k, p.oh, p.ow]), form.layout(sizes), image([p.n, p.c, p.h, p.w])],
        cost: time / vendor,
    })
}

/// How an algorithm wants the weights; `None` for one that has no form for filters turned around.
fn form(algorithm: Algorithm) -> Option<PackedForm> {
    match algorithm {
        Algorithm::Product => Some(PackedForm::TurnedBlocks),
        Algorithm::Winograd(variant) => Some(PackedForm::TurnedWinograd(variant)),
        Algorithm::Taps | Algorithm::Fourier(_) => None,
    }
}
