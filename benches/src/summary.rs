//! Summarizes repeated measurements, and ratios of measurements from the same rounds.

/// Median, quartiles and extremes of repeated measurements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Middle value.
    pub median: f64,
    /// Lower quartile.
    pub q1: f64,
    /// Upper quartile.
    pub q3: f64,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Number of values.
    pub n: usize,
}

impl Summary {
    /// Summarizes these values; `None` if the list is empty or a value is not a number.
    ///
    /// ```
    /// let s = mxrs_benches::summary::Summary::of(&[3.0, 1.0, 2.0]).unwrap();
    /// assert_eq!((s.min, s.median, s.max), (1.0, 2.0, 3.0));
    /// ```
    pub fn of(values: &[f64]) -> Option<Self> {
        if values.is_empty() || values.iter().any(|value| value.is_nan()) {
            return None;
        }
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |share: f64| quantile(&sorted, share);
        Some(Self { median: at(0.5), q1: at(0.25), q3: at(0.75), min: at(0.0), max: at(1.0), n: sorted.len() })
    }

    /// Summarizes the ratios `ours[i] / theirs[i]`. Both values were measured in round `i`, so what slows the machine down
    /// cancels out. Rounds that one list lacks are ignored.
    pub fn of_ratios(ours: &[f64], theirs: &[f64]) -> Option<Self> {
        let ratios: Vec<f64> = ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs).collect();
        Self::of(&ratios)
    }

    /// Half the distance between the quartiles, in percent of the median.
    pub fn spread_percent(&self) -> f64 {
        if self.median == 0.0 { 0.0 } else { (self.q3 - self.q1) / 2.0 / self.median.abs() * 100.0 }
    }
}

/// The value below which the fraction `share` (0 to 1) of the sorted values lies, interpolated linearly; 0 for an empty
/// list.
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    let place = share.clamp(0.0, 1.0) * last as f64;
    let (low, high) = (place.floor() as usize, place.ceil() as usize);
    sorted[low] + (sorted[high] - sorted[low]) * (place - low as f64)
}

/// The geometric mean; `None` for an empty list.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    let n = values.len();
    (n > 0).then(|| (values.iter().map(|value| value.ln()).sum::<f64>() / n as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_of_measurement_does_not_matter() {
        let s = Summary::of(&[5.0, 1.0, 4.0, 2.0, 3.0]).unwrap();
        assert_eq!(s, Summary { median: 3.0, q1: 2.0, q3: 4.0, min: 1.0, max: 5.0, n: 5 });
        assert!((s.spread_percent() - 100.0 / 3.0).abs() < 1e-9);
        assert_eq!(Summary::of(&[1.0, 2.0]).unwrap().median, 1.5);
        assert_eq!(Summary::of(&[7.0]).unwrap().spread_percent(), 0.0);
    }

    #[test]
    fn nothing_measured_is_no_summary() {
        assert_eq!(Summary::of(&[]), None);
        assert_eq!(Summary::of(&[1.0, f64::NAN]), None);
    }

    #[test]
    fn a_slow_spell_that_strikes_both_leaves_the_ratio_alone() {
        let theirs = [1.0, 1.0, 0.1, 0.1, 1.0];
        let ours = theirs.map(|speed| speed * 2.5);
        let ratio = Summary::of_ratios(&ours, &theirs).unwrap();
        assert!((ratio.median - 2.5).abs() < 1e-12 && ratio.spread_percent() < 1e-9, "{ratio:?}");
        assert_eq!(Summary::of_ratios(&ours, &theirs[..2]).unwrap().n, 2);
    }
}
