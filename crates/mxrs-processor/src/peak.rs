//! Measures the peak speed of this processor's multiply-adds, which kernels are compared with.

#[cfg(target_arch = "x86_64")]
use crate::Feature;
use crate::{Isa, Set};
use mxrs_sync::Team;
use mxrs_types::DType;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Number of independent sums that the measured loop adds to: enough to keep all multiply-add units of a core busy.
const SUMS: usize = 24;
/// Number of multiply-adds of each sum between two readings of the clock.
const STEPS: usize = 4000;

/// Measures the float32 operations per second of all threads of the team together; a multiply-add counts as two. Repeats
/// the measurement for `patience` and returns the largest result. The measured loop reads nothing from memory.
pub fn peak_flops(team: &Team, patience: Duration) -> f64 {
    // The result is never `None`, because every processor multiplies float32.
    peak_ops(team, DType::F32, patience).unwrap_or_default()
}

/// Measures like [`peak_flops`], for values of `dtype`: float32, int8, uint8, or bfloat16, which is widened if the
/// processor cannot multiply it.
///
/// Returns `None` in these cases:
/// - The dtype is not one of the four above.
/// - The dtype is an integer, and the processor has no instruction that multiplies and adds such integers.
/// - The processor has matrix units for the dtype. These are not measured.
pub fn peak_ops(team: &Team, dtype: DType, patience: Duration) -> Option<f64> {
    let multiplier = Multiplier::of(dtype)?;
    let (started, mut best) = (Instant::now(), f64::INFINITY);
    while started.elapsed() < patience || best.is_infinite() {
        let at = Instant::now();
        team.run(team.size(), &|_| multiplier.run());
        best = best.min(at.elapsed().as_secs_f64());
    }
    Some((2 * SUMS * STEPS * multiplier.products() * team.size()) as f64 / best)
}

/// The instructions to measure. A value exists only if the processor has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Multiplier {
    /// Instructions of this set that multiply float32.
    Single(Set),
    /// Instructions that multiply pairs of bfloat16.
    #[cfg(target_arch = "x86_64")]
    Pairs,
    /// Instructions that multiply 8-bit integers in groups of four, 64 at a time.
    #[cfg(target_arch = "x86_64")]
    Fours512,
    /// Instructions that multiply 8-bit integers in groups of four, 32 at a time.
    #[cfg(target_arch = "x86_64")]
    Fours256,
}

