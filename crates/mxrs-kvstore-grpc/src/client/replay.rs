//! Keeps the first values and pushes that no snapshot of the server contains yet, so that they can be sent again if the
//! server is restarted.

use crate::messages::{Applied, Head};
use mxrs_kvstore::Key;
use prost::bytes::Bytes;
use std::collections::{HashMap, VecDeque};

/// The first values and pushes to one server that may have to be sent again, in their order.
#[derive(Debug)]
pub struct Replay {
    /// The first values, in their order. All of them are kept, whatever their size.
    firsts: Vec<Push>,
    pushes: VecDeque<Push>,
    n_bytes: usize,
    most_bytes: usize,
    /// The number of complete snapshots that the server has reported last.
    n_snapshots: u64,
    /// Whether the server writes snapshots. If not, nothing is kept.
    is_needed: bool,
    /// The last push to each key that the server has acknowledged.
    acknowledged: HashMap<Key, u64>,
}

/// A push, or a first value, as it was sent.
#[derive(Clone, Debug)]
pub struct Push {
    pub key: Key,
    pub head: Head,
    pub bytes: Bytes,
    /// The number of the first snapshot that will contain this push. It is known once the server has acknowledged the push.
    in_snapshot: Option<u64>,
}

/// What a restarted server has lost.
#[derive(Debug, Default)]
pub struct Missing {
    /// The first values to give again, or to wait for. A server that already has the first value of a key ignores it.
    pub firsts: Vec<Push>,
    /// The pushes to send again.
    pub pushes: Vec<Push>,
    /// The number of acknowledged pushes that the server has lost and that are not kept here any more. They are lost for
    /// good.
    pub n_lost: u64,
}

impl Replay {
    /// Keeps at most `most_bytes` bytes; older pushes are dropped.
    pub fn new(most_bytes: usize) -> Self {
        Self {
            firsts: Vec::new(),
            pushes: VecDeque::new(),
            n_bytes: 0,
            most_bytes,
            n_snapshots: 0,
            is_needed: false,
            acknowledged: HashMap::new(),
        }
    }

    pub fn set_needed(&mut self, is_needed: bool) {
        self.is_needed = is_needed;
    }

    /// Whether the server writes snapshots, and some first value or push is in no snapshot yet.
    pub fn is_needed(&self) -> bool {
        self.is_needed && !(self.firsts.is_empty() && self.pushes.is_empty())
    }

    /// Keeps a first value that the server has taken. The snapshot with the number `in_snapshot` will contain it. Only
    /// worker 0 has the bytes; the other workers wait until worker 0 has given them.
    pub fn add_first(&mut self, key: &Key, head: &Head, bytes: &Bytes, in_snapshot: u64) {
        if !self.is_needed {
            return;
        }
        let (key, head, bytes) = (key.clone(), head.clone(), bytes.clone());
        self.firsts.push(Push { key, head, bytes, in_snapshot: Some(in_snapshot) });
    }

    /// Notes that a restarted server has taken a first value again.
    pub fn acknowledge_first(&mut self, key: &Key, in_snapshot: u64) {
        self.firsts
            .iter_mut()
            .filter(|first| first.key == *key)
            .for_each(|first| first.in_snapshot = Some(in_snapshot));
    }

    /// Keeps a push that is going to be sent.
    pub fn add(&mut self, key: &Key, head: &Head, bytes: &Bytes) {
        if !self.is_needed {
            return;
        }
        self.n_bytes += bytes.len();
        let (key, head, bytes) = (key.clone(), head.clone(), bytes.clone());
        self.pushes.push_back(Push { key, head, bytes, in_snapshot: None });
        while self.n_bytes > self.most_bytes {
            let Some(oldest) = self.pushes.pop_front() else { return };
            self.n_bytes -= oldest.bytes.len();
        }
    }

    /// Notes that the server has applied a push. The snapshot with the number `in_snapshot` will contain it.
    pub fn acknowledge(&mut self, key: &Key, push: u64, in_snapshot: u64) {
        let last = self.acknowledged.entry(key.clone()).or_default();
        *last = push.max(*last);
        let kept = self.pushes.iter_mut().rev().find(|kept| kept.head.push == push && kept.key == *key);
        if let Some(kept) = kept {
            kept.in_snapshot = Some(in_snapshot);
        }
    }

