//! Finds conflicting accesses that are not ordered, even if they did not overlap in time.

use crate::clock::{Agent, Clock};
use mxrs_sync::Mutex;
use mxrs_types::StreamId;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Checks that conflicting accesses of launches and of the host are ordered. Two accesses conflict if they share memory
/// and at least one of them writes it.
///
/// Order is defined by vector clocks. A launch comes after:
///
/// - the earlier work of its stream;
/// - the events that its stream waits for;
/// - what the host knew to be finished when it enqueued the launch, because it had waited for a stream or an event, or
///   had queried a finished event.
///
/// A launch is judged when it is enqueued, so a missing wait is found even if the device happened to be fast. There is
/// one exception: whether a query of an event finds it finished depends on the speed of the device. While the device is
/// held ([`crate::SimulatedGpu::hold`]), no query finds a finished event.
///
/// The host is one agent: what one thread has waited for counts as known to all threads. So a missing order between
/// threads of the host is found only if two [`HostAccess`]es overlap.
#[derive(Debug, Default)]
pub struct Checker(Mutex<State>);

/// Memory that a launch or the host reads or writes: addresses, or any numbers that represent it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touch {
    /// The addresses.
    pub range: Range<u64>,
    /// Whether the access writes.
    pub write: bool,
}

impl Touch {
    /// Reads these addresses.
    pub fn read(range: Range<u64>) -> Self {
        Self { range, write: false }
    }

    /// Writes these addresses.
    pub fn write(range: Range<u64>) -> Self {
        Self { range, write: true }
    }

    /// Reads the memory that one number represents, such as the id of a variable.
    pub fn read_cell(cell: u64) -> Self {
        Self::read(cell..cell + 1)
    }

    /// Writes the memory that one number represents, such as the id of a variable.
    pub fn write_cell(cell: u64) -> Self {
        Self::write(cell..cell + 1)
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.range.start.max(other.range.start) < self.range.end.min(other.range.end)
    }

    fn conflicts(&self, other: &Self) -> bool {
        (self.write || other.write) && self.overlaps(other)
    }

    fn covers(&self, other: &Self) -> bool {
        self.range.start <= other.range.start && other.range.end <= self.range.end
    }
}

/// One of the two accesses of a [`Violation`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The name of the launch or of the host access.
    pub name: Arc<str>,
    /// The stream of the launch; `None` for the host.
    pub stream: Option<StreamId>,
    /// The memory that was accessed.
    pub touch: Touch,
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.touch.write { "writes" } else { "reads" };
        write!(f, "`{}` on ", self.name)?;
        match self.stream {
            Some(stream) => write!(f, "{stream}")?,
            None => f.write_str("the host")?,
        }
        write!(f, " {verb} {:?}", self.touch.range)
    }
}

/// Two conflicting accesses that are not ordered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The access that the checker saw first.
    pub first: Site,
    /// The access that the checker saw second.
    pub second: Site,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, without waiting for: {}", self.second, self.first)
    }
}

#[derive(Debug, Default)]
struct State {
    host: Clock,
    streams: BTreeMap<StreamId, Clock>,
    /// Earlier accesses with which later accesses may conflict.
    past: Vec<Past>,
    /// Host accesses in progress, by number.
    open: BTreeMap<u64, Site>,
    n_opened: u64,
    violations: Vec<Violation>,
}

#[derive(Debug)]
struct Past {
    agent: Agent,
    /// The position of the access in the sequence of the actions of `agent` (a stream or the host), from 1.
    tick: u64,
    site: Site,
}

impl Checker {
    /// A checker without any access yet.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Starts an access by the host, which ends when the guard is dropped.
    pub fn host_access(self: &Arc<Self>, name: impl Into<Arc<str>>, touches: &[Touch]) -> HostAccess {
        let name: Arc<str> = name.into();
        let mut state = self.0.lock();
        let clock = state.host.clone();
        let mut opened = Vec::with_capacity(touches.len());
        for touch in touches {
            let site = Site { name: Arc::clone(&name), stream: None, touch: touch.clone() };
            // The touches of one access do not conflict with one another: a program may also read what it writes.
            let mine = opened.clone();
            state.judge(&site, &clock, &mine);
            let number = state.n_opened;
            state.n_opened += 1;
            state.open.insert(number, site);
            opened.push(number);
        }
        HostAccess { checker: Arc::clone(self), opened }
    }

