//! The vector instructions that the kernels use, detected once when the backend is made.

/// An instruction set that this processor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Isa(Set);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Set {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Isa {
    /// The set that every processor has.
    pub const PORTABLE: Self = Self(Set::Portable);

    /// All sets that this processor has, the widest last.
    pub fn available() -> Vec<Self> {
        let mut sets = vec![Self::PORTABLE];
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            sets.push(Self(Set::Avx2));
            if is_x86_feature_detected!("avx512f") {
                sets.push(Self(Set::Avx512));
            }
        }
        sets
    }

    /// The widest set that this processor has.
    pub fn best() -> Self {
        Self::available().last().copied().unwrap_or(Self::PORTABLE)
    }

    /// The set's name in traces, such as `avx512`.
    pub fn name(self) -> &'static str {
        match self.0 {
            Set::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => "avx512",
        }
    }

    /// The set to choose kernels by. An `Isa` proves that the processor has its instructions, because only `available`
    /// makes one.
    pub(crate) fn set(self) -> Set {
        self.0
    }
}

/// Declares a function that returns `$body` compiled for an instruction set. `$body` is generic over a register type
/// ([`Lanes`](crate::gemm::lanes::Lanes)), `unsafe`, and always inlined. The returned function has the contract of
/// `$body`; an [`Isa`](crate::Isa) proves that the processor has its instructions.
macro_rules! for_each_set {
    ($(#[$doc:meta])* $vis:vis fn $choose:ident: unsafe fn($($arg:ident: $ty:ty),*) = $body:ident) => {
        $(#[$doc])*
        $vis fn $choose(isa: $crate::Isa) -> unsafe fn($($ty),*) {
            unsafe fn portable($($arg: $ty),*) {
                // SAFETY: the contract of this function is that of `$body`; `Plain` needs no special instructions.
                unsafe { $body::<$crate::gemm::lanes::Plain>($($arg),*) }
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            unsafe fn avx2($($arg: $ty),*) {
                // SAFETY: the contract of this function is that of `$body`, and this function is compiled for AVX2 and
                // FMA.
                unsafe { $body::<std::arch::x86_64::__m256>($($arg),*) }
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx2,fma")]
            unsafe fn avx512($($arg: $ty),*) {
                // SAFETY: the contract of this function is that of `$body`, and this function is compiled for AVX-512F,
                // AVX2 and FMA.
                unsafe { $body::<std::arch::x86_64::__m512>($($arg),*) }
            }
            match isa.set() {
                $crate::isa::Set::Portable => portable,
                #[cfg(target_arch = "x86_64")]
                $crate::isa::Set::Avx2 => avx2,
                #[cfg(target_arch = "x86_64")]
                $crate::isa::Set::Avx512 => avx512,
            }
        }
    };
}
pub(crate) use for_each_set;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_set_is_available_and_the_portable_one_too() {
        let sets = Isa::available();
        assert!(sets.contains(&Isa::best()) && sets.contains(&Isa::PORTABLE));
        assert!(sets.is_sorted());
    }
}
