//! A model of the messages of a training step: how long a step takes with more workers than a machine can run.
//!
//! The simulation has the pieces and owners of the real store (`plan.rs`) and its order of messages: the most urgent first.
//! A message takes the sender's link for its bytes, arrives after a latency, and waits until the receiver's link is free. If
//! all workers send values to one owner at once, the messages queue at the link of this owner. Long messages are announced
//! first (rendezvous), which costs one more round trip. Then the receiver's thread handles the message: it copies the bytes,
//! and an owner adds the values when all have arrived. Times come from measurements: see [`Machine`].

mod event;

use super::plan::{Rules, plan};
use event::{Entry, Event, Message, Piece, What, Worker};
use mxrs_types::{Error, Result};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The most workers that are simulated: the time grows with their square.
const MOST_WORKERS: usize = 4096;

/// The costs of messages, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// From the start of a message until its first byte is at the receiver.
    pub latency_s: f64,
    /// The time for each byte on the link of a sender, and on that of a receiver. 0 if links do not limit the speed, as
    /// within one machine.
    pub link_s_per_byte: f64,
    /// Bytes above which a message is announced before it is sent.
    pub eager_bytes: usize,
    /// For each message, at the receiver's thread.
    pub message_s: f64,
    /// For each byte that is received, at the receiver's thread.
    pub copy_s_per_byte: f64,
    /// For each byte of a value that is added, at the owner's thread.
    pub add_s_per_byte: f64,
    /// For each key, at every worker: the tasks that push it and that wait for it.
    pub key_s: f64,
    /// For each step, once.
    pub step_s: f64,
    /// The time for a switch between threads, for each piece of work, if there are more threads than processors.
    pub switch_s: f64,
    /// The processors that the threads of all workers share; `None` if each worker has a processor for its thread.
    pub processors: Option<usize>,
}

/// A key of a network, in the order of its layers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimulatedKey {
    /// Number of elements, of four bytes.
    pub n_elements: usize,
    /// Time of the forward pass of its layer.
    pub forward_s: f64,
    /// Time of the backward pass of its layer.
    pub backward_s: f64,
}

/// How the store divides keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimulatedStore {
    /// Elements of a key that is divided among all workers (`MXNET_KVSTORE_BIGARRAY_BOUND`).
    pub big_array_elements: u64,
    /// Elements of a message of `p3` (`MXNET_KVSTORE_SLICE_THRESHOLD`); `None` for `dist_sync`.
    pub slice_elements: Option<u64>,
    /// Whether more urgent messages overtake others. If not, messages are sent in the order in which gradients are ready.
    pub by_priority: bool,
}

/// What a step takes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Step {
    /// From the begin of a step until the begin of the next one, in the steady state.
    pub seconds: f64,
    /// Until the first layer can begin the next step, from the end of the backward pass.
    pub first_layer_s: f64,
    /// The time of forward and backward pass without communication.
    pub compute_s: f64,
    /// Bytes that the busiest worker sends.
    pub sent_bytes: u64,
    /// Bytes of weights, gradients, and values that wait at the busiest owner.
    pub memory_bytes: u64,
    /// The number of messages of all workers.
    pub n_messages: u64,
}

struct Simulation<'a> {
    machine: &'a Machine,
    store: SimulatedStore,
    pieces: Vec<Piece>,
    /// The number of the first piece of each key. The last entry is the number of all pieces.
    first_pieces: Vec<usize>,
    workers: Vec<Worker>,
    events: BinaryHeap<Reverse<Event>>,
    n_events: u64,
    n_messages: u64,
    /// By key, when the last worker has received all pieces of it.
    done: Vec<u64>,
    /// When each of the shared processors is free.
    processors: Vec<u64>,
}

const PICOSECONDS: f64 = 1e12;

fn picoseconds(seconds: f64) -> u64 {
    (seconds * PICOSECONDS) as u64
}

/// Fails if there are no workers or too many, or if a cost is negative or not finite.
///
/// # Errors
/// Fails for no workers, for too many, and for costs that are not numbers from 0.
pub fn simulate(keys: &[SimulatedKey], n_workers: usize, store: SimulatedStore, machine: &Machine) -> Result<Step> {
    if !(1..=MOST_WORKERS).contains(&n_workers) {
        return Err(Error::invalid("number of workers to simulate", n_workers, format!("1 to {MOST_WORKERS}")));
    }
    let Machine { latency_s, link_s_per_byte, message_s, copy_s_per_byte, .. } = *machine;
    let Machine { add_s_per_byte, key_s, step_s, switch_s, .. } = *machine;
    let costs = [latency_s, link_s_per_byte, message_s, copy_s_per_byte, add_s_per_byte, key_s, step_s, switch_s];
    let of_layers = keys.iter().flat_map(|key| [key.forward_s, key.backward_s]);
    if let Some(cost) = costs.into_iter().chain(of_layers).find(|cost| !(0.0..=1e6).contains(cost)) {
        return Err(Error::invalid("cost of a message or a layer", cost, "seconds from 0 to 1000000"));
    }
    Ok(Simulation::new(keys, n_workers, store, machine).run(keys))
}

