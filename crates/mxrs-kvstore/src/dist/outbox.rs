//! Messages that wait to be sent, for each receiver the most urgent first.

use super::packet::Packet;
use super::wire::Wire;
use mxrs_types::Result;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// A message that waits.
struct Queued {
    priority: i32,
    /// The number of messages that were queued before this one.
    number: u64,
    packet: Arc<Packet>,
}

/// Larger priorities first; among equal ones, the message that has waited longest.
impl Ord for Queued {
    fn cmp(&self, other: &Self) -> Ordering {
        self.priority.cmp(&other.priority).then(other.number.cmp(&self.number))
    }
}

impl PartialOrd for Queued {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Queued {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Queued {}

/// The messages that wait. At most `window` messages per receiver are given to the wire at a time, because the wire sends
/// them in the order in which it gets them.
pub(super) struct Outbox {
    queues: Vec<BinaryHeap<Queued>>,
    window: usize,
    n_queued: u64,
}

impl Outbox {
    pub fn new(n_workers: usize, window: usize) -> Self {
        Self { queues: (0..n_workers).map(|_| BinaryHeap::new()).collect(), window: window.max(1), n_queued: 0 }
    }

    /// Queues a message for the worker `to`, which exists.
    pub fn push(&mut self, to: usize, priority: i32, packet: Arc<Packet>) {
        let number = self.n_queued;
        self.n_queued += 1;
        if let Some(queue) = self.queues.get_mut(to) {
            queue.push(Queued { priority, number, packet });
        }
    }

    /// Gives waiting messages to the wire. Calls `sent` with the receiver of each message.
    ///
    /// # Errors
    /// Returns the error of the wire.
    pub fn send(&mut self, wire: &mut dyn Wire, mut sent: impl FnMut(usize)) -> Result<()> {
        for (to, queue) in self.queues.iter_mut().enumerate() {
            while !queue.is_empty() && wire.n_unsent(to) < self.window {
                let Some(queued) = queue.pop() else { break };
                wire.send(to, queued.packet)?;
                sent(to);
            }
        }
        Ok(())
    }

    pub fn is_empty(&self) -> bool {
        self.queues.iter().all(BinaryHeap::is_empty)
    }

    pub fn clear(&mut self) {
        self.queues.iter_mut().for_each(BinaryHeap::clear);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::packet::{Header, Kind};
    use crate::dist::wire::Received;
    use std::time::Duration;

    /// A wire that sends a message only when the test says so.
    struct Slow(Vec<(usize, u32)>, usize);

    impl Wire for Slow {
        fn rank(&self) -> usize {
            0
        }
        fn size(&self) -> usize {
            3
        }
        fn description(&self) -> String {
            "test".to_owned()
        }
        fn is_polled(&self) -> bool {
            false
        }
        fn send(&mut self, to: usize, packet: Arc<Packet>) -> Result<()> {
            self.0.push((to, packet.header()?.piece));
            Ok(())
        }
        fn n_unsent(&mut self, to: usize) -> usize {
            self.0[self.1..].iter().filter(|(other, _)| *other == to).count()
        }
        fn receive(&mut self, _: &mut dyn FnMut(usize, &mut Packet)) -> Result<Option<Received>> {
            Ok(None)
        }
        fn close(&mut self, _: Duration) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn urgent_messages_overtake_all_but_those_in_flight() {
        let mut outbox = Outbox::new(3, 2);
        let packet = |piece| Arc::new(Packet::new(Header { piece, ..Header::of(Kind::Value) }, 0));
        for (piece, priority) in [(0, -5), (1, -5), (2, -5), (3, -1)] {
            outbox.push(1, priority, packet(piece));
        }
        outbox.push(2, -9, packet(4));
        let mut wire = Slow(Vec::new(), 0);
        outbox.send(&mut wire, |_| {}).unwrap();
        assert_eq!(wire.0, [(1, 3), (1, 0), (2, 4)], "two are in flight to worker 1");
        outbox.push(1, 0, packet(5));
        wire.1 = wire.0.len();
        outbox.send(&mut wire, |_| {}).unwrap();
        assert_eq!(wire.0[3..], [(1, 5), (1, 1)]);
        assert!(!outbox.is_empty());
        wire.1 = wire.0.len();
        outbox.send(&mut wire, |_| {}).unwrap();
        assert_eq!(wire.0[5..], [(1, 2)]);
        assert!(outbox.is_empty());
    }
}
