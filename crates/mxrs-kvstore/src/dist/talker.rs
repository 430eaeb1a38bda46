//! The thread that sends and receives messages, sums values, and completes the tasks that wait for messages.
//!
//! All state of a group is on this thread. Commands come through a channel, messages from the wire. Nothing here waits for
//! another worker.

mod collective;
mod ending;

use super::collect::{Collections, Wanted};
use super::group::Command;
use super::job::{Job, RoundId, Running, overdue, workers};
use super::lease::Lease;
use super::liveness::{GroupOptions, Liveness, lost};
use super::outbox::Outbox;
use super::packet::{Header, Kind, Packet};
use super::wire::{Received, Wire};
use mxrs_types::{Error, Result};
use std::collections::HashMap;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// Time between two checks for deadlines.
const TICK: Duration = Duration::from_millis(100);
/// How long the thread polls a wire without a pause after the last message or command.
const SPIN: Duration = Duration::from_micros(2000);
/// The shortest and the longest pause between two polls of a wire while messages are awaited.
const NAPS: [Duration; 2] = [Duration::from_micros(20), Duration::from_micros(200)];
/// The longest pause between two polls of a wire while no message is awaited.
const IDLE_NAP: Duration = Duration::from_millis(1);

/// A message whose job has not begun: the sender and the message.
type Early = (usize, Packet);

/// The thread's state.
pub(super) struct Talker {
    wire: Box<dyn Wire>,
    commands: Receiver<Command>,
    outbox: Outbox,
    liveness: Liveness,
    /// The jobs that wait, by round and by the kind of message that they take. A job that takes two kinds is stored under
    /// its first kind.
    running: HashMap<(RoundId, Kind), Running>,
    /// The first round that has not begun and the name of the key, by store, key and kind of message.
    next: HashMap<(u32, u32, Kind), (u64, Arc<str>)>,
    /// Messages whose jobs have not begun.
    early: HashMap<(RoundId, Kind), Vec<Early>>,
    collections: Collections,
    /// The leases of tasks that may still be open, so that a failure can end these tasks.
    leases: Vec<Weak<Lease>>,
    failed: Option<Error>,
    ticked: Instant,
    is_closing: bool,
}

impl Talker {
    pub fn new(wire: Box<dyn Wire>, commands: Receiver<Command>, options: GroupOptions) -> Self {
        Self {
            outbox: Outbox::new(wire.size(), options.window),
            liveness: Liveness::new(wire.size(), &options),
            wire,
            commands,
            running: HashMap::new(),
            next: HashMap::new(),
            early: HashMap::new(),
            collections: Collections::default(),
            leases: Vec::new(),
            failed: None,
            ticked: Instant::now(),
            is_closing: false,
        }
    }

    pub fn run(mut self) {
        let mut busy = Instant::now();
        while !self.is_closing {
            let mut is_busy = self.commands();
            match self.turn() {
                Ok(did) => is_busy |= did,
                Err(error) => self.fail(error, true),
            }
            if is_busy {
                busy = Instant::now();
            } else {
                self.nap(busy.elapsed());
            }
        }
        self.close();
    }

    /// Waits for a command. The longest wait depends on how long the thread has been `idle` and on whether messages are
    /// awaited.
    fn nap(&mut self, idle: Duration) {
        let awaits = !self.running.is_empty() || self.collections.since().next().is_some() || self.is_sending();
        let time = match (self.wire.is_polled() && self.failed.is_none(), awaits) {
            (false, _) => TICK,
            (true, true) if idle < SPIN => return std::thread::yield_now(),
            (true, true) => idle.clamp(NAPS[0], NAPS[1]),
            (true, false) => idle.clamp(NAPS[0], IDLE_NAP),
        };
        match self.commands.recv_timeout(time) {
            Ok(command) => self.command(command),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => self.is_closing = true,
        }
    }

    /// Handles the commands that are there. Returns whether there were any.
    fn commands(&mut self) -> bool {
        let mut any = false;
        while !self.is_closing {
            match self.commands.try_recv() {
                Ok(command) => self.command(command),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => self.is_closing = true,
            }
            any = true;
        }
        any
    }

