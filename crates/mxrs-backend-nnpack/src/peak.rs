//! How fast this processor multiplies and adds at best: what kernels are measured against.

use crate::Isa;
use crate::isa::Set;
use mxrs_sync::Team;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Sums that are independent of one another, enough to keep all units busy.
const SUMS: usize = 24;
/// Steps between two looks at the clock.
const STEPS: usize = 4000;

/// Float32 operations per second of all threads of the team together, a multiply-add being two: the best of what fits into
/// `patience`. Nothing is read from memory.
pub fn peak_flops(team: &Team, patience: Duration) -> f64 {
    let isa = Isa::best();
    let (started, mut best) = (Instant::now(), f64::INFINITY);
    while started.elapsed() < patience || best.is_infinite() {
        let at = Instant::now();
        team.run(team.size(), &|_| multiply_and_add(isa));
        best = best.min(at.elapsed().as_secs_f64());
    }
    (2 * SUMS * STEPS * lanes(isa) * team.size()) as f64 / best
}

/// Numbers that one step of one sum works on.
fn lanes(isa: Isa) -> usize {
    match isa.set() {
        Set::Portable => 4,
        #[cfg(target_arch = "x86_64")]
        Set::Avx2 => 8,
        #[cfg(target_arch = "x86_64")]
        Set::Avx512 => 16,
    }
}

fn multiply_and_add(isa: Isa) {
    match isa.set() {
        Set::Portable => {
            let mut sums = [[black_box(1.0f32); 4]; SUMS];
            let x = black_box(0.5f32);
            for _ in 0..STEPS {
                sums.iter_mut().flatten().for_each(|sum| *sum = *sum * x + 1.0);
            }
            black_box(sums);
        }
        // SAFETY: an `Isa` is made only of instructions that the processor has.
        #[cfg(target_arch = "x86_64")]
        Set::Avx2 => unsafe { with_avx2() },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Set::Avx512 => unsafe { with_avx512() },
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn with_avx512() {
    use std::arch::x86_64::{_mm512_fmadd_ps, _mm512_set1_ps};
    let (x, one) = (_mm512_set1_ps(black_box(0.5)), _mm512_set1_ps(black_box(1.0)));
    let mut sums = [one; SUMS];
    for _ in 0..STEPS {
        for sum in &mut sums {
            *sum = _mm512_fmadd_ps(*sum, x, one);
        }
    }
    black_box(sums);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn with_avx2() {
    use std::arch::x86_64::{_mm256_fmadd_ps, _mm256_set1_ps};
    // Sixteen registers: half as many sums, twice as often.
    let (x, one) = (_mm256_set1_ps(black_box(0.5)), _mm256_set1_ps(black_box(1.0)));
    let mut sums = [one; SUMS / 2];
    for _ in 0..2 * STEPS {
        for sum in &mut sums {
            *sum = _mm256_fmadd_ps(*sum, x, one);
        }
    }
    black_box(sums);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peak_is_a_speed() {
        let flops = peak_flops(&Team::serial(), Duration::from_millis(1));
        // Between a pocket calculator and more than any core can do.
        assert!((1e6..1e13).contains(&flops), "{flops}");
    }
}
