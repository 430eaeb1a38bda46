//! The ring of one thread: a queue of records with a fixed capacity, one writer and one reader.
//!
//! Rules, which a loom model checks:
//! 1. One thread pushes and one thread drains at a time. The fields of `Writer` are written by the pushing thread, those of
//!    `Reader` by the draining thread. Numbers of records only grow; a record has the place `number % capacity`.
//! 2. The writer fills a place and then raises `written` (release). The reader sees `written` (acquire) and then reads
//!    the place. So the reader sees whole records.
//! 3. The reader reads a place and then raises `read` (release). The writer sees `read` (acquire) and then fills the place
//!    again. So no record is overwritten before it is read.
//! 4. If the ring is full, the writer counts a drop and writes nothing: the records in the ring stay whole, and
//!    pushed = drained + still in the ring + dropped.

use crossbeam_utils::CachePadded;
use mxrs_sync::atomic::{AtomicU64, Ordering};

/// The number of words of a record.
pub const WORDS: usize = 8;

/// A record as words; see [`crate::Event`] for the meaning.
pub type Words = [u64; WORDS];

/// A bounded queue of records from one thread to another.
///
/// The words are atomics, so breaking rule 1 loses or mixes records, but is not undefined behavior.
#[derive(Debug)]
pub struct Ring {
    words: Box<[[AtomicU64; WORDS]]>,
    writer: CachePadded<Writer>,
    reader: CachePadded<Reader>,
}

/// The fields that the writing thread changes. Each of the two threads counts in a field of its own (`next`) and copies the
/// count to a field that the other thread reads. One field would suffice, but if a thread loads the field that the other
/// thread reads, loom explores only one interleaving.
#[derive(Debug)]
struct Writer {
    /// The number of records written so far, for the reader.
    written: AtomicU64,
    /// The same number, for the writer itself.
    next: AtomicU64,
    /// The number of records refused so far.
    dropped: AtomicU64,
    /// The value of [`Reader::read`] when the writer last loaded it. The writer loads it again only if the ring looks full,
    /// because its cache line usually belongs to the reader's core.
    read_before: AtomicU64,
}

#[derive(Debug)]
struct Reader {
    /// The number of records read so far, for the writer.
    read: AtomicU64,
    /// The same number, for the reader itself.
    next: AtomicU64,
}

impl Ring {
    /// An empty ring for `capacity` records, rounded up to a power of two.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        let zero = || AtomicU64::new(0);
        let words = || std::array::from_fn(|_| AtomicU64::new(0));
        Self {
            words: (0..capacity.next_power_of_two()).map(|_| words()).collect(),
            writer: CachePadded::new(Writer { written: zero(), next: zero(), dropped: zero(), read_before: zero() }),
            reader: CachePadded::new(Reader { read: zero(), next: zero() }),
        }
    }

    /// The number of records that fit.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.words.len()
    }

    fn place(&self, number: u64) -> &[AtomicU64; WORDS] {
        // The capacity is a power of two, so cutting the number to `usize` does not change the place.
        &self.words[number as usize & (self.words.len() - 1)]
    }

    /// Adds a record. Returns false and counts a drop if the ring is full. For the writing thread.
    #[inline]
    pub fn push(&self, record: Words) -> bool {
        let Writer { written, next, dropped, read_before } = &*self.writer;
        let number = next.load(Ordering::Relaxed);
        if number - read_before.load(Ordering::Relaxed) >= self.words.len() as u64 {
            // Acquire, for rule 3 of this file's documentation.
            let read = self.reader.read.load(Ordering::Acquire);
            read_before.store(read, Ordering::Relaxed);
            if number - read >= self.words.len() as u64 {
                dropped.store(dropped.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                return false;
            }
        }
        for (place, word) in self.place(number).iter().zip(record) {
            place.store(word, Ordering::Relaxed);
        }
        next.store(number + 1, Ordering::Relaxed);
        // Release, for rule 2 of this file's documentation.
        written.store(number + 1, Ordering::Release);
        true
    }

    /// Takes all records out, oldest first; returns their number. For the reading thread.
    pub fn drain(&self, mut visit: impl FnMut(Words)) -> usize {
        // Acquire, for rule 2 of this file's documentation.
        let end = self.writer.written.load(Ordering::Acquire);
        let start = self.reader.next.load(Ordering::Relaxed);
        for number in start..end {
            let place = self.place(number);
            visit(std::array::from_fn(|i| place[i].load(Ordering::Relaxed)));
            // Release, for rule 3 of this file's documentation. Raised after each record, so that a slow reader frees places
            // early.
            self.reader.read.store(number + 1, Ordering::Release);
        }
        self.reader.next.store(end, Ordering::Relaxed);
        (end - start) as usize
    }

    /// Discards all records and sets the count of drops to 0. No other thread may use the ring meanwhile.
    pub fn reset(&self) {
        let end = self.writer.next.load(Ordering::Relaxed);
        self.writer.written.store(end, Ordering::Relaxed);
        self.writer.dropped.store(0, Ordering::Relaxed);
        self.writer.read_before.store(end, Ordering::Relaxed);
        self.reader.read.store(end, Ordering::Relaxed);
        self.reader.next.store(end, Ordering::Relaxed);
    }

    /// Whether all records were taken out.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.writer.written.load(Ordering::Acquire) == self.reader.read.load(Ordering::Acquire)
    }

    /// The number of records written so far.
    #[must_use]
    pub fn n_written(&self) -> u64 {
        self.writer.written.load(Ordering::Relaxed)
    }

    /// The number of records refused so far because the ring was full.
    #[must_use]
    pub fn n_dropped(&self) -> u64 {
        self.writer.dropped.load(Ordering::Relaxed)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_was_counted() {
        let ring = Ring::new(3);
        assert_eq!(ring.capacity(), 4);
        let pushed = (0..10).filter(|i| ring.push([*i; WORDS])).count();
        assert_eq!((pushed, ring.n_written(), ring.n_dropped()), (4, 4, 6));
        let mut seen = Vec::new();
        assert_eq!(ring.drain(|words| seen.push(words)), 4);
        assert_eq!(seen, [0, 1, 2, 3].map(|i| [i; WORDS]));
        assert!(ring.is_empty() && ring.push([9; WORDS]) && !ring.is_empty());
        ring.reset();
        assert!(ring.is_empty());
        assert_eq!(ring.n_dropped(), 0);
    }

    /// Tests rules 2 to 4 of the module on real threads: every record arrives whole and in order, or is counted as lost.
    #[test]
    fn records_arrive_whole_and_in_order_while_both_threads_run() {
        const RECORDS: u64 = if cfg!(miri) { 300 } else { 200_000 };
        let ring = Ring::new(16);
        let mut seen = Vec::new();
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| {
                for number in 0..RECORDS {
                    ring.push([number; WORDS]);
                }
            });
            while !writer.is_finished() {
                ring.drain(|words| seen.push(words));
            }
        });
        ring.drain(|words| seen.push(words));
        assert!(seen.iter().all(|words| words.iter().all(|word| *word == words[0])), "a torn record");
        assert!(seen.is_sorted_by(|a, b| a[0] < b[0]));
        assert_eq!(seen.len() as u64 + ring.n_dropped(), RECORDS);
    }
}
