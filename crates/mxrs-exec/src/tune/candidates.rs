//! The candidates of a search: kernels, with the time of the copies that their layouts make necessary.
//!
//! If an algorithm cannot read its data in the layout in which they arrive, the time of a copy is added to its own time.
//! Later layers will probably read the output layout of the estimated choice. If the output of an algorithm has another
//! layout, the time of a copy to that layout is added too.

use super::bench::Timer;
use crate::choose::choose_reorder;
use mxrs_op::{Backend, OpCall, PlannedKernel, TensorDesc};
use mxrs_sync::Team;
use mxrs_types::Layout;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// Number of timed runs of each copy.
const COPY_RUNS: usize = 3;

/// One kernel to be timed.
pub struct Candidate {
    /// The backend that has the kernel.
    pub backend: Arc<dyn Backend>,
    /// Name of the backend's algorithm.
    pub algorithm: String,
    /// The kernel.
    pub planned: PlannedKernel,
    /// Time of the copies between layouts that the kernel makes necessary.
    pub copies: Duration,
    /// Time of the shortest run, without the copies; `None` before the first run.
    pub time: Option<Duration>,
}

impl Candidate {
    /// Time of the shortest run together with the copies.
    pub fn total(&self) -> Duration {
        self.time.map_or(Duration::MAX, |time| time + self.copies)
    }
}

/// Prepares the candidates and times the copies that they make necessary. Candidates that cannot run are left out.
pub fn prepared(
    bench: &mut dyn Timer,
    backends: &[Arc<dyn Backend>],
    call: &OpCall<'_>,
    team: &Team,
    names: Vec<(Arc<dyn Backend>, String)>,
) -> Vec<Candidate> {
    let mut copies = Copies { backends, team, known: HashMap::new() };
    let mut usual: Option<Vec<Layout>> = None;
    let mut all = Vec::with_capacity(names.len());
    for (backend, algorithm) in names {
        let planned = match backend.plan_algorithm(call, &algorithm) {
            Ok(planned) => planned,
            Err(error) => {
                tracing::debug!(op = call.op.name, algorithm, %error, "a algorithm on trial could not be prepared");
                continue;
            }
        };
        let usual = usual.get_or_insert_with(|| planned.output_layouts.clone());
        let inputs = call.inputs.iter().zip(&planned.input_layouts).zip(call.is_constant);
        let inputs = inputs.filter(|(_, is_constant)| !**is_constant).map(|((desc, to), _)| (desc.clone(), to.clone()));
        let outputs = call.outputs.iter().zip(&planned.output_layouts).zip(usual.iter());
        let outputs = outputs.map(|((desc, from), to)| (desc.with_layout(from.clone()), to.clone()));
        let changes: Vec<(TensorDesc, Layout)> = inputs.chain(outputs).collect();
        let cost = changes.into_iter().map(|(from, to)| copies.time(bench, &from, to)).sum::<Option<Duration>>();
        if let Some(copies) = cost {
            all.push(Candidate { backend, algorithm, planned, copies, time: None });
        }
    }
    all
}

/// Times of copies between layouts.
struct Copies<'a> {
    backends: &'a [Arc<dyn Backend>],
    team: &'a Team,
    known: HashMap<(TensorDesc, Layout), Option<Duration>>,
}

impl Copies<'_> {
    /// Time of the copy; `None` if no backend can make it.
    fn time(&mut self, bench: &mut dyn Timer, from: &TensorDesc, to: Layout) -> Option<Duration> {
        if from.layout == to {
            return Some(Duration::ZERO);
        }
        let key = (from.clone(), to.clone());
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let to = from.with_layout(to);
        let timed = choose_reorder(self.backends, from, &to).and_then(|(_, kernel)| {
            let mut best = Duration::MAX;
            for _ in 0..COPY_RUNS {
                best = best.min(bench.time_copy(from, &to, &kernel, self.team)?);
            }
            Ok(best)
        });
        self.known.insert(key, timed.as_ref().ok().copied());
        timed.ok()
    }
}
