//! The list of guards, and the order in which a fork calls them (rules F1 to F5 of [`super`]). The handlers that the system
//! calls are not in this file.

use super::{ForkGuard, Kept};
use crate::Rank;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};

/// The process in which the fork has returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// The process that called `fork`.
    Parent,
    /// The new process.
    Child,
}

/// The guards, sorted by rank.
pub(super) struct Registry {
    /// Ascending in `(rank, id)`.
    entries: Vec<Entry>,
    next_id: u64,
    /// Panics of hooks, to be logged when that is safe.
    failures: Vec<String>,
}

struct Entry {
    rank: Rank,
    id: u64,
    guard: Weak<dyn ForkGuard>,
}

/// A guard during a fork: its `prepare` and `hold` were called, and its `parent` or `child` was not called yet.
struct Prepared {
    /// Borrows from `guard`, so this field comes first and is dropped first.
    kept: Kept<'static>,
    guard: Arc<dyn ForkGuard>,
    rank: Rank,
    /// F4: whether `prepare` and `hold` returned normally.
    whole: bool,
}

/// All guards during a fork, in the order in which their `prepare` was called. The value is tied to the forking thread,
/// as locks are.
pub(super) struct Fork(Vec<Prepared>);

/// Guards whose fork is over. Dropped after the registry's lock is released, because dropping the last reference may
/// run any code.
#[must_use]
pub(super) struct Released(#[expect(dead_code, reason = "held to be dropped")] Fork);

impl Registry {
    pub(super) const fn new() -> Self {
        Self { entries: Vec::new(), next_id: 0, failures: Vec::new() }
    }

    /// Adds a guard after those of the same rank; returns the number by which it is removed.
    pub(super) fn add(&mut self, rank: Rank, guard: &Arc<dyn ForkGuard>) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        let at = self.entries.partition_point(|e| e.rank <= rank);
        self.entries.insert(at, Entry { rank, id, guard: Arc::downgrade(guard) });
        id
    }

    pub(super) fn remove(&mut self, id: u64) {
        self.entries.retain(|e| e.id != id);
    }

    /// F1: calls `prepare` and `hold` of all guards in ascending rank.
    pub(super) fn prepare(&mut self) -> Fork {
        let live: Vec<_> = self.entries.iter().filter_map(|e| Some((e.rank, e.guard.upgrade()?))).collect();
        Fork(live.into_iter().map(|(rank, guard)| self.prepare_one(rank, guard)).collect())
    }

    fn prepare_one(&mut self, rank: Rank, guard: Arc<dyn ForkGuard>) -> Prepared {
        let mut kept = Kept::default();
        let whole = self.call("prepare", rank, || guard.prepare()) && {
            // SAFETY: only the lifetime changes. `hold` is written for every lifetime, so it can store its borrow only
            // in `kept`. `kept` is emptied before `guard` is dropped: either in `finish`, or when the `Prepared` is
            // dropped, because `kept` is its first field.
            let lasting: &'static dyn ForkGuard = unsafe { &*Arc::as_ptr(&guard) };
            self.call("hold", rank, || lasting.hold(&mut kept))
        };
        if !whole {
            kept = Kept::default();
        }
        Prepared { kept, guard, rank, whole }
    }

    /// F2: calls `parent` or `child` of all guards in descending rank.
    pub(super) fn finish(&mut self, mut fork: Fork, side: Side) -> Released {
        for Prepared { kept, guard, rank, .. } in fork.0.iter_mut().rev().filter(|p| p.whole) {
            drop(std::mem::take(kept));
            match side {
                Side::Parent => self.call("parent", *rank, || guard.parent()),
                Side::Child => self.call("child", *rank, || guard.child()),
            };
        }
        Released(fork)
    }

    /// Returns the panics of hooks since the last call of this function.
    pub(super) fn take_failures(&mut self) -> Vec<String> {
        std::mem::take(&mut self.failures)
    }

    /// Returns panics to the list, for a later [`Registry::take_failures`].
    pub(super) fn keep_failures(&mut self, failures: Vec<String>) {
        self.failures.extend(failures);
    }

    /// F4: calls a hook; false if it panicked.
    fn call(&mut self, hook: &str, rank: Rank, body: impl FnOnce()) -> bool {
        let Err(panic) = catch_unwind(AssertUnwindSafe(body)) else { return true };
        self.failures.push(format!("fork hook `{hook}` of a guard at rank {rank:?} panicked: {}", message(&*panic)));
        false
    }
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message")
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::Mutex;

    struct Recorder {
        name: &'static str,
        log: Arc<Mutex<Vec<String>>>,
        fails_in: &'static str,
    }

    impl Recorder {
        fn note(&self, hook: &str) {
            self.log.lock().unwrap().push(format!("{hook} {}", self.name));
            assert!(hook != self.fails_in, "{} is broken", self.name);
        }
    }

    struct Lock<'a>(&'a Recorder);

    impl Drop for Lock<'_> {
        fn drop(&mut self) {
            self.0.log.lock().unwrap().push(format!("unlock {}", self.0.name));
        }
    }

    impl ForkGuard for Recorder {
        fn prepare(&self) {
            self.note("prepare");
        }
        fn hold<'a>(&'a self, kept: &mut Kept<'a>) {
            kept.keep(Lock(self));
            if self.fails_in == "hold" {
                panic!("{} is broken", self.name);
            }
        }
        fn parent(&self) {
            self.note("parent");
        }
        fn child(&self) {
            self.note("child");
        }
    }

    struct Sample {
        registry: Registry,
        log: Arc<Mutex<Vec<String>>>,
        /// The guards with their numbers.
        guards: Vec<(u64, Arc<dyn ForkGuard>)>,
    }

    /// Three guards, added out of order. The second guard of rank `Storage` panics in the hook named `fails_in`.
    fn sample(fails_in: &'static str) -> Sample {
        let log = Arc::new(Mutex::new(Vec::new()));
        let mut registry = Registry::new();
        let list = [("s1", Rank::Storage, ""), ("s2", Rank::Storage, fails_in), ("e", Rank::EngineLifecycle, "")];
        let guards = list.map(|(name, rank, fails_in)| {
            let guard: Arc<dyn ForkGuard> = Arc::new(Recorder { name, log: Arc::clone(&log), fails_in });
            (registry.add(rank, &guard), guard)
        });
        Sample { registry, log, guards: guards.into() }
    }

    impl Sample {
        /// The hooks that were called since the last call of this function.
        fn said(&self) -> String {
            self.log.lock().unwrap().drain(..).collect::<Vec<_>>().join(", ")
        }

        /// Simulates one fork as seen from `side`; returns the hooks that were called before it and after it.
        fn fork(&mut self, side: Side) -> [String; 2] {
            let fork = self.registry.prepare();
            let before = self.said();
            drop(self.registry.finish(fork, side));
            [before, self.said()]
        }
    }

    #[test]
    fn f1_f2_outer_before_inner_and_back() {
        let mut sample = sample("");
        let before = "prepare e, prepare s1, prepare s2";
        let after = "unlock s2, parent s2, unlock s1, parent s1, unlock e, parent e";
        assert_eq!(sample.fork(Side::Parent), [before, after]);
        assert_eq!(sample.fork(Side::Child), [before, &after.replace("parent", "child")]);
        assert!(sample.registry.take_failures().is_empty());
    }

    #[test]
    fn f4_a_failure_before_the_fork_costs_that_guard_its_other_half_only() {
        for (hook, unlocked) in [("prepare", ""), ("hold", ", unlock s2")] {
            let mut sample = sample(hook);
            let [before, after] = sample.fork(Side::Child);
            assert_eq!(before, format!("prepare e, prepare s1, prepare s2{unlocked}"));
            assert_eq!(after, "unlock s1, child s1, unlock e, child e");
            let failures = sample.registry.take_failures();
            assert_eq!(failures, [format!("fork hook `{hook}` of a guard at rank Storage panicked: s2 is broken")]);
            assert!(sample.registry.take_failures().is_empty(), "reported once");
        }
    }

    #[test]
    fn f4_a_failure_after_the_fork_stops_nobody() {
        let mut sample = sample("child");
        let [_, after] = sample.fork(Side::Child);
        assert_eq!(after, "unlock s2, child s2, unlock s1, child s1, unlock e, child e");
        assert_eq!(sample.registry.take_failures().len(), 1);
    }

    #[test]
    fn f5_held_weakly_between_forks_and_strongly_within() {
        let mut sample = sample("");
        let (s1, guard) = sample.guards.remove(0);
        drop(guard);
        let fork = sample.registry.prepare();
        drop(sample.guards.remove(0));
        let released = sample.registry.finish(fork, Side::Parent);
        let said = "prepare e, prepare s2, unlock s2, parent s2, unlock e, parent e";
        assert_eq!(sample.said(), said, "s1 was gone before, s2 went meanwhile");
        drop(released);
        assert_eq!(sample.fork(Side::Parent), ["prepare e", "unlock e, parent e"]);
        sample.registry.remove(s1);
        sample.registry.remove(sample.guards[0].0);
        assert_eq!(sample.fork(Side::Parent), ["", ""]);
    }
}
