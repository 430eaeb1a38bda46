//! Random programs: phases of lines. Each line is one call of the engine, and can be printed and removed.

use mxrs_engine::{EngineKind, Property};
use std::collections::BTreeSet;
use std::fmt;

/// An engine's settings, and the calls that threads make.
#[derive(Clone, Debug)]
pub struct Program {
    pub seed: u64,
    pub kind: EngineKind,
    pub is_async: bool,
    pub cpu_workers: usize,
    pub priority_workers: usize,
    pub n_vars: usize,
    /// The phases, which run one after the other; all threads of a phase end before the next begins.
    pub phases: Vec<Phase>,
    /// How the run waits for all tasks at its end, without reporting failures: true for stopping the engine, false for
    /// polling its counters.
    pub ends_with_stop: bool,
    /// The task that is pushed last, when every failure has been reported, so it must run.
    pub epilogue: Task,
}

/// The lines of one to three threads, and whether the engine restarts when all these threads have ended.
#[derive(Clone, Debug)]
pub struct Phase {
    pub threads: Vec<Vec<Line>>,
    pub restart: bool,
}

/// One call of the engine.
#[derive(Clone, Debug)]
pub enum Line {
    Push(Task),
    Delete {
        id: usize,
        var: usize,
    },
    Wait(Wait),
    /// From this line on the thread collects up to this many tasks per bulk; 0 ends the collecting.
    Bulk(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    Read(usize),
    Write(usize),
    All,
}

/// How a body ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Good,
    Fails,
    Panics,
    /// Drops its `Completion` without completing the task. Only with [`Task::later`].
    Forgets,
}

/// A delay in a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delay {
    None,
    Yields(u32),
    Spins(u32),
    /// Sleeps for this many microseconds.
    Sleeps(u64),
}

/// One task. Ids are unique within a program, including deletions and nested tasks.
#[derive(Clone, Debug)]
pub struct Task {
    pub id: usize,
    /// The variables read, as given to the engine: the list may have duplicates and variables that are also in
    /// `writes`.
    pub reads: Vec<usize>,
    pub writes: Vec<usize>,
    pub property: Property,
    pub device: u32,
    pub priority: i32,
    pub ending: Ending,
    pub delay: Delay,
    /// Whether the task is completed by another thread instead of at the return of its body.
    pub later: bool,
    /// Whether the body tries to wait, which must be refused.
    pub waits_inside: bool,
    /// The lines that the body pushes.
    pub nested: Vec<Line>,
}

impl Task {
    /// Variables written, each once (rule E9 of `mxrs_engine::var`).
    pub fn written(&self) -> BTreeSet<usize> {
        self.writes.iter().copied().collect()
    }

    /// Variables only read, each once (rule E9 of `mxrs_engine::var`).
    pub fn only_read(&self) -> BTreeSet<usize> {
        &self.reads.iter().copied().collect() - &self.written()
    }
}

impl Program {
    /// Visits every line, a task before the lines of its body. `f` also gets the id of the task whose body contains the
    /// line.
    pub fn visit<'p>(&'p self, mut f: impl FnMut(&'p Line, Option<usize>)) {
        fn walk<'p>(lines: &'p [Line], parent: Option<usize>, f: &mut impl FnMut(&'p Line, Option<usize>)) {
            for line in lines {
                f(line, parent);
                if let Line::Push(task) = line {
                    walk(&task.nested, Some(task.id), f);
                }
            }
        }
        for thread in self.phases.iter().flat_map(|phase| &phase.threads) {
            walk(thread, None, &mut f);
        }
    }

    /// Whether any thread collects its pushes. Then the versions of variables count fewer writes, and a push that has
    /// returned may still be in a buffer.
    pub fn bulks(&self) -> bool {
        let mut found = false;
        self.visit(|line, _| found |= matches!(line, Line::Bulk(_)));
        found && self.kind != EngineKind::Naive
    }

    /// One more than the largest id.
    pub fn n_ids(&self) -> usize {
        self.epilogue.id + 1
    }

    /// The same program without the lines for which `keep` is false; lines are counted as in [`Program::visit`].
    pub fn filtered(&self, mut keep: impl FnMut(usize) -> bool) -> Self {
        fn walk(lines: &[Line], next: &mut usize, keep: &mut impl FnMut(usize) -> bool) -> Vec<Line> {
            let mut kept = Vec::new();
            for line in lines {
                let stays = keep(*next);
                *next += 1;
                let mut line = line.clone();
                if let Line::Push(task) = &mut line {
                    task.nested = walk(&task.nested, next, keep);
                }
                if stays {
                    kept.push(line);
                }
            }
            kept
        }
        let mut smaller = self.clone();
        let mut next = 0;
        for thread in smaller.phases.iter_mut().flat_map(|phase| &mut phase.threads) {
            *thread = walk(thread, &mut next, &mut keep);
        }
        smaller
    }

    /// The same program after changing each task.
    pub fn with_tasks(&self, mut change: impl FnMut(&mut Task)) -> Self {
        fn walk(lines: &mut [Line], change: &mut impl FnMut(&mut Task)) {
            for line in lines {
                if let Line::Push(task) = line {
                    change(task);
                    walk(&mut task.nested, change);
                }
            }
        }
        let mut other = self.clone();
        for thread in other.phases.iter_mut().flat_map(|phase| &mut phase.threads) {
            walk(thread, &mut change);
        }
        other
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suffix = if self.is_async { "Async" } else { "" };
        writeln!(
            f,
            "seed {}: {}{suffix}, {} CPU workers, {} priority workers, {} variables",
            self.seed,
            self.kind.word(),
            self.cpu_workers,
            self.priority_workers,
            self.n_vars
        )?;
        for (p, phase) in self.phases.iter().enumerate() {
            for (t, thread) in phase.threads.iter().enumerate() {
                writeln!(f, "  phase {p}, thread {t}:")?;
                show(f, thread, 4)?;
            }
            if phase.restart {
                writeln!(f, "  stop, start")?;
            }
        }
        let end = if self.ends_with_stop { "by a stop" } else { "by the counters" };
        writeln!(f, "  the end is awaited {end}")
    }
}

fn show(f: &mut fmt::Formatter<'_>, lines: &[Line], indent: usize) -> fmt::Result {
    for line in lines {
        write!(f, "{:indent$}", "")?;
        match line {
            Line::Push(t) => {
                write!(f, "t{} reads {:?} writes {:?}", t.id, t.reads, t.writes)?;
                if t.property != Property::Normal {
                    write!(f, " {:?}", t.property)?;
                }
                if (t.device, t.priority) != (0, 0) {
                    write!(f, " on cpu({}) at {}", t.device, t.priority)?;
                }
                if t.ending != Ending::Good {
                    write!(f, " {:?}", t.ending)?;
                }
                if t.later {
                    write!(f, " later")?;
                }
                if t.delay != Delay::None {
                    write!(f, " {:?}", t.delay)?;
                }
                writeln!(f, "{}", if t.waits_inside { " tries to wait" } else { "" })?;
                show(f, &t.nested, indent + 4)?;
            }
            Line::Delete { id, var } => writeln!(f, "t{id} deletes {var}")?,
            Line::Wait(wait) => writeln!(f, "wait {wait:?}")?,
            Line::Bulk(n) => writeln!(f, "bulk of {n}")?,
        }
    }
    Ok(())
}
