//! The collections of a worker that others may still need. They are given again to a server 0 that was started again, which knows
//! none of them.

use crate::messages::Collect;
use crate::server::MOST_COLLECTIONS;
use std::collections::VecDeque;

/// The number of the next collection, and what this worker gave to the last ones.
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

    /// Notes the number of the next collection, which server 0 knows.
    pub fn begin_at(&mut self, number: u64) {
        self.next = number.max(self.next);
    }

    /// Notes that this worker has made a collection. If it waited for the bytes of all, all workers have made the earlier ones, and
    /// only this one may still be without an answer elsewhere.
    pub fn done(&mut self, collect: Collect, has_waited: bool) {
        self.next = collect.number + 1;
        if has_waited {
            self.given.clear();
        }
        self.given.push_back(collect);
        // A server takes no more than these, so all workers have made those before.
        while self.given.len() > MOST_COLLECTIONS {
            self.given.pop_front();
        }
    }

    /// What a server 0 without memory lacks.
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
