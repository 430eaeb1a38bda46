//! Makes random programs; each depends only on its seed.

use super::program::{Delay, Ending, Line, Phase, Program, Task, Wait};
use mxrs_engine::{EngineKind, Property};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeSet;
use std::ops::Range;

/// The largest number of tasks and deletions of one program.
pub const MAX_TASKS: usize = 200;
/// The largest number of variables of one program.
pub const MAX_VARS: usize = 100;
/// The device ids of tasks. The engine finds the pools of ids below 8 without a lock, so 9 is an id that needs the
/// lock.
const DEVICES: [u32; 5] = [0, 1, 2, 3, 9];

/// The random generator of one program, and the limits and probabilities with which the program's lines are drawn.
struct Style {
    rng: ChaCha8Rng,
    most_reads: usize,
    most_writes: usize,
    n_devices: usize,
    fails: f64,
    waits: f64,
    deletes: f64,
    nests: f64,
    waits_inside: f64,
    plain: f64,
    later: f64,
    bulks: f64,
    delays: f64,
    sleeps: bool,
    next_id: usize,
    /// The number of tasks still to be drawn.
    budget: usize,
}

/// The program of a seed.
pub fn program(seed: u64, kind: EngineKind, is_async: bool) -> Program {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let n_vars = match rng.random_range(0..4) {
        0 => rng.random_range(1..=3),
        1 | 2 => rng.random_range(2..=20),
        _ => rng.random_range(10..=MAX_VARS),
    };
    let n_tasks = if rng.random_bool(0.3) { rng.random_range(1..=40) } else { rng.random_range(20..=MAX_TASKS) };
    let cpu_workers = rng.random_range(1..=4);
    let priority_workers = rng.random_range(1..=4);
    let widest = one_of(&mut rng, &[1, 2, 4, 16]);
    let mut style = Style {
        most_reads: widest,
        most_writes: one_of(&mut rng, &[1, 2, widest]),
        n_devices: one_of(&mut rng, &[1, 2, 5]),
        fails: one_of(&mut rng, &[0.0, 0.0, 0.02, 0.1, 0.3]),
        waits: one_of(&mut rng, &[0.0, 0.0, 0.03, 0.15]),
        deletes: one_of(&mut rng, &[0.0, 0.0, 0.03]),
        nests: one_of(&mut rng, &[0.0, 0.0, 0.05, 0.2]),
        waits_inside: one_of(&mut rng, &[0.0, 0.05]),
        plain: one_of(&mut rng, &[0.3, 0.8, 1.0]),
        later: one_of(&mut rng, &[0.0, 0.0, 0.05, 0.3]),
        bulks: one_of(&mut rng, &[0.0, 0.0, 0.05]),
        delays: one_of(&mut rng, &[0.0, 0.1, 0.5]),
        sleeps: rng.random_bool(0.3),
        next_id: 0,
        budget: n_tasks,
        rng,
    };
    let n_phases = one_of(&mut style.rng, &[1, 1, 1, 2, 3]);
    let n_threads = one_of(&mut style.rng, &[1, 1, 2, 3]);
    if n_threads > 1 && style.bulks > 0.0 {
        // Programs in which several threads collect tasks have no deletions: if another thread deleted a variable of a
        // buffered task, the task might be refused after its push has returned.
        style.deletes = 0.0;
    }
    let mut phases = Vec::new();
    for _ in 0..n_phases {
        let share = n_tasks.div_ceil(n_phases * n_threads);
        let threads = (0..n_threads).map(|thread| style.thread(share, n_vars, thread, n_threads)).collect();
        phases.push(Phase { threads, restart: style.rng.random_bool(0.3) });
    }
    let ends_with_stop = style.rng.random_bool(0.3);
    let deleted = deleted(&phases);
    let writes = (0..n_vars).filter(|var| !deleted.contains(var)).collect();
    let epilogue = Task { id: style.next_id, reads: Vec::new(), writes, ..style.plain_task() };
    Program { seed, kind, is_async, cpu_workers, priority_workers, n_vars, phases, ends_with_stop, epilogue }
}

/// The variables that the program deletes.
fn deleted(phases: &[Phase]) -> BTreeSet<usize> {
    fn walk(lines: &[Line], found: &mut BTreeSet<usize>) {
        for line in lines {
            match line {
                Line::Delete { var, .. } => {
                    found.insert(*var);
                }
                Line::Push(task) => walk(&task.nested, found),
                Line::Wait(_) | Line::Bulk(_) => {}
            }
        }
    }
    let mut found = BTreeSet::new();
    phases.iter().flat_map(|phase| &phase.threads).for_each(|thread| walk(thread, &mut found));
    found
}

