//! A summary of the numbers of a result, by which the results of libraries are compared.

use serde_json::{Value, json};

/// The largest difference of two means, as a fraction of the mean absolute value.
const TOLERANCE: f64 = 5e-3;
/// A difference that is always allowed: many gradients are zero but for rounding.
const ROUNDING: f64 = 1e-5;

/// How many numbers there are, and means of those that are finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Number of elements.
    pub n: usize,
    /// Their mean.
    pub mean: f64,
    /// The mean of their absolute values.
    pub size: f64,
}

impl Sample {
    /// Summarizes these numbers.
    pub fn of(numbers: &[f64]) -> Self {
        let finite = || numbers.iter().copied().filter(|number| number.is_finite());
        let n_finite = finite().count().max(1) as f64;
        let size = finite().map(f64::abs).sum::<f64>() / n_finite;
        Self { n: numbers.len(), mean: finite().sum::<f64>() / n_finite, size }
    }

    /// The summary as an array of JSON.
    pub fn to_json(self) -> Value {
        json!([self.n, self.mean, self.size])
    }

    /// Reads a summary; `None` if the value is not one.
    pub fn from_json(value: &Value) -> Option<Self> {
        Some(Self { n: value[0].as_u64()? as usize, mean: value[1].as_f64()?, size: value[2].as_f64()? })
    }

    /// Whether two results may be the same, up to rounding.
    pub fn agrees_with(&self, other: &Self) -> bool {
        let tolerance = TOLERANCE * self.size.max(other.size) + ROUNDING;
        let is_close = |a: f64, b: f64| (a - b).abs() <= tolerance;
        self.n == other.n && is_close(self.mean, other.mean) && is_close(self.size, other.size)
    }
}

impl std::fmt::Display for Sample {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} numbers with mean {:.3e} and mean size {:.3e}", self.n, self.mean, self.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_not_finite_only_count() {
        let sample = Sample::of(&[1.0, -3.0, f64::NAN, f64::INFINITY]);
        assert_eq!(sample, Sample { n: 4, mean: -1.0, size: 2.0 });
        assert_eq!(Sample::of(&[]), Sample { n: 0, mean: 0.0, size: 0.0 });
    }

    #[test]
    fn results_agree_up_to_rounding() {
        let sample = Sample { n: 3, mean: 0.0, size: 2.0 };
        assert!(sample.agrees_with(&Sample { mean: 1e-3, ..sample }));
        assert!(!sample.agrees_with(&Sample { n: 4, ..sample }));
        assert!(!sample.agrees_with(&Sample { mean: 0.1, ..sample }));
        assert!(!sample.agrees_with(&Sample { size: 2.1, ..sample }));
    }

    #[test]
    fn json_keeps_a_sample() {
        let sample = Sample { n: 3, mean: -0.5, size: 2.0 };
        assert_eq!(Sample::from_json(&sample.to_json()), Some(sample));
        for wrong in [Value::Null, json!([1, 2]), json!(["1", 2, 3])] {
            assert_eq!(Sample::from_json(&wrong), None, "{wrong}");
        }
    }
}
