//! The bodies of a program's tasks, and the notes that bodies and pushing threads take.
//!
//! The notes do not order anything: bodies use only relaxed operations, so a value is correct only if the engine orders
//! the tasks.

use super::program::{Delay, Ending, Line, Task, Wait};
use mxrs_engine::{Completion, Engine, Property, RunContext, Var};
use mxrs_types::{Device, Error, ErrorKind, Result};
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

/// A closed interval of time, measured by the clock of [`World::now`].
pub type Span = (u64, u64);

/// An engine with its variables, and the notes on every task.
pub struct World {
    pub engine: Engine,
    pub vars: Vec<Var>,
    clock: AtomicU64,
    /// The values that the program's tasks compute, one per variable of the engine.
    values: Vec<AtomicU64>,
    /// For each variable, the number of bodies that are reading it, or a large negative number if a body is writing it.
    /// Bodies check it for rule E3 of `mxrs_engine::var` (exclusion).
    inside: Vec<AtomicI32>,
    notes: Vec<Mutex<Note>>,
    complaints: Mutex<Vec<String>>,
}

/// The notes on one task or deletion.
#[derive(Clone, Debug, Default)]
pub struct Note {
    /// The push: when it happened and what it returned.
    pub push: Option<(Span, Answer)>,
    pub runs: u32,
    /// How often the values that the task's closure captured were dropped.
    pub drops: u32,
    /// When the body ran, or when it was dropped without running.
    pub span: Option<Span>,
    /// The values of the task's variables when its body starts: first the variables read, then those written.
    pub seen: Vec<u64>,
    /// The id of the failed task whose error the body found in its context.
    pub inherited: Option<usize>,
}

/// The result of a call of the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Good,
    /// The call returned the failure of the task with this id.
    Reported(usize),
    /// Any other error.
    Refused(String),
}

/// One wait of a pushing thread.
#[derive(Clone, Debug)]
pub struct WaitNote {
    pub wait: Wait,
    pub span: Span,
    pub answer: Answer,
}

