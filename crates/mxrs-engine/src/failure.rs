//! The error of a failed task, kept until a waiting thread receives it.

use mxrs_sync::atomic::{AtomicBool, Ordering};
use mxrs_sync::{Rank, RankedMutex};
use mxrs_types::{Device, Error};
use std::collections::VecDeque;
use std::sync::Arc;

/// The largest number of skipped tasks that a message names; it only counts the others.
const NAMED: usize = 8;

/// One failure, shared by all variables that it taints. It is reported at most once, and has no effect afterwards,
/// unless it is sticky.
#[derive(Debug)]
pub(crate) struct Failure {
    error: Error,
    /// Whether every read of a tainted variable reports the failure, not only the first read.
    sticky: bool,
    taken: AtomicBool,
    skipped: RankedMutex<Skipped>,
}

#[derive(Debug, Default)]
struct Skipped {
    names: Vec<String>,
    more: usize,
}

impl Failure {
    pub(crate) fn new(error: Error, op: &str, device: Device, sticky: bool) -> Arc<Self> {
        Arc::new(Self {
            error: error.context(format!("running `{op}` on {device}")),
            sticky,
            taken: AtomicBool::new(false),
            skipped: RankedMutex::new(Rank::Leaf, Skipped::default()),
        })
    }

    /// Whether the failure still has an effect: it is not reported yet, or it is sticky.
    pub(crate) fn is_live(&self) -> bool {
        self.sticky || !self.is_reported()
    }

    /// Whether a task is skipped because one of its variables carries this failure; `write` says whether the task
    /// writes the variable or only reads it. A sticky failure that was already reported skips only readers, because a
    /// write may replace it.
    pub(crate) fn concerns(&self, write: bool) -> bool {
        self.is_live() && !(write && self.is_reported())
    }

    /// Whether the failure was reported at least once.
    pub(crate) fn is_reported(&self) -> bool {
        self.taken.load(Ordering::Acquire)
    }

    /// The error, for tasks that inspect it. Does not count as a report.
    pub(crate) fn error(&self) -> &Error {
        &self.error
    }

    /// Reports the error: returns it to the first caller only, or to every caller if the failure is sticky.
    pub(crate) fn take(&self) -> Option<Error> {
        if self.taken.swap(true, Ordering::AcqRel) && !self.sticky {
            return None;
        }
        let skipped = self.skipped.lock();
        if skipped.names.is_empty() {
            return Some(self.error.clone());
        }
        let names: Vec<String> = skipped.names.iter().map(|n| format!("`{n}`")).collect();
        let more = if skipped.more > 0 { format!(" and {} more", skipped.more) } else { String::new() };
        Some(self.error.clone().context(format!("skipping what depends on it: {}{more}", names.join(", "))))
    }

    pub(crate) fn note_skipped(&self, op: &str) {
        let mut skipped = self.skipped.lock();
        if skipped.names.len() < NAMED {
            skipped.names.push(op.to_owned());
        } else {
            skipped.more += 1;
        }
    }
}

/// Failures in the order in which they happened. Used only if something fails, or if a thread waits for all tasks.
#[derive(Debug)]
pub(crate) struct Failures(RankedMutex<List>);

#[derive(Debug)]
struct List {
    all: Vec<Arc<Failure>>,
    prune_at: usize,
    /// Errors that were reported and are not in `all` any more.
    told: VecDeque<Error>,
}

/// The number of reported errors that are remembered.
const TOLD: usize = 8;

/// Whether two errors have the same kind and fields. The operations that were in progress are not compared.
fn is_same(a: &Error, b: &Error) -> bool {
    a.kind() == b.kind()
}

impl Failures {
    pub(crate) fn new() -> Self {
        Self(RankedMutex::new(Rank::EngineErrors, List { all: Vec::new(), prune_at: 64, told: VecDeque::new() }))
    }

    pub(crate) fn add(&self, failure: Arc<Failure>) {
        let mut list = self.0.lock();
        if list.all.len() >= list.prune_at {
            let List { all, told, .. } = &mut *list;
            all.retain(|failure| {
                if failure.is_reported() && !told.iter().any(|error| is_same(error, failure.error())) {
                    told.push_front(failure.error().clone());
                    told.truncate(TOLD);
                }
                !failure.is_reported()
            });
            list.prune_at = (2 * list.all.len()).max(64);
        }
        list.all.push(failure);
    }

