//! Identifies this processor. The identity selects the costs for estimates, and is stored with the results of
//! measurements.

use crate::Feature;
use std::fmt;

/// A kind of processor, as it identifies itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Processor {
    /// The manufacturer, such as `AuthenticAMD`. Empty if the processor does not report one.
    pub vendor: String,
    /// The manufacturer's number of the family.
    pub family: u32,
    /// Model within the family.
    pub model: u32,
    /// Revision of the model.
    pub stepping: u32,
    /// The marketing name. Manufacturers use one name for several models.
    pub brand: String,
}

impl Processor {
    /// The processor that runs this program.
    pub fn here() -> Self {
        #[cfg(target_arch = "x86_64")]
        return x86();
        #[cfg(not(target_arch = "x86_64"))]
        return Self::default();
    }

    /// Whether bfloat16 instructions, if the processor that runs this program has them, multiply faster than float32
    /// instructions. Intel's instruction for pairs of bfloat16 has half the speed of float32 (174 compared to 350
    /// GFLOP/s on family 6, model 207); only its matrix units are faster.
    pub fn multiplies_bfloat16() -> bool {
        Self::here().vendor != "GenuineIntel" || Feature::AmxBf16.is_there()
    }

    /// Whether the vector instructions for pairs of bfloat16 are there and multiply faster than those for float32.
    pub fn vectors_multiply_bfloat16() -> bool {
        Feature::Avx512Bf16.is_there() && Self::here().vendor != "GenuineIntel"
    }

    /// The generation if the processor is AMD's Zen 4 or Zen 5, which run 512-bit instructions at different speeds;
    /// otherwise `None`.
    pub fn zen(&self) -> Option<u8> {
        if self.vendor != "AuthenticAMD" {
            return None;
        }
        match (self.family, self.model) {
            (0x19, 0x10..=0x1f | 0x60..=0x7f | 0xa0..=0xaf) => Some(4),
            (0x1a, _) => Some(5),
            _ => None,
        }
    }
}

impl fmt::Display for Processor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.vendor.is_empty() {
            return f.write_str(std::env::consts::ARCH);
        }
        let Self { vendor, family, model, stepping, brand } = self;
        write!(f, "{vendor} family {family} model {model} stepping {stepping} {brand}")
    }
}

#[cfg(target_arch = "x86_64")]
fn x86() -> Processor {
    use std::arch::x86_64::{__cpuid, CpuidResult};
    let bytes = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let text = |words: &[u32]| {
        let bytes = bytes(words);
        let printable = bytes.iter().map(|&byte| if (0x20..0x7f).contains(&byte) { char::from(byte) } else { ' ' });
        printable.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let CpuidResult { ebx, ecx, edx, .. } = __cpuid(0);
    let vendor = text(&[ebx, edx, ecx]);
    let version = __cpuid(1).eax;
    // CPUID splits family and model into a short and an extended field. The extended field counts only under these
    // conditions.
    let (short_family, short_model) = (version >> 8 & 0xf, version >> 4 & 0xf);
    let family = if short_family == 0xf { short_family + (version >> 20 & 0xff) } else { short_family };
    let model = if short_family >= 6 { short_model + ((version >> 16 & 0xf) << 4) } else { short_model };
    let has_brand = __cpuid(0x8000_0000).eax >= 0x8000_0004;
    let words = |CpuidResult { eax, ebx, ecx, edx }: CpuidResult| [eax, ebx, ecx, edx];
    let brand =
        if has_brand { (0x8000_0002..=0x8000_0004).flat_map(|leaf| words(__cpuid(leaf))).collect() } else { vec![] };
    Processor { vendor, family, model, stepping: version & 0xf, brand: text(&brand) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_is_the_same_whenever_it_is_asked() {
        assert_eq!(Processor::here(), Processor::here());
        assert!(!Processor::here().to_string().is_empty());
    }

    #[test]
    fn generations_are_told_apart() {
        let amd = |family, model| Processor { vendor: "AuthenticAMD".into(), family, model, ..Processor::default() };
        // The processors below, by AMD's code names: Genoa, Raphael and Bergamo (Zen 4); Turin (Zen 5); Milan and Rome
        // (older).
        assert_eq!([(0x19, 0x11), (0x19, 0x61), (0x19, 0xa0)].map(|(f, m)| amd(f, m).zen()), [Some(4); 3]);
        assert_eq!(amd(0x1a, 0x02).zen(), Some(5));
        assert_eq!([(0x19, 0x01), (0x17, 0x31)].map(|(f, m)| amd(f, m).zen()), [None; 2]);
        assert_eq!(Processor { vendor: "GenuineIntel".into(), family: 0x1a, ..Processor::default() }.zen(), None);
    }
}
