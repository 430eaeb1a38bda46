//! The collector: the one reader of all rings.

use crate::event::Event;
use crate::kinds::{Kinds, switch};
use crate::plan::{MemoryPlan, take_plans};
use crate::thread::{Slot, ThreadInfo, discard_all, take_lost};
use mxrs_types::{Error, ErrorKind, Result};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a collector exists.
static CLAIMED: AtomicBool = AtomicBool::new(false);

/// Switches records on and off, and takes them out of the rings. A process has at most one collector.
///
/// ```
/// use mxrs_trace::{Collector, Event, Kinds, Label, SpanInfo, SpanKind};
/// let mut collector = Collector::claim()?;
/// collector.switch(Kinds::API);
/// drop(mxrs_trace::span(SpanInfo::new(SpanKind::Api, Label::of("predict"))));
/// let mut names = Vec::new();
/// collector.drain(|thread, event| {
///     if let Event::Span(span) = event {
///         names.push((thread.number > 0, span.name.text()));
///     }
/// });
/// assert_eq!(names, [(true, "predict")]);
/// # Ok::<(), mxrs_types::Error>(())
/// ```
#[derive(Debug)]
pub struct Collector {
    /// The number of records lost because their threads found no free slot.
    dropped_before: u64,
    /// For each slot, the number of records that had been dropped when counting began. [`Self::n_dropped`] subtracts it.
    known: Vec<u64>,
}

impl Collector {
    /// The collector of the process. Records of earlier collectors that were never drained are discarded.
    ///
    /// # Errors
    /// Fails if the process has a collector already.
    pub fn claim() -> Result<Self> {
        if CLAIMED.swap(true, Ordering::Acquire) {
            let message = "another profiler of this process is running; stop it first".to_owned();
            return Err(Error::new(ErrorKind::Engine { message }));
        }
        let mut collector = Self { dropped_before: 0, known: Vec::new() };
        collector.discard();
        Ok(collector)
    }

    /// From now on, records these kinds and no others.
    pub fn switch(&self, kinds: Kinds) {
        switch(kinds);
    }

    /// Takes the records out of all rings and calls `visit` with each: those of one thread in the order in which they were
    /// made, one thread after the other. Returns their number.
    pub fn drain(&mut self, mut visit: impl FnMut(ThreadInfo, Event)) -> usize {
        let mut n_records = 0;
        for slot in Slot::all() {
            // This is read before the drain: if the thread had ended by then, the drain takes its last record, and the slot
            // can be released.
            let has_ended = slot.has_ended();
            let thread = slot.info();
            n_records += slot.ring.drain(|words| {
                if let Some(event) = Event::of_words(words) {
                    visit(thread, event);
                }
            });
            if has_ended {
                slot.release();
            }
        }
        n_records
    }

    /// Takes the memory plans of graphs that ran for the first time while their operators were recorded.
    pub fn take_plans(&mut self) -> Vec<MemoryPlan> {
        take_plans()
    }

    /// Discards the records made so far and the count of drops.
    pub fn discard(&mut self) {
        self.drain(|_, _| ());
        take_plans();
        take_lost();
        self.dropped_before = 0;
        self.known = Slot::all().map(|slot| slot.ring.n_dropped()).collect();
    }

    /// The number of records that were dropped because a ring was full, or because too many threads recorded.
    pub fn n_dropped(&mut self) -> u64 {
        self.dropped_before += take_lost();
        let known = self.known.iter().copied().chain(std::iter::repeat(0));
        let in_rings: u64 =
            Slot::all().zip(known).map(|(slot, known)| slot.ring.n_dropped().saturating_sub(known)).sum();
        self.dropped_before + in_rings
    }

    /// For the child of a fork, before any other thread starts: switches records off and discards those of the parent. The
    /// child may claim a collector of its own; the parent's collector is of no use there.
    pub fn forget_in_child() {
        switch(Kinds::NONE);
        discard_all();
        CLAIMED.store(false, Ordering::Release);
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        switch(Kinds::NONE);
        CLAIMED.store(false, Ordering::Release);
    }
}
