//! Workers that are processes of one machine, connected by Unix sockets in a folder.
//!
//! Worker `r` listens at `<folder>/worker-<r>`, connects to the workers below `r`, and accepts those above. Each connection
//! begins with one greeting in both directions: a fixed word, the rank, and the number of workers. Every connection has a
//! thread that reads and a thread that writes, so that a worker that does not read stops only the thread that writes to it.
//!
//! The folder is what protects the workers: only users who may write to it can join.

use super::liveness::lost;
use super::packet::Packet;
use super::wire::{Connect, Received, Waker, Wire};
use mxrs_sync::atomic::{AtomicUsize, Ordering};
use mxrs_types::{Error, Result, ResultExt};
use std::io::{self, BufReader, ErrorKind, IoSlice, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The first bytes of a greeting.
const MAGIC: [u8; 8] = *b"mxkvsock";
/// Number of bytes of a greeting: the word, the rank, the number of workers.
const GREETING_BYTES: usize = 16;
/// The most workers. The limit exists because a worker needs a file descriptor and two threads for each of the others.
const MOST_WORKERS: usize = 4096;
/// Bytes that are read from a socket at a time.
const READ_BYTES: usize = 1 << 16;
/// The pause between two attempts to connect or to accept.
const PAUSE: Duration = Duration::from_millis(5);

/// How a worker joins the other processes of its machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SocketOptions {
    /// The folder of the sockets, which exists.
    pub folder: PathBuf,
    /// The number of this worker, from 0.
    pub rank: usize,
    /// The number of workers.
    pub n_workers: usize,
    /// How long to wait until all workers have joined.
    pub patience: Duration,
}

/// Connects this process to the other workers on its machine.
pub fn socket_worker(options: SocketOptions) -> Connect {
    Box::new(move |waker| {
        let wire = join(&options, &waker).context(|| {
            format!("joining {} workers in {} as worker {}", options.n_workers, options.folder.display(), options.rank)
        })?;
        Ok(Box::new(wire) as Box<dyn Wire>)
    })
}

fn path_of(folder: &Path, rank: usize) -> PathBuf {
    folder.join(format!("worker-{rank}"))
}

fn join(options: &SocketOptions, waker: &Waker) -> Result<Sockets> {
    let SocketOptions { folder, rank, n_workers, patience } = options;
    let (rank, n_workers) = (*rank, *n_workers);
    if n_workers > MOST_WORKERS {
        let expected = format!("at most {MOST_WORKERS} on one machine; MPI connects more");
        return Err(Error::invalid("number of workers (DMLC_NUM_WORKER)", n_workers, expected));
    }
    if rank >= n_workers {
        return Err(Error::invalid("rank of a worker", rank, format!("a number from 0 below {n_workers}")));
    }
    let until = Instant::now() + *patience;
    let path = path_of(folder, rank);
    let listener = listen(&path, rank)?;
    let (events, received) = channel();
    let mut wire = Sockets { rank, path, listener, peers: Vec::new(), received };
    wire.peers.resize_with(n_workers, || None);
    for lower in 0..rank {
        let stream = reach(&path_of(folder, lower), lower, until)?;
        let other = greet(&stream, rank, n_workers, until)?;
        if other != lower {
            return Err(Error::invalid(format!("rank of worker {lower}"), other, lower.to_string()));
        }
        wire.peers[lower] = Some(Peer::start(stream, lower, &events, waker)?);
    }
    while let Some(missing) = wire.missing() {
        let Some(stream) = wire.accept(until, &missing)? else { continue };
        let other = match greet(&stream, rank, n_workers, until) {
            Ok(other) => other,
            // A connection that ends before its greeting: another process only checked whether this worker listens.
            Err(error) if is_end(&error) => continue,
            Err(error) => return Err(error),
        };
        match wire.peers.get_mut(other) {
            Some(peer @ None) if other > rank => *peer = Some(Peer::start(stream, other, &events, waker)?),
            _ => {
                let expected = format!("one of {missing:?}, which have not joined");
                return Err(Error::invalid("rank of a worker that joins", other, expected));
            }
        }
    }
    Ok(wire)
}

