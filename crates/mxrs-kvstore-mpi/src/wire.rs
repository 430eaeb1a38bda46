//! A wire over MPI: it sends and receives messages without waiting.
//!
//! Short messages to one worker are sent together in a *frame*: headers and contents, one after the other. A long content is
//! a separate MPI message, which is sent and received without a copy; its header is in a frame. Frames of one sender are
//! read in their order, so the contents are received in the order in which they are sent.

mod incoming;

use crate::MpiOptions;
use crate::library::{Handle, Mpi};
use incoming::Incoming;
use mxrs_kvstore::dist::{Packet, Received, Wire};
use mxrs_types::{Error, Result};
use std::ffi::c_int;
use std::sync::Arc;
use std::time::Duration;

/// The MPI tag of frames. What a message is for stands in its header, so one tag is enough.
const FRAMES: c_int = 0x6d78;
/// The tag of contents that are not in a frame.
const CONTENTS: c_int = 0x6d79;
/// The most bytes of a frame.
const FRAME_BYTES: usize = 128 << 10;
/// The most bytes of a content that is part of a frame. Longer contents are separate MPI messages.
const SHORT_BYTES: usize = 32 << 10;

/// A frame or a content that is being sent.
struct Sending {
    to: usize,
    request: Handle,
    /// Keeps the bytes in place until the request is done.
    memory: Memory,
}

/// Memory that the library reads.
enum Memory {
    Frame(Vec<u8>),
    Content(Arc<Packet>),
}

/// What waits to be sent to one worker.
#[derive(Default)]
struct Outgoing {
    frame: Vec<u8>,
    /// The long contents whose headers are in the frame. They are sent after it.
    contents: Vec<Arc<Packet>>,
    /// The number of MPI requests to this worker that are not done.
    n_open: usize,
}

/// The connection to all other workers. It stays on the thread that made it.
pub(crate) struct MpiWire {
    mpi: Mpi,
    rank: usize,
    size: usize,
    outgoing: Vec<Outgoing>,
    sending: Vec<Sending>,
    incoming: Vec<Incoming>,
    /// Memory of frames that were sent or read.
    spare: Vec<Vec<u8>>,
}

impl MpiWire {
    /// Loads and initializes MPI.
    ///
    /// # Errors
    /// Fails if no library is found, if MPI fails, or if its workers are not those of the launcher.
    pub fn start(options: &MpiOptions) -> Result<Self> {
        let mut mpi = Mpi::load(options)?;
        mpi.init()?;
        let (rank, size) = mpi.place()?;
        let expected = |what: &str, wanted: Option<usize>, got: usize| match wanted {
            Some(wanted) if wanted != got => {
                let expected = format!(
                    "{wanted}, as the launcher has set: the launcher and {} must belong together (MXRS_MPI_LIB chooses the \
                     library)",
                    mpi.version
                );
                Err(Error::invalid(what, got, expected))
            }
            _ => Ok(()),
        };
        let places = expected("number of workers in MPI", options.n_workers, size)
            .and_then(|()| expected("rank in MPI", options.rank, rank));
        if let Err(error) = places {
            // A process is alone if its launcher belongs to another MPI library. Then no other process takes part, so MPI
            // can be ended here.
            if size == 1 {
                drop(mpi.finalize());
            }
            return Err(error);
        }
        let mut wire = Self {
            mpi,
            rank,
            size,
            outgoing: Vec::new(),
            sending: Vec::new(),
            incoming: Vec::new(),
            spare: Vec::new(),
        };
        wire.outgoing.resize_with(size, Outgoing::default);
        wire.incoming.resize_with(size, Incoming::default);
        Ok(wire)
    }

    /// Drops the memory of frames and contents that are completely sent.
    fn progress(&mut self) -> Result<()> {
        let mut i = 0;
        while i < self.sending.len() {
            if !self.mpi.is_done(&mut self.sending[i].request)? {
                i += 1;
                continue;
            }
            let done = self.sending.swap_remove(i);
            self.outgoing[done.to].n_open -= 1;
            if let Memory::Frame(frame) = done.memory {
                self.keep(frame);
            }
        }
        Ok(())
    }

    /// Keeps the memory of a frame for the next one.
    fn keep(&mut self, mut frame: Vec<u8>) {
        if self.spare.len() < MOST_SPARE {
            frame.clear();
            self.spare.push(frame);
        }
    }

