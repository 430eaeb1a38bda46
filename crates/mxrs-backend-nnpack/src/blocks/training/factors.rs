//! What the channels of a block are normalized by.

use super::super::batch_norm::Factors;
use super::Problem;
use crate::layouts::BLOCK;

/// What a channel is normalized by; of those that do not exist 0 remains 0.
///
/// # Safety
/// `gamma` and `beta` have a number for every channel.
pub unsafe fn factors(
    problem: &Problem,
    block: usize,
    [gamma, beta]: [*const f32; 2],
    [mean, inverse]: [&[f32; BLOCK]; 2],
) -> Factors {
    let mut factors = Factors { mean: [0.0; BLOCK], scale: [0.0; BLOCK], shift: [0.0; BLOCK] };
    let (first, n) = problem.channels_of(block);
    for i in 0..n {
        // SAFETY: below the number of channels.
        let (gamma, beta) = unsafe { (*gamma.add(first + i), *beta.add(first + i)) };
        let gamma = if problem.fix_gamma { 1.0 } else { f64::from(gamma) };
        factors.mean[i] = mean[i];
        factors.scale[i] = (gamma * f64::from(inverse[i])) as f32;
        factors.shift[i] = beta;
    }
    factors
}

/// The same from statistics that are inputs, and the inverse deviations.
///
/// # Safety
/// All have a number for every channel.
pub unsafe fn given_factors(
    problem: &Problem,
    block: usize,
    [gamma, beta, mean, inverse]: [*const f32; 4],
) -> (Factors, [f32; BLOCK]) {
    let (first, n) = problem.channels_of(block);
    let [mut means, mut inverses] = [[0.0; BLOCK]; 2];
    for i in 0..n {
        // SAFETY: below the number of channels.
        (means[i], inverses[i]) = unsafe { (*mean.add(first + i), *inverse.add(first + i)) };
    }
    // SAFETY: the caller's promise.
    (unsafe { factors(problem, block, [gamma, beta], [&means, &inverses]) }, inverses)
}
