//! The costs on a kind of processor, in multiply-adds of one thread at its peak. They are constants, so that estimates,
//! and therefore kernels, are the same in every process.

use mxrs_processor::{Isa, Processor, Set};

/// Costs on one kind of processor, measured with layers of known networks on two cores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// Part of the peak speed that matrix products reach.
    pub product: f64,
    /// Part of the peak speed that a vendor library's direct convolutions reach, with stride 1 and with other strides.
    pub vendor: [f64; 2],
    /// Multiply-adds of two threads in the time that it takes to read a byte from memory.
    pub per_byte: f64,
    /// Multiply-adds in the time that it takes to transform one value of a tile.
    pub per_transformed: f64,
    /// How much computing and reading weights delay each other. Both together take the longer of the two times plus this
    /// part of the shorter one.
    pub overlap: f64,
}

impl Rates {
    /// Two full 512-bit units: 285 G multiply-adds and 49 GB per second for two cores.
    pub const FULL_512: Self =
        Self { product: 0.88, vendor: [0.87, 0.8], per_byte: 5.8, per_transformed: 16.0, overlap: 0.15 };

    /// 512-bit instructions in two halves, as on Zen 4: 117 G multiply-adds and 30 to 45 GB per second for two cores.
    /// Everything but the products costs relatively less.
    pub const HALVED_512: Self =
        Self { product: 0.89, per_byte: 2.8, per_transformed: 7.3, overlap: 0.185, ..Self::FULL_512 };
    /// 256-bit instructions, as on Zen 3: 103 G multiply-adds per second for two cores, of which products reach 0.65 to
    /// 0.85 and a vendor library's direct sums 0.67 to 0.79.
    pub const AVX2: Self = Self { product: 0.82, vendor: [0.76, 0.72], ..Self::HALVED_512 };

    /// The costs on a processor with these instructions.
    pub fn of(isa: Isa, processor: &Processor) -> Self {
        match (isa.set(), processor.zen()) {
            #[cfg(target_arch = "x86_64")]
            (Set::Avx512, Some(4)) => Self::HALVED_512,
            #[cfg(target_arch = "x86_64")]
            (Set::Avx512, _) => Self::FULL_512,
            #[cfg(target_arch = "x86_64")]
            (Set::Avx2, _) => Self::AVX2,
            // Portable code is so slow that almost only the number of multiplications matters.
            (Set::Portable, _) => Self { per_byte: 1.0, ..Self::HALVED_512 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choose::{Algorithm, Choice};
    use crate::problem::ConvProblem;
    use crate::winograd::{Data, Variant};
    use crate::{Accuracy, NnpackOptions};

    /// For each layer: images, input channels, output channels, and height and width; then the milliseconds of the
    /// direct sum and of Winograd's F2 to F6, as measured by `examples/estimates.rs` with two threads on Zen 4 (2
    /// cores, 235 GFLOP/s).
    const MEASURED: [([usize; 4], [f64; 6]); 17] = [
        ([1, 64, 64, 56], [1.128, 0.582, 0.430, 0.352, 0.363, 0.342]),
        ([1, 128, 128, 28], [1.073, 0.534, 0.435, 0.342, 0.362, 0.377]),
        ([1, 256, 256, 14], [1.046, 0.497, 0.429, 0.401, 0.369, 0.411]),
        ([1, 512, 512, 7], [1.038, 0.722, 0.762, 0.941, 1.485, 2.032]),
        ([1, 64, 64, 224], [19.74, 9.706, 7.509, 5.622, 5.393, 4.878]),
        ([1, 64, 128, 112], [8.560, 4.184, 3.189, 2.568, 2.409, 2.171]),
        ([1, 128, 128, 112], [17.20, 8.067, 6.012, 4.702, 4.427, 4.334]),
        ([1, 128, 256, 56], [8.597, 4.046, 3.052, 2.339, 2.331, 2.256]),
        ([1, 256, 256, 56], [17.85, 7.686, 6.154, 4.512, 5.439, 4.541]),
        ([1, 256, 512, 28], [8.737, 4.226, 3.433, 2.542, 2.663, 2.361]),
        ([1, 512, 512, 28], [17.26, 8.296, 6.517, 4.695, 4.828, 4.610]),
        ([1, 512, 512, 14], [4.217, 2.096, 1.717, 1.831, 1.749, 2.435]),
        ([32, 64, 64, 56], [37.89, 19.02, 13.80, 10.21, 10.78, 9.674]),
        ([32, 128, 128, 28], [35.98, 17.07, 13.68, 10.07, 10.09, 9.555]),
        ([32, 256, 256, 14], [33.81, 16.10, 13.62, 12.73, 10.55, 13.94]),
        ([32, 512, 512, 7], [34.83, 23.36, 20.31, 13.58, 18.56, 25.06]),
        ([32, 64, 64, 224], [608.8, 291.1, 218.1, 180.2, 155.0, 153.0]),
    ];
    const VARIANTS: [Variant; 5] = [Variant::F2, Variant::F3, Variant::F4, Variant::F5, Variant::F6];

    /// Time of the chosen algorithm relative to the fastest allowed one, for each layer.
    fn losses(accuracy: Accuracy, rates: &Rates) -> Vec<f64> {
        let options = NnpackOptions { accuracy, ..NnpackOptions::default() };
        let loss = |([n, c, k, size], ms): &([usize; 4], [f64; 6])| {
            let (h, w, oh, ow) = (*size, *size, *size, *size);
            let (kh, kw, stride, pad, dilate) = (3, 3, (1, 1), (1, 1), (1, 1));
            let p = ConvProblem { n: *n, c: *c, k: *k, h, w, oh, ow, kh, kw, stride, pad, dilate, data: Data::Blocks };
            let at = match Choice::fastest(&p, &options, 2, rates).algorithm {
                Algorithm::Winograd(variant) => 1 + VARIANTS.iter().position(|v| *v == variant).unwrap(),
                _ => 0,
            };
            let allowed = if accuracy == Accuracy::Loose { 6 } else { 4 };
            ms[at] / ms[..allowed].iter().copied().fold(f64::INFINITY, f64::min)
        };
        MEASURED.iter().map(loss).collect()
    }

    #[test]
    fn choices_are_within_5_percent_of_the_fastest_for_most_layers() {
        for accuracy in [Accuracy::Close, Accuracy::Loose] {
            let losses = losses(accuracy, &Rates::HALVED_512);
            let near = losses.iter().filter(|loss| **loss <= 1.05).count();
            assert!(near >= losses.len() - 2, "{losses:.3?}");
            assert!(losses.iter().all(|loss| *loss < 1.12), "{losses:.3?}");
        }
    }
}
