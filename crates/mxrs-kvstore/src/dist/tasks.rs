//! The engine tasks of a distributed store. They read arrays into messages, and wait for messages that write arrays.

use super::group::Command;
use super::job::{Job, Phase, RoundId};
use super::packet::{Kind, Packet};
use super::plan::{Piece, owned};
use super::sum::Codec;
use mxrs_engine::{Completion, Property};
use mxrs_ndarray::NdArray;
use mxrs_types::Result;
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::Sender;

/// One round of one key.
#[derive(Clone)]
pub(super) struct Round {
    pub id: RoundId,
    /// The name of the key, for errors.
    pub label: Arc<str>,
    pub pieces: Arc<[Piece]>,
    pub codec: Codec,
    pub priority: i32,
    pub rank: usize,
    pub n_workers: usize,
    pub commands: Sender<Command>,
}

impl Round {
    fn send(&self, to: usize, packet: Arc<Packet>) {
        // Without a receiver the group is gone, and the job of this round fails.
        drop(self.commands.send(Command::Send { to, priority: self.priority, packet }));
    }

    fn others(&self) -> impl Iterator<Item = usize> {
        let rank = self.rank;
        (0..self.n_workers).filter(move |to| *to != rank)
    }

    /// Sends the values of a key, or their codes, to the owners. Returns those of own pieces.
    fn send_values(&self, bytes: &[u8]) -> Vec<(u32, Packet)> {
        let mut own = Vec::new();
        for (number, piece) in (0u32..).zip(self.pieces.iter()) {
            let packet = Packet::with(self.id.header(Kind::Value, number), &bytes[self.value_range(&piece.elements)]);
            match piece.owner == self.rank {
                true => own.push((number, packet)),
                false => self.send(piece.owner, Arc::new(packet)),
            }
        }
        own
    }

    /// The bytes of these elements of a value.
    fn value_range(&self, elements: &Range<usize>) -> Range<usize> {
        let begin = match self.codec.compression {
            None => elements.start * self.codec.dtype.size_of(),
            Some(compression) => elements.start / compression.per_byte(),
        };
        begin..begin + self.codec.value_bytes(elements.len())
    }

    /// Sends elements of a key to all other workers. `bytes` are all elements.
    fn send_to_all(&self, kind: Kind, bytes: &[u8]) {
        let size = self.codec.dtype.size_of();
        for (number, piece) in (0u32..).zip(self.pieces.iter()).filter(|(_, piece)| piece.owner == self.rank) {
            let range = piece.elements.start * size..piece.elements.end * size;
            let packet = Arc::new(Packet::with(self.id.header(kind, number), &bytes[range]));
            self.others().for_each(|to| self.send(to, Arc::clone(&packet)));
        }
    }

    fn job(&self, phase: Phase, own: Vec<(u32, Packet)>, target: NdArray, first: usize, completion: Completion) {
        let Self { id, label, pieces, codec, priority, .. } = self.clone();
        let job = Job { id, phase, label, pieces, codec, priority, own, target, first, completion };
        // A job that is not received is dropped, and its completion with it, which fails the task.
        drop(self.commands.send(Command::Job(job)));
    }
}

/// The bytes of an array that a task reads.
///
/// # Safety
/// The array is in host memory, and a running task holds its variable.
unsafe fn bytes_of(array: &NdArray) -> &[u8] {
    match array.size_bytes() {
        0 => &[],
        // SAFETY: the array has this number of bytes of host memory, and the caller excludes writers.
        n => unsafe { std::slice::from_raw_parts(array.as_ptr(), n) },
    }
}

/// Writes the sum of the values of all workers to `stored`. `value` is the value of this worker, or its codes.
pub(super) fn exchange(round: &Round, value: &NdArray, stored: &NdArray) -> Result<()> {
    stored.note_write()?;
    let (round, source, target) = (round.clone(), value.detach(), stored.detach());
    let task = stored.engine().task("kvstore_exchange").read(value.var()).write(stored.var());
    task.device(stored.device()).priority(round.priority).property(Property::CpuPrioritized).push_async(
        move |_, completion| {
            // SAFETY: this task reads the variable of `source`, which is in host memory.
            let own = round.send_values(unsafe { bytes_of(&source) });
            round.job(Phase::Exchange, own, target, 0, completion);
        },
    )
}

/// Sends the value of this worker, or its codes, to the owners. If this worker owns elements, their sum is written to `sum`.
/// `stored` is read so that a worker is at most one round ahead of the others.
pub(super) fn send_and_sum(round: &Round, value: &NdArray, stored: &NdArray, sum: Option<&NdArray>) -> Result<()> {
    let (round, source) = (round.clone(), value.detach());
    let task = stored.engine().task("kvstore_push").read(value.var()).read(stored.var()).device(stored.device());
    let task = task.priority(round.priority).property(Property::CpuPrioritized);
    let Some(sum) = sum else {
        return task.push(move |_| {
            // SAFETY: this task reads the variable of `source`, which is in host memory.
            round.send_values(unsafe { bytes_of(&source) });
            Ok(())
        });
    };
    sum.note_write()?;
    let target = sum.detach();
    task.write(sum.var()).push_async(move |_, completion| {
        // SAFETY: as above.
        let own = round.send_values(unsafe { bytes_of(&source) });
        let first = owned(&round.pieces, round.rank).start;
        round.job(Phase::Sum, own, target, first, completion);
    })
}

/// Sends the elements of `stored` that this worker owns to the others, and writes those that others own.
pub(super) fn fetch(round: &Round, stored: &NdArray) -> Result<()> {
    stored.note_write()?;
    let (round, target) = (round.clone(), stored.detach());
    let task = stored.engine().task("kvstore_fetch").write(stored.var()).device(stored.device());
    task.priority(round.priority).property(Property::CpuPrioritized).push_async(move |_, completion| {
        // SAFETY: this task writes the variable of `target`, which is in host memory. The thread that communicates writes to
        // it only after it has received the job.
        round.send_to_all(Kind::Outcome, unsafe { bytes_of(&target) });
        round.job(Phase::Fetch, Vec::new(), target, 0, completion);
    })
}

/// Writes the first value of worker 0 to `stored`. All pieces are owned by worker 0, which gives its `value`.
pub(super) fn first(round: &Round, value: &NdArray, stored: &NdArray) -> Result<()> {
    stored.note_write()?;
    let (round, source, target) = (round.clone(), value.detach(), stored.detach());
    let task = stored.engine().task("kvstore_init").read(value.var()).write(stored.var()).device(stored.device());
    let task = task.property(Property::CpuPrioritized);
    if round.rank != 0 {
        return task.push_async(move |_, completion| round.job(Phase::First, Vec::new(), target, 0, completion));
    }
    task.push(move |_| {
        // SAFETY: this task reads the variable of `source`, which is in host memory.
        let bytes = unsafe { bytes_of(&source) };
        round.send_to_all(Kind::First, bytes);
        // SAFETY: this task writes the variable of `target`, a new array of the same size in host memory.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), target.as_ptr(), bytes.len()) };
        Ok(())
    })
}
