//! Compiles a kernel once per instruction set, and chooses among the results.

/// Declares a function that returns `$body` compiled for an instruction set. `$body` is generic over a register type
/// ([`Lanes`](crate::gemm::lanes::Lanes)), `unsafe`, and always inlined. The returned function has the contract of
/// `$body`; an [`Isa`](mxrs_processor::Isa) proves that the processor has its instructions. If `$body` has further
/// generic parameters after the register type, they are listed twice after the name of the function, each time in
/// brackets: first with their bounds, then without.
macro_rules! for_each_set {
    (
        $(#[$doc:meta])*
        $vis:vis fn $choose:ident $([$($param:tt)+] [$($name:ident),+])?:
            unsafe fn($($arg:ident: $ty:ty),*) = $body:ident
    ) => {
        $(#[$doc])*
        $vis fn $choose $(<$($param)+>)? (isa: ::mxrs_processor::Isa) -> unsafe fn($($ty),*) {
            unsafe fn portable $(<$($param)+>)? ($($arg: $ty),*) {
                // SAFETY: the contract of this function is that of `$body`; `Plain` needs no special instructions.
                unsafe { $body::<$crate::gemm::lanes::Plain $($(, $name)+)?>($($arg),*) }
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            unsafe fn avx2 $(<$($param)+>)? ($($arg: $ty),*) {
                // SAFETY: the contract of this function is that of `$body`, and this function is compiled for AVX2 and
                // FMA.
                unsafe { $body::<std::arch::x86_64::__m256 $($(, $name)+)?>($($arg),*) }
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx2,fma")]
            unsafe fn avx512 $(<$($param)+>)? ($($arg: $ty),*) {
                // SAFETY: the contract of this function is that of `$body`, and this function is compiled for AVX-512F,
                // AVX2 and FMA.
                unsafe { $body::<std::arch::x86_64::__m512 $($(, $name)+)?>($($arg),*) }
            }
            match isa.set() {
                ::mxrs_processor::Set::Portable => portable $(::<$($name),+>)?,
                #[cfg(target_arch = "x86_64")]
                ::mxrs_processor::Set::Avx2 => avx2 $(::<$($name),+>)?,
                #[cfg(target_arch = "x86_64")]
                ::mxrs_processor::Set::Avx512 => avx512 $(::<$($name),+>)?,
            }
        }
    };
}
pub(crate) use for_each_set;
