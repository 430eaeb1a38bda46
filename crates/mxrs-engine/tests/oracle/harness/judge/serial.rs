//! The serial interpreter: what each task must have read and which failure each variable carries (rules E4, E5, E12 and E15
//! of [`mxrs_engine::var`]), and therefore what each wait may have returned (E12, E13).

use super::super::is_refusal;
use super::super::program::Wait;
use super::super::world::{Answer, WaitNote, World, mix};
use super::{Judge, Taint, Telling};
use mxrs_engine::Property;
use std::collections::BTreeSet;

impl Judge<'_> {
    /// Executes the acts (accepted tasks and deletions) in the order `order`. Checks E4: each act read the values that
    /// the interpreter computes. Checks E12 and E15: each act ran if and only if the failures allow it. Returns the
    /// history of each variable, in which entry k is the state after its k-th writer.
    pub(super) fn interpret(&mut self, order: &[usize], world: &World) -> Vec<History> {
        let n_vars = self.program.n_vars;
        let mut values = vec![0_u64; n_vars];
        // For each variable, the time at which its last writer ended, and the time at which the last act that uses it
        // ended.
        let mut ends = vec![(0_u64, 0_u64); n_vars];
        let mut histories: Vec<History> = (0..n_vars).map(|_| History::new()).collect();
        for id in order {
            let act = &self.acts[id];
            let all: Vec<usize> = act.reads.iter().chain(&act.writes).copied().collect();
            // A task checks for failures once the last act that it has to wait for has ended.
            let waits_for = act.reads.iter().map(|v| ends[*v].0).chain(act.writes.iter().map(|v| ends[*v].1));
            let from = waits_for.fold(act.push.0, u64::max);
            let class = |vars: &BTreeSet<usize>| self.inherited(vars, &histories, from, act.span.0);
            let ((reads, reads_clean), (writes, writes_clean)) = (class(&act.reads), class(&act.writes));
            let mut possible = reads;
            if reads_clean {
                possible.extend(writes);
            }
            let clean = reads_clean && writes_clean;
            let mut wrong = Vec::new();
            let property = act.task.map_or(Property::DeleteVar, |task| task.property);
            let outcome: Taint = if act.failed() {
                Taint::from([Some(*id)])
            } else if act.skipped() {
                possible.iter().map(|failure| Some(*failure)).collect()
            } else if property == Property::NoSkip {
                Taint::from([act.note.inherited])
            } else {
                Taint::from([None])
            };
            if act.skipped() && property == Property::NoSkip {
                wrong.push(format!("E15: the NoSkip t{id} is skipped"));
            } else if act.skipped() && possible.is_empty() {
                wrong.push(format!("E12: t{id} is skipped, though no input carries a failure"));
            }
            match (property, act.note.inherited) {
                (Property::DeleteVar, _) => {}
                (Property::NoSkip, Some(failure)) if !possible.contains(&failure) => {
                    wrong.push(format!("E15: t{id} sees the failure of t{failure}, not of any of {possible:?}"));
                }
                (Property::NoSkip, Some(_)) => {}
                _ if !act.skipped() && !clean => {
                    wrong.push(format!("E12: t{id} runs, though its inputs carry the failure of one of {possible:?}"));
                }
                _ => {}
            }
            self.certain &= possible.len() + usize::from(clean) == 1 || property == Property::DeleteVar;
            if act.task.is_some() && !act.skipped() {
                let expected: Vec<u64> = all.iter().map(|var| values[*var]).collect();
                if act.note.seen != expected {
                    wrong.push(format!("E4: t{id} found {:x?} in {all:?} instead of {expected:x?}", act.note.seen));
                }
                if !act.failed() {
                    act.writes.iter().for_each(|var| values[*var] = mix(*id, *var, &act.note.seen));
                }
            }
            for var in &all {
                ends[*var].1 = ends[*var].1.max(act.span.1);
            }
            for var in &act.writes {
                ends[*var].0 = act.span.1;
                histories[*var].states.push(State {
                    writer: Some(*id),
                    begin: act.span.0,
                    pushed: act.push.1,
                    taint: outcome.clone(),
                });
            }
            self.wrong.extend(wrong);
        }
        for var in 0..n_vars {
            if world.value(var) != values[var] {
                self.blame(format!("E4: variable {var} ends as {:x}, not {:x}", world.value(var), values[var]));
            }
            let n_writes = histories[var].states.len() as u64 - 1;
            let version = world.vars[var].version();
            // E16: all writes of one bulk count as one.
            let allowed = if self.program.bulks() { n_writes.min(1)..=n_writes } else { n_writes..=n_writes };
            if !self.deletes(var) && !allowed.contains(&version) {
                self.blame(format!("E5: variable {var} is at version {version} after {n_writes} writes"));
            }
        }
        histories
    }

    fn deletes(&self, var: usize) -> bool {
        self.acts.values().any(|act| act.task.is_none() && act.writes.contains(&var))
    }

    /// The failures that a task may find if it checks these variables between the times `from` and `to`, and whether it may
    /// find none.
    fn inherited(&self, vars: &BTreeSet<usize>, histories: &[History], from: u64, to: u64) -> (BTreeSet<usize>, bool) {
        let (mut possible, mut clean) = (BTreeSet::new(), true);
        for var in vars {
            let taint = histories[*var].last();
            possible.extend(taint.iter().flatten().filter(|failure| !self.surely_told(**failure, from)));
            clean &= taint.iter().any(|t| t.is_none_or(|failure| self.maybe_told(failure, to, None)));
        }
        (possible, clean)
    }

    /// Whether a failure was reported before the time `by` in every interleaving.
    fn surely_told(&self, failure: usize, by: u64) -> bool {
        self.tellings.iter().any(|telling| match telling {
            Telling::One { failure: told, during } => *told == failure && during.1 < by,
            Telling::All { during } => during.1 < by && self.pending_or_done(&self.acts[&failure], during.0),
        })
    }

    /// Whether a failure was reported before the time `by` in some interleaving, not counting the call that began at
    /// `except`.
    fn maybe_told(&self, failure: usize, by: u64, except: Option<u64>) -> bool {
        self.tellings.iter().any(|telling| match telling {
            Telling::One { failure: told, during } => *told == failure && during.0 < by && Some(during.0) != except,
            Telling::All { during } => {
                during.0 < by && self.acts[&failure].span.1 < during.1 && Some(during.0) != except
            }
        })
    }

    /// Checks E12 and E13 for each wait. If it returned a failure, there must be an interleaving of the tasks in which its
    /// variable carried that failure. If it succeeded, there must be one in which its variable carried no failure, or one
    /// that had been reported before.
    pub(super) fn answers(&mut self, waits: &[WaitNote], histories: &[History]) {
        let mut wrong = Vec::new();
        for note in waits.iter().filter(|note| !is_refusal(&note.answer)) {
            let (begin, end) = note.span;
            let name = format!("wait {:?} at {:?}", note.wait, note.span);
            let carried: Taint = match note.wait {
                Wait::Read(var) | Wait::Write(var) => {
                    histories[var].between(if self.hides_pushes() { 0 } else { begin }, end)
                }
                Wait::All => {
                    // The wait may return any failure so far. It must not succeed if some failure certainly happened
                    // before the wait and was certainly not reported by another call.
                    let failed = self.acts.values().filter(|act| act.failed() && act.span.1 < end);
                    let possible: BTreeSet<usize> = failed.map(|act| act.id).collect();
                    let is_due = |id: &usize| {
                        self.pending_or_done(&self.acts[id], begin) && !self.maybe_told(*id, end, Some(begin))
                    };
                    let due = possible.iter().any(is_due);
                    let mut carried: Taint = possible.into_iter().map(Some).collect();
                    if !due {
                        carried.insert(None);
                    }
                    carried
                }
            };
            match note.answer {
                Answer::Reported(failure) => {
                    if !carried.contains(&Some(failure)) || self.surely_told(failure, begin) {
                        wrong.push(format!("E12: {name} reports the failure of t{failure}, not one of {carried:?}"));
                    }
                }
                _ => {
                    let silent = |failure: usize| self.maybe_told(failure, end, Some(begin));
                    if !carried.iter().any(|taint| taint.is_none_or(silent)) {
                        wrong.push(format!("E13: {name} does not report the failures {carried:?}"));
                    }
                }
            }
        }
        self.wrong.extend(wrong);
    }
}

/// The failures that a variable may have carried after each of its writers, in the order of the writers.
pub(super) struct History {
    states: Vec<State>,
}

struct State {
    /// The id of the writer; `None` in the state before the first writer.
    writer: Option<usize>,
    begin: u64,
    pushed: u64,
    taint: Taint,
}

impl History {
    fn new() -> Self {
        Self { states: vec![State { writer: None, begin: 0, pushed: 0, taint: Taint::from([None]) }] }
    }

    fn last(&self) -> &Taint {
        // The state before the first writer always exists.
        &self.states[self.states.len() - 1].taint
    }

    /// Everything that the variable may carry during a wait from `begin` to `end`. The wait covers all writes pushed
    /// before it, and may also see later ones.
    fn between(&self, begin: u64, end: u64) -> Taint {
        let first = self.states.iter().rposition(|s| s.writer.is_none() || s.pushed < begin).unwrap_or(0);
        let seen = self.states[first..].iter().enumerate().filter(|(at, s)| *at == 0 || s.begin < end);
        seen.flat_map(|(_, s)| s.taint.iter().copied()).collect()
    }
}