fn one_of<T: Copy>(rng: &mut ChaCha8Rng, choices: &[T]) -> T {
    choices[rng.random_range(0..choices.len())]
}

impl Style {
    /// Draws the lines of one thread. If there are several threads, each prefers some variables of its own, but also
    /// uses all others.
    fn thread(&mut self, share: usize, n_vars: usize, thread: usize, n_threads: usize) -> Vec<Line> {
        let own = if n_threads == 1 { 0..n_vars } else { thread * n_vars / 6..(thread + 1) * n_vars / 6 };
        let mut lines = Vec::new();
        for _ in 0..share {
            if self.budget == 0 {
                break;
            }
            if self.rng.random_bool(self.waits) {
                let var = self.var(&own, n_vars);
                let wait = one_of(&mut self.rng, &[Wait::Read(var), Wait::Read(var), Wait::Write(var), Wait::All]);
                lines.push(Line::Wait(wait));
            }
            if self.rng.random_bool(self.bulks) {
                lines.push(Line::Bulk(one_of(&mut self.rng, &[0, 2, 5, 15, 100])));
            }
            let line = self.push_or_delete(&own, n_vars, 0);
            lines.push(line);
        }
        lines
    }

    fn push_or_delete(&mut self, own: &Range<usize>, n_vars: usize, depth: usize) -> Line {
        if self.rng.random_bool(self.deletes) {
            let var = self.var(own, n_vars);
            return Line::Delete { id: self.new_id(), var };
        }
        Line::Push(self.task(own, n_vars, depth))
    }

    fn new_id(&mut self) -> usize {
        self.budget = self.budget.saturating_sub(1);
        self.next_id += 1;
        self.next_id - 1
    }

    fn var(&mut self, own: &Range<usize>, n_vars: usize) -> usize {
        if !own.is_empty() && self.rng.random_bool(0.6) {
            self.rng.random_range(own.clone())
        } else {
            self.rng.random_range(0..n_vars)
        }
    }

    /// Draws variables, usually few and sometimes many; they may repeat.
    fn vars(&mut self, most: usize, own: &Range<usize>, n_vars: usize) -> Vec<usize> {
        let most = if self.rng.random_bool(0.9) { most.min(3) } else { most };
        (0..self.rng.random_range(0..=most)).map(|_| self.var(own, n_vars)).collect()
    }

    fn task(&mut self, own: &Range<usize>, n_vars: usize, depth: usize) -> Task {
        let mut task = Task { id: self.new_id(), ..self.plain_task() };
        task.reads = self.vars(self.most_reads, own, n_vars);
        task.writes = self.vars(self.most_writes, own, n_vars);
        if !self.rng.random_bool(self.plain) {
            use Property::{Async, CopyFromGpu, CopyToGpu, CpuPrioritized, GpuPrioritized, NoSkip};
            task.property =
                one_of(&mut self.rng, &[Async, CopyFromGpu, CopyToGpu, CpuPrioritized, GpuPrioritized, NoSkip]);
            task.priority = self.rng.random_range(-3..=3);
        }
        task.device = DEVICES[self.rng.random_range(0..self.n_devices)];
        if self.rng.random_bool(self.fails) {
            task.ending = one_of(&mut self.rng, &[Ending::Fails, Ending::Panics]);
        }
        if self.rng.random_bool(self.later) {
            task.later = true;
            if task.ending == Ending::Fails && self.rng.random_bool(0.5) {
                task.ending = Ending::Forgets;
            }
        }
        if self.rng.random_bool(self.delays) {
            task.delay = match self.rng.random_range(0..10) {
                0..5 => Delay::Yields(self.rng.random_range(1..4)),
                5..9 => Delay::Spins(self.rng.random_range(1..2000)),
                _ if self.sleeps => Delay::Sleeps(self.rng.random_range(1..200)),
                _ => Delay::None,
            };
        }
        task.waits_inside = self.rng.random_bool(self.waits_inside);
        if depth < 3 && self.rng.random_bool(self.nests) {
            for _ in 0..self.rng.random_range(1..4) {
                if self.budget > 0 {
                    let line = self.push_or_delete(own, n_vars, depth + 1);
                    task.nested.push(line);
                }
            }
        }
        task
    }

    fn plain_task(&self) -> Task {
        Task {
            id: self.next_id,
            reads: Vec::new(),
            writes: Vec::new(),
            property: Property::Normal,
            device: 0,
            priority: 0,
            ending: Ending::Good,
            delay: Delay::None,
            later: false,
            waits_inside: false,
            nested: Vec::new(),
        }
    }
}
