//! What one round of one key waits for on this worker.

use super::lease::{Lease, Lent};
use super::liveness::lost;
use super::packet::{Header, Kind, Packet};
use super::plan::Piece;
use super::sum::{Codec, Sum};
use mxrs_ndarray::NdArray;
use mxrs_types::{Error, Result};
use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// A round of a key: the store, the number of the key, and the number of pushes of the key before this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct RoundId {
    pub store: u32,
    pub key: u32,
    pub round: u64,
}

impl RoundId {
    pub fn of(header: &Header) -> Self {
        Self { store: header.store, key: header.key, round: header.round }
    }

    pub fn header(self, kind: Kind, piece: u32) -> Header {
        Header { kind, store: self.store, key: self.key, piece, round: self.round }
    }
}

/// What a job waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    /// Nothing more: the task ends when its messages are sent.
    Send,
    /// The first value of the key, from worker 0.
    First,
    /// The values of all workers for the pieces that this worker owns. The sums are written to the target.
    Sum,
    /// The weights of the pieces that other workers own, after the update.
    Fetch,
    /// What `Sum` and `Fetch` wait for: the values of all workers for own pieces, whose sums are sent to all workers, and
    /// the sums of the pieces of other workers.
    Exchange,
}

impl Phase {
    /// The kinds of messages that jobs of this phase take.
    pub fn kinds(self) -> &'static [Kind] {
        match self {
            Self::Send => &[],
            Self::First => &[Kind::First],
            Self::Sum => &[Kind::Value],
            Self::Fetch => &[Kind::Outcome],
            Self::Exchange => &[Kind::Value, Kind::Outcome],
        }
    }
}

/// A task of the engine that is completed when messages have arrived.
pub(super) struct Job {
    pub id: RoundId,
    pub phase: Phase,
    /// The name of the key, for errors.
    pub label: Arc<str>,
    pub pieces: Arc<[Piece]>,
    pub codec: Codec,
    pub priority: i32,
    /// The values of this worker for the pieces that it owns.
    pub own: Vec<(u32, Packet)>,
    /// Arrays in host memory that the task writes. Element 0 of each array is element `first` of the key. All targets get
    /// the same elements: messages are received into the first target and copied to the others.
    pub targets: Vec<NdArray>,
    pub first: usize,
    /// Keeps the engine task open until the job is done.
    pub lease: Arc<Lease>,
}

/// A job that waits for messages.
pub(super) struct Running {
    pub job: Job,
    sums: HashMap<u32, Sum>,
    /// The pieces of other workers that have not arrived.
    awaited: Vec<u32>,
    /// The awaited pieces that the wire already receives directly into the target.
    arriving: Vec<u32>,
    pub since: Instant,
}

/// The effect of one received message on a job.
#[derive(Default)]
pub(super) struct Step {
    /// A completed sum, to be sent to all other workers.
    pub outcome: Option<Packet>,
    /// Whether the job waits for nothing more.
    pub is_done: bool,
}

impl Running {
    /// Starts a job on the worker `rank` of `n_workers`.
    pub fn start(job: Job, rank: usize, n_workers: usize) -> Self {
        let (mut sums, mut awaited) = (HashMap::new(), Vec::new());
        for (number, piece) in (0u32..).zip(job.pieces.iter()) {
            match (job.phase, piece.owner == rank) {
                (Phase::Sum | Phase::Exchange, true) => {
                    sums.insert(number, Sum::new(job.codec, piece.elements.len(), n_workers));
                }
                (Phase::Fetch | Phase::Exchange | Phase::First, false) => awaited.push(number),
                _ => {}
            }
        }
        Self { job, sums, awaited, arriving: Vec::new(), since: Instant::now() }
    }

    pub fn is_done(&self) -> bool {
        self.sums.is_empty() && self.awaited.is_empty()
    }

    /// Handles a message of one of the kinds that the phase of this job takes.
    ///
    /// # Errors
    /// Fails if the message has another size than expected, or is a second one for its piece.
    pub fn take(&mut self, from: usize, kind: Kind, number: u32, packet: Packet) -> Result<Step> {
        let Some(piece) = self.job.pieces.get(number as usize).cloned() else {
            let expected = format!("one of {}: all workers must have the same settings", self.job.pieces.len());
            return Err(self.refused(from, format!("piece {number}"), expected));
        };
        if kind == Kind::Value {
            let Some(sum) = self.sums.get_mut(&number) else {
                return Err(self.refused(
                    from,
                    format!("a second value of piece {number}"),
                    "one in each round".into(),
                ));
            };
            let id = self.job.id;
            let what = || format!("key {}, round {}", self.job.label, id.round);
            if !sum.take(from, packet).map_err(|error| error.context(what()))? {
                return Ok(Step::default());
            }
            if let Some(sum) = self.sums.remove(&number) {
                // SAFETY: all values are there. The task of this job writes the variables of the targets, which differ from those
                // of the values, and ends only when this thread says so. The pointer is that of the piece in the first target.
                unsafe { sum.write(self.place(0, &piece)) };
            }
            // SAFETY: these bytes of the first target were written above, and are not written again.
            let sums = unsafe { std::slice::from_raw_parts(self.place(0, &piece), self.bytes(&piece).len()) };
            (1..self.job.targets.len()).for_each(|i| self.write(i, &piece, sums));
            let content = self.lent(&piece).filter(|_| self.job.phase == Phase::Exchange);
            // SAFETY: this piece of the target was written above, once, and the task stays open as long as the message
            // exists.
            let outcome = content.map(|content| unsafe { Packet::lent(id.header(Kind::Outcome, number), content) });
            return Ok(Step { outcome, is_done: self.is_done() });
        }
        let Some(place) = self.awaited.iter().position(|other| *other == number).filter(|_| from == piece.owner) else {
            return Err(self.refused(from, format!("a result of piece {number}"), "one, from its owner".into()));
        };
        let expected = piece.elements.len() * self.job.codec.dtype.size_of();
        if packet.content().len() != expected {
            let got = format!("{} bytes of piece {number}", packet.content().len());
            return Err(self.refused(from, got, format!("{expected} bytes: all workers must train the same network")));
        }
        self.awaited.swap_remove(place);
        let begins = usize::from(packet.is_in_place());
        (begins..self.job.targets.len()).for_each(|i| self.write(i, &piece, packet.content()));
        Ok(Step { outcome: None, is_done: self.is_done() })
    }

