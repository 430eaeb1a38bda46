//! Compares dependency engines on operators with empty bodies, so that only the engine is measured.
//!
//! A [`Load`] is a list of operators, each with the variables that it reads and writes; the list is repeated. A [`Peer`] is
//! an engine that the operators are pushed to. One round pushes a number of operators from one or two threads and waits
//! until all have run; its result is operators per second, the wait included.
//!
//! Read next: [`load`] for the operators, [`ours`] and [`mxnet`] for two engines, [`crew`] for one round.

pub mod crew;
pub mod dag;
pub mod load;
pub mod mxnet;
pub mod ours;
pub mod unnamed;

pub use crew::{Crew, with_crew};
pub use load::{Load, Operator};

use anyhow::Result;

/// Whether several pushing threads use the same variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Each thread has variables of its own.
    Disjoint,
    /// All threads use the same variables; each thread starts at another operator of the load.
    Crossing,
}

/// A load and the threads that push it.
#[derive(Clone, Copy, Debug)]
pub struct Assignment<'a> {
    /// The operators to push.
    pub load: &'a Load,
    /// Number of pushing threads.
    pub n_threads: usize,
    /// Whether the threads share variables.
    pub sharing: Sharing,
}

impl Assignment<'_> {
    /// Total number of variables.
    pub fn n_vars(&self) -> usize {
        match self.sharing {
            Sharing::Disjoint => self.load.n_vars() * self.n_threads,
            Sharing::Crossing => self.load.n_vars(),
        }
    }

    /// The lane of each thread: the operators that the thread pushes in turn, with the numbers of the variables that
    /// this thread uses.
    pub fn lanes(&self) -> Vec<Vec<Operator>> {
        let lane = |thread: usize| {
            let mut operators = self.load.operators().to_vec();
            match self.sharing {
                Sharing::Disjoint => {
                    let first = (thread * self.load.n_vars()) as u32;
                    operators.iter_mut().for_each(|op| op.shift(first));
                }
                Sharing::Crossing => {
                    let start = thread * operators.len() / self.n_threads;
                    operators.rotate_left(start);
                }
            }
            operators
        };
        (0..self.n_threads).map(lane).collect()
    }
}

/// An engine under comparison.
pub trait Peer: Sync {
    /// Name of the engine in the report's table.
    fn name(&self) -> &str;

    /// Creates the variables of an assignment, so that [`Peer::push`] only pushes. Must be called while no operator is
    /// pending.
    ///
    /// # Errors
    /// Fails if the engine cannot create a variable.
    fn prepare(&mut self, assignment: &Assignment<'_>) -> Result<()>;

    /// Pushes `n` operators of lane number `lane` (see [`Assignment::lanes`]), repeating the lane from its start as
    /// often as needed. Called on the pushing thread.
    ///
    /// # Errors
    /// Fails if the engine refuses an operator.
    fn push(&self, lane: usize, n: usize) -> Result<()>;

    /// Waits until all pushed operators have run.
    ///
    /// # Errors
    /// Fails if an operator failed.
    fn wait(&self) -> Result<()>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disjoint_lanes_share_nothing_and_crossing_lanes_everything() {
        let load = Load::fan(16);
        let of = |sharing| Assignment { load: &load, n_threads: 2, sharing };
        let vars = |lane: &[Operator]| -> std::collections::BTreeSet<u32> {
            lane.iter().flat_map(|op| op.reads.iter().chain(&op.writes).copied()).collect()
        };
        let disjoint = of(Sharing::Disjoint);
        let lanes = disjoint.lanes();
        assert!(vars(&lanes[0]).is_disjoint(&vars(&lanes[1])));
        let largest = lanes.iter().flat_map(|lane| vars(lane)).max().unwrap();
        assert_eq!(largest as usize + 1, disjoint.n_vars());
        let crossing = of(Sharing::Crossing);
        let lanes = crossing.lanes();
        assert_eq!(vars(&lanes[0]), vars(&lanes[1]));
        assert_ne!(lanes[0], lanes[1], "the second thread starts elsewhere");
        assert_eq!(crossing.n_vars(), load.n_vars());
    }
}