    /// Starts to send the frame of a worker, and the contents that follow it.
    fn send_frame(&mut self, to: usize) -> Result<()> {
        if self.outgoing[to].frame.is_empty() {
            return Ok(());
        }
        let next = self.spare.pop().unwrap_or_default();
        let frame = std::mem::replace(&mut self.outgoing[to].frame, next);
        let contents = std::mem::take(&mut self.outgoing[to].contents);
        let memories = std::iter::once(Memory::Frame(frame)).chain(contents.into_iter().map(Memory::Content));
        for memory in memories {
            let (bytes, tag) = match &memory {
                Memory::Frame(frame) => (frame.as_slice(), FRAMES),
                Memory::Content(packet) => (packet.content(), CONTENTS),
            };
            // SAFETY: the bytes do not move when `memory` moves: they are on the heap, or in an array that the packet keeps.
            // A frame that is being sent is not changed, and neither is a shared packet. `sending` keeps the memory until
            // the request is done; `drop` leaks this memory if requests are still open.
            let request = unsafe { self.mpi.send(bytes, to, tag)? };
            self.sending.push(Sending { to, request, memory });
            self.outgoing[to].n_open += 1;
        }
        Ok(())
    }
}

/// The number of frames whose memory is kept.
const MOST_SPARE: usize = 64;

/// Adds a message to a frame. A long content is not added.
fn append(frame: &mut Vec<u8>, packet: &Packet) {
    frame.extend_from_slice(packet.head());
    if packet.content().len() <= SHORT_BYTES {
        frame.extend_from_slice(packet.content());
    }
}

impl Wire for MpiWire {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn description(&self) -> String {
        format!("MPI ({})", self.mpi.version)
    }

    fn is_polled(&self) -> bool {
        true
    }

    fn send(&mut self, to: usize, packet: Arc<Packet>) -> Result<()> {
        let n_bytes = packet.content().len();
        let is_short = n_bytes <= SHORT_BYTES;
        let added = Packet::HEAD_BYTES + if is_short { n_bytes } else { 0 };
        if self.outgoing[to].frame.len() + added > FRAME_BYTES {
            self.send_frame(to)?;
        }
        let outgoing = &mut self.outgoing[to];
        append(&mut outgoing.frame, &packet);
        if !is_short {
            outgoing.contents.push(packet);
            self.send_frame(to)?;
        }
        Ok(())
    }

    fn n_unsent(&mut self, to: usize) -> usize {
        self.outgoing.get(to).map_or(0, |outgoing| outgoing.n_open + usize::from(!outgoing.frame.is_empty()))
    }

    fn flush(&mut self) -> Result<()> {
        (0..self.size).try_for_each(|to| self.send_frame(to))
    }

    fn receive(&mut self, room: &mut dyn FnMut(usize, &mut Packet)) -> Result<Option<Received>> {
        self.progress()?;
        while let Some((from, n_bytes)) = self.mpi.probe(FRAMES)? {
            if n_bytes > FRAME_BYTES {
                let expected = format!("at most {FRAME_BYTES} bytes: the same mxrs");
                return Err(Error::invalid(format!("frame of worker {from}"), format!("{n_bytes} bytes"), expected));
            }
            let memory = self.spare.pop().unwrap_or_default();
            let (mpi, incoming) = (&self.mpi, self.incoming.get_mut(from));
            incoming.map_or(Ok(()), |incoming| incoming.start(mpi, from, memory, n_bytes))?;
        }
        for from in 0..self.size {
            let (mpi, incoming) = (&self.mpi, &mut self.incoming[from]);
            // A complete message is handled before the next one is received. On one machine, the library copies the bytes of
            // a message when it is received, so they are still in the cache when they are handled.
            loop {
                if let Some(packet) = incoming.next(mpi)? {
                    return Ok(Some(Received::Message { from, packet }));
                }
                let Some(mut frame) = incoming.read(mpi, from, &mut |packet| room(from, packet))? else { break };
                if self.spare.len() < MOST_SPARE {
                    frame.clear();
                    self.spare.push(frame);
                }
            }
        }
        Ok(None)
    }

    fn all_reduce(&mut self, values: &[f32], sums: &mut [f32]) -> Result<bool> {
        self.mpi.all_reduce(values, sums).map(|()| true)
    }

    fn close(&mut self, _: Duration) -> Result<()> {
        self.flush()?;
        self.progress()?;
        if self.sending.is_empty() && self.incoming.iter().all(Incoming::is_empty) {
            self.mpi.finalize()
        } else {
            Ok(())
        }
    }
}

impl Drop for MpiWire {
    /// After a failure, MPI may still read or write the messages under way, so their memory is never freed.
    fn drop(&mut self) {
        self.sending.drain(..).for_each(std::mem::forget);
        self.incoming.drain(..).for_each(Incoming::forget);
    }
}
