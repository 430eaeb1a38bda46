//! Vector clocks: for each agent (a stream or the host), how many of its actions precede a point of the execution.

use mxrs_types::StreamId;
use std::collections::BTreeMap;

/// An actor: a stream, or the host, whose threads count as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Agent {
    Host,
    Stream(StreamId),
}

/// For each agent, the number of its actions that precede a point of the execution; agents not listed have 0.
///
/// Mattern, "Virtual Time and Global States of Distributed Systems", 1989.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Clock(BTreeMap<Agent, u64>);

impl Clock {
    /// The number of the agent's actions that precede this point.
    pub(crate) fn of(&self, agent: Agent) -> u64 {
        self.0.get(&agent).copied().unwrap_or(0)
    }

    /// Adds all actions that precede the point of the clock `other`.
    pub(crate) fn join(&mut self, other: &Self) {
        for (&agent, &tick) in &other.0 {
            let mine = self.0.entry(agent).or_insert(0);
            *mine = tick.max(*mine);
        }
    }

    /// Adds one action of the agent and returns its number, starting at 1.
    pub(crate) fn tick(&mut self, agent: Agent) -> u64 {
        let tick = self.0.entry(agent).or_insert(0);
        *tick += 1;
        *tick
    }
}
