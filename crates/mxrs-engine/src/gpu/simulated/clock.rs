//! Vector clocks: for each agent, how many of its actions precede a point.

use mxrs_types::StreamId;
use std::collections::BTreeMap;

/// An actor: a stream, or the host, whose threads count as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Agent {
    Host,
    Stream(StreamId),
}

/// For each agent, the number of its actions that precede a point; agents not listed have 0.
///
/// Mattern, "Virtual Time and Global States of Distributed Systems", 1989.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Clock(BTreeMap<Agent, u64>);

impl Clock {
    /// The number of the agent's actions that precede this point.
    pub(super) fn of(&self, agent: Agent) -> u64 {
        self.0.get(&agent).copied().unwrap_or(0)
    }

    /// Adds everything that precedes the other point.
    pub(super) fn join(&mut self, other: &Self) {
        for (&agent, &tick) in &other.0 {
            let mine = self.0.entry(agent).or_insert(0);
            *mine = tick.max(*mine);
        }
    }

    /// Adds one action of the agent and returns its number, starting at 1.
    pub(super) fn tick(&mut self, agent: Agent) -> u64 {
        let tick = self.0.entry(agent).or_insert(0);
        *tick += 1;
        *tick
    }
}
