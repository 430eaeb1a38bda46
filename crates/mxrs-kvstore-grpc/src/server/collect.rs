//! Collections: every worker gives bytes and gets the bytes of all workers. Server 0 stores them.

use prost::bytes::Bytes;
use std::collections::BTreeMap;
use tonic::Status;

/// The most collections that not all workers have ended.
const MOST_OPEN: usize = 64;
/// The number of complete collections that are kept for workers that ask again.
const KEPT: usize = 4;
/// The number of recent collections whose bytes a worker must be able to give again, because another worker may still need
/// them.
pub const MOST_COLLECTIONS: usize = MOST_OPEN + KEPT;
/// A bound for the number of a collection, so that adding 1 cannot overflow. No training reaches it.
const MOST_NUMBER: u64 = u64::MAX / 2;

/// What workers have given, by the number of the collection.
#[derive(Debug, Default)]
pub struct Collections(BTreeMap<u64, Vec<Option<Bytes>>>);

impl Collections {
    /// Takes the bytes of a worker. A worker that asks again gives the same bytes.
    ///
    /// # Errors
    /// Fails if the number is not one of those that are next.
    pub fn give(&mut self, number: u64, rank: usize, n_workers: usize, bytes: Bytes) -> Result<(), Status> {
        let oldest = self.0.keys().next().copied().unwrap_or(number);
        if number > MOST_NUMBER {
            let got = format!("collection {number} of worker {rank}");
            return Err(Status::out_of_range(format!(
                "{got}: got a number above {MOST_NUMBER}, expected a smaller one"
            )));
        }
        if number < oldest || (!self.0.contains_key(&number) && self.0.len() >= MOST_COLLECTIONS) {
            let got = format!("collection {number} of worker {rank}, where the oldest is {oldest}");
            return Err(Status::out_of_range(format!("{got}: all workers must make the same collective calls")));
        }
        let all = self.0.entry(number).or_insert_with(|| vec![None; n_workers]);
        if let Some(place) = all.get_mut(rank) {
            *place = Some(bytes);
        }
        let complete: Vec<u64> =
            self.0.iter().filter(|(_, all)| all.iter().all(Option::is_some)).map(|(n, _)| *n).collect();
        // The `KEPT` newest complete collections are kept. Every collection that is older than all of these is removed, even
        // if it is incomplete. A worker makes the collections in the order of their numbers. So when all workers have given
        // bytes to a collection, all have finished the earlier ones. An earlier one is incomplete only if this server was
        // started again and lost bytes that workers had given before; no worker needs these bytes any more.
        if let Some(oldest) = complete.len().checked_sub(KEPT).and_then(|at| complete.get(at)) {
            self.0.retain(|number, _| number >= oldest);
        }
        Ok(())
    }

    /// The bytes of all workers, once all have given theirs.
    pub fn result(&self, number: u64) -> Option<Vec<Bytes>> {
        self.0.get(&number)?.iter().cloned().collect()
    }

    /// The workers that have not given their bytes.
    pub fn missing(&self, number: u64) -> Vec<usize> {
        let all = self.0.get(&number).map_or(&[][..], |all| all);
        all.iter().enumerate().filter(|(_, bytes)| bytes.is_none()).map(|(rank, _)| rank).collect()
    }

    /// The number of the collection in which a worker that was just started takes part next. Those below `first` are finished,
    /// even if bytes are missing because this server was started again.
    pub fn next(&self, rank: usize, first: u64) -> u64 {
        let open = self.0.range(first..).find(|(_, all)| all.get(rank).is_some_and(Option::is_none));
        let after_last = || self.0.keys().next_back().map_or(0, |last| last + 1).max(first);
        open.map_or_else(after_last, |(number, _)| *number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &'static str) -> Bytes {
        Bytes::from_static(text.as_bytes())
    }

    #[test]
    fn all_get_the_bytes_of_all_in_the_order_of_ranks() {
        let mut all = Collections::default();
        all.give(0, 1, 2, bytes("b")).unwrap();
        assert_eq!((all.result(0), all.missing(0)), (None, vec![0]));
        // Worker 1 gives the same bytes again, because its connection was lost. It is then started again, and takes part in
        // collection 1 next.
        all.give(0, 1, 2, bytes("b")).unwrap();
        assert_eq!((all.next(0, 0), all.next(1, 0)), (0, 1));
        all.give(0, 0, 2, bytes("a")).unwrap();
        assert_eq!(all.result(0), Some(vec![bytes("a"), bytes("b")]));
        for number in 1..20 {
            (0..2).for_each(|rank| all.give(number, rank, 2, bytes("x")).unwrap());
        }
        assert!(all.0.len() <= KEPT && all.result(19).is_some(), "old ones are dropped");
        assert!(all.give(3, 0, 2, bytes("x")).is_err());
    }

    #[test]
    fn a_worker_that_runs_ahead_is_stopped() {
        let mut all = Collections::default();
        let taken = (0..1000).take_while(|number| all.give(*number, 0, 2, bytes("x")).is_ok()).count();
        assert_eq!(taken, MOST_COLLECTIONS);
    }

    #[test]
    fn numbers_that_no_training_reaches_are_refused() {
        let mut all = Collections::default();
        assert!(all.give(u64::MAX, 0, 2, bytes("x")).is_err());
        assert_eq!(all.next(0, 0), 0);
        all.give(MOST_NUMBER, 0, 2, bytes("x")).unwrap();
        assert_eq!((all.next(0, 0), all.next(1, 0)), (MOST_NUMBER + 1, MOST_NUMBER));
    }

    #[test]
    fn a_worker_that_is_restarted_with_the_server_takes_part_in_no_finished_collection() {
        let mut all = Collections::default();
        assert_eq!(all.next(1, 6), 6, "no other worker has given bytes again yet");
        // Worker 0 gives its bytes again for collection 5, which all workers have finished.
        all.give(5, 0, 2, bytes("x")).unwrap();
        assert_eq!(all.next(1, 6), 6);
        // Worker 0 waits in collection 6, and the bytes of worker 1 are missing.
        all.give(6, 0, 2, bytes("x")).unwrap();
        assert_eq!((all.next(1, 6), all.next(0, 6)), (6, 7));
    }

    #[test]
    fn collections_that_a_restarted_server_knows_in_part_do_not_stay() {
        let mut all = Collections::default();
        // After a restart of the server, worker 1 gives its bytes again for a collection that all workers have finished.
        all.give(6, 1, 2, bytes("x")).unwrap();
        for number in 7..7 + KEPT as u64 {
            (0..2).for_each(|rank| all.give(number, rank, 2, bytes("x")).unwrap());
        }
        assert_eq!(all.0.keys().next(), Some(&7));
    }
}
