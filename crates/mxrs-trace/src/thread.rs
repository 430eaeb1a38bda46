//! The threads that record: each has a slot with a ring.
//!
//! A slot is *free*, *taken* by a thread, or *ended*: its thread has ended, and the collector has not yet taken all of its
//! records. A thread takes a slot at its first record; only the collector makes an ended slot free. Slots are never freed,
//! and their number is limited, so memory is bounded by the largest number of threads that recorded at the same time.

use crate::Label;
use crate::event::Event;
use crate::kinds::{Kinds, is_on};
use crate::leaked::Leaked;
use crate::ring::Ring;
use mxrs_sync::thread;
use std::cell::Cell;
// The standard library's atomics even in tests with loom, because loom's atomics cannot live in statics.
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

/// The records that a ring holds: 8192 records are half a megabyte.
const CAPACITY: usize = 8192;
/// The number of threads that can record at the same time.
const SLOTS: usize = 1024;

const FREE: u8 = 0;
const TAKEN: u8 = 1;
const ENDED: u8 = 2;

static ALL: [Leaked<Slot>; SLOTS] = [const { Leaked::empty() }; SLOTS];
/// The number of the next thread that takes a slot.
static NEXT: AtomicU32 = AtomicU32::new(1);
/// The number of records that were lost because their threads found no free slot.
static LOST: AtomicU64 = AtomicU64::new(0);

pub(crate) struct Slot {
    pub(crate) ring: Ring,
    state: AtomicU8,
    number: AtomicU32,
    name: AtomicU32,
}

/// A thread that recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ThreadInfo {
    /// Identifies the thread in the process; from 1. Numbers are not used again.
    pub number: u32,
    /// The name of the thread, or empty.
    pub name: Label,
}

impl Slot {
    /// All slots that were ever taken.
    pub(crate) fn all() -> impl Iterator<Item = &'static Self> {
        ALL.iter().map_while(Leaked::get)
    }

    pub(crate) fn info(&self) -> ThreadInfo {
        let name = Label::of_number(self.name.load(Ordering::Relaxed));
        ThreadInfo { number: self.number.load(Ordering::Relaxed), name }
    }

    /// Whether the slot's thread has ended. From then on nothing is added to its ring.
    pub(crate) fn has_ended(&self) -> bool {
        // Acquire, so that a drain after this call sees the last records of the thread.
        self.state.load(Ordering::Acquire) == ENDED
    }

    /// Lets another thread take the slot. For the collector, after it has drained an ended slot.
    pub(crate) fn release(&self) {
        let _ = self.state.compare_exchange(ENDED, FREE, Ordering::Release, Ordering::Relaxed);
    }

    /// Takes the slot for the calling thread, if it is free, or if it has ended and nothing is left to drain.
    fn take(&self) -> bool {
        let from = match self.state.load(Ordering::Acquire) {
            FREE => FREE,
            ENDED if self.ring.is_empty() => ENDED,
            _ => return false,
        };
        self.state.compare_exchange(from, TAKEN, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    fn claim() -> Option<&'static Self> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = thread::current().name().map_or(Label::NONE, Label::of);
        let fresh = || Self {
            ring: Ring::new(CAPACITY),
            state: AtomicU8::new(TAKEN),
            number: AtomicU32::new(number),
            name: AtomicU32::new(name.number()),
        };
        for place in &ALL {
            let slot = match place.get() {
                Some(slot) => slot,
                None => match place.fill(fresh()) {
                    Ok(own) => return Some(own),
                    Err(other) => other,
                },
            };
            if slot.take() {
                slot.number.store(number, Ordering::Relaxed);
                slot.name.store(name.number(), Ordering::Relaxed);
                return Some(slot);
            }
        }
        None
    }
}

/// What a thread knows about its own records.
struct Local {
    slot: Cell<Option<&'static Slot>>,
    /// The span that is open on the thread; 0 if there is none.
    open: Cell<u64>,
    /// The time of the last record.
    last_ns: Cell<u64>,
    n_spans: Cell<u32>,
    /// Whether the thread got memory from a device since its last allocation.
    grew: Cell<bool>,
}

