//! The conformance runner: compares every sample × dtype of an operator on a backend with the reference kernel.
//!
//! For each case that the backend has an offer for, the runner checks:
//!
//! - the numbers with request `Write`, on the given team and on one thread (visible outputs must be bit-equal);
//! - that `Null` leaves outputs unchanged;
//! - `Add` to existing values; a kernel that supports it must give the same bits as writing and then adding;
//! - `Inplace` for each pair of an input and an output that the operator declares, if the planned kernel allows it;
//! - images of the output with gaps between them, if the kernel supports that;
//! - that inputs are unchanged and nothing is written after the end of an output or of the scratch memory;
//! - all of these again with every input except the first declared constant, because an executor declares parameters
//!   constant.
//!
//! Inputs whose content the operator ignores have no memory. [`mxrs_op::Backend::reorder`] converts to and from layouts
//! other than row-major. Hidden outputs are internal to a kernel and are not compared.

mod apart;
mod once;
mod prepared;
mod report;
mod runner;

pub use apart::check_images_apart;
pub use once::run_once;
pub use prepared::Prepared;
pub use report::{Case, ExpectedFailure, Report};
pub use runner::Runner;

use mxrs_op::{Backend, OpDef, Sample};
use mxrs_sync::{Team, TeamConfig};
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Makes a team of threads for kernels under test.
///
/// # Panics
/// Panics if `n_threads` is 0 or the system refuses a thread.
pub fn team(n_threads: usize) -> Arc<Team> {
    let threads = NonZeroUsize::new(n_threads).expect("a positive number of threads");
    Team::new(TeamConfig { threads, cpus: None }).expect("threads can be started")
}

/// Runs every sample of `op` with each of its dtypes on `backend`. Samples for inference run in training mode too.
///
/// A wrong kernel does not cause a panic, but a failure in the [`Report`]. An operator without samples, or whose samples do
/// not run on the reference kernel, is also a failure.
pub fn run(backend: &dyn Backend, op: &OpDef, team: &Arc<Team>) -> Report {
    let mut report = Report::default();
    let samples = (op.samples)();
    let in_training = samples.iter().filter(|s| !s.is_train).map(|s| Sample { is_train: true, ..s.clone() });
    for sample in samples.iter().cloned().chain(in_training) {
        let fixed = sample.inputs.first().and_then(|i| i.dtype);
        // Without inputs, or if the first input has a fixed dtype, the dtypes of the operator make no difference, so only
        // one is tested.
        let dtypes = if sample.inputs.is_empty() || fixed.is_some() { &op.dtypes[..1] } else { op.dtypes };
        for &dtype in dtypes {
            match Prepared::new(op, &sample, dtype) {
                Ok(prepared) => run_case(backend, op, &prepared, team, &mut report),
                Err(e) => {
                    let case = Case { op: op.name, sample: sample.name, dtype };
                    report.failed.push((case, format!("cannot run the reference: {e}")));
                }
            }
        }
    }
    if samples.is_empty() && op.is_built() {
        let case = Case { op: op.name, sample: "(none)", dtype: op.dtypes.first().copied().unwrap_or_default() };
        report.failed.push((case, "the operator has no samples".into()));
    }
    report
}

fn run_case(backend: &dyn Backend, op: &OpDef, prepared: &Prepared, team: &Arc<Team>, report: &mut Report) {
    let n = prepared.inputs.len();
    let none_constant = vec![false; n];
    let parameters_constant: Vec<bool> = (0..n).map(|i| i > 0).collect();
    let mut variants = vec![("", none_constant)];
    if n > 1 {
        variants.push(("constant parameters: ", parameters_constant));
    }
    let mut kernel = None;
    for (what, is_constant) in &variants {
        if let Err(reason) = backend.offer(&prepared.call(op, is_constant)) {
            report.skipped.push((prepared.case.clone(), format!("{what}{reason}")));
            continue;
        }
        let result = Runner::new(backend, op, prepared, is_constant, team)
            .and_then(|runner| runner.check_all(team).map(|()| runner.kernel_name().to_string()));
        match result {
            Ok(name) => kernel = Some(name),
            Err(message) => {
                report.failed.push((prepared.case.clone(), format!("{what}{message}")));
                return;
            }
        }
    }
    if let Some(name) = kernel {
        report.passed.push((prepared.case.clone(), name));
    }
}

#[cfg(test)]
mod tests;