    /// Returns the first unreported failure, and marks all failures as reported. The list stays locked meanwhile, so a
    /// thread that finds it empty also finds them reported.
    pub(crate) fn take_all(&self) -> Option<Error> {
        let mut list = self.0.lock();
        let all = std::mem::take(&mut list.all);
        let mut first = None;
        for failure in all.iter().filter(|f| !f.is_reported()) {
            let error = failure.take();
            if first.is_none() {
                first = error;
            }
        }
        // Releases the lock before the failures in `all` are dropped.
        drop(list);
        first
    }

    /// Empties the list and returns the errors that were never reported, for the log at the engine's end. Of errors with the
    /// same kind and fields it returns one, or none if one of them was reported. Otherwise a lost connection, which fails
    /// every task that waits for it, would be logged many times.
    pub(crate) fn drain_live(&self) -> Vec<Error> {
        let mut list = self.0.lock();
        let all = std::mem::take(&mut list.all);
        let mut told: Vec<Error> = list.told.drain(..).collect();
        drop(list);
        told.extend(all.iter().filter(|f| f.is_reported()).map(|f| f.error().clone()));
        let mut live = Vec::new();
        for error in all.iter().filter(|f| !f.is_reported()).filter_map(|f| f.take()) {
            if !told.iter().any(|other| is_same(other, &error)) {
                told.push(error.clone());
                live.push(error);
            }
        }
        live
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn failure(text: &str) -> Arc<Failure> {
        Failure::new(Error::invalid("x", text, "y"), "op", Device::cpu(0), false)
    }

    #[test]
    fn taken_once_with_the_chain_of_skipped_tasks() {
        let f = failure("1");
        for i in 0..NAMED + 2 {
            f.note_skipped(&format!("s{i}"));
        }
        let text = f.take().unwrap().to_string();
        assert!(text.contains("while running `op` on cpu(0)"), "{text}");
        assert!(text.contains("`s0`, `s1`") && text.ends_with("`s7` and 2 more"), "{text}");
        assert!(f.take().is_none() && !f.is_live());
    }

    #[test]
    fn whoever_finds_the_list_empty_finds_all_failures_told() {
        let (rounds, n_failures) = if cfg!(miri) { (3, 20) } else { (50, 2000) };
        for _ in 0..rounds {
            let list = Failures::new();
            let failures: Vec<_> = (0..n_failures).map(|i| failure(&i.to_string())).collect();
            failures.iter().for_each(|f| list.add(Arc::clone(f)));
            let together = std::sync::Barrier::new(2);
            let told: usize = std::thread::scope(|scope| {
                let take_all = || {
                    together.wait();
                    let first = list.take_all();
                    assert!(failures.iter().all(|f| !f.is_live()), "E13: the list was empty, its failures still live");
                    usize::from(first.is_some())
                };
                let other = scope.spawn(take_all);
                take_all() + other.join().unwrap()
            });
            assert_eq!(told, 1);
        }
    }

    #[test]
    fn of_failures_that_say_the_same_one_is_logged() {
        let list = Failures::new();
        ["a", "b", "a", "b", "a"].into_iter().for_each(|text| list.add(failure(text)));
        let texts = |list: &Failures| list.drain_live().iter().map(ToString::to_string).collect::<Vec<_>>();
        let live = texts(&list);
        assert!(live.len() == 2 && live[0].contains("got a") && live[1].contains("got b"), "{live:?}");
        // This failure was reported. So failures with the same error are not logged, even after the list has dropped this
        // one.
        let reported = failure("a");
        reported.take();
        list.add(reported);
        (0..100).for_each(|_| list.add(failure("a")));
        list.add(failure("c"));
        let live = texts(&list);
        assert!(live.len() == 1 && live[0].contains("got c"), "{live:?}");
    }

    #[test]
    fn told_failures_do_not_pile_up() {
        let list = Failures::new();
        for i in 0..1000 {
            let f = failure(&i.to_string());
            list.add(Arc::clone(&f));
            f.take();
        }
        assert!(list.0.lock().all.len() <= 65);
        assert!(list.take_all().is_none());
    }
}