    /// Drops the first values and pushes that complete snapshots contain.
    pub fn forget(&mut self, n_snapshots: u64) {
        // This check saves time: every answer of the server has this number, but it rarely changes.
        if n_snapshots == self.n_snapshots {
            return;
        }
        self.n_snapshots = n_snapshots;
        let is_safe = |push: &Push| push.in_snapshot.is_some_and(|number| number <= n_snapshots);
        self.firsts.retain(|first| !is_safe(first));
        self.pushes.retain(|push| !is_safe(push));
        self.n_bytes = self.pushes.iter().map(|push| push.bytes.len()).sum();
    }

    /// What a server has lost, given the last push to each key that it has applied.
    pub fn missing(&self, applied: &[Applied]) -> Missing {
        let applied: HashMap<Key, u64> =
            applied.iter().filter_map(|applied| Some((applied.key.as_ref()?.key()?, applied.push))).collect();
        let last = |key: &Key| applied.get(key).copied().unwrap_or(0);
        let pushes: Vec<Push> = self.pushes.iter().filter(|push| push.head.push > last(&push.key)).cloned().collect();
        let mut n_lost = 0;
        for (key, acknowledged) in &self.acknowledged {
            let is_kept = |push: &&Push| push.key == *key && push.head.push <= *acknowledged;
            let n_kept = pushes.iter().filter(is_kept).count() as u64;
            n_lost += acknowledged.saturating_sub(last(key)).saturating_sub(n_kept);
        }
        Missing { firsts: self.firsts.clone(), pushes, n_lost }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::KeyText;

    fn replay(most_bytes: usize, n: u64) -> (Replay, Key) {
        let (mut replay, key) = (Replay::new(most_bytes), Key::from("w"));
        replay.set_needed(true);
        for push in 1..=n {
            replay.add(&key, &Head { push, ..Head::default() }, &Bytes::from_static(&[0; 10]));
        }
        (replay, key)
    }

    fn numbers(missing: &Missing) -> Vec<u64> {
        missing.pushes.iter().map(|push| push.head.push).collect()
    }

    #[test]
    fn what_a_snapshot_lacks_is_sent_again() {
        let (mut replay, key) = replay(1000, 5);
        // Pushes 1 and 2 are in snapshot 1, push 3 and 4 in snapshot 2, push 5 has no answer yet.
        for (push, in_snapshot) in [(1, 1), (2, 1), (3, 2), (4, 2)] {
            replay.acknowledge(&key, push, in_snapshot);
        }
        replay.forget(1);
        let applied = [Applied { key: Some(KeyText::from(&key)), push: 2 }];
        let missing = replay.missing(&applied);
        assert_eq!((numbers(&missing), missing.n_lost), (vec![3, 4, 5], 0));
        replay.forget(2);
        let applied = [Applied { key: Some(KeyText::from(&key)), push: 4 }];
        assert_eq!(numbers(&replay.missing(&applied)), [5]);
    }

    #[test]
    fn what_did_not_fit_is_counted_as_lost() {
        let (mut replay, key) = replay(30, 5);
        (1..=4).for_each(|push| replay.acknowledge(&key, push, 1));
        // Pushes 3, 4 and 5 are kept. The server has lost the acknowledged pushes 1 to 4, of which 1 and 2 are not kept.
        let missing = replay.missing(&[]);
        assert_eq!((numbers(&missing), missing.n_lost), (vec![3, 4, 5], 2));
    }

    #[test]
    fn first_values_are_kept_until_a_snapshot_has_them() {
        let (mut replay, key) = replay(0, 0);
        let (head, value) = (Head::default(), Bytes::from_static(&[0; 10]));
        replay.add_first(&key, &head, &value, 1);
        replay.add_first(&Key::from("later"), &head, &value, 2);
        let names = |replay: &Replay| replay.missing(&[]).firsts.iter().map(|f| f.key.to_string()).collect::<Vec<_>>();
        assert_eq!(names(&replay), ["`w`", "`later`"]);
        replay.forget(1);
        assert_eq!(names(&replay), ["`later`"]);
        // The server was killed before snapshot 2 was complete. It takes the value again, and will have it in snapshot 3.
        replay.acknowledge_first(&Key::from("later"), 3);
        replay.forget(2);
        assert_eq!(names(&replay), ["`later`"]);
        replay.forget(3);
        assert!(names(&replay).is_empty());
    }

    #[test]
    fn nothing_is_kept_for_a_server_without_snapshots() {
        let mut replay = Replay::new(1000);
        replay.add_first(&Key::from(1), &Head::default(), &Bytes::new(), 1);
        assert!(replay.missing(&[]).firsts.is_empty());
        replay.add(&Key::from(1), &Head { push: 1, ..Head::default() }, &Bytes::from_static(&[0; 10]));
        assert!(replay.missing(&[]).pushes.is_empty());
    }
}