    fn command(&mut self, command: Command) {
        let done = match (command, &self.failed) {
            (Command::Wake, _) => Ok(()),
            (Command::Close, _) => {
                self.is_closing = true;
                Ok(())
            }
            (Command::Job(job), Some(error)) => {
                job.lease.fail(error.clone());
                Ok(())
            }
            (Command::Collect { reply, .. }, Some(error)) => {
                drop(reply.send(Err(error.clone())));
                Ok(())
            }
            (Command::AllReduce { reply, .. }, Some(error)) => {
                drop(reply.send(Err(error.clone())));
                Ok(())
            }
            (Command::Send { .. }, Some(_)) => Ok(()),
            (Command::Send { to, priority, packet }, None) => {
                self.outbox.push(to, priority, packet);
                Ok(())
            }
            (Command::Job(job), None) => self.begin(job),
            (Command::AllReduce { sum, reply }, None) => {
                let done = self.all_reduce(sum);
                let failed = done.as_ref().err().cloned();
                drop(reply.send(done));
                failed.map_or(Ok(()), Err)
            }
            (Command::Collect { number, bytes, to_all, reply }, None) => {
                let wanted = Wanted { reply, since: Instant::now() };
                self.collect(number, &bytes, to_all, wanted)
            }
        };
        if let Err(error) = done {
            self.fail(error, true);
        }
    }

    /// Receives and sends. Returns whether anything was received.
    fn turn(&mut self) -> Result<bool> {
        let mut any = false;
        loop {
            let Self { wire, running, .. } = self;
            let Some(received) = wire.receive(&mut |from, packet| make_room(running, from, packet))? else { break };
            any = true;
            match received {
                Received::Message { from, packet } => self.message(from, packet)?,
                Received::Lost { from, reason } => self.lose(from, &reason)?,
            }
            // Answers to this message are sent before the next message is read, so that other workers can go on with them.
            self.send()?;
        }
        if self.failed.is_none() {
            self.send()?;
            self.wire.flush()?;
            if self.ticked.elapsed() >= TICK {
                self.ticked = Instant::now();
                self.tick()?;
            }
        }
        Ok(any)
    }

    /// Gives the wire the most urgent messages.
    fn send(&mut self) -> Result<()> {
        let Self { outbox, wire, liveness, failed, .. } = self;
        if failed.is_none() { outbox.send(&mut **wire, |to| liveness.sent(to)) } else { Ok(()) }
    }

    fn message(&mut self, from: usize, packet: Packet) -> Result<()> {
        if self.failed.is_some() {
            return Ok(());
        }
        self.liveness.heard(from);
        let header = packet.header().map_err(|error| error.context(format!("reading from worker {from}")))?;
        match header.kind {
            Kind::Heartbeat => Ok(()),
            Kind::Bye => {
                self.liveness.set_left(from);
                self.expect_none_left()
            }
            Kind::Failure => {
                let text = String::from_utf8_lossy(packet.content()).into_owned();
                self.fail(lost(io::ErrorKind::ConnectionAborted, format!("worker {from} reports: {text}")), false);
                Ok(())
            }
            Kind::Collect => {
                self.collections.take(from, &header, packet)?;
                self.collections.answer(self.wire.size());
                Ok(())
            }
            Kind::First | Kind::Value | Kind::Outcome => self.piece(from, &header, packet),
        }
    }

    /// Handles a message about a piece. If its job has not begun, the message is kept for it.
    fn piece(&mut self, from: usize, header: &Header, packet: Packet) -> Result<()> {
        let (id, kind) = (RoundId::of(header), header.kind);
        let Some(place) = place_of(&self.running, id, kind) else {
            let next = self.next.get(&(id.store, id.key, kind));
            if let Some((next, label)) = next.filter(|(next, _)| id.round < *next) {
                let what = format!("message of worker {from} for key {label}");
                return Err(Error::invalid(
                    what,
                    format!("round {}", id.round),
                    format!("round {next} or a later one"),
                ));
            }
            self.early.entry((id, kind)).or_default().push((from, packet));
            return Ok(());
        };
        self.step(place, from, kind, header.piece, packet)
    }

    fn step(&mut self, place: (RoundId, Kind), from: usize, kind: Kind, piece: u32, packet: Packet) -> Result<()> {
        let Some(running) = self.running.get_mut(&place) else { return Ok(()) };
        let step = running.take(from, kind, piece, packet)?;
        let priority = running.job.priority;
        if let Some(outcome) = step.outcome {
            self.send_to_others(priority, Arc::new(outcome));
        }
        if step.is_done
            && let Some(running) = self.running.remove(&place)
        {
            running.job.lease.set_done();
        }
        Ok(())
    }

