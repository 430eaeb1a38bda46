//! Our engine, called through its public interface.

use super::{Assignment, Operator, Peer};
use anyhow::Result;
use mxrs_engine::{Engine, EngineConfig, Var};

/// Our engine with the documented defaults: one worker for `cpu(0)`.
pub struct Ours {
    engine: Engine,
    lanes: Vec<Vec<Bound>>,
}

/// An operator with its variables.
struct Bound {
    reads: Vec<Var>,
    writes: Vec<Var>,
}

impl Ours {
    /// Starts an engine.
    ///
    /// # Errors
    /// Fails if the system cannot start a thread.
    pub fn new() -> Result<Self> {
        Ok(Self { engine: Engine::new(EngineConfig::default())?, lanes: Vec::new() })
    }
}

impl Peer for Ours {
    fn name(&self) -> &str {
        "mxrs"
    }

    fn prepare(&mut self, assignment: &Assignment<'_>) -> Result<()> {
        let vars: Vec<Var> = (0..assignment.n_vars()).map(|_| self.engine.new_var()).collect();
        let of = |numbers: &[u32]| numbers.iter().map(|var| vars[*var as usize].clone()).collect();
        let bound = |op: &Operator| Bound { reads: of(&op.reads), writes: of(&op.writes) };
        self.lanes = assignment.lanes().iter().map(|lane| lane.iter().map(bound).collect()).collect();
        Ok(())
    }

    fn push(&self, lane: usize, n: usize) -> Result<()> {
        for op in self.lanes[lane].iter().cycle().take(n) {
            self.engine.task("empty").reads(&op.reads).writes(&op.writes).push(|_| Ok(()))?;
        }
        Ok(())
    }

    fn wait(&self) -> Result<()> {
        Ok(self.engine.wait_for_all()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Load, Sharing, with_crew};

    #[test]
    fn every_load_runs_to_its_end() {
        let load = Load::fan(16);
        for (n_threads, sharing) in [(1, Sharing::Disjoint), (2, Sharing::Disjoint), (2, Sharing::Crossing)] {
            let mut ours = Ours::new().unwrap();
            ours.prepare(&Assignment { load: &load, n_threads, sharing }).unwrap();
            let engine = ours.engine.clone();
            let peers: Vec<Box<dyn Peer>> = vec![Box::new(ours)];
            with_crew(&peers, n_threads, |crew| crew.round(0, 360).unwrap());
            let counters = engine.counters();
            assert_eq!((counters.pushed, counters.completed), (360, 360));
        }
    }
}
