//! A wire over MPI: messages that are being sent and received, all without waiting.

use crate::MpiOptions;
use crate::library::{Handle, Mpi};
use mxrs_kvstore::dist::{Packet, Received, Wire};
use mxrs_types::{Error, Result};
use std::collections::VecDeque;
use std::ffi::c_int;
use std::sync::Arc;
use std::time::Duration;

/// The tag of all messages. Their meaning is in their headers.
const TAG: c_int = 0x6d78;

/// The most receptions that are under way. More messages wait in the library.
const MOST_RECEPTIONS: usize = 64;

/// A message that is being sent.
struct Sending {
    to: usize,
    request: Handle,
    /// Keeps the bytes in place until the request is done.
    packet: Arc<Packet>,
}

/// A message that is being received.
struct Receiving {
    from: usize,
    request: Handle,
    is_done: bool,
    packet: Packet,
}

/// The connection to all other workers. It stays on the thread that made it.
pub(crate) struct MpiWire {
    mpi: Mpi,
    rank: usize,
    size: usize,
    sending: Vec<Sending>,
    receiving: VecDeque<Receiving>,
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
            // Each process that the wrong library started alone ends alone.
            if size == 1 {
                drop(mpi.finalize());
            }
            return Err(error);
        }
        Ok(Self { mpi, rank, size, sending: Vec::new(), receiving: VecDeque::new() })
    }

    /// Forgets the messages whose sending is done.
    fn progress(&mut self) -> Result<()> {
        let mut i = 0;
        while i < self.sending.len() {
            if self.mpi.is_done(&mut self.sending[i].request)? {
                self.sending.swap_remove(i);
            } else {
                i += 1;
            }
        }
        Ok(())
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
        // SAFETY: the bytes of a packet are on the heap. They do not move when the `Arc` moves, and a shared packet does not
        // change. `sending` keeps it until the request is done; see also `drop`.
        let request = unsafe { self.mpi.send(packet.bytes(), to, TAG)? };
        self.sending.push(Sending { to, request, packet });
        Ok(())
    }

    fn n_unsent(&mut self, to: usize) -> usize {
        self.sending.iter().filter(|sending| sending.to == to).count()
    }

    fn receive(&mut self) -> Result<Option<Received>> {
        self.progress()?;
        while self.receiving.len() < MOST_RECEPTIONS
            && let Some((from, n_bytes)) = self.mpi.probe(TAG)?
        {
            let mut packet = Packet::zeroed(n_bytes);
            // SAFETY: the bytes of a packet are on the heap, so they do not move when the packet is moved into `receiving`,
            // where it is not used until the request is done; see also `drop`.
            let request = unsafe { self.mpi.receive(packet.bytes_mut(), from, TAG)? };
            self.receiving.push_back(Receiving { from, request, is_done: false, packet });
        }
        // Messages of one sender are returned in their order: one that is done waits for earlier ones of its sender.
        let mut waiting = Vec::new();
        for i in 0..self.receiving.len() {
            let receiving = &mut self.receiving[i];
            if !receiving.is_done {
                receiving.is_done = self.mpi.is_done(&mut receiving.request)?;
            }
            if receiving.is_done && !waiting.contains(&receiving.from) {
                let done = self.receiving.remove(i);
                return Ok(done.map(|done| Received::Message { from: done.from, packet: done.packet }));
            }
            waiting.push(receiving.from);
        }
        Ok(None)
    }

    fn close(&mut self, _: Duration) -> Result<()> {
        self.progress()?;
        if self.sending.is_empty() && self.receiving.is_empty() { self.mpi.finalize() } else { Ok(()) }
    }
}

impl Drop for MpiWire {
    /// After a failure, MPI may still read or write the messages under way, so their memory is never freed.
    fn drop(&mut self) {
        for sending in self.sending.drain(..) {
            std::mem::forget(sending.packet);
        }
        for receiving in self.receiving.drain(..).filter(|receiving| !receiving.is_done) {
            std::mem::forget(receiving.packet);
        }
    }
}
