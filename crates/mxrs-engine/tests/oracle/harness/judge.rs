//! The rules, applied to the notes on one run.
//!
//! Which of two tasks on a variable came first is read off the notes; everything else follows from it. First the order
//! itself is judged: exclusion (E3), and that one total order explains all variables and keeps each thread's own (E4).
//! Then a serial interpreter walks the tasks in such an order and says what each must have found, whether it had to run,
//! and which failures each variable carries. A wait in the middle of a program may take a failure before or after a
//! running task looks for it; both are right, so the interpreter keeps *sets* of failures: a failure surely gone is out,
//! one that may be gone allows both outcomes. Where no wait runs beside tasks, every set has one element.

use super::program::{Ending, Line, Program, Task, Wait};
use super::world::{Answer, Note, Span, WaitNote, World, mix};
use super::{Tally, is_refusal};
use mxrs_engine::{EngineKind, Property};
use std::collections::{BTreeMap, BTreeSet};

/// Failing task whose error a variable carries, or none; several where the notes allow several.
type Taint = BTreeSet<Option<usize>>;

/// A task or deletion that was accepted.
struct Act<'p> {
    id: usize,
    /// `None` for a deletion.
    task: Option<&'p Task>,
    reads: BTreeSet<usize>,
    writes: BTreeSet<usize>,
    parent: Option<usize>,
    push: Span,
    span: Span,
    note: Note,
}

impl Act<'_> {
    fn skipped(&self) -> bool {
        self.note.runs == 0
    }

    fn failed(&self) -> bool {
        !self.skipped() && self.task.is_some_and(|task| task.ending != Ending::Good)
    }
}

/// A call that uses variables: a push, a deletion or a wait.
struct Call {
    name: String,
    id: Option<usize>,
    vars: BTreeSet<usize>,
    span: Span,
    answer: Answer,
}

/// Something that makes failures be known.
enum Telling {
    /// The answer of one call.
    One { failure: usize, during: Span },
    /// A wait for all.
    All { during: Span },
}

struct Judge<'p> {
    program: &'p Program,
    acts: BTreeMap<usize, Act<'p>>,
    tellings: Vec<Telling>,
    wrong: Vec<String>,
    certain: bool,
}