    /// The violations found so far.
    pub fn violations(&self) -> Vec<Violation> {
        self.0.lock().violations.clone()
    }

    /// Asserts that no violation was found.
    ///
    /// # Panics
    /// Panics if there are violations; the message lists them.
    #[track_caller]
    pub fn assert_clean(&self) {
        let violations = self.violations();
        let lines: Vec<String> = violations.iter().map(ToString::to_string).collect();
        assert!(lines.is_empty(), "{} unordered accesses:\n{}", lines.len(), lines.join("\n"));
    }

    pub(crate) fn launch(&self, stream: StreamId, name: &Arc<str>, touches: &[Touch]) {
        let mut state = self.0.lock();
        let agent = Agent::Stream(stream);
        let tick = state.stream(stream).tick(agent);
        let clock = state.stream(stream).clone();
        for touch in touches {
            let site = Site { name: Arc::clone(name), stream: Some(stream), touch: touch.clone() };
            state.judge(&site, &clock, &[]);
            state.keep(Past { agent, tick, site }, &clock);
        }
    }

    /// The clock of a stream: the actions that are finished once all work enqueued on the stream so far is finished.
    pub(crate) fn record(&self, stream: StreamId) -> Clock {
        self.0.lock().stream(stream).clone()
    }

    pub(crate) fn stream_wait(&self, stream: StreamId, event: &Clock) {
        self.0.lock().stream(stream).join(event);
    }

    pub(crate) fn host_learns(&self, done: &Clock) {
        self.0.lock().host.join(done);
    }
}

impl State {
    /// A stream's clock, after adding the actions that the host knows to be finished, because the host enqueues the work.
    fn stream(&mut self, stream: StreamId) -> &mut Clock {
        let clock = self.streams.entry(stream).or_default();
        clock.join(&self.host);
        clock
    }

    /// Records a violation for each earlier access that conflicts with `site` and is not among the actions that precede
    /// `site`, which `clock` counts. `mine` are the numbers of host accesses to ignore.
    fn judge(&mut self, site: &Site, clock: &Clock, mine: &[u64]) {
        let past = self.past.iter().filter(|past| past.tick > clock.of(past.agent)).map(|past| &past.site);
        let open = self.open.iter().filter(|(number, _)| !mine.contains(number)).map(|(_, site)| site);
        let conflicting = past.chain(open).filter(|first| first.touch.conflicts(&site.touch));
        let found: Vec<_> = conflicting.map(|first| Violation { first: first.clone(), second: site.clone() }).collect();
        self.violations.extend(found);
    }

    /// Adds a new access and drops the earlier accesses that no longer need to be compared: those that come before the new
    /// one, lie within its memory, and are not writes if the new one is a read. An access that comes after the new one also
    /// comes after those.
    fn keep(&mut self, new: Past, clock: &Clock) {
        self.past.retain(|old| {
            let is_before = old.tick <= clock.of(old.agent);
            let stands_in = new.site.touch.write || !old.site.touch.write;
            !(is_before && stands_in && new.site.touch.covers(&old.site.touch))
        });
        self.past.push(new);
    }
}

/// An access by the host, in progress until this is dropped; made by [`Checker::host_access`].
#[derive(Debug)]
#[must_use = "the access is over when this is dropped"]
pub struct HostAccess {
    checker: Arc<Checker>,
    opened: Vec<u64>,
}

impl Drop for HostAccess {
    fn drop(&mut self) {
        let mut state = self.checker.0.lock();
        let tick = state.host.tick(Agent::Host);
        let clock = state.host.clone();
        for number in &self.opened {
            if let Some(site) = state.open.remove(number) {
                state.keep(Past { agent: Agent::Host, tick, site }, &clock);
            }
        }
    }
}