impl Drop for Local {
    fn drop(&mut self) {
        if let Some(slot) = self.slot.get() {
            // Release, so that a thread that sees this state also sees all records of the ended thread.
            slot.state.store(ENDED, Ordering::Release);
        }
    }
}

std::thread_local! {
    static LOCAL: Local = const {
        Local {
            slot: Cell::new(None),
            open: Cell::new(0),
            last_ns: Cell::new(0),
            n_spans: Cell::new(0),
            grew: Cell::new(false),
        }
    };
}

impl Local {
    fn slot(&self) -> Option<&'static Slot> {
        match self.slot.get() {
            Some(slot) => Some(slot),
            None => self.take_slot(),
        }
    }

    #[cold]
    fn take_slot(&self) -> Option<&'static Slot> {
        let slot = Slot::claim();
        self.slot.set(slot);
        slot
    }
}

/// The time now. All times that a thread gets from this function differ, so that spans of a thread nest without ties.
pub(crate) fn tick() -> u64 {
    let now = crate::clock::now_ns();
    LOCAL
        .try_with(|local| {
            let tick = now.max(local.last_ns.get() + 1);
            local.last_ns.set(tick);
            tick
        })
        .unwrap_or(now)
}

/// A new span of the calling thread: its id, and the span that is open. `opens` makes the new span the open one.
pub(crate) fn begin_span(opens: bool) -> (u64, u64) {
    let begin = |local: &Local| {
        let number = local.slot().map_or(0, |slot| slot.number.load(Ordering::Relaxed));
        let count = local.n_spans.get().wrapping_add(1).max(1);
        local.n_spans.set(count);
        let (id, parent) = (u64::from(number) << 32 | u64::from(count), local.open.get());
        if opens {
            local.open.set(id);
        }
        (id, parent)
    };
    LOCAL.try_with(begin).unwrap_or((u64::MAX, 0))
}

/// Makes `parent` the open span of the calling thread again.
pub(crate) fn reopen(parent: u64) {
    let _ = LOCAL.try_with(|local| local.open.set(parent));
}

/// Remembers that the thread got memory from a device.
pub(crate) fn note_growth() {
    let _ = LOCAL.try_with(|local| local.grew.set(true));
}

/// Whether the thread got memory from a device since the last call.
pub(crate) fn take_growth() -> bool {
    LOCAL.try_with(|local| local.grew.replace(false)).unwrap_or(false)
}

/// Records an event on the calling thread, unless its kind is off. If the thread's ring is full, the record is dropped and
/// counted.
///
/// The times of the event must come from [`crate::now_ns`]. The functions for spans and memory call this function; other
/// code calls it for events whose times it measured itself.
#[inline]
pub fn record(event: Event) {
    if !is_on(event.kinds()) {
        return;
    }
    let words = event.to_words();
    let done = LOCAL.try_with(|local| match local.slot() {
        Some(slot) => {
            slot.ring.push(words);
            true
        }
        None => false,
    });
    if !done.unwrap_or(false) {
        LOST.fetch_add(1, Ordering::Relaxed);
    }
}

/// The number of records that were lost since the last call because their threads found no free slot.
pub(crate) fn take_lost() -> u64 {
    LOST.swap(0, Ordering::Relaxed)
}

/// Discards all records of the process in which the child of a fork was made, and frees the slots of its threads. The calling
/// thread, the only one of the child, keeps its slot.
pub(crate) fn discard_all() {
    let own = LOCAL.try_with(|local| local.slot.get()).ok().flatten();
    for slot in Slot::all() {
        slot.ring.reset();
        if !own.is_some_and(|own| std::ptr::eq(own, slot)) {
            slot.state.store(FREE, Ordering::Release);
        }
    }
    take_lost();
}

const _: () = assert!(Kinds::ALL.bits() < 1 << 31, "the top bit is not a kind of record");
