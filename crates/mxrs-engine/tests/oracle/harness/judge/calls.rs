//! Judges the results of calls: failures (rule E13 of [`mxrs_engine::var`]), refusals (E11), and whether a wait ended only
//! after the tasks that it covers (E7).

use super::super::is_refusal;
use super::super::program::{Line, Wait};
use super::super::world::{Answer, Span, WaitNote, World};
use super::{Judge, Telling};
use mxrs_engine::EngineKind;
use std::collections::{BTreeMap, BTreeSet};

/// A call that uses variables: a push, a deletion or a wait.
struct Call {
    name: String,
    id: Option<usize>,
    vars: BTreeSet<usize>,
    span: Span,
    answer: Answer,
}

impl Judge<'_> {
    /// Collects which call reported which failure. Checks E13: each failure was reported at most once, and had
    /// happened. Under the naive engine, also checks that each push returned the error of its body.
    pub(super) fn gather_tellings(&mut self, waits: &[WaitNote]) {
        let naive = self.program.kind == EngineKind::Naive;
        let mut told: Vec<(usize, Span, String)> = Vec::new();
        let mut wrong = Vec::new();
        for act in self.acts.values() {
            let Some((_, answer)) = &act.note.push else { continue };
            let at_top = act.parent.is_none();
            match answer {
                Answer::Reported(failure) if naive => {
                    told.push((*failure, act.push, format!("the push of t{}", act.id)))
                }
                Answer::Reported(failure) => {
                    wrong.push(format!("the push of t{} reports the failure of t{failure}", act.id))
                }
                _ if naive && at_top && act.failed() => {
                    wrong.push(format!("the push of t{} hides its failure", act.id));
                }
                _ => {}
            }
            if naive && at_top && act.span.1 > act.push.1 {
                wrong.push(format!("t{} runs after its push has returned", act.id));
            }
        }
        for note in waits {
            if let Answer::Reported(failure) = note.answer {
                told.push((failure, note.span, format!("wait {:?} at {:?}", note.wait, note.span)));
            }
            if note.wait == Wait::All {
                self.tellings.push(Telling::All { during: note.span });
            }
        }
        let mut tellers = BTreeMap::new();
        for (failure, during, teller) in told {
            if !self.acts.get(&failure).is_some_and(|act| act.failed() && act.span.1 < during.1) {
                wrong.push(format!("{teller} reports a failure of t{failure} that did not happen"));
            }
            if let Some(first) = tellers.insert(failure, teller.clone()) {
                wrong.push(format!("E13: the failure of t{failure} is reported by {first} and by {teller}"));
            }
            self.tellings.push(Telling::One { failure, during });
        }
        self.wrong.extend(wrong);
    }

    /// Checks E11: the engine refused every use of a deleted variable, and no other use.
    pub(super) fn refusals(&mut self, world: &World, waits: &[WaitNote]) {
        let deletions: Vec<(usize, usize, Span)> = self
            .acts
            .values()
            .filter(|a| a.task.is_none())
            .flat_map(|a| a.writes.iter().map(|v| (a.id, *v, a.push)))
            .collect();
        let mut calls: Vec<Call> = Vec::new();
        self.program.visit(|line, _| {
            let (id, vars) = match line {
                Line::Push(task) => (task.id, &task.only_read() | &task.written()),
                Line::Delete { id, var } => (*id, BTreeSet::from([*var])),
                Line::Wait(_) | Line::Bulk(_) => return,
            };
            if let Some((span, answer)) = world.note(id).push.clone() {
                calls.push(Call { name: format!("t{id}"), id: Some(id), vars, span, answer });
            }
        });
        for note in waits {
            let vars = match note.wait {
                Wait::Read(var) | Wait::Write(var) => BTreeSet::from([var]),
                Wait::All => BTreeSet::new(),
            };
            let name = format!("wait {:?}", note.wait);
            calls.push(Call { name, id: None, vars, span: note.span, answer: note.answer.clone() });
        }
        for Call { name: call, id: own, vars, span, answer } in calls {
            let of_vars = || deletions.iter().filter(|(id, var, _)| Some(*id) != own && vars.contains(var));
            let refused = is_refusal(&answer);
            if refused && !of_vars().any(|(_, _, during)| during.0 < span.1) {
                self.blame(format!("{call} is refused, though no variable was deleted: {answer:?}"));
            }
            if let Some((id, var, _)) = of_vars().find(|(_, _, during)| !refused && during.1 < span.0) {
                self.blame(format!("E11: {call} uses variable {var} after its deletion t{id} was pushed"));
            }
        }
    }

    /// Checks E7: each wait, for all tasks or for one variable, ended only after the tasks that it covers.
    pub(super) fn done_when_waited_for(&mut self, waits: &[WaitNote]) {
        let (mut wrong, hides) = (Vec::new(), self.hides_pushes());
        for note in waits.iter().filter(|note| !is_refusal(&note.answer)) {
            for act in self.acts.values() {
                let waited_for = match note.wait {
                    Wait::All => self.pending_or_done(act, note.span.0),
                    Wait::Read(_) | Wait::Write(_) if hides => false,
                    Wait::Read(var) => act.push.1 < note.span.0 && act.writes.contains(&var),
                    Wait::Write(var) => {
                        act.push.1 < note.span.0 && (act.writes.contains(&var) || act.reads.contains(&var))
                    }
                };
                if waited_for && act.span.1 > note.span.1 {
                    wrong.push(format!("E7: wait {:?} at {:?} ends before t{} does", note.wait, note.span, act.id));
                }
            }
        }
        self.wrong.extend(wrong);
    }
}
