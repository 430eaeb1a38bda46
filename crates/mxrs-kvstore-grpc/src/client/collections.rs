//! The bytes that a worker gave to recent collections and that other workers may still need. If server 0 is started again,
//! it has lost these bytes, and the worker gives them again.

use crate::messages::{Collect, Progress};
use crate::server::MOST_COLLECTIONS;
use std::collections::VecDeque;

/// How far this worker is in the collections, and the bytes that it gave to recent ones.
#[derive(Debug, Default)]
pub struct Collections {
    /// `None` until server 0 has sent the number of the first collection.
    progress: Option<Progress>,
    given: VecDeque<Collect>,
}

impl Collections {
    /// How far this worker is; `None` if it does not know yet in which collection it takes part first.
    pub fn progress(&self) -> Option<Progress> {
        self.progress
    }

    /// Sets the number of the first collection, which server 0 has sent. All workers have finished the earlier ones, or cannot
    /// finish them with bytes of this process.
    pub fn begin_at(&mut self, number: u64) {
        self.progress = Some(Progress { next: number, complete: number });
    }

    /// Notes that this worker has made a collection. If it waited for the bytes of all workers, all workers have made the
    /// earlier ones. Then only this collection may have to be given again.
    pub fn done(&mut self, collect: Collect, has_waited: bool) {
        let next = collect.number + 1;
        let complete = if has_waited { next } else { self.progress.map_or(0, |progress| progress.complete) };
        self.progress = Some(Progress { next, complete });
        if has_waited {
            self.given.clear();
        }
        self.given.push_back(collect);
        // A server keeps no more collections than this. So all workers have finished older ones.
        while self.given.len() > MOST_COLLECTIONS {
            self.given.pop_front();
        }
    }

    /// What a restarted server 0 has lost.
    pub fn given(&self) -> Vec<Collect> {
        self.given.iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_may_need_is_kept() {
        let mut all = Collections::default();
        assert_eq!(all.progress(), None);
        all.begin_at(5);
        let progress = |next, complete| Some(Progress { next, complete });
        assert_eq!(all.progress(), progress(5, 5));
        let numbers = |all: &Collections| all.given().iter().map(|collect| collect.number).collect::<Vec<_>>();
        let done = |all: &mut Collections, has_waited| {
            let number = all.progress().unwrap().next;
            all.done(Collect { number, ..Collect::default() }, has_waited);
        };
        done(&mut all, true);
        (0..2).for_each(|_| done(&mut all, false));
        assert_eq!((numbers(&all), all.progress()), (vec![5, 6, 7], progress(8, 6)));
        done(&mut all, true);
        assert_eq!(numbers(&all), [8], "all workers have made the earlier ones");
        (0..200).for_each(|_| done(&mut all, false));
        assert_eq!((numbers(&all).len(), all.progress()), (MOST_COLLECTIONS, progress(209, 9)));
    }
}
