//! Compiles loops over pixels a second time, for processors with wider vectors.

/// Calls `body`, compiled for AVX2 if the processor has it. The results are bit-identical, because only the vector width
/// differs. Each call checks the processor, so `body` should be a whole loop.
#[inline]
pub(crate) fn wide<R>(body: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if mxrs_processor::Feature::Avx2.is_there() {
        // SAFETY: `with_avx2` requires only the target feature AVX2, which the condition has just confirmed.
        return unsafe { with_avx2(body) };
    }
    body()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn with_avx2<R>(body: impl FnOnce() -> R) -> R {
    body()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_what_the_body_returns() {
        let values: Vec<u32> = (0..100).collect();
        assert_eq!(wide(|| values.iter().map(|v| v * v).sum::<u32>()), 328_350);
    }
}