    fn begin(&mut self, mut job: Job) -> Result<()> {
        let (id, kinds) = (job.id, job.phase.kinds());
        for kind in kinds {
            self.next.insert((id.store, id.key, *kind), (id.round + 1, Arc::clone(&job.label)));
        }
        self.note(&job.lease);
        let own = std::mem::take(&mut job.own);
        let running = Running::start(job, self.wire.rank(), self.wire.size());
        let Some(place) = kinds.first().map(|kind| (id, *kind)).filter(|_| !running.is_done()) else {
            running.job.lease.set_done();
            return Ok(());
        };
        self.running.insert(place, running);
        let rank = self.wire.rank();
        for (piece, value) in own {
            self.step(place, rank, Kind::Value, piece, value)?;
        }
        for kind in kinds {
            for (from, packet) in self.early.remove(&(id, *kind)).unwrap_or_default() {
                // The job is looked up for each message, because a worker may have sent one more than the job needs.
                let header = packet.header()?;
                self.piece(from, &header, packet)?;
            }
        }
        self.expect_none_left()
    }

    /// Remembers the lease of an open task, so that a failure can end the task.
    fn note(&mut self, lease: &Arc<Lease>) {
        if self.leases.len() == self.leases.capacity() {
            self.leases.retain(|lease| lease.strong_count() > 0);
            self.leases.reserve(self.leases.len().max(64));
        }
        self.leases.push(Arc::downgrade(lease));
    }

    fn send_to_others(&mut self, priority: i32, packet: Arc<Packet>) {
        let rank = self.wire.rank();
        for to in (0..self.wire.size()).filter(|to| *to != rank) {
            self.outbox.push(to, priority, Arc::clone(&packet));
        }
    }

    /// Everything that this worker waits for: since when, for which workers, and a description for an error message.
    fn waits(&self) -> Vec<(Instant, Vec<usize>, String)> {
        let mut jobs: Vec<&Running> = self.running.values().collect();
        jobs.sort_by_key(|running| running.job.id);
        let jobs = jobs.into_iter().map(|running| (running.since, running.missing(), running.wait()));
        jobs.chain(self.collections.waits(self.wire.size())).collect()
    }

    /// Fails if this worker waits for a worker that has ended its training.
    fn expect_none_left(&self) -> Result<()> {
        if !self.liveness.any_left() {
            return Ok(());
        }
        for (_, missing, text) in self.waits() {
            let left: Vec<usize> = missing.into_iter().filter(|&rank| self.liveness.has_left(rank)).collect();
            if !left.is_empty() {
                let message = format!("{} ended the training, while this worker waits for {text}", workers(&left));
                return Err(lost(io::ErrorKind::ConnectionAborted, message));
            }
        }
        Ok(())
    }

    /// Sends signs of life, and looks for workers that are silent and for messages that do not arrive.
    fn tick(&mut self) -> Result<()> {
        let rank = self.wire.rank();
        for to in self.liveness.due(rank) {
            self.liveness.sent(to);
            self.wire.send(to, Arc::new(Packet::new(Header::of(Kind::Heartbeat), 0)))?;
        }
        self.wire.flush()?;
        if let Some(error) = self.liveness.silent(rank) {
            return Err(error);
        }
        let patience = self.liveness.patience();
        let is_late = |since: Instant| since.elapsed() > patience;
        if !self.running.values().any(|running| is_late(running.since)) && !self.collections.since().any(is_late) {
            return Ok(());
        }
        let late: Vec<_> = self.waits().into_iter().filter(|(since, ..)| is_late(*since)).collect();
        match late.iter().map(|(since, ..)| since.elapsed()).max() {
            None => Ok(()),
            Some(longest) => {
                let texts: Vec<String> = late.into_iter().map(|(.., text)| text).collect();
                Err(overdue(longest.as_secs_f64(), &texts))
            }
        }
    }

    /// The connection to a worker has ended.
    fn lose(&mut self, from: usize, reason: &str) -> Result<()> {
        if self.failed.is_some() || self.liveness.has_left(from) {
            return Ok(());
        }
        Err(lost(io::ErrorKind::ConnectionAborted, format!("worker {from} is lost: {reason}")))
    }
}

/// The job that takes messages of this kind and round, if it has begun.
fn place_of(running: &HashMap<(RoundId, Kind), Running>, id: RoundId, kind: Kind) -> Option<(RoundId, Kind)> {
    let places = [kind, Kind::Value].map(|first| (id, first)).into_iter();
    let takes = |running: &Running| running.job.phase.kinds().contains(&kind);
    places.into_iter().find(|place| running.get(place).is_some_and(takes))
}

/// Makes the wire receive a message directly into the array that it is meant for, if its job has begun.
fn make_room(running: &mut HashMap<(RoundId, Kind), Running>, from: usize, packet: &mut Packet) {
    let Ok(header) = packet.header() else { return };
    if matches!(header.kind, Kind::First | Kind::Outcome)
        && let Some(place) = place_of(running, RoundId::of(&header), header.kind)
        && let Some(running) = running.get_mut(&place)
    {
        running.make_room(from, header.piece, packet);
    }
}