/// Listens at a path that no other process uses. A path that a process has left behind is used again.
fn listen(path: &Path, rank: usize) -> Result<UnixListener> {
    let failed = |error: io::Error| Error::io(path, &error);
    let listener = match UnixListener::bind(path) {
        Err(error) if error.kind() == ErrorKind::AddrInUse => {
            if UnixStream::connect(path).is_ok() {
                let got =
                    format!("a second process with rank {rank}, next to the one that listens at {}", path.display());
                return Err(Error::invalid("workers", got, "one process for each rank"));
            }
            std::fs::remove_file(path).map_err(failed)?;
            UnixListener::bind(path).map_err(failed)?
        }
        bound => bound.map_err(failed)?,
    };
    listener.set_nonblocking(true).map_err(failed)?;
    Ok(listener)
}

/// Connects to a worker, as soon as it listens.
fn reach(path: &Path, rank: usize, until: Instant) -> Result<UnixStream> {
    loop {
        match UnixStream::connect(path) {
            Ok(stream) => return Ok(stream),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused) => {}
            Err(error) => return Err(Error::io(path, &error)),
        }
        if Instant::now() >= until {
            return Err(lost(ErrorKind::TimedOut, format!("worker {rank} has not joined")));
        }
        std::thread::sleep(PAUSE);
    }
}

/// Exchanges greetings. Returns the rank of the other worker.
fn greet(stream: &UnixStream, rank: usize, n_workers: usize, until: Instant) -> Result<usize> {
    let failed = |error: io::Error| lost(error.kind(), format!("a worker that joins does not greet: {error}"));
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX).to_le_bytes();
    let greeting: Vec<u8> = MAGIC.into_iter().chain(number(rank)).chain(number(n_workers)).collect();
    let mut stream = stream;
    let patience = until.saturating_duration_since(Instant::now()).max(PAUSE);
    stream.set_read_timeout(Some(patience)).map_err(failed)?;
    stream.write_all(&greeting).map_err(failed)?;
    let mut answer = [0; GREETING_BYTES];
    stream.read_exact(&mut answer).map_err(failed)?;
    stream.set_read_timeout(None).map_err(failed)?;
    let number = |at: usize| answer[at..at + 4].iter().rev().fold(0, |n, byte| n << 8 | usize::from(*byte));
    let (other, of) = (number(8), number(12));
    if answer[..8] != MAGIC {
        return Err(Error::invalid("greeting of a worker", format!("{:?}", &answer[..8]), "a worker of this mxrs"));
    }
    if of != n_workers {
        let what = format!("number of workers (DMLC_NUM_WORKER) of worker {other}");
        return Err(Error::invalid(what, of, format!("{n_workers}, as worker {rank} has")));
    }
    Ok(other)
}

/// Whether this is the error of a connection that the other side has ended.
fn is_end(error: &Error) -> bool {
    use ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    let mxrs_types::ErrorKind::Io { kind, .. } = error.kind() else { return false };
    matches!(kind, UnexpectedEof | BrokenPipe | ConnectionReset)
}

/// The connections of one worker.
struct Sockets {
    rank: usize,
    path: PathBuf,
    /// Held so that a second process with the same rank finds the path in use.
    listener: UnixListener,
    /// The other workers by rank; `None` for this worker, and for those that have not joined.
    peers: Vec<Option<Peer>>,
    received: Receiver<Received>,
}

impl Sockets {
    /// The workers above this one that have not joined; `None` if all have.
    fn missing(&self) -> Option<Vec<usize>> {
        let missing: Vec<usize> = (self.rank + 1..self.peers.len()).filter(|&r| self.peers[r].is_none()).collect();
        (!missing.is_empty()).then_some(missing)
    }

    fn accept(&self, until: Instant, missing: &[usize]) -> Result<Option<UnixStream>> {
        match self.listener.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(false).map_err(|error| Error::io(&self.path, &error))?;
                Ok(Some(stream))
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                if Instant::now() >= until {
                    let message = format!("{} did not join", super::job::workers(missing));
                    return Err(lost(ErrorKind::TimedOut, message));
                }
                std::thread::sleep(PAUSE);
                Ok(None)
            }
            Err(error) => Err(Error::io(&self.path, &error)),
        }
    }
}

