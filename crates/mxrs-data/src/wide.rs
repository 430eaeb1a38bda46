//! Loops over pixels, compiled a second time for processors with wider vectors.

/// Calls `body`, in a form compiled for AVX2 where the processor has it. Results are the same bits: nothing but the width of
/// vectors differs. Worth it around a whole loop.
#[inline]
pub(crate) fn wide<R>(body: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has the one feature that the function is compiled with.
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
