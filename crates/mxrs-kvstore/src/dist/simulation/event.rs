//! Events of the simulation, messages that wait, and the state of workers and pieces.

use std::collections::BTreeSet;

/// An event, ordered by time and then by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Event {
    /// In picoseconds, so that events have a total order.
    pub at: u64,
    pub number: u64,
    pub what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum What {
    /// The gradients of a key are ready on all workers.
    Ready(usize),
    /// A worker has pushed a key.
    Pushed(usize, usize),
    /// The link of a worker is free.
    Free(usize),
    /// The first byte of a message is at its receiver.
    Arrives(Message),
    /// A message is handled.
    Handled(Message),
    /// The owner of a piece has added its values.
    Added(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Message {
    pub from: u32,
    pub to: u32,
    /// The number of the piece among all pieces of all keys.
    pub piece: u32,
    pub is_outcome: bool,
}

/// A piece with the values that its owner waits for.
pub(super) struct Piece {
    pub key: usize,
    pub bytes: usize,
    pub owner: usize,
    /// The number of pieces of the same key and owner before this one.
    pub turn: u32,
    pub n_missing: usize,
}

/// A message that waits to be sent, or a result of a piece that waits for its next receivers. Entries are sent in the order
/// of their fields, compared from first to last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    pub urgency: i64,
    pub order: u64,
    /// Messages of one key go to its owners in turn. `distance` makes every worker begin with a different owner, so that not
    /// all workers send to the first owner at once.
    pub turn: u32,
    pub distance: u32,
    pub piece: u32,
    pub is_outcome: bool,
    /// The number of receivers that an outcome has been sent to.
    pub served: u32,
}

/// A worker: what it has to send, the most urgent first, and when its links and its thread are free.
#[derive(Default)]
pub(super) struct Worker {
    pub queue: BTreeSet<Entry>,
    pub is_sending: bool,
    pub link_free: u64,
    pub thread_free: u64,
    pub sent_bytes: u64,
    /// By key, the number of pieces that have not arrived.
    pub missing: Vec<u32>,
}
