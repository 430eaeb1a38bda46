//! The results of checking gradients.

use std::fmt;

/// The result of checking one sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// The number of derivatives compared with differences.
    pub n_compared: usize,
    /// The number of elements skipped because the function has a kink or jump at their values.
    pub n_kinks: usize,
}

/// The result of checking one operator.
#[derive(Clone, Debug, Default)]
pub struct GradientReport {
    /// Operator and sample, with the number of comparisons.
    pub passed: Vec<(String, Checked)>,
    /// Operator and sample, with a description of the difference.
    pub failed: Vec<(String, String)>,
}

impl GradientReport {
    /// Adds the result of one sample.
    pub fn add(&mut self, op: &str, sample: &str, result: Result<Checked, String>) {
        let name = format!("{op}/{sample}");
        match result {
            Ok(checked) => self.passed.push((name, checked)),
            Err(what) => self.failed.push((name, what)),
        }
    }

    /// Adds another report.
    pub fn extend(&mut self, other: Self) {
        self.passed.extend(other.passed);
        self.failed.extend(other.failed);
    }

    /// The number of derivatives compared with differences, over all samples.
    pub fn n_compared(&self) -> usize {
        self.passed.iter().map(|(_, checked)| checked.n_compared).sum()
    }

    /// The number of elements skipped at kinks, over all samples.
    pub fn n_kinks(&self) -> usize {
        self.passed.iter().map(|(_, checked)| checked.n_kinks).sum()
    }

    /// Asserts that no sample failed.
    ///
    /// # Panics
    /// Panics with the whole list if [`Self::failed`] is not empty.
    pub fn assert_ok(&self) {
        assert!(self.failed.is_empty(), "{self}");
    }
}

impl fmt::Display for GradientReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} samples agree ({} derivatives, {} kinks left out), {} failed",
            self.passed.len(),
            self.n_compared(),
            self.n_kinks(),
            self.failed.len()
        )?;
        self.failed.iter().try_for_each(|(name, what)| write!(f, "\nfailed {name}: {what}"))
    }
}
