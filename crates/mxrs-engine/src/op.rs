//! One pushed task: a single allocation with its variables, its counters and its body.

use crate::context::RunContext;
use crate::failure::Failure;
use crate::parker::Parker;
use crate::pool::PoolId;
use crate::var::Var;
use mxrs_sync::OpenOnce;
use mxrs_sync::atomic::{AtomicUsize, Ordering};
use mxrs_types::{Device, Result};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// Which workers a task wants, and how it treats errors of its inputs.
///
/// A word for the other kind of device, or one the scheduler has no pool for, means [`Property::Normal`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Property {
    /// First in, first out, on the device's own workers.
    #[default]
    Normal,
    /// The workers shared by all CPU devices, larger [`crate::TaskBuilder::priority`] first.
    CpuPrioritized,
    /// A copy that leaves a GPU.
    CopyFromGpu,
    /// A copy into a GPU.
    CopyToGpu,
    /// A GPU's second pool, larger priority first.
    GpuPrioritized,
    /// On the pushing thread if nothing is in the way, else as normal.
    Async,
    /// Ends a variable's life: on the pushing thread if nothing is in the way, else ahead of other queued tasks. Runs
    /// whatever its inputs carry.
    DeleteVar,
    /// As normal, but runs even when an input carries an error, which it can see in its context.
    NoSkip,
}

/// Name of a task in messages: a literal, an owned string or a shared one.
#[derive(Clone, PartialEq, Eq)]
pub enum OpName {
    /// A literal or an owned string.
    Text(Cow<'static, str>),
    /// A string held elsewhere too; cloning the name does not copy it.
    Shared(Arc<str>),
}

impl OpName {
    /// The text.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Shared(text) => text,
        }
    }
}

impl fmt::Display for OpName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for OpName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl From<&'static str> for OpName {
    fn from(text: &'static str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }
}

impl From<String> for OpName {
    fn from(text: String) -> Self {
        Self::Text(Cow::Owned(text))
    }
}

impl From<Arc<str>> for OpName {
    fn from(text: Arc<str>) -> Self {
        Self::Shared(text)
    }
}

/// One variable of a task.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) var: Var,
    pub(crate) write: bool,
}

/// The variables of a task; the usual number fits without a further allocation.
pub(crate) type Accesses = SmallVec<[Access; 16]>;

/// Puts accesses in ascending id, each variable once, writing if any of its mentions does (E9).
pub(crate) fn normalise(accesses: &mut Accesses) {
    if accesses.len() < 2 {
        return;
    }
    accesses.sort_unstable_by_key(|a| (a.var.id(), !a.write));
    accesses.dedup_by_key(|a| a.var.id());
}

/// What happens once every variable is granted.
pub(crate) enum Dispatch {
    /// Into this pool's queue.
    Pool(PoolId),
    /// The pushing thread waits for it, and runs it.
    Pusher(Arc<Parker>),
    /// The thread that completed the last obstacle runs it.
    Completer,
}

/// What a task does, its closure type erased.
pub(crate) trait Body: Send {
    /// Runs and consumes the closure.
    fn run(&mut self, context: &RunContext) -> Result<()>;
    /// Drops the closure.
    fn discard(&mut self);
}

/// The only implementation of [`Body`].
pub(crate) struct Closure<F>(Option<F>);

impl<F: FnOnce(&RunContext) -> Result<()> + Send> Body for Closure<F> {
    fn run(&mut self, context: &RunContext) -> Result<()> {
        match self.0.take() {
            Some(closure) => closure(context),
            None => Ok(()),
        }
    }

    fn discard(&mut self) {
        self.0 = None;
    }
}

/// A pushed task.
pub(crate) struct Op<B: ?Sized = dyn Body> {
    /// Ascending by id (E9).
    pub(crate) accesses: Accesses,
    /// Variables not granted yet (E8: set before any of them can be).
    remaining: AtomicUsize,
    pub(crate) name: OpName,
    pub(crate) device: Device,
    pub(crate) priority: i32,
    pub(crate) property: Property,
    pub(crate) dispatch: Dispatch,
    body: OpenOnce<B>,
}

impl<F: FnOnce(&RunContext) -> Result<()> + Send> Op<Closure<F>> {
    pub(crate) fn new(
        name: OpName,
        accesses: Accesses,
        device: Device,
        priority: i32,
        property: Property,
        dispatch: Dispatch,
        body: F,
    ) -> Self {
        let body = OpenOnce::new(Closure(Some(body)));
        Self { accesses, remaining: AtomicUsize::new(0), name, device, priority, property, dispatch, body }
    }
}

impl Op {
    /// Called once, while every variable is locked: `count` of them are still to be granted.
    pub(crate) fn expect_grants(&self, count: usize) {
        self.remaining.store(count, Ordering::Relaxed);
    }

    /// Notes one granted variable; true for the last.
    pub(crate) fn grant(&self) -> bool {
        self.remaining.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// Whether every variable is granted.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn is_granted(&self) -> bool {
        self.remaining.load(Ordering::Acquire) == 0
    }

    /// The body, for the one thread that runs or skips the task (E6).
    pub(crate) fn open_body(&self) -> Option<&mut (dyn Body + 'static)> {
        self.body.open()
    }

    /// The first live failure among the variables read, then among those written, each in ascending id.
    ///
    /// Needs no lock in the usual case: only a task that writes a variable changes its failure, and this task has been
    /// granted all of them.
    pub(crate) fn inherited_failure(&self) -> Option<Arc<Failure>> {
        if !self.accesses.iter().any(|a| a.var.cell().is_tainted()) {
            return None;
        }
        let of_kind =
            |write| self.accesses.iter().filter(move |a| a.write == write).find_map(|a| a.var.cell().live_failure());
        of_kind(false).or_else(|| of_kind(true))
    }

    /// Whether an inherited failure means that the body must not run.
    pub(crate) fn skips_on_failure(&self) -> bool {
        !matches!(self.property, Property::NoSkip | Property::DeleteVar)
    }
}

impl fmt::Debug for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Op")
            .field("name", &self.name)
            .field("accesses", &self.accesses)
            .field("remaining", &self.remaining)
            .finish_non_exhaustive()
    }
}
