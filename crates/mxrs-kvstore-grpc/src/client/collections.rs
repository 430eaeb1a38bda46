//! The bytes that a worker gave to recent collections and that other workers may still need. If server 0 is started again,
//! it has lost these bytes, and the worker gives them again.

use crate::messages::Collect;
use crate::server::MOST_COLLECTIONS;
use std::collections::VecDeque;

/// The number of the next collection, and the bytes that this worker gave to recent collections.
#[derive(Debug, Default)]
pub struct Collections {
    next: u64,
    given: VecDeque<Collect>,
}

impl Collections {
    /// The number of the next collection.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Sets the number of the next collection, which server 0 has sent. The number never decreases.
    pub fn begin_at(&mut self, number: u64) {
        self.next = number.max(self.next);
    }

    /// Notes that this worker has made a collection. If it waited for the bytes of all workers, all workers have made the
    /// earlier ones. Then only this collection may have to be given again.
    pub fn done(&mut self, collect: Collect, has_waited: bool) {
        self.next = collect.number + 1;
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
        all.begin_at(5);
        let numbers = |all: &Collections| all.given().iter().map(|collect| collect.number).collect::<Vec<_>>();
        let done = |all: &mut Collections, has_waited| {
            let number = all.next();
            all.done(Collect { number, ..Collect::default() }, has_waited);
        };
        done(&mut all, true);
        (0..2).for_each(|_| done(&mut all, false));
        assert_eq!((numbers(&all), all.next()), (vec![5, 6, 7], 8));
        done(&mut all, true);
        assert_eq!(numbers(&all), [8], "all workers have made the earlier ones");
        (0..200).for_each(|_| done(&mut all, false));
        assert_eq!(numbers(&all).len(), MOST_COLLECTIONS);
        all.begin_at(3);
        assert_eq!(all.next(), 209);
    }
}