impl Multiplier {
    /// The fastest instructions for this dtype.
    fn of(dtype: DType) -> Option<Self> {
        match dtype {
            DType::F32 => Some(Self::Single(Isa::best().set())),
            DType::BF16 => Self::of_bfloat16(),
            DType::I8 | DType::U8 => Self::of_bytes(),
            _ => None,
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn of_bfloat16() -> Option<Self> {
        if !Feature::Avx512Bf16.is_there() {
            return Some(Self::Single(Isa::best().set()));
        }
        (!Feature::AmxBf16.is_there()).then_some(Self::Pairs)
    }

    #[cfg(target_arch = "x86_64")]
    fn of_bytes() -> Option<Self> {
        if Feature::Avx512Vnni.is_there() {
            return (!Feature::AmxInt8.is_there()).then_some(Self::Fours512);
        }
        Feature::AvxVnni.is_there().then_some(Self::Fours256)
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn of_bfloat16() -> Option<Self> {
        Some(Self::Single(Isa::best().set()))
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn of_bytes() -> Option<Self> {
        None
    }

    /// Number of products that one instruction computes. A sum is a vector, and each of its elements gets one or more
    /// products.
    fn products(self) -> usize {
        match self {
            Self::Single(Set::Portable) => 4,
            #[cfg(target_arch = "x86_64")]
            Self::Single(Set::Avx2) => 8,
            #[cfg(target_arch = "x86_64")]
            Self::Single(Set::Avx512) => 16,
            #[cfg(target_arch = "x86_64")]
            Self::Pairs | Self::Fours256 => 32,
            #[cfg(target_arch = "x86_64")]
            Self::Fours512 => 64,
        }
    }

    /// Runs the measured loop: [`STEPS`] multiply-adds of each of the [`SUMS`] sums.
    fn run(self) {
        match self {
            Self::Single(Set::Portable) => {
                let mut sums = [[black_box(1.0f32); 4]; SUMS];
                let x = black_box(0.5f32);
                for _ in 0..STEPS {
                    sums.iter_mut().flatten().for_each(|sum| *sum = *sum * x + 1.0);
                }
                black_box(sums);
            }
            // SAFETY: `of` takes the set from `Isa::best`, which has detected AVX2 and FMA.
            #[cfg(target_arch = "x86_64")]
            Self::Single(Set::Avx2) => unsafe { with_avx2() },
            // SAFETY: `of` takes the set from `Isa::best`, which has detected AVX-512F.
            #[cfg(target_arch = "x86_64")]
            Self::Single(Set::Avx512) => unsafe { with_avx512() },
            // SAFETY: only `of_bfloat16` returns `Pairs`, after it has detected `avx512bf16`, which implies AVX-512F.
            #[cfg(target_arch = "x86_64")]
            Self::Pairs => unsafe { with_pairs() },
            // SAFETY: only `of_bytes` returns `Fours512`, after it has detected `avx512vnni`, which implies AVX-512F.
            #[cfg(target_arch = "x86_64")]
            Self::Fours512 => unsafe { with_fours_512() },
            // SAFETY: only `of_bytes` returns `Fours256`, after it has detected `avxvnni`, which implies AVX2.
            #[cfg(target_arch = "x86_64")]
            Self::Fours256 => unsafe { with_fours_256() },
        }
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
#[target_feature(enable = "avx512f,avx512bf16")]
fn with_pairs() {
    use std::arch::x86_64::{_mm512_cvtne2ps_pbh, _mm512_dpbf16_ps, _mm512_set1_ps};
    let half = _mm512_set1_ps(black_box(0.5));
    let x = _mm512_cvtne2ps_pbh(half, half);
    let mut sums = [half; SUMS];
    for _ in 0..STEPS {
        for sum in &mut sums {
            *sum = _mm512_dpbf16_ps(*sum, x, x);
        }
    }
    black_box(sums);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vnni")]
fn with_fours_512() {
    use std::arch::x86_64::{_mm512_dpbusd_epi32, _mm512_set1_epi8};
    let x = _mm512_set1_epi8(black_box(1));
    let mut sums = [x; SUMS];
    for _ in 0..STEPS {
        for sum in &mut sums {
            *sum = _mm512_dpbusd_epi32(*sum, x, x);
        }
    }
    black_box(sums);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,avxvnni")]
fn with_fours_256() {
    use std::arch::x86_64::{_mm256_dpbusd_avx_epi32, _mm256_set1_epi8};
    let x = _mm256_set1_epi8(black_box(1));
    // AVX2 has only sixteen registers, so the loop has half of `SUMS` sums and twice `STEPS` multiply-adds of each.
    let mut sums = [x; SUMS / 2];
    for _ in 0..2 * STEPS {
        for sum in &mut sums {
            *sum = _mm256_dpbusd_avx_epi32(*sum, x, x);
        }
    }
    black_box(sums);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn with_avx2() {
    use std::arch::x86_64::{_mm256_fmadd_ps, _mm256_set1_ps};
    // AVX2 has only sixteen registers, so the loop has half of `SUMS` sums and twice `STEPS` multiply-adds of each.
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
        // A plausible range: the lower bound is far below any processor's speed, the upper bound far above that of any core.
        assert!((1e6..1e13).contains(&flops), "{flops}");
    }

    #[test]
    fn types_have_a_peak_where_they_are_multiplied() {
        let peak = |dtype| peak_ops(&Team::serial(), dtype, Duration::from_millis(1));
        // Bfloat16 is measured as float32 if the processor cannot multiply it; integers have no such fallback.
        assert!(peak(DType::BF16).is_none_or(|ops| (1e6..1e14).contains(&ops)));
        let (signed, unsigned) = (peak(DType::I8), peak(DType::U8));
        assert!(signed.is_none_or(|ops| (1e6..1e14).contains(&ops)) && signed.is_some() == unsigned.is_some());
        assert_eq!((peak(DType::F64), peak(DType::I32)), (None, None));
    }

    #[test]
    fn narrower_numbers_go_through_a_register_in_greater_number() {
        let products = |dtype| Multiplier::of(dtype).map(Multiplier::products);
        let single = products(DType::F32).expect("float32 is always multiplied");
        assert!(products(DType::BF16).is_none_or(|n| n == single || n == 2 * single));
        assert!(products(DType::I8).is_none_or(|n| n == 4 * single));
    }
}
