//! The interface to the transport that carries messages between workers, such as sockets or MPI.

use super::packet::Packet;
use mxrs_types::Result;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

/// What a wire has received.
#[derive(Debug)]
pub enum Received {
    /// A message. Messages of one sender are received in the order in which it sent them.
    Message {
        /// The rank of the sender.
        from: usize,
        /// The message.
        packet: Packet,
    },
    /// The connection to a worker has ended, because the worker has ended or failed.
    Lost {
        /// The rank of the worker.
        from: usize,
        /// The reason as text, to be written after the worker's name in an error message.
        reason: String,
    },
}

/// Carries messages between the workers of a training. One thread makes a wire, uses it and drops it.
///
/// No method waits for another worker, except [`Self::close`].
pub trait Wire {
    /// The number of this worker, from 0.
    fn rank(&self) -> usize;

    /// The number of workers.
    fn size(&self) -> usize;

    /// What carries the messages, for log lines: `MPI (Open MPI 4.1.4)`.
    fn description(&self) -> String;

    /// Whether [`Self::receive`] must be called for messages to arrive. If not, the wire calls its [`Waker`] when there is
    /// something to receive.
    fn is_polled(&self) -> bool;

    /// Starts to send a message to another worker. Does not wait until it is sent.
    ///
    /// # Errors
    /// Fails if the connection to this worker has failed.
    fn send(&mut self, to: usize, packet: Arc<Packet>) -> Result<()>;

    /// The number of messages to this worker whose sending has started and not ended. Messages that the wire sends together
    /// count as one.
    fn n_unsent(&mut self, to: usize) -> usize;

    /// Gives the transport the messages that [`Self::send`] has collected, if it collects any.
    ///
    /// # Errors
    /// Fails if the transport itself fails.
    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    /// Returns something that was received, or `None` if there is nothing. A wire that knows the header of a message before
    /// its content calls `room` with the sender and the message. `room` may give the message memory for its content;
    /// otherwise the wire does.
    ///
    /// # Errors
    /// Fails if the transport itself fails.
    fn receive(&mut self, room: &mut dyn FnMut(usize, &mut Packet)) -> Result<Option<Received>>;

    /// Sums the values of all workers by the transport's own function, such as `MPI_Allreduce`, and waits for it. All
    /// workers call it at the same time, with equally many values. Returns `false` if the transport has no such function.
    /// Stores do not use this function. It is the baseline in measurements of stores.
    ///
    /// # Errors
    /// Fails if the transport itself fails, or if `sums` has another length than `values`.
    fn all_reduce(&mut self, values: &[f32], sums: &mut [f32]) -> Result<bool> {
        let _ = (values, sums);
        Ok(false)
    }

    /// Ends the connections, after everything has been sent. Waits for other workers at most for `patience`, if it has to.
    ///
    /// # Errors
    /// Fails if the transport itself fails.
    fn close(&mut self, patience: Duration) -> Result<()>;
}

/// Wakes the thread that uses a wire.
#[derive(Clone, Debug)]
pub struct Waker(pub(super) Sender<super::group::Command>);

impl Waker {
    /// Makes the thread call [`Wire::receive`].
    pub fn wake(&self) {
        // If there is no receiver, the thread has ended.
        drop(self.0.send(super::group::Command::Wake));
    }
}

/// Connects this worker to the others, on the thread that is going to use the wire.
pub type Connect = Box<dyn FnOnce(Waker) -> Result<Box<dyn Wire>> + Send>;
