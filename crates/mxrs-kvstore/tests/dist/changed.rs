//! Wires whose messages a test sees, repeats or holds back.

use mxrs_kvstore::dist::{Connect, Packet, Received, Waker, Wire};
use mxrs_types::Result;
use std::sync::Arc;
use std::time::Duration;

/// The kind of a message with the value of a worker, in the header.
pub const VALUE: u32 = 2;
/// The kind of a message with a sum or with updated weights, in the header.
pub const OUTCOME: u32 = 3;

/// What a test does with the messages of a wire. By default it leaves them as they are.
pub trait Change {
    /// Called instead of [`Wire::send`].
    fn send(&mut self, wire: &mut dyn Wire, to: usize, packet: Arc<Packet>) -> Result<()> {
        wire.send(to, packet)
    }

    /// Called instead of [`Wire::n_unsent`].
    fn n_unsent(&mut self, wire: &mut dyn Wire, to: usize) -> usize {
        wire.n_unsent(to)
    }

    /// Called with each message that was received.
    fn received(&mut self, packet: &Packet) {
        let _ = packet;
    }
}

struct Changed<C> {
    wire: Box<dyn Wire>,
    change: C,
}

/// This connection, with a change of its wire.
pub fn changed<C: Change + Send + 'static>(connect: Connect, change: C) -> Connect {
    Box::new(move |waker: Waker| {
        let wire = connect(waker)?;
        Ok(Box::new(Changed { wire, change }) as Box<dyn Wire>)
    })
}

/// The kind, the number of the key, and the round in the header of a message.
pub fn header_of(packet: &Packet) -> (u32, u32, u64) {
    let word = |i: usize| u64::from_ne_bytes(packet.head()[8 * i..8 * (i + 1)].try_into().unwrap());
    (word(1) as u32, word(2) as u32, word(3))
}

impl<C: Change> Wire for Changed<C> {
    fn rank(&self) -> usize {
        self.wire.rank()
    }

    fn size(&self) -> usize {
        self.wire.size()
    }

    fn description(&self) -> String {
        self.wire.description()
    }

    fn is_polled(&self) -> bool {
        self.wire.is_polled()
    }

    fn send(&mut self, to: usize, packet: Arc<Packet>) -> Result<()> {
        self.change.send(&mut *self.wire, to, packet)
    }

    fn n_unsent(&mut self, to: usize) -> usize {
        self.change.n_unsent(&mut *self.wire, to)
    }

    fn flush(&mut self) -> Result<()> {
        self.wire.flush()
    }

    fn receive(&mut self, room: &mut dyn FnMut(usize, &mut Packet)) -> Result<Option<Received>> {
        let received = self.wire.receive(room)?;
        if let Some(Received::Message { packet, .. }) = &received {
            self.change.received(packet);
        }
        Ok(received)
    }

    fn all_reduce(&mut self, values: &[f32], sums: &mut [f32]) -> Result<bool> {
        self.wire.all_reduce(values, sums)
    }

    fn close(&mut self, patience: Duration) -> Result<()> {
        self.wire.close(patience)
    }
}
