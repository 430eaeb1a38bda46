//! The vector instructions that kernels are compiled for.
//!
//! There are two rules for AVX-512. An [`Isa`] demands only its part F, because kernels that are written for it multiply
//! and add float32. Loops that the compiler vectorizes, over numbers of any width, demand
//! [`Feature::Avx512Core`](crate::Feature::Avx512Core), its parts F, BW, DQ and VL. Xeon Phi has F but not the others.
//! If the second rule were the only one, products on Xeon Phi would use vectors of half the width. If the first rule
//! were the only one, loops over bytes would use vectors of half the width on all other processors with AVX-512.

use crate::limit;

/// An instruction set that this processor has. Only detection makes a value, so a value proves that the processor has the
/// instructions, and that functions compiled for them may be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Isa(Set);

/// The instruction sets that mxrs has kernels for, the widest last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Set {
    /// The instructions that every processor has.
    Portable,
    /// AVX2 and FMA: 256-bit vectors.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// The part F of AVX-512, with AVX2 and FMA: 512-bit vectors of 32-bit and 64-bit numbers.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Set {
    const ALL: &[Self] = &[
        Self::Portable,
        #[cfg(target_arch = "x86_64")]
        Self::Avx2,
        #[cfg(target_arch = "x86_64")]
        Self::Avx512,
    ];

    /// The widest set that this processor has, whether or not a [`limit`](crate::limit()) allows it.
    pub fn of_processor() -> Self {
        detect()
    }

    /// The set with this [`name`](Self::name); `None` if mxrs has no kernels for such a set on this architecture.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|set| set.name() == name)
    }

    /// The set's name in traces, such as `avx512`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => "avx512",
        }
    }
}

impl Isa {
    /// The set that every processor has.
    pub const PORTABLE: Self = Self(Set::Portable);

    /// All sets up to [`Self::best`], the widest last.
    pub fn available() -> Vec<Self> {
        let best = Self::best();
        Set::ALL.iter().copied().map(Self).filter(|isa| *isa <= best).collect()
    }

    /// The widest set that this processor has, or that a [`limit`](crate::limit()) allows.
    pub fn best() -> Self {
        Self(limit::widest())
    }

    /// The set's name in traces, such as `avx512`.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// The instruction set, for choosing a kernel.
    pub fn set(self) -> Set {
        self.0
    }
}

/// Detects the widest set. A processor that has it also has all narrower ones.
pub(crate) fn detect() -> Set {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        return if is_x86_feature_detected!("avx512f") { Set::Avx512 } else { Set::Avx2 };
    }
    Set::Portable
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_set_is_available_and_the_portable_one_too() {
        let sets = Isa::available();
        assert!(sets.contains(&Isa::best()) && sets.contains(&Isa::PORTABLE));
        assert!(sets.is_sorted());
    }

    #[test]
    fn sets_are_found_by_their_names() {
        for set in Set::ALL {
            assert_eq!(Set::named(set.name()), Some(*set));
        }
        assert_eq!(Set::named("avx1024"), None);
        assert!(Isa::best().set() <= Set::of_processor());
    }
}
