//! Computes mean, scale and shift ([`Factors`]) that the 16 channels of a block are normalized with.

use super::super::batch_norm::Factors;
use super::Problem;
use crate::layouts::BLOCK;

/// Returns mean, scale and shift for the channels of a block. Entries of padding channels are 0, so the values in
/// padding channels stay 0.
///
/// # Safety
/// `gamma` and `beta` must have a value for every channel of `problem`.
pub unsafe fn factors(
    problem: &Problem,
    block: usize,
    [gamma, beta]: [*const f32; 2],
    [mean, inverse]: [&[f32; BLOCK]; 2],
) -> Factors {
    let mut factors = Factors { mean: [0.0; BLOCK], scale: [0.0; BLOCK], shift: [0.0; BLOCK] };
    let (first, n) = problem.channels_of(block);
    for i in 0..n {
        // SAFETY: `first + i < first + n <= problem.channels`, the length that the caller promises.
        let (gamma, beta) = unsafe { (*gamma.add(first + i), *beta.add(first + i)) };
        let gamma = if problem.fix_gamma { 1.0 } else { f64::from(gamma) };
        factors.mean[i] = mean[i];
        factors.scale[i] = (gamma * f64::from(inverse[i])) as f32;
        factors.shift[i] = beta;
    }
    factors
}

/// Returns mean, scale and shift for the channels of a block whose statistics are inputs of the call, and the inverse
/// standard deviations of these channels.
///
/// # Safety
/// All four inputs must have a value for every channel of `problem`.
pub unsafe fn given_factors(
    problem: &Problem,
    block: usize,
    [gamma, beta, mean, inverse]: [*const f32; 4],
) -> (Factors, [f32; BLOCK]) {
    let (first, n) = problem.channels_of(block);
    let [mut context, mut inverses] = [[0.0; BLOCK]; 2];
    for i in 0..n {
        // SAFETY: `first + i < first + n <= problem.channels`, the length that the caller promises.
        (context[i], inverses[i]) = unsafe { (*mean.add(first + i), *inverse.add(first + i)) };
    }
    // SAFETY: the caller promises a value for every channel of `problem` in `gamma` and `beta`.
    (unsafe { factors(problem, block, [gamma, beta], [&context, &inverses]) }, inverses)
}
