//! The engine tasks of a distributed store. They read arrays into messages, and wait for messages that write arrays.

use super::group::Command;
use super::job::{Job, Phase, RoundId};
use super::lease::{Lease, Lent};
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
        // If there is no receiver, the group has ended, and the job of this round fails.
        drop(self.commands.send(Command::Send { to, priority: self.priority, packet }));
    }

    fn others(&self) -> impl Iterator<Item = usize> {
        let rank = self.rank;
        (0..self.n_workers).filter(move |to| *to != rank)
    }

    /// Sends the values of a key, or their codes, to the owners of its pieces. Returns the messages for the pieces that this
    /// worker owns itself.
    ///
    /// # Safety
    /// `values` is in host memory, and the task of the lease reads its variable.
    unsafe fn send_values(&self, values: &NdArray, lease: &Arc<Lease>) -> Vec<(u32, Packet)> {
        let mut own = Vec::new();
        for (number, piece) in (0u32..).zip(self.pieces.iter()) {
            let Some(content) = Lent::new(values, self.value_range(&piece.elements), lease) else { continue };
            // SAFETY: the task of the lease reads the variable of the array, so no code writes it as long as the task is open.
            let packet = unsafe { Packet::lent(self.id.header(Kind::Value, number), content) };
            match piece.owner == self.rank {
                true => own.push((number, packet)),
                false => self.send(piece.owner, Arc::new(packet)),
            }
        }
        own
    }

    /// The bytes of these elements in a message of a value, or of its codes.
    fn value_range(&self, elements: &Range<usize>) -> Range<usize> {
        let begin = match self.codec.compression {
            None => elements.start * self.codec.dtype.size_of(),
            Some(compression) => elements.start / compression.per_byte(),
        };
        begin..begin + self.codec.value_bytes(elements.len())
    }

    /// Sends the elements of a key that this worker owns to all other workers.
    ///
    /// # Safety
    /// `values` is in host memory and has all elements. The task of the lease holds its variable, and writes only elements that
    /// this worker does not own.
    unsafe fn send_to_all(&self, kind: Kind, values: &NdArray, lease: &Arc<Lease>) {
        let size = self.codec.dtype.size_of();
        for (number, piece) in (0u32..).zip(self.pieces.iter()).filter(|(_, piece)| piece.owner == self.rank) {
            let range = piece.elements.start * size..piece.elements.end * size;
            let Some(content) = Lent::new(values, range, lease) else { continue };
            // SAFETY: the caller's promise, as long as the task is open.
            let packet = Arc::new(unsafe { Packet::lent(self.id.header(kind, number), content) });
            self.others().for_each(|to| self.send(to, Arc::clone(&packet)));
        }
    }

    fn job(&self, phase: Phase, own: Vec<(u32, Packet)>, targets: Vec<NdArray>, first: usize, lease: Arc<Lease>) {
        let Self { id, label, pieces, codec, priority, .. } = self.clone();
        let job = Job { id, phase, label, pieces, codec, priority, own, targets, first, lease };
        // If the thread has ended, the job is dropped together with its lease, and this fails the task.
        drop(self.commands.send(Command::Job(job)));
    }

    fn lease(&self, completion: Completion) -> Arc<Lease> {
        Lease::new(&self.label, completion)
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

/// Writes the sum of the values of all workers to `stored` and to `outs`. `value` is the value of this worker, or its codes.
/// All these arrays are in host memory. `outs` have the type and the size of `stored`, and no two of the arrays share a
/// variable.
pub(super) fn exchange(round: &Round, value: &NdArray, stored: &NdArray, outs: &[NdArray]) -> Result<()> {
    let targets: Vec<NdArray> = std::iter::once(stored).chain(outs).map(NdArray::detach).collect();
    targets.iter().try_for_each(NdArray::note_write)?;
    let (round, source) = (round.clone(), value.detach());
    let task = stored.engine().task("kvstore_exchange").read(value.var());
    let task = outs.iter().fold(task.write(stored.var()), |task, out| task.write(out.var()));
    task.device(stored.device()).priority(round.priority).property(Property::CpuPrioritized).push_async(
        move |_, completion| {
            let lease = round.lease(completion);
            // SAFETY: this task reads the variable of `source`, which is in host memory.
            let own = unsafe { round.send_values(&source, &lease) };
            round.job(Phase::Exchange, own, targets, 0, lease);
        },
    )
}

/// Sends the value of this worker, or its codes, to the owners. If this worker owns elements, their sum is written to `sum`.
/// The task also reads `stored`, which the previous round writes, so that a worker is at most one round ahead of the others.
pub(super) fn send_and_sum(round: &Round, value: &NdArray, stored: &NdArray, sum: Option<&NdArray>) -> Result<()> {
    let (round, source) = (round.clone(), value.detach());
    let mut task = stored.engine().task("kvstore_push").read(value.var()).read(stored.var()).device(stored.device());
    task = task.priority(round.priority).property(Property::CpuPrioritized);
    if let Some(sum) = sum {
        sum.note_write()?;
        task = task.write(sum.var());
    }
    let targets: Vec<NdArray> = sum.into_iter().map(NdArray::detach).collect();
    task.push_async(move |_, completion| {
        let lease = round.lease(completion);
        // SAFETY: this task reads the variable of `source`, which is in host memory.
        let own = unsafe { round.send_values(&source, &lease) };
        let phase = if targets.is_empty() { Phase::Send } else { Phase::Sum };
        let first = owned(&round.pieces, round.rank).start;
        round.job(phase, own, targets, first, lease);
    })
}

/// Sends the elements of `stored` that this worker owns to the other workers, and overwrites the elements that other workers
/// own.
pub(super) fn fetch(round: &Round, stored: &NdArray) -> Result<()> {
    stored.note_write()?;
    let (round, target) = (round.clone(), stored.detach());
    let task = stored.engine().task("kvstore_fetch").write(stored.var()).device(stored.device());
    task.priority(round.priority).property(Property::CpuPrioritized).push_async(move |_, completion| {
        let lease = round.lease(completion);
        // SAFETY: this task writes the variable of `target`, which is in host memory. The thread that communicates writes only
        // elements that other workers own.
        unsafe { round.send_to_all(Kind::Outcome, &target, &lease) };
        round.job(Phase::Fetch, Vec::new(), vec![target], 0, lease);
    })
}

/// Writes the first value of the key, which is the `value` of worker 0, to `stored` on all workers. Worker 0 owns all
/// pieces.
pub(super) fn first(round: &Round, value: &NdArray, stored: &NdArray) -> Result<()> {
    stored.note_write()?;
    let (round, source, target) = (round.clone(), value.detach(), stored.detach());
    let task = stored.engine().task("kvstore_init").read(value.var()).write(stored.var()).device(stored.device());
    task.property(Property::CpuPrioritized).push_async(move |_, completion| {
        let lease = round.lease(completion);
        if round.rank == 0 {
            // SAFETY: this task reads the variable of `source` and writes that of `target`, a new array of the same size. Both
            // are in host memory.
            unsafe { std::ptr::copy_nonoverlapping(bytes_of(&source).as_ptr(), target.as_ptr(), source.size_bytes()) };
            // SAFETY: this task reads the variable of `source`.
            unsafe { round.send_to_all(Kind::First, &source, &lease) };
        }
        round.job(Phase::First, Vec::new(), vec![target], 0, lease);
    })
}
