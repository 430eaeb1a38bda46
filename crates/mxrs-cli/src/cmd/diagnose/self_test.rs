//! The self-test: compares every operator on every backend with its reference kernel.

use super::Section;
use crate::exit::Outcome;
use crate::{interrupt, terminal};
use mxrs::Runtime;
use mxrs_testkit::conformance;

/// The section of the self-test, and the number of cases that differ.
///
/// # Errors
/// Returns an error if the command is interrupted.
pub fn section(runtime: &Runtime) -> Outcome<(Section, usize)> {
    let mut section = Section::new("----------Self Test----------", "self_test");
    let mut n_failed = 0;
    for loaded in &runtime.backends().loaded {
        let backend = &*loaded.backend;
        let bar = terminal::progress(Some(runtime.ops().len() as u64), "operators", true);
        let mut report = conformance::Report::default();
        for op in runtime.ops().iter() {
            interrupt::check()?;
            report.extend(conformance::run(backend, op, runtime.team()));
            bar.inc(1);
        }
        bar.finish_and_clear();
        let (passed, failed, skipped) = (report.passed.len(), report.failed.len(), report.skipped.len());
        section.add(backend.name(), format!("{passed} agree, {failed} differ, {skipped} not supported"));
        for (case, what) in &report.failed {
            section.add(&format!("{} {case}", backend.name()), what.as_str());
        }
        n_failed += failed;
    }
    Ok((section, n_failed))
}
