//! Compiles plain loops once per instruction set, so that the compiler vectorizes them for each.

#[cfg(target_arch = "x86_64")]
use mxrs_processor::Feature;
use mxrs_processor::{Isa, Set};

/// The instructions that a loop is compiled for. A value is made only after detection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Instructions of every processor.
    Portable,
    /// AVX2 and FMA.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// The parts F, BW, DQ and VL of AVX-512.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    /// The widest instructions that the set allows.
    pub fn of(isa: Isa) -> Self {
        match isa.set() {
            Set::Portable => Self::Portable,
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 if Feature::Avx512Core.is_there() => Self::Avx512,
            #[cfg(target_arch = "x86_64")]
            _ => Self::Avx2,
        }
    }
}

/// Declares a function that returns `$body` compiled for a level. `$body` is `unsafe` and always inlined. The returned
/// function has the contract of `$body`. Generic parameters are listed twice: with their bounds, then without.
macro_rules! for_each_level {
    (
        $(#[$doc:meta])*
        $vis:vis fn $choose:ident $([$($param:tt)+] [$($name:ident),+])?:
            unsafe fn($($arg:ident: $ty:ty),*) = $body:ident
    ) => {
        $(#[$doc])*
        $vis fn $choose $(<$($param)+>)? (level: $crate::low_precision::level::Level) -> unsafe fn($($ty),*) {
            unsafe fn portable $(<$($param)+>)? ($($arg: $ty),*) {
                // SAFETY: the contract of this function is that of `$body`.
                unsafe { $body $(::<$($name),+>)? ($($arg),*) }
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            unsafe fn avx2 $(<$($param)+>)? ($($arg: $ty),*) {
                // SAFETY: the contract of this function is that of `$body`.
                unsafe { $body $(::<$($name),+>)? ($($arg),*) }
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
            unsafe fn avx512 $(<$($param)+>)? ($($arg: $ty),*) {
                // SAFETY: the contract of this function is that of `$body`.
                unsafe { $body $(::<$($name),+>)? ($($arg),*) }
            }
            match level {
                $crate::low_precision::level::Level::Portable => portable $(::<$($name),+>)?,
                #[cfg(target_arch = "x86_64")]
                $crate::low_precision::level::Level::Avx2 => avx2 $(::<$($name),+>)?,
                #[cfg(target_arch = "x86_64")]
                $crate::low_precision::level::Level::Avx512 => avx512 $(::<$($name),+>)?,
            }
        }
    };
}
pub(crate) use for_each_level;
