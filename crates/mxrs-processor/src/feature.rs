//! Features of the processor beyond its instruction set: what some loops need in addition to an [`Isa`](crate::Isa), or
//! instead of it.

/// A group of instructions that a loop may need. Only x86-64 processors can have these features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// AVX2, with or without FMA: 256-bit vectors. Loops without fused multiply-adds demand this feature instead of an
    /// instruction set with FMA, so that they run on the few processors that have AVX2 without FMA, too.
    Avx2,
    /// The parts F, BW, DQ and VL of AVX-512: 512-bit vectors of numbers of any width, and AVX-512's instructions for
    /// vectors of 128 and 256 bits. It is for loops over bytes and halves that the compiler vectorizes. oneDNN also calls
    /// this `avx512_core`. An [`Isa`](crate::Isa) demands only F of the four, which suffices for products of float32.
    Avx512Core,
    /// Products of pairs of bfloat16, added in float32 (`vdpbf16ps`). Implies AVX-512F.
    Avx512Bf16,
    /// Products of 8-bit integers in groups of four, added in 32 bits, in 512-bit vectors. Implies AVX-512F.
    Avx512Vnni,
    /// Like [`Avx512Vnni`](Self::Avx512Vnni), in 256-bit vectors and without AVX-512. Implies AVX2.
    AvxVnni,
    /// Units that hold matrices and multiply them (AMX). The processor reports them, even if the operating system does not
    /// let programs use them; [`MatrixUnits`](crate::MatrixUnits) requests the permission.
    AmxTile,
    /// Units that multiply matrices of bfloat16. The processor reports them, even if the operating system does not let
    /// programs use them.
    AmxBf16,
    /// Units that multiply matrices of 8-bit integers. The processor reports them, even if the operating system does not
    /// let programs use them.
    AmxInt8,
}

impl Feature {
    /// Whether the processor that runs this program has the feature, and a [`limit`](crate::limit()) allows it. For all
    /// features but the matrix units, this includes support by the operating system, so functions compiled for these
    /// instructions may be called.
    #[inline]
    pub fn is_there(self) -> bool {
        if !crate::limit::allows(self) {
            return false;
        }
        #[cfg(target_arch = "x86_64")]
        return match self {
            Self::Avx2 => is_x86_feature_detected!("avx2"),
            Self::Avx512Core => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
            }
            Self::Avx512Bf16 => is_x86_feature_detected!("avx512bf16"),
            Self::Avx512Vnni => is_x86_feature_detected!("avx512vnni"),
            Self::AvxVnni => is_x86_feature_detected!("avxvnni"),
            Self::AmxTile => reports_matrix_units(24),
            Self::AmxBf16 => reports_matrix_units(22),
            Self::AmxInt8 => reports_matrix_units(25),
        };
        #[cfg(not(target_arch = "x86_64"))]
        false
    }
}

/// Whether bit `bit` of `edx` in CPUID's leaf 7 is set. There the processor reports its matrix units (AMX): one bit per
/// element type.
#[cfg(target_arch = "x86_64")]
fn reports_matrix_units(bit: u32) -> bool {
    use std::arch::x86_64::__cpuid;
    __cpuid(0).eax >= 7 && __cpuid(7).edx >> bit & 1 == 1
}

/// The names of the features that kernels may use and that this processor has, for reports on the machine. The names are
/// those of Rust and of the manufacturer.
pub fn feature_names() -> Vec<&'static str> {
    #[allow(unused_mut)] // On other architectures, no name is added.
    let mut found = Vec::new();
    #[cfg(target_arch = "x86_64")]
    {
        macro_rules! check {
            ($($name:tt),+) => { $(if is_x86_feature_detected!($name) { found.push($name); })+ };
        }
        check!("sse4.1", "avx", "fma", "f16c", "avx2", "avxvnni", "avx512f", "avx512bw", "avx512vl", "avx512vnni");
        check!("avx512bf16", "avx512fp16");
    }
    #[cfg(target_arch = "aarch64")]
    {
        macro_rules! check {
            ($($name:tt),+) => { $(if std::arch::is_aarch64_feature_detected!($name) { found.push($name); })+ };
        }
        check!("neon", "fp16", "dotprod", "bf16", "i8mm", "sve", "sve2");
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Isa;

    #[test]
    fn features_imply_the_instruction_sets_that_they_say() {
        let has = |name| Isa::available().iter().any(|isa| isa.name() == name);
        assert!(Feature::Avx2.is_there() || !has("avx2"));
        // Loops that demand `Avx512Core` may also use AVX2 and FMA, which the set `avx512` includes.
        assert!(has("avx512") || !Feature::Avx512Core.is_there());
        assert!(has("avx512") || !Feature::Avx512Bf16.is_there());
        assert!(has("avx512") || !Feature::Avx512Vnni.is_there());
        assert!(Feature::Avx2.is_there() || !Feature::AvxVnni.is_there());
    }

    #[test]
    fn names_and_features_agree() {
        let names = feature_names();
        let pairs = [
            (Feature::Avx2, "avx2"),
            (Feature::Avx512Bf16, "avx512bf16"),
            (Feature::Avx512Vnni, "avx512vnni"),
            (Feature::AvxVnni, "avxvnni"),
        ];
        for (feature, name) in pairs {
            assert_eq!(feature.is_there(), names.contains(&name), "{name}");
        }
    }
}
