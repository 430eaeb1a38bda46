//! What a check of gradients found.

use std::fmt;

/// What was checked on one sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Derivatives compared with differences.
    pub n_compared: usize,
    /// Elements left out because the function has a kink or jumps there.
    pub n_kinks: usize,
}

/// Result of checking one operator.
#[derive(Clone, Debug, Default)]
pub struct GradientReport {
    /// Operator and sample, and what was compared.
    pub passed: Vec<(String, Checked)>,
    /// Operator and sample, and what is wrong.
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

    /// Derivatives compared with differences, over all samples.
    pub fn n_compared(&self) -> usize {
        self.passed.iter().map(|(_, checked)| checked.n_compared).sum()
    }

    /// Elements left out at kinks, over all samples.
    pub fn n_kinks(&self) -> usize {
        self.passed.iter().map(|(_, checked)| checked.n_kinks).sum()
    }

    /// Panics with the whole list when a sample failed.
    ///
    /// # Panics
    /// When [`Self::failed`] is not empty; this is a test's assertion.
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