impl<'a> Simulation<'a> {
    fn new(keys: &[SimulatedKey], n_workers: usize, store: SimulatedStore, machine: &'a Machine) -> Self {
        let sizes: Vec<usize> = keys.iter().map(|key| key.n_elements).collect();
        let rules = Rules {
            n_workers,
            big_array_elements: store.big_array_elements,
            slice_elements: store.slice_elements,
            is_divisible: true,
            grain: 1,
        };
        let mut pieces = Vec::new();
        for (key, of_key) in plan(&sizes, &rules).into_iter().enumerate() {
            let (mut turn, mut last) = (0, usize::MAX);
            pieces.extend(of_key.into_iter().map(|piece| {
                turn = if piece.owner == last { turn + 1 } else { 0 };
                last = piece.owner;
                Piece { key, bytes: 4 * piece.elements.len(), owner: piece.owner, turn, n_missing: n_workers }
            }));
        }
        let mut first_pieces = vec![0; keys.len() + 1];
        pieces.iter().for_each(|piece| first_pieces[piece.key + 1] += 1);
        (0..keys.len()).for_each(|key| first_pieces[key + 1] += first_pieces[key]);
        let mut missing = vec![0; keys.len()];
        pieces.iter().for_each(|piece| missing[piece.key] += 1);
        let worker = || Worker { missing: missing.clone(), ..Worker::default() };
        let workers = (0..n_workers).map(|_| worker()).collect();
        let done = vec![0; keys.len()];
        let processors = vec![0; machine.processors.map_or(0, |n| n.min(MOST_WORKERS))];
        let events = BinaryHeap::new();
        Self { machine, store, pieces, first_pieces, workers, events, n_events: 0, n_messages: 0, done, processors }
    }

    fn push(&mut self, at: u64, what: What) {
        self.n_events += 1;
        self.events.push(Reverse(Event { at, number: self.n_events, what }));
    }

    fn run(mut self, keys: &[SimulatedKey]) -> Step {
        // Gradients are ready from the last layer to the first.
        let forward: f64 = keys.iter().map(|key| key.forward_s).sum();
        let mut now = forward;
        for (number, key) in keys.iter().enumerate().rev() {
            now += key.backward_s;
            self.push(picoseconds(now), What::Ready(number));
        }
        let computed = now;
        while let Some(Reverse(event)) = self.events.pop() {
            match event.what {
                What::Ready(key) => self.ready(event.at, key),
                What::Pushed(worker, key) => self.pushed(event.at, worker, key),
                What::Free(worker) => {
                    self.workers[worker].is_sending = false;
                    self.send(event.at, worker);
                }
                What::Arrives(message) => self.arrive(event.at, message),
                What::Handled(message) => self.handle(event.at, message),
                What::Added(piece) => self.added(event.at, piece),
            }
        }
        // In the next step, the forward pass of a layer begins when that of the layer before has ended and the weights of
        // this layer have arrived.
        let seconds = |at: u64| at as f64 / PICOSECONDS;
        let mut begin = computed;
        for (key, done) in keys.iter().zip(&self.done) {
            begin = begin.max(seconds(*done)) + key.forward_s;
        }
        let steps = begin - forward + self.machine.step_s;
        let parameters: u64 = self.pieces.iter().map(|piece| piece.bytes as u64).sum();
        let mut owned = vec![0u64; self.workers.len()];
        let others = self.workers.len() as u64 - 1;
        self.pieces.iter().for_each(|piece| owned[piece.owner] += piece.bytes as u64 * others);
        Step {
            seconds: steps,
            first_layer_s: self.done.first().map_or(0.0, |done| (seconds(*done) - computed).max(0.0)),
            compute_s: computed,
            sent_bytes: self.workers.iter().map(|worker| worker.sent_bytes).max().unwrap_or(0),
            memory_bytes: 2 * parameters + owned.iter().max().copied().unwrap_or(0),
            n_messages: self.n_messages,
        }
    }

    /// The urgency of a key: the key with the smallest number is sent first.
    fn urgency(&self, key: usize) -> i64 {
        if self.store.by_priority { key as i64 } else { 0 }
    }

    fn ready(&mut self, now: u64, key: usize) {
        for worker in 0..self.workers.len() {
            let at = self.work(worker, now, self.machine.key_s);
            self.push(at, What::Pushed(worker, key));
        }
    }

