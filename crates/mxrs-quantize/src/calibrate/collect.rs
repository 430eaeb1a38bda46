//! Statistics of one tensor's values for calibration: the smallest and largest value, and for entropy calibration a
//! histogram.

use super::entropy::best_threshold;
use super::histogram::Histogram;
use crate::table::{Calibrated, Range};
use crate::{CalibMode, QuantizedDType};
use mxrs_types::Result;

/// Number of integers that int8 uses, from -127 to 127, with 0 in the middle.
const N_SIGNED: usize = 255;
/// Number of quantized values that the search for a uint8 threshold assumes: 0, and 255 on each side of it, because the
/// histogram has both signs.
const N_UNSIGNED: usize = 2 * N_SIGNED + 1;

/// The smallest and largest value so far, and a histogram for entropy calibration.
pub struct Collector {
    seen: Option<(f32, f32)>,
    histogram: Option<Histogram>,
}

impl Collector {
    /// A collector that has seen no values.
    pub fn new(mode: CalibMode) -> Self {
        Self { seen: None, histogram: (mode == CalibMode::Entropy).then(Histogram::default) }
    }

    /// Adds the values of one batch.
    ///
    /// # Errors
    /// Returns the first value that is not finite.
    pub fn add(&mut self, values: &[f32]) -> Result<(), f32> {
        let Some(&first) = values.first() else { return Ok(()) };
        let (mut min, mut max) = (first, first);
        for &value in values {
            if !value.is_finite() {
                return Err(value);
            }
            min = min.min(value);
            max = max.max(value);
        }
        if let Some(histogram) = &mut self.histogram {
            histogram.add(values, f64::from(min.abs().max(max.abs())));
        }
        self.seen = Some(self.seen.map_or((min, max), |seen| (seen.0.min(min), seen.1.max(max))));
        Ok(())
    }

    /// Returns the range for quantization; `None` if there were no values. The range is that of uint8 only if no value is
    /// negative. `check_interrupt` is called many times.
    ///
    /// # Errors
    /// Returns the error of `check_interrupt`.
    pub fn finish(
        self,
        dtype: QuantizedDType,
        check_interrupt: &mut dyn FnMut() -> Result<()>,
    ) -> Result<Option<Calibrated>> {
        let Some((seen_min, seen_max)) = self.seen else { return Ok(None) };
        let Some(histogram) = self.histogram else {
            let range = Range { min: seen_min, max: seen_max };
            return Ok(Some(Calibrated { range, seen_min, seen_max, divergence: None }));
        };
        let is_unsigned = seen_min >= 0.0 && dtype != QuantizedDType::Int8;
        let n_quantized = if is_unsigned { N_UNSIGNED } else { N_SIGNED };
        let Some((threshold, divergence)) = best_threshold(&histogram, n_quantized, check_interrupt)? else {
            return Ok(None);
        };
        // The last bin may end beyond the largest float32.
        let threshold = threshold.min(f32::MAX.into()) as f32;
        let range = Range { min: if is_unsigned { 0.0 } else { -threshold }, max: threshold };
        let divergence = divergence.is_finite().then_some(divergence as f32);
        Ok(Some(Calibrated { range, seen_min, seen_max, divergence }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(mode: CalibMode, dtype: QuantizedDType, batches: &[&[f32]]) -> Option<Calibrated> {
        let mut collector = Collector::new(mode);
        batches.iter().for_each(|batch| collector.add(batch).unwrap());
        collector.finish(dtype, &mut || Ok(())).unwrap()
    }

    #[test]
    fn naive_is_least_and_greatest() {
        let range = |batches: &[&[f32]]| found(CalibMode::Naive, QuantizedDType::Auto, batches).unwrap().range;
        assert_eq!(range(&[&[1.0, 2.0], &[-3.0], &[]]), Range { min: -3.0, max: 2.0 });
        assert_eq!(range(&[&[1.0, 2.0]]), Range { min: 1.0, max: 2.0 });
        assert_eq!(found(CalibMode::Naive, QuantizedDType::Auto, &[&[]]), None);
    }

    #[test]
    fn entropy_is_symmetric_unless_nothing_is_negative() {
        let ramp: Vec<f32> = (0..20_000).map(|i| i as f32 / 20_000.0).collect();
        let range = |dtype| found(CalibMode::Entropy, dtype, &[&ramp]).unwrap().range;
        assert_eq!(range(QuantizedDType::Auto).min, 0.0);
        assert_eq!(range(QuantizedDType::UInt8).min, 0.0);
        let signed = range(QuantizedDType::Int8);
        assert_eq!(signed.min, -signed.max);
        let negative: Vec<f32> = ramp.iter().map(|v| v - 0.5).collect();
        let both = found(CalibMode::Entropy, QuantizedDType::Auto, &[&negative]).unwrap();
        assert_eq!(both.range.min, -both.range.max);
        assert_eq!((both.seen_min, both.seen_max), (-0.5, negative[19_999]));
    }

    /// If one value of 100 000 is an outlier and all others are near 0, the range of entropy calibration excludes the
    /// outlier.
    #[test]
    fn entropy_cuts_off_outliers() {
        let mut values: Vec<f32> = (0..99_999).map(|i| ((i % 2001) as f32 - 1000.0) / 1000.0).collect();
        values.push(50.0);
        let range = found(CalibMode::Entropy, QuantizedDType::Auto, &[&values]).unwrap().range;
        assert!(range.max < 10.0, "{range:?}");
        assert_eq!(found(CalibMode::Naive, QuantizedDType::Auto, &[&values]).unwrap().range.max, 50.0);
    }

    #[test]
    fn what_is_not_finite_is_an_error() {
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert!(Collector::new(CalibMode::Entropy).add(&[0.0, bad]).is_err());
        }
    }
}