/// Compares a run with the rules.
///
/// # Errors
/// Everything that breaks one, a line each.
pub fn judge(program: &Program, world: &World, waits: &[WaitNote]) -> Result<Tally, String> {
    let mut judge =
        Judge { program, acts: BTreeMap::new(), tellings: Vec::new(), wrong: world.take_complaints(), certain: true };
    judge.gather(world);
    judge.gather_tellings(waits);
    judge.refusals(world, waits);
    judge.done_when_waited_for(waits);
    // Without all acts, or without an order, the interpreter has nothing to go by.
    if judge.wrong.is_empty() {
        let lists = judge.lists();
        if let Some(order) = judge.total_order(&lists) {
            let histories = judge.interpret(&order, world);
            judge.answers(waits, &histories);
        }
    }
    judge.counters(world);
    if !judge.wrong.is_empty() {
        judge.wrong.truncate(12);
        return Err(judge.wrong.join("\n"));
    }
    let count = |f: &dyn Fn(&Act<'_>) -> bool| judge.acts.values().filter(|act| f(act)).count() as u64;
    Ok(Tally {
        programs: 1,
        tasks: judge.acts.len() as u64,
        skipped: count(&|act| act.skipped()),
        failed: count(&|act| act.failed()),
        exact: u64::from(judge.certain),
    })
}

impl<'p> Judge<'p> {
    /// Collects the accepted acts. E6: each ran or was skipped once, and let go of what it captured once.
    fn gather(&mut self, world: &World) {
        let (mut lines, program) = (Vec::new(), self.program);
        program.visit(|line, parent| lines.push((line, parent)));
        let epilogue = Line::Push(program.epilogue.clone());
        for (line, parent) in lines.iter().copied().chain([(&epilogue, None)]) {
            let (id, task) = match line {
                Line::Push(task) if task.id == program.epilogue.id => (task.id, Some(&program.epilogue)),
                Line::Push(task) => (task.id, self.task_of(task.id, &lines)),
                Line::Delete { id, .. } => (*id, None),
                Line::Wait(_) | Line::Bulk(_) => continue,
            };
            let note = world.note(id).clone();
            // The task that pushes it was refused or skipped.
            let Some((push, answer)) = note.push.clone() else { continue };
            let refused = is_refusal(&answer);
            if note.drops != 1 || note.runs > 1 || (refused && note.runs > 0) {
                let how = if refused { "refused" } else { "accepted" };
                self.blame(format!("E6: t{id}, {how}, ran {} times and was dropped {} times", note.runs, note.drops));
            }
            if refused {
                continue;
            }
            let Some(span) = note.span else {
                self.blame(format!("E6: t{id} was accepted and neither ran nor was skipped"));
                continue;
            };
            if task.is_none() && note.runs != 1 {
                self.blame(format!("E11: the deletion t{id} was accepted and did not run"));
            }
            let (reads, writes) = match line {
                Line::Delete { var, .. } => (BTreeSet::new(), BTreeSet::from([*var])),
                _ => task.map(|task| (task.only_read(), task.written())).unwrap_or_default(),
            };
            self.acts.insert(id, Act { id, task, reads, writes, parent, push, span, note });
        }
    }

    fn task_of(&self, id: usize, lines: &[(&'p Line, Option<usize>)]) -> Option<&'p Task> {
        lines.iter().find_map(|(line, _)| match line {
            Line::Push(task) if task.id == id => Some(task),
            _ => None,
        })
    }

    fn blame(&mut self, text: String) {
        self.wrong.push(text);
    }

    /// Who was told what. E13: each failure at most once, and only failures that happened. E5 of the naive engine's
    /// pushes: a body's error is the push's.
    fn gather_tellings(&mut self, waits: &[WaitNote]) {
        let naive = self.program.kind == EngineKind::Naive;
        let mut told: Vec<(usize, Span, String)> = Vec::new();
        let mut wrong = Vec::new();
        for act in self.acts.values() {
            let Some((_, answer)) = &act.note.push else { continue };
            let at_top = act.parent.is_none();
            match answer {
                Answer::Told(failure) if naive => told.push((*failure, act.push, format!("the push of t{}", act.id))),
                Answer::Told(failure) => wrong.push(format!("the push of t{} tells the failure of t{failure}", act.id)),
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
            if let Answer::Told(failure) = note.answer {
                told.push((failure, note.span, format!("wait {:?} at {:?}", note.wait, note.span)));
            }
            if note.wait == Wait::All {
                self.tellings.push(Telling::All { during: note.span });
            }
        }
        let mut tellers = BTreeMap::new();
        for (failure, during, teller) in told {
            if !self.acts.get(&failure).is_some_and(|act| act.failed() && act.span.1 < during.1) {
                wrong.push(format!("{teller} tells a failure of t{failure} that did not happen"));
            }
            if let Some(first) = tellers.insert(failure, teller.clone()) {
                wrong.push(format!("E13: the failure of t{failure} is told by {first} and by {teller}"));
            }
            self.tellings.push(Telling::One { failure, during });
        }
        self.wrong.extend(wrong);
    }

    /// E11: what uses a deleted variable is refused; nothing else is.
    fn refusals(&mut self, world: &World, waits: &[WaitNote]) {
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

    /// Whether an act counted as pushed at that moment: its push had returned, it ran, or who pushes it was pending.
    fn pending_or_done(&self, act: &Act<'_>, at: u64) -> bool {
        act.push.1 < at
            || act.span.0 < at
            || act.parent.and_then(|parent| self.acts.get(&parent)).is_some_and(|p| self.pending_or_done(p, at))
    }

    /// Whether a wait for one variable may miss pushes that have returned: they may be in another thread's buffer.
    fn hides_pushes(&self) -> bool {
        self.program.bulks() && self.program.phases.iter().any(|phase| phase.threads.len() > 1)
    }

    /// E7, and the promises of the other waits.
    fn done_when_waited_for(&mut self, waits: &[WaitNote]) {
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

    /// Per variable its acts by the moment they began. E3: writers overlap with nobody.
    fn lists(&mut self) -> Vec<Vec<usize>> {
        let mut lists = vec![Vec::new(); self.program.n_vars];
        for act in self.acts.values() {
            for var in act.reads.union(&act.writes) {
                lists[*var].push(act.id);
            }
        }
        let mut wrong = Vec::new();
        for (var, list) in lists.iter_mut().enumerate() {
            list.sort_by_key(|id| self.acts[id].span.0);
            let (mut readers, mut writer) = ((0, 0), (0, 0));
            for id in list {
                let act = &self.acts[id];
                let writes = act.writes.contains(&var);
                let (end, other) = if writes { readers.max(writer) } else { writer };
                if act.span.0 < end {
                    wrong.push(format!("E3: t{id} and t{other} overlap on variable {var}"));
                }
                let last = if writes { &mut writer } else { &mut readers };
                *last = (*last).max((act.span.1, *id));
            }
        }
        self.wrong.extend(wrong);
        lists
    }

    /// E4: an order of all acts that keeps each thread's own and that of every variable.
    fn total_order(&mut self, lists: &[Vec<usize>]) -> Option<Vec<usize>> {
        let mut after: BTreeMap<usize, BTreeSet<usize>> = self.acts.keys().map(|id| (*id, BTreeSet::new())).collect();
        let mut before = |first: usize, second: usize| {
            after.get_mut(&first).map(|followers| followers.insert(second));
        };
        for (var, list) in lists.iter().enumerate() {
            let (mut writer, mut readers) = (None, Vec::new());
            for id in list {
                if let Some(writer) = writer {
                    before(writer, *id);
                }
                if self.acts[id].writes.contains(&var) {
                    readers.drain(..).for_each(|reader| before(reader, *id));
                    writer = Some(*id);
                } else {
                    readers.push(*id);
                }
            }
        }
        let acts = &self.acts;
        let mut barrier: Vec<usize> = Vec::new();
        for phase in &self.program.phases {
            let mut ends = Vec::new();
            for thread in &phase.threads {
                let mut last: Vec<usize> = barrier.clone();
                chain(thread, &mut last, &mut before, &|id| acts.contains_key(&id));
                ends.extend(last);
            }
            barrier = ends;
        }
        let mut missing: BTreeMap<usize, usize> = BTreeMap::new();
        after.values().flatten().for_each(|id| *missing.entry(*id).or_default() += 1);
        let mut ready: Vec<usize> = self.acts.keys().filter(|id| !missing.contains_key(id)).copied().collect();
        let mut order = Vec::new();
        while let Some(id) = ready.pop() {
            order.push(id);
            for next in &after[&id] {
                if let Some(count) = missing.get_mut(next) {
                    *count -= 1;
                    if *count == 0 {
                        ready.push(*next);
                    }
                }
            }
        }
        if order.len() < self.acts.len() {
            let stuck: Vec<_> =
                missing.iter().filter(|(_, count)| **count > 0).map(|(id, _)| format!("t{id}")).collect();
            self.blame(format!(
                "E4: no order of the pushes explains what the variables saw; among {}",
                stuck.join(" ")
            ));
            return None;
        }
        Some(order)
    }

    /// Walks the acts in order. E4: each found the values the interpreter finds. E12, E15: each ran if and only if the
    /// failures let it. Returns what each variable carried: after its k-th writer, entry k + 1.
    fn interpret(&mut self, order: &[usize], world: &World) -> Vec<History> {
        let n_vars = self.program.n_vars;
        let mut values = vec![0_u64; n_vars];
        // Per variable, the last end of a writer, and of anybody.
        let mut ends = vec![(0_u64, 0_u64); n_vars];
        let mut histories: Vec<History> = (0..n_vars).map(|_| History::new()).collect();
        for id in order {
            let act = &self.acts[id];
            let all: Vec<usize> = act.reads.iter().chain(&act.writes).copied().collect();
            // It looks for failures after the last of those it has to wait for.
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
            // E16: the writes of one bulk count as one.
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

    /// Failures that a task looking at these variables between two moments may find, and whether it may find none.
    fn inherited(&self, vars: &BTreeSet<usize>, histories: &[History], from: u64, to: u64) -> (BTreeSet<usize>, bool) {
        let (mut possible, mut clean) = (BTreeSet::new(), true);
        for var in vars {
            let taint = histories[*var].last();
            possible.extend(taint.iter().flatten().filter(|failure| !self.surely_told(**failure, from)));
            clean &= taint.iter().any(|t| t.is_none_or(|failure| self.maybe_told(failure, to, None)));
        }
        (possible, clean)
    }

    /// Whether a failure is known by then, whatever the interleaving.
    fn surely_told(&self, failure: usize, by: u64) -> bool {
        self.tellings.iter().any(|telling| match telling {
            Telling::One { failure: told, during } => *told == failure && during.1 < by,
            Telling::All { during } => during.1 < by && self.pending_or_done(&self.acts[&failure], during.0),
        })
    }

    /// Whether some interleaving has told a failure by then, not counting the call that began at `except`.
    fn maybe_told(&self, failure: usize, by: u64, except: Option<u64>) -> bool {
        self.tellings.iter().any(|telling| match telling {
            Telling::One { failure: told, during } => *told == failure && during.0 < by && Some(during.0) != except,
            Telling::All { during } => {
                during.0 < by && self.acts[&failure].span.1 < during.1 && Some(during.0) != except
            }
        })
    }

    /// E12, E13: what each wait said is what its variable may have carried; silence means that all was told.
    fn answers(&mut self, waits: &[WaitNote], histories: &[History]) {
        let mut wrong = Vec::new();
        for note in waits.iter().filter(|note| !is_refusal(&note.answer)) {
            let (begin, end) = note.span;
            let name = format!("wait {:?} at {:?}", note.wait, note.span);
            let carried: Taint = match note.wait {
                Wait::Read(var) | Wait::Write(var) => {
                    histories[var].between(if self.hides_pushes() { 0 } else { begin }, end)
                }
                Wait::All => {
                    // Any failure so far; one that surely happened before and surely is untold rules silence out.
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
                Answer::Told(failure) => {
                    if !carried.contains(&Some(failure)) || self.surely_told(failure, begin) {
                        wrong.push(format!("E12: {name} tells the failure of t{failure}, not one of {carried:?}"));
                    }
                }
                _ => {
                    let silent = |failure: usize| self.maybe_told(failure, end, Some(begin));
                    if !carried.iter().any(|taint| taint.is_none_or(silent)) {
                        wrong.push(format!("E13: {name} says nothing of the failures {carried:?}"));
                    }
                }
            }
        }
        self.wrong.extend(wrong);
    }

    /// E6 and E7 in the engine's own numbers. The waits of the end have returned, so nothing is pending.
    fn counters(&mut self, world: &World) {
        if !self.wrong.is_empty() {
            return;
        }
        let counters = world.engine.counters();
        let count = |f: &dyn Fn(&Act<'_>) -> bool| self.acts.values().filter(|act| f(act)).count() as u64;
        let expected = (self.acts.len() as u64, count(&|act| act.skipped()), count(&|act| act.failed()));
        // E16: a bulk is one operator to the engine.
        let pushed = if self.program.bulks() { expected.0 } else { counters.pushed };
        let found = (pushed, counters.skipped, counters.failed);
        if found != expected || counters.completed != counters.pushed {
            let completed = counters.completed;
            self.blame(format!("E6: (pushed, skipped, failed) = {found:?}, not {expected:?}; {completed} completed"));
        }
    }
}

/// Notes a thread's pushes as one after the other, and a body's after its own push.
fn chain(lines: &[Line], last: &mut Vec<usize>, before: &mut impl FnMut(usize, usize), known: &dyn Fn(usize) -> bool) {
    for line in lines {
        let id = match line {
            Line::Push(task) => task.id,
            Line::Delete { id, .. } => *id,
            Line::Wait(_) | Line::Bulk(_) => continue,
        };
        if !known(id) {
            continue;
        }
        last.drain(..).for_each(|earlier| before(earlier, id));
        last.push(id);
        if let Line::Push(task) = line {
            chain(&task.nested, &mut vec![id], before, known);
        }
    }
}

/// What a variable carried after each of its writers, in their order.
struct History {
    states: Vec<State>,
}

struct State {
    /// `None` before the first.
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
        // There is the state before the first writer.
        &self.states[self.states.len() - 1].taint
    }

    /// Everything the variable may carry for a wait with this span: it sees all writes pushed before, and may see more.
    fn between(&self, begin: u64, end: u64) -> Taint {
        let first = self.states.iter().rposition(|s| s.writer.is_none() || s.pushed < begin).unwrap_or(0);
        let seen = self.states[first..].iter().enumerate().filter(|(at, s)| *at == 0 || s.begin < end);
        seen.flat_map(|(_, s)| s.taint.iter().copied()).collect()
    }
}