impl Wire for Sockets {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.peers.len()
    }

    fn description(&self) -> String {
        "sockets of this machine".to_owned()
    }

    fn is_polled(&self) -> bool {
        false
    }

    fn send(&mut self, to: usize, packet: Arc<Packet>) -> Result<()> {
        if let Some(Some(peer)) = self.peers.get(to)
            && let Some(queue) = &peer.queue
        {
            peer.n_unsent.fetch_add(1, Ordering::Relaxed);
            if queue.send(packet).is_err() {
                // The thread that writes to this worker has ended, and has reported why. Messages to this worker count as
                // sent, so that nothing waits for them.
                peer.n_unsent.store(0, Ordering::Relaxed);
            }
        }
        Ok(())
    }

    fn n_unsent(&mut self, to: usize) -> usize {
        self.peers.get(to).and_then(Option::as_ref).map_or(0, |peer| peer.n_unsent.load(Ordering::Relaxed))
    }

    fn receive(&mut self, _: &mut dyn FnMut(usize, &mut Packet)) -> Result<Option<Received>> {
        Ok(self.received.try_recv().ok())
    }

    fn close(&mut self, _: Duration) -> Result<()> {
        Ok(())
    }
}

impl Drop for Sockets {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.path));
        for mut peer in self.peers.drain(..).flatten() {
            peer.queue = None;
            // Messages that were written to the socket still arrive. The shutdown ends threads that wait for the other side.
            drop(peer.stream.shutdown(Shutdown::Both));
            for thread in peer.threads {
                drop(thread.join());
            }
        }
    }
}

/// The connection to another worker.
struct Peer {
    stream: UnixStream,
    queue: Option<Sender<Arc<Packet>>>,
    n_unsent: Arc<AtomicUsize>,
    threads: [JoinHandle<()>; 2],
}

impl Peer {
    fn start(stream: UnixStream, rank: usize, events: &Sender<Received>, waker: &Waker) -> Result<Self> {
        let failed = |error: io::Error| Error::from_io(&error).context(format!("connecting to worker {rank}"));
        let clone = || stream.try_clone().map_err(failed);
        let (queue, packets) = channel();
        let n_unsent = Arc::new(AtomicUsize::new(0));
        let (read, write, unsent) = (clone()?, clone()?, Arc::clone(&n_unsent));
        let report = |events: &Sender<Received>, waker: &Waker| {
            let (events, waker) = (events.clone(), waker.clone());
            move |received: Received| {
                // If there is no receiver, the wire is closed and the event is not needed.
                drop(events.send(received));
                waker.wake();
            }
        };
        let (on_read, on_write, woken) = (report(events, waker), report(events, waker), waker.clone());
        let spawn = |name: String, body: Box<dyn FnOnce() + Send>| {
            std::thread::Builder::new().name(name).spawn(body).map_err(failed)
        };
        let reader = spawn(format!("mxrs-from-{rank}"), Box::new(move || read_all(read, rank, on_read)))?;
        let writer = spawn(
            format!("mxrs-to-{rank}"),
            Box::new(move || {
                if let Err(reason) = write_all(write, &packets, &unsent, &woken) {
                    drop(packets);
                    unsent.store(0, Ordering::Relaxed);
                    on_write(Received::Lost { from: rank, reason });
                }
            }),
        )?;
        Ok(Self { stream, queue: Some(queue), n_unsent, threads: [reader, writer] })
    }
}

fn read_all(stream: UnixStream, from: usize, report: impl Fn(Received)) {
    let mut stream = BufReader::with_capacity(READ_BYTES, stream);
    let reason = loop {
        match Packet::read_from(&mut stream) {
            Ok(Some(packet)) => report(Received::Message { from, packet }),
            Ok(None) => break "its process has ended, or was killed".to_owned(),
            Err(error) => break format!("reading from its socket failed: {error}"),
        }
    };
    report(Received::Lost { from, reason });
}

/// Writes the header and the content together if the system takes them, so that a short message is one packet.
fn write_packet(stream: &mut UnixStream, packet: &Packet) -> io::Result<()> {
    let (head, content) = (packet.head(), packet.content());
    let n = loop {
        match stream.write_vectored(&[IoSlice::new(head), IoSlice::new(content)]) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            written => break written?,
        }
    };
    stream.write_all(&head[n.min(head.len())..])?;
    stream.write_all(&content[n.saturating_sub(head.len())..])
}

fn write_all(
    mut stream: UnixStream,
    packets: &Receiver<Arc<Packet>>,
    n_unsent: &AtomicUsize,
    waker: &Waker,
) -> std::result::Result<(), String> {
    while let Ok(packet) = packets.recv() {
        let failed = |error| format!("writing to its socket failed: {error}");
        write_packet(&mut stream, &packet).map_err(failed)?;
        drop(packet);
        n_unsent.fetch_sub(1, Ordering::Relaxed);
        waker.wake();
    }
    Ok(())
}