/// The value that task `id` stores in variable `var`, computed from the values that it read.
pub fn mix(id: usize, var: usize, seen: &[u64]) -> u64 {
    let start = (id as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ var as u64;
    seen.iter().fold(start, |hash, value| (hash ^ value).wrapping_mul(0x100_0000_01b3).rotate_left(17))
}

impl World {
    pub fn new(engine: Engine, n_vars: usize, n_ids: usize) -> Arc<Self> {
        Arc::new(Self {
            vars: (0..n_vars).map(|_| engine.new_var()).collect(),
            engine,
            clock: AtomicU64::new(1),
            values: (0..n_vars).map(|_| AtomicU64::new(0)).collect(),
            inside: (0..n_vars).map(|_| AtomicI32::new(0)).collect(),
            notes: (0..n_ids).map(|_| Mutex::default()).collect(),
            complaints: Mutex::default(),
        })
    }

    /// The next time of the clock. The operation is relaxed, because the clock must not order memory accesses itself;
    /// operations that the engine orders get times in the same order.
    pub fn now(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::Relaxed)
    }

    pub fn note(&self, id: usize) -> MutexGuard<'_, Note> {
        self.notes[id].lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub fn value(&self, var: usize) -> u64 {
        self.values[var].load(Ordering::Relaxed)
    }

    pub fn complain(&self, text: String) {
        self.complaints.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(text);
    }

    pub fn take_complaints(&self) -> Vec<String> {
        std::mem::take(&mut *self.complaints.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }

    /// Makes one call and records it. If the call is a wait, returns its note.
    pub fn play(self: &Arc<Self>, line: &Line) -> Option<WaitNote> {
        match line {
            Line::Push(task) => self.push(task),
            Line::Delete { id, var } => self.delete(*id, *var),
            Line::Wait(wait) => return Some(self.wait(*wait)),
            // Ignored here: the caller, which executes the lines of a thread, opens the bulk scope and keeps it open.
            Line::Bulk(_) => {}
        }
        None
    }

    pub fn push(self: &Arc<Self>, task: &Task) {
        let body = Body { world: Arc::clone(self), task: task.clone(), ran: false };
        let begin = self.now();
        let builder = self
            .engine
            .task(format!("t{}", task.id))
            .device(Device::cpu(task.device))
            .priority(task.priority)
            .property(task.property)
            .reads(task.reads.iter().map(|v| &self.vars[*v]))
            .writes(task.writes.iter().map(|v| &self.vars[*v]));
        let answer = if task.later {
            builder.push_async(move |context, done| body.run_on_another_thread(context, done))
        } else {
            builder.push(move |context| body.run(context))
        };
        let span = (begin, self.now());
        self.note(task.id).push = Some((span, answer_of(answer)));
    }

    fn delete(self: &Arc<Self>, id: usize, var: usize) {
        let world = Arc::clone(self);
        let guard = Freed { world: Arc::clone(self), id };
        let free = move || {
            let _guard = guard;
            let begin = world.now();
            if world.inside[var].load(Ordering::Relaxed) != 0 {
                world.complain(format!("E11: variable {var} is freed while a task uses it"));
            }
            let end = world.now();
            let mut note = world.note(id);
            note.runs += 1;
            note.span = Some((begin, end));
        };
        let begin = self.now();
        let accepted = self.engine.delete_var(self.vars[var].clone(), free);
        let span = (begin, self.now());
        let answer = if accepted { Answer::Good } else { Answer::Refused("deleted".into()) };
        self.note(id).push = Some((span, answer));
    }

    pub fn wait(&self, wait: Wait) -> WaitNote {
        let begin = self.now();
        let result = match wait {
            Wait::Read(var) => self.engine.wait_to_read(&self.vars[var]),
            Wait::Write(var) => self.engine.wait_to_write(&self.vars[var]),
            Wait::All => self.engine.wait_for_all(),
        };
        WaitNote { wait, span: (begin, self.now()), answer: answer_of(result) }
    }
}

fn answer_of(result: Result<()>) -> Answer {
    match result {
        Ok(()) => Answer::Good,
        Err(error) => failing_task(&error).map_or_else(|| Answer::Refused(error.to_string()), Answer::Reported),
    }
}

/// The id of the task whose body failed, from the error's text: each injected failure contains `#id#`. If a task
/// dropped its completion, the engine's own text contains its name.
fn failing_task(error: &Error) -> Option<usize> {
    let text = error.to_string();
    let between = |before: &str, after: &str| text.split_once(before)?.1.split_once(after)?.0.parse().ok();
    between("#", "#").or_else(|| between("running `t", "`"))
}

/// Records when the captured values of a deletion are dropped.
struct Freed {
    world: Arc<World>,
    id: usize,
}

impl Drop for Freed {
    fn drop(&mut self) {
        self.world.note(self.id).drops += 1;
    }
}

/// The values that a task's closure captures.
struct Body {
    world: Arc<World>,
    task: Task,
    ran: bool,
}

/// What a body notes when it starts.
struct Begun {
    at: u64,
    seen: Vec<u64>,
    inherited: Option<usize>,
    clash: bool,
}

impl Body {
    fn run(mut self, context: &RunContext) -> Result<()> {
        let begun = self.begin(context);
        dawdle(self.task.delay);
        self.end(begun);
        match self.task.ending {
            Ending::Good => Ok(()),
            Ending::Panics => panic!("injected #{}#", self.task.id),
            Ending::Fails | Ending::Forgets => Err(self.error()),
        }
    }

    /// Runs a body that completes its task on another thread, and completes it twice; the second completion must be refused
    /// (rule E6 of `mxrs_engine::var`). The captured values are dropped before the task ends.
    fn run_on_another_thread(mut self, context: &RunContext, done: Completion) {
        let begun = self.begin(context);
        let (world, id) = (Arc::clone(&self.world), self.task.id);
        if self.task.ending == Ending::Panics {
            self.end(begun);
            drop(self);
            panic!("injected #{id}#");
        }
        thread::spawn(move || {
            dawdle(self.task.delay);
            self.end(begun);
            let result = match self.task.ending {
                Ending::Good => Ok(()),
                _ => Err(self.error()),
            };
            let forgets = self.task.ending == Ending::Forgets;
            drop(self);
            if forgets {
                return;
            }
            if let Err(error) = done.complete(result) {
                world.complain(format!("E6: t{id} cannot complete: {error}"));
            }
            if done.complete(Ok(())).is_ok() {
                world.complain(format!("E6: t{id} completes twice"));
            }
        });
    }

    fn error(&self) -> Error {
        Error::invalid("body", format!("#{}#", self.task.id), "no injected failure")
    }

    fn begin(&mut self, context: &RunContext) -> Begun {
        self.ran = true;
        let (world, task) = (&self.world, &self.task);
        let at = world.now();
        let mut clash = false;
        for var in &task.written() {
            clash |= world.inside[*var].swap(-1000, Ordering::Relaxed) != 0;
        }
        for var in &task.only_read() {
            clash |= world.inside[*var].fetch_add(1, Ordering::Relaxed) < 0;
        }
        let seen = task.only_read().iter().chain(&task.written()).map(|var| world.value(*var)).collect();
        if context.device() != Device::cpu(task.device) {
            world.complain(format!("t{} runs for {}", task.id, context.device()));
        }
        let inherited = context.inherited_error().map(|error| failing_task(error).unwrap_or(usize::MAX));
        if inherited.is_some() && task.property != Property::NoSkip {
            world.complain(format!("t{} is not a NoSkip task and sees the failure of t{inherited:?}", task.id));
        }
        if task.waits_inside {
            self.try_to_wait();
        }
        for line in &task.nested {
            world.play(line);
        }
        Begun { at, seen, inherited, clash }
    }

    fn end(&self, begun: Begun) {
        let (world, task) = (&self.world, &self.task);
        let Begun { at, seen, inherited, mut clash } = begun;
        if task.ending == Ending::Good {
            for var in &task.written() {
                world.values[*var].store(mix(task.id, *var, &seen), Ordering::Relaxed);
            }
        }
        for var in &task.only_read() {
            clash |= world.inside[*var].fetch_sub(1, Ordering::Relaxed) < 1;
        }
        for var in &task.written() {
            clash |= world.inside[*var].swap(0, Ordering::Relaxed) != -1000;
        }
        if clash {
            world.complain(format!("E3: t{} shares a variable with another running task", task.id));
        }
        let span = Some((at, world.now()));
        let mut note = world.note(task.id);
        note.runs += 1;
        (note.span, note.seen, note.inherited) = (span, seen, inherited);
    }

    fn try_to_wait(&self) {
        let engine = &self.world.engine;
        let mut results = vec![engine.wait_for_all()];
        if let Some(var) = self.world.vars.get(self.task.id % self.world.vars.len()) {
            results.extend([engine.wait_to_read(var), engine.wait_to_write(var)]);
        }
        for result in results {
            if !matches!(result.as_ref().map_err(Error::kind), Err(ErrorKind::Engine { .. })) {
                self.world.complain(format!("a wait inside t{} returns {result:?}", self.task.id));
            }
        }
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        let now = self.world.now();
        let mut note = self.world.note(self.task.id);
        note.drops += 1;
        if !self.ran {
            note.span = Some((now, now));
        }
    }
}

fn dawdle(delay: Delay) {
    match delay {
        Delay::None => {}
        Delay::Yields(n) => (0..n).for_each(|_| thread::yield_now()),
        Delay::Spins(n) => (0..n).for_each(|_| std::hint::spin_loop()),
        Delay::Sleeps(micros) => thread::sleep(Duration::from_micros(micros)),
    }
}