    fn pushed(&mut self, now: u64, worker: usize, key: usize) {
        let (urgency, n) = (self.urgency(key), self.workers.len());
        let pieces = self.first_pieces[key]..self.first_pieces[key + 1];
        self.n_events += 1;
        for number in pieces {
            let Piece { owner, turn, .. } = self.pieces[number];
            let piece = number as u32;
            if owner == worker {
                self.value(now, worker, piece);
            } else {
                let (distance, order) = (((owner + n - worker) % n) as u32, self.n_events);
                let entry = Entry { urgency, order, turn, distance, piece, is_outcome: false, served: 0 };
                self.workers[worker].queue.insert(entry);
            }
        }
        self.send(now, worker);
    }

    /// Starts to send the most urgent message of a worker, if its link is free.
    fn send(&mut self, now: u64, from: usize) {
        let n_workers = self.workers.len() as u32;
        let worker = &mut self.workers[from];
        if worker.is_sending {
            return;
        }
        let Some(entry) = worker.queue.pop_first() else { return };
        let Entry { piece, is_outcome, served, .. } = entry;
        let Piece { bytes, owner, .. } = self.pieces[piece as usize];
        let to = if is_outcome {
            if served + 2 < n_workers {
                worker.queue.insert(Entry { served: served + 1, ..entry });
            }
            // An owner sends its result to all other workers, beginning with the worker after itself, so that owners do not
            // all send to the same worker first.
            (from as u32 + 1 + served) % n_workers
        } else {
            owner as u32
        };
        worker.is_sending = true;
        worker.sent_bytes += bytes as u64;
        self.n_messages += 1;
        let message = Message { from: from as u32, to, piece, is_outcome };
        let busy = picoseconds(bytes as f64 * self.machine.link_s_per_byte);
        let trips = if bytes > self.machine.eager_bytes { 3.0 } else { 1.0 };
        self.push(now + busy, What::Free(from));
        self.push(now + picoseconds(trips * self.machine.latency_s), What::Arrives(message));
    }

    /// Adds work to the thread of a worker, which can begin at `now` or later. Returns when the work is done.
    fn work(&mut self, worker: usize, now: u64, seconds: f64) -> u64 {
        let n_workers = self.workers.len();
        let thread = &mut self.workers[worker].thread_free;
        let mut start = now.max(*thread);
        let mut work = picoseconds(seconds);
        if let Some(processor) = self.processors.iter_mut().min() {
            start = start.max(*processor);
            let takes_turns = self.machine.processors.is_some_and(|n| n < n_workers);
            work += if takes_turns { picoseconds(self.machine.switch_s) } else { 0 };
            *processor = start + work;
        }
        *thread = start + work;
        *thread
    }

    fn arrive(&mut self, now: u64, message: Message) {
        let bytes = self.pieces[message.piece as usize].bytes as f64;
        let Machine { link_s_per_byte, message_s, copy_s_per_byte, .. } = *self.machine;
        let to = message.to as usize;
        let worker = &mut self.workers[to];
        worker.link_free = worker.link_free.max(now) + picoseconds(bytes * link_s_per_byte);
        let received = worker.link_free;
        let at = self.work(to, received, message_s + bytes * copy_s_per_byte);
        self.push(at, What::Handled(message));
    }

    fn handle(&mut self, now: u64, message: Message) {
        match message.is_outcome {
            true => self.outcome(now, message.to as usize, message.piece),
            false => self.value(now, message.to as usize, message.piece),
        }
    }

    /// The owner of a piece has the value of one more worker.
    fn value(&mut self, now: u64, owner: usize, number: u32) {
        let piece = &mut self.pieces[number as usize];
        piece.n_missing -= 1;
        if piece.n_missing > 0 {
            return;
        }
        let (bytes, n) = (piece.bytes as f64, self.workers.len() as f64);
        let at = self.work(owner, now, bytes * n * self.machine.add_s_per_byte);
        self.push(at, What::Added(number));
    }

    fn added(&mut self, now: u64, number: u32) {
        let Piece { key, owner, .. } = self.pieces[number as usize];
        if self.workers.len() > 1 {
            self.n_events += 1;
            let (urgency, order) = (self.urgency(key), self.n_events);
            let entry = Entry { urgency, order, turn: 0, distance: 0, piece: number, is_outcome: true, served: 0 };
            self.workers[owner].queue.insert(entry);
            self.send(now, owner);
        }
        self.outcome(now, owner, number);
    }

    /// A worker has the result of a piece.
    fn outcome(&mut self, now: u64, worker: usize, number: u32) {
        let key = self.pieces[number as usize].key;
        let missing = &mut self.workers[worker].missing[key];
        *missing -= 1;
        if *missing == 0 {
            let at = self.work(worker, now, self.machine.key_s);
            self.done[key] = self.done[key].max(at);
        }
    }
}

#[cfg(test)]
mod tests;
