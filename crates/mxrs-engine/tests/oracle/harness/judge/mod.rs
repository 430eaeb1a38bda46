//! Checks the notes on one run of a program against the rules of [`mxrs_engine::var`].
//!
//! The order of two tasks on a variable is read from the notes; everything else follows from it. First the order itself
//! is judged: exclusion (E3), and that one total order agrees with all variables and with each thread's own order (E4).
//! Then a serial interpreter executes the tasks in this total order. It determines what each task must have read,
//! whether the task had to run, and which failures each variable carries.
//!
//! A wait in the middle of a program may report a failure before or after a running task checks for that failure, and
//! both are right. So the interpreter keeps *sets* of possible failures: a failure that was certainly reported is not
//! in the set; a failure that may have been reported allows both outcomes. If no wait overlaps with tasks, every set
//! has one element.
//!
//! `calls` judges the result of each call, `order` finds the order, `serial` is the interpreter.

mod calls;
mod order;
mod serial;

use super::program::{Ending, Line, Program, Task};
use super::world::{Note, Span, WaitNote, World};
use super::{Tally, is_refusal};
use std::collections::{BTreeMap, BTreeSet};

/// What a variable may carry: each element is a task whose failure it may carry, or `None` for no failure. There are
/// several elements if the notes allow several outcomes.
type Taint = BTreeSet<Option<usize>>;

/// A task or deletion that the engine accepted.
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

/// An event that reports failures.
enum Telling {
    /// One call returned the failure of the task `failure`.
    One { failure: usize, during: Span },
    /// A wait for all tasks, which counts all failures so far as reported.
    All { during: Span },
}

struct Judge<'p> {
    program: &'p Program,
    acts: BTreeMap<usize, Act<'p>>,
    tellings: Vec<Telling>,
    wrong: Vec<String>,
    certain: bool,
}

/// Compares the notes on one run with the rules.
///
/// # Errors
/// Fails if the run broke a rule; the text has one line for each violation.
pub fn judge(program: &Program, world: &World, waits: &[WaitNote]) -> Result<Tally, String> {
    let mut judge =
        Judge { program, acts: BTreeMap::new(), tellings: Vec::new(), wrong: world.take_complaints(), certain: true };
    judge.gather(world);
    judge.gather_tellings(waits);
    judge.refusals(world, waits);
    judge.done_when_waited_for(waits);
    // The interpreter needs all acts and their order, so it runs only if nothing was wrong so far.
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
    /// Collects the accepted acts. Checks E6: each ran or was skipped once, and dropped its captured values once.
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
            // A line without a noted push is in the body of a task that was refused or skipped, so it was never pushed.
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

    /// Whether an act counted as pushed at the time `at`: its push had returned, or it was running, or the task whose
    /// body pushes it counted as pushed.
    fn pending_or_done(&self, act: &Act<'_>, at: u64) -> bool {
        act.push.1 < at
            || act.span.0 < at
            || act.parent.and_then(|parent| self.acts.get(&parent)).is_some_and(|p| self.pending_or_done(p, at))
    }

    /// Whether a wait for one variable may miss tasks whose push has returned, because they may still be in another
    /// thread's buffer.
    fn hides_pushes(&self) -> bool {
        self.program.bulks() && self.program.phases.iter().any(|phase| phase.threads.len() > 1)
    }

    /// Checks E6 and E7 with the engine's counters. The final waits have returned, so nothing is pending.
    fn counters(&mut self, world: &World) {
        if !self.wrong.is_empty() {
            return;
        }
        let counters = world.engine.counters();
        let count = |f: &dyn Fn(&Act<'_>) -> bool| self.acts.values().filter(|act| f(act)).count() as u64;
        let expected = (self.acts.len() as u64, count(&|act| act.skipped()), count(&|act| act.failed()));
        // E16: the engine counts a bulk as one task.
        let pushed = if self.program.bulks() { expected.0 } else { counters.pushed };
        let found = (pushed, counters.skipped, counters.failed);
        if found != expected || counters.completed != counters.pushed {
            let completed = counters.completed;
            self.blame(format!("E6: (pushed, skipped, failed) = {found:?}, not {expected:?}; {completed} completed"));
        }
    }
}
