//! The result of a conformance run.

use mxrs_types::DType;
use std::fmt;

/// One sample with one element type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Case {
    /// The operator.
    pub op: &'static str,
    /// The sample of the operator.
    pub sample: &'static str,
    /// The element type of the first input, or of the output if there are no inputs.
    pub dtype: DType,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.op, self.sample, self.dtype)
    }
}

/// A case that is known to differ from the reference. It must fail as long as it is listed.
#[derive(Clone, Copy, Debug)]
pub struct ExpectedFailure {
    /// The operator.
    pub op: &'static str,
    /// The sample of the operator.
    pub sample: &'static str,
    /// The element type; `None` for every type.
    pub dtype: Option<DType>,
    /// Why the result differs and why that is accepted.
    pub reason: &'static str,
}

impl ExpectedFailure {
    /// Whether the expected failure applies to this case.
    pub fn is_about(&self, case: &Case) -> bool {
        self.op == case.op && self.sample == case.sample && self.dtype.is_none_or(|d| d == case.dtype)
    }
}

/// The result of running one operator on one backend.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Cases that agree with the reference, with the name of the kernel that ran.
    pub passed: Vec<(Case, String)>,
    /// Cases that the backend does not support, with its reason.
    pub skipped: Vec<(Case, String)>,
    /// Cases that differ or fail, with a description.
    pub failed: Vec<(Case, String)>,
}

impl Report {
    /// The number of cases whose numbers were compared and agree.
    pub fn n_compared(&self) -> usize {
        self.passed.len()
    }

    /// Adds another report, for example of another operator.
    pub fn extend(&mut self, other: Self) {
        self.passed.extend(other.passed);
        self.skipped.extend(other.skipped);
        self.failed.extend(other.failed);
    }

    /// Asserts that no case failed.
    ///
    /// # Panics
    /// Panics with the whole list if [`Self::failed`] is not empty.
    pub fn assert_ok(&self) {
        assert!(self.failed.is_empty(), "{self}");
    }

    /// Like [`Self::assert_ok`], except that the listed cases must fail: a listed case that passes is an error too.
    ///
    /// # Panics
    /// Panics if a case fails that is not listed, or if a listed case passes.
    pub fn assert_ok_except(&self, expected: &[ExpectedFailure]) {
        let surprises: Vec<String> = self
            .failed
            .iter()
            .filter(|(case, _)| !expected.iter().any(|e| e.is_about(case)))
            .map(|(case, what)| format!("{case}: {what}"))
            .chain(self.passed.iter().filter_map(|(case, _)| {
                let listed = expected.iter().find(|e| e.is_about(case) && e.dtype.is_some())?;
                Some(format!("{case}: passes now; take it off the list ({})", listed.reason))
            }))
            .chain(expected.iter().filter(|e| e.dtype.is_none()).filter_map(|e| {
                let ran = self.passed.iter().any(|(case, _)| e.is_about(case));
                let fails = self.failed.iter().any(|(case, _)| e.is_about(case));
                (ran && !fails)
                    .then(|| format!("{}/{}: passes now; take it off the list ({})", e.op, e.sample, e.reason))
            }))
            .collect();
        assert!(surprises.is_empty(), "{} surprises:\n{}", surprises.len(), surprises.join("\n"));
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} agree, {} skipped, {} failed", self.passed.len(), self.skipped.len(), self.failed.len())?;
        for (case, what) in &self.failed {
            write!(f, "\nfailed {case}: {what}")?;
        }
        for (case, reason) in &self.skipped {
            write!(f, "\nskipped {case}: {reason}")?;
        }
        Ok(())
    }
}