    fn refused(&self, from: usize, got: String, expected: String) -> Error {
        let what = format!("message of worker {from} for key {}, round {}", self.job.label, self.job.id.round);
        Error::invalid(what, got, expected)
    }

    /// The bytes of a piece in the targets.
    fn bytes(&self, piece: &Piece) -> Range<usize> {
        let size = self.job.codec.dtype.size_of();
        (piece.elements.start - self.job.first) * size..(piece.elements.end - self.job.first) * size
    }

    /// A piece of the first target as content of a message. It shares the lease, so the task stays open as long as the
    /// message exists.
    fn lent(&self, piece: &Piece) -> Option<Lent> {
        Lent::new(self.job.targets.first()?, self.bytes(piece), &self.job.lease)
    }

    /// The address of a piece in a target.
    fn place(&self, target: usize, piece: &Piece) -> *mut u8 {
        let (bytes, target) = (self.bytes(piece), &self.job.targets[target]);
        debug_assert!(bytes.end <= target.size_bytes(), "{piece:?} of {}", self.job.label);
        // SAFETY: the piece lies within the target: the store made the pieces and the targets from the same number of elements.
        unsafe { target.as_ptr().add(bytes.start) }
    }

    fn write(&self, target: usize, piece: &Piece, bytes: &[u8]) {
        debug_assert_eq!(bytes.len(), self.bytes(piece).len());
        // SAFETY: the task of this job writes the variable of the target and ends only when this thread says so, so no other
        // code uses the memory. It is host memory. `bytes` has the size of the piece, and is part of a message or of another
        // target.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.place(target, piece), bytes.len()) };
    }

    /// Makes the wire receive a message directly into the target, if this job waits for the message.
    pub fn make_room(&mut self, from: usize, number: u32, packet: &mut Packet) {
        let Some(piece) = self.job.pieces.get(number as usize).filter(|piece| piece.owner == from) else { return };
        if !self.awaited.contains(&number) || self.arriving.contains(&number) {
            return;
        }
        let Some(place) = self.lent(piece) else { return };
        // SAFETY: the task of this job stays open as long as the message exists, and nothing else uses this piece of the target:
        // a piece that is awaited gets one message.
        if unsafe { packet.receive_into(place) } {
            self.arriving.push(number);
        }
    }

    /// The workers that this job waits for.
    pub fn missing(&self) -> Vec<usize> {
        let mut ranks: Vec<usize> = self.sums.values().flat_map(Sum::missing).collect();
        ranks.extend(self.awaited.iter().map(|number| self.job.pieces[*number as usize].owner));
        ranks.sort_unstable();
        ranks.dedup();
        ranks
    }

    /// What the job waits for, in words.
    pub fn wait(&self) -> String {
        let what = match self.job.phase {
            Phase::Send => "nothing",
            Phase::First => "the first value",
            Phase::Sum => "gradients",
            Phase::Fetch => "updated weights",
            Phase::Exchange => "gradients",
        };
        format!("{what} of key {} in round {} from {}", self.job.label, self.job.id.round, workers(&self.missing()))
    }
}

/// `worker 1`, or `workers 1, 2`.
pub(super) fn workers(ranks: &[usize]) -> String {
    let list = ranks.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    if ranks.len() == 1 { format!("worker {list}") } else { format!("workers {list}") }
}

/// The error for messages that do not arrive, although the other workers are alive.
pub(super) fn overdue(seconds: f64, waits: &[String]) -> Error {
    let shown = waits.iter().take(3).cloned().collect::<Vec<_>>().join("; ");
    let more = if waits.len() > 3 { format!("; and {} more", waits.len() - 3) } else { String::new() };
    lost(
        io::ErrorKind::TimedOut,
        format!(
            "this worker has waited {seconds:.0} s for {shown}{more}: all workers must push the same keys equally often"
        ),
    )
}
