//! The pushes that no snapshot of the server has yet. They are sent again to a server that was restored from a snapshot.

use crate::messages::{Applied, Head};
use mxrs_kvstore::Key;
use prost::bytes::Bytes;
use std::collections::{HashMap, VecDeque};

/// Pushes to one server, in their order.
#[derive(Debug)]
pub struct Replay {
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

/// A push as it was sent.
#[derive(Clone, Debug)]
pub struct Push {
    pub key: Key,
    pub head: Head,
    pub bytes: Bytes,
    /// The number of the first snapshot with it, once the server has acknowledged it.
    in_snapshot: Option<u64>,
}

/// What a restored server lacks.
#[derive(Debug, Default)]
pub struct Missing {
    /// The pushes to send again.
    pub pushes: Vec<Push>,
    /// The number of acknowledged pushes that are not kept any more, so that they are lost.
    pub n_lost: u64,
}

impl Replay {
    /// Keeps at most `most_bytes` bytes; older pushes are dropped.
    pub fn new(most_bytes: usize) -> Self {
        Self {
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

    /// Notes that the server has applied a push, which the snapshot with this number will have.
    pub fn acknowledge(&mut self, key: &Key, push: u64, in_snapshot: u64) {
        let last = self.acknowledged.entry(key.clone()).or_default();
        *last = push.max(*last);
        let kept = self.pushes.iter_mut().rev().find(|kept| kept.head.push == push && kept.key == *key);
        if let Some(kept) = kept {
            kept.in_snapshot = Some(in_snapshot);
        }
    }

    /// Forgets the pushes that the complete snapshots have.
    pub fn forget(&mut self, n_snapshots: u64) {
        // Every answer has this number, and it rarely changes.
        if n_snapshots == self.n_snapshots {
            return;
        }
        self.n_snapshots = n_snapshots;
        let is_safe = |push: &Push| push.in_snapshot.is_some_and(|number| number <= n_snapshots);
        self.pushes.retain(|push| !is_safe(push));
        self.n_bytes = self.pushes.iter().map(|push| push.bytes.len()).sum();
    }

    /// What a server lacks that has applied these pushes.
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
        Missing { pushes, n_lost }
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
        // Pushes 3, 4 and 5 are kept; of the acknowledged ones the server lacks 1 to 4.
        let missing = replay.missing(&[]);
        assert_eq!((numbers(&missing), missing.n_lost), (vec![3, 4, 5], 2));
    }

    #[test]
    fn nothing_is_kept_for_a_server_without_snapshots() {
        let mut replay = Replay::new(1000);
        replay.add(&Key::from(1), &Head { push: 1, ..Head::default() }, &Bytes::from_static(&[0; 10]));
        assert!(replay.missing(&[]).pushes.is_empty());
    }
}
