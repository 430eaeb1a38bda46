//! Vector clocks: how far into each agent's actions something is ordered after.

use mxrs_types::StreamId;
use std::collections::BTreeMap;

/// Who acts: a stream, or the host, whose threads count as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Agent {
    Host,
    Stream(StreamId),
}

/// For each agent the number of its actions that came before; those it does not list, none.
///
/// Mattern, "Virtual Time and Global States of Distributed Systems", 1989.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Clock(BTreeMap<Agent, u64>);

impl Clock {
    /// How many actions of the agent came before.
    pub(super) fn of(&self, agent: Agent) -> u64 {
        self.0.get(&agent).copied().unwrap_or(0)
    }

    /// What came before either came before this.
    pub(super) fn join(&mut self, other: &Self) {
        for (&agent, &tick) in &other.0 {
            let mine = self.0.entry(agent).or_insert(0);
            *mine = tick.max(*mine);
        }
    }

    /// One more action of the agent; its number, from 1.
    pub(super) fn tick(&mut self, agent: Agent) -> u64 {
        let tick = self.0.entry(agent).or_insert(0);
        *tick += 1;
        *tick
    }
}
