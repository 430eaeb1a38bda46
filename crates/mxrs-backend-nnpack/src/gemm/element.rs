//! The element types of tensors, 32 or 16 bits. Registers always hold float32.

use super::lanes::Lanes;
use half::bf16;
use mxrs_types::bfloat16::widen;

/// The type of the values of activations or weights.
pub(crate) trait Element: Copy {
    /// Whether tensors of this type are in blocks of 16 channels; otherwise channels are last.
    const IS_BLOCKED: bool;
    /// Reads `L::N` values at any alignment.
    ///
    /// # Safety
    /// `from` must be readable for `L::N` values, in code compiled for the instructions of `L`.
    unsafe fn load<L: Lanes>(from: *const Self) -> L;
    /// Returns the value as float32.
    fn widened(self) -> f32;
    /// Writes `L::N` values at any alignment, rounded to the nearest, ties to even.
    ///
    /// # Safety
    /// `to` must be writable for `L::N` values, in code compiled for the instructions of `L`.
    unsafe fn store<L: Lanes>(x: L, to: *mut Self);
}

// SAFETY of the methods: they forward to `Lanes`, whose contracts are the same.
impl Element for f32 {
    const IS_BLOCKED: bool = true;
    #[inline(always)]
    fn widened(self) -> f32 {
        self
    }
    #[inline(always)]
    unsafe fn load<L: Lanes>(from: *const Self) -> L {
        // SAFETY: the caller promises `L::N` readable values and code compiled for `L`, which is the contract of
        // `Lanes`.
        unsafe { L::load(from) }
    }
    #[inline(always)]
    unsafe fn store<L: Lanes>(x: L, to: *mut Self) {
        // SAFETY: the caller promises `L::N` writable values and code compiled for `L`, which is the contract of
        // `Lanes`.
        unsafe { x.store(to) }
    }
}

// SAFETY of the methods: they forward to `Lanes`; a `bf16` has the size and layout of a `u16`.
impl Element for bf16 {
    const IS_BLOCKED: bool = false;
    #[inline(always)]
    fn widened(self) -> f32 {
        widen(self)
    }
    #[inline(always)]
    unsafe fn load<L: Lanes>(from: *const Self) -> L {
        // SAFETY: the caller promises `L::N` readable values and code compiled for `L`, which is the contract of
        // `Lanes`.
        unsafe { L::load_bf16(from.cast()) }
    }
    #[inline(always)]
    unsafe fn store<L: Lanes>(x: L, to: *mut Self) {
        // SAFETY: the caller promises `L::N` writable values and code compiled for `L`, which is the contract of
        // `Lanes`.
        unsafe { x.store_bf16(to.cast()) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::lanes::Plain;
    use super::*;
    use mxrs_processor::{Isa, Set};

    /// Narrows values to bfloat16 in registers of `L`, checks that widening is exact, and returns the bits of the narrow
    /// values.
    unsafe fn through<L: Lanes>(bits: &[u32]) -> Vec<u16> {
        let from: Vec<f32> = bits.iter().map(|bits| f32::from_bits(*bits)).collect();
        let mut to = vec![bf16::ZERO; from.len()];
        for at in (0..from.len()).step_by(L::N) {
            // SAFETY: `at + L::N` is at most the length, which is a multiple of 16 and so of `L::N`. The caller is
            // compiled for the instructions of `L`.
            unsafe {
                bf16::store(L::load(from.as_ptr().add(at)), to.as_mut_ptr().add(at));
                let back: L = bf16::load(to.as_ptr().add(at));
                let mut again = vec![0.0f32; L::N];
                back.store(again.as_mut_ptr());
                for (x, y) in to[at..].iter().zip(&again) {
                    assert!(x.to_f32() == *y || x.is_nan() && y.is_nan(), "{x:?} {y}");
                }
            }
        }
        to.iter().map(|x| x.to_bits()).collect()
    }

    #[test]
    fn rounding_is_that_of_half_in_every_register() {
        let mut state = 1u32;
        let mut bits: Vec<u32> = vec![0, 1 << 31, 0x7f80_0000, 0xff80_0000, 0x7fc0_0001, 0x7f80_0001, 0x7f7f_ffff, 1];
        for _ in 0..4096 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            bits.extend([state, state & !0xffff | 0x8000]);
        }
        bits.resize(bits.len().next_multiple_of(16), 0);
        let want: Vec<bf16> = bits.iter().map(|bits| bf16::from_f32(f32::from_bits(*bits))).collect();
        let agree = |got: Vec<u16>| {
            for ((bits, got), want) in bits.iter().zip(got).zip(&want) {
                let got = bf16::from_bits(got);
                assert!(got == *want || got.is_nan() && want.is_nan(), "{bits:08x}: {got:?}, not {want:?}");
            }
        };
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma")]
        unsafe fn avx2(bits: &[u32]) -> Vec<u16> {
            // SAFETY: this function is compiled for AVX2 and FMA, the instructions of `__m256`.
            unsafe { through::<std::arch::x86_64::__m256>(bits) }
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx512f,avx2,fma")]
        unsafe fn avx512(bits: &[u32]) -> Vec<u16> {
            // SAFETY: this function is compiled for AVX-512F, AVX2 and FMA, the instructions of `__m512`.
            unsafe { through::<std::arch::x86_64::__m512>(bits) }
        }
        for isa in Isa::available() {
            // SAFETY: `isa` proves that the processor has the instructions of the set; `Plain` needs none.
            agree(unsafe {
                match isa.set() {
                    Set::Portable => through::<Plain>(&bits),
                    #[cfg(target_arch = "x86_64")]
                    Set::Avx2 => avx2(&bits),
                    #[cfg(target_arch = "x86_64")]
                    Set::Avx512 => avx512(&bits),
                }
            });
        }
    }
}
