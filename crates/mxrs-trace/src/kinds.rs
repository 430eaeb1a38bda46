//! A global word of bits, one per kind of record, that says which records are made.

use std::ops::BitOr;
// The standard library's atomics even in tests with loom, because loom's atomics cannot live in statics.
use std::sync::atomic::{AtomicU32, Ordering};

/// A set of kinds of records. The lowest four bits are MXNet's profiler modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Kinds(u32);

impl Kinds {
    /// No records.
    pub const NONE: Self = Self(0);
    /// Operators of bound graphs, and the segments that they belong to.
    pub const SYMBOLIC: Self = Self(1);
    /// Operators called one by one.
    pub const IMPERATIVE: Self = Self(2);
    /// Calls of the public interface.
    pub const API: Self = Self(4);
    /// Memory that is allocated and freed.
    pub const MEMORY: Self = Self(8);
    /// Tasks of the engine: pushed, run, completed.
    pub const ENGINE: Self = Self(16);
    /// Objects of the user: tasks, frames, events, counters, markers, spans of `tracing`.
    pub const USER: Self = Self(32);
    /// Every kind of record.
    pub const ALL: Self = Self(63);
    /// Not a kind of record: an engine exists that logs its waits or watches for stalls. Such an engine sets this bit with
    /// [`keep_on`], so that every engine finds out by one test of the word whether a task must also be recorded, logged or
    /// watched.
    pub const ENGINE_REPORTS: Self = Self(1 << 31);

    /// MXNet's profiler mode: a sum of 1 (symbolic), 2 (imperative), 4 (API) and 8 (memory). Other bits are ignored.
    #[must_use]
    pub const fn of_mode(mode: u8) -> Self {
        Self((mode & 15) as u32)
    }

    pub(crate) const fn bits(self) -> u32 {
        self.0
    }

    pub(crate) const fn of_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Whether the sets have a kind in common.
    #[must_use]
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The kinds of this set that `other` does not have.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl BitOr for Kinds {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

static ON: AtomicU32 = AtomicU32::new(0);

/// Whether one of these kinds is recorded.
#[inline(always)]
#[must_use]
pub fn is_on(kinds: Kinds) -> bool {
    // Relaxed: the word switches records on and off and does not guard data.
    ON.load(Ordering::Relaxed) & kinds.0 != 0
}

/// The kinds that are recorded now.
#[must_use]
pub fn now_on() -> Kinds {
    Kinds(ON.load(Ordering::Relaxed)).without(Kinds::ENGINE_REPORTS)
}

/// Sets bits that are not kinds of records, for the rest of the process.
pub fn keep_on(bits: Kinds) {
    ON.fetch_or(bits.without(Kinds::ALL).0, Ordering::Relaxed);
}

/// Replaces the kinds that are recorded. Only the collector calls this.
pub(crate) fn switch(kinds: Kinds) {
    let kinds = kinds.0 & Kinds::ALL.0;
    // Never fails: the closure always returns a value.
    let _ = ON.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |word| Some(word & !Kinds::ALL.0 | kinds));
}
