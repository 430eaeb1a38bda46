//! The end of a group: by a failure, or because its training is done.

use super::{NAPS, Talker};
use crate::dist::packet::{Header, Kind, Packet};
use mxrs_types::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long the report of a failure may take to be sent.
const LAST_WORDS: Duration = Duration::from_secs(1);

impl Talker {
    /// Ends all operations with this error, and reports it to the others if they do not know it.
    pub(super) fn fail(&mut self, error: Error, is_news: bool) {
        if self.failed.is_some() {
            return;
        }
        tracing::error!("worker {}: the distributed training ends: {error}", self.wire.rank());
        self.failed = Some(error.clone());
        if is_news {
            let report = Arc::new(Packet::with(Header::of(Kind::Failure), error.to_string().as_bytes()));
            let rank = self.wire.rank();
            for to in (0..self.wire.size()).filter(|to| *to != rank) {
                // An error is ignored: a worker that cannot be reached notices the failure by itself.
                drop(self.wire.send(to, Arc::clone(&report)));
            }
            drop(self.wire.flush());
        }
        // The tasks end now. To wait for the messages that use their memory could take forever.
        for lease in self.leases.drain(..).filter_map(|lease| lease.upgrade()) {
            lease.fail(error.clone());
        }
        self.running.clear();
        self.outbox.clear();
        self.early.clear();
        self.collections.fail(&error);
    }

    /// Sends what is queued, says goodbye and ends the connections.
    pub(super) fn close(mut self) {
        let patience = self.liveness.patience();
        let rank = self.wire.rank();
        let others: Vec<usize> = (0..self.wire.size()).filter(|to| *to != rank).collect();
        let mut until = Instant::now() + if self.failed.is_some() { LAST_WORDS } else { patience };
        if self.failed.is_none() {
            for to in &others {
                // The smallest priority, so that this message is sent after all others.
                self.outbox.push(*to, i32::MIN, Arc::new(Packet::new(Header::of(Kind::Bye), 0)));
            }
        }
        while Instant::now() < until {
            let is_sent = self.outbox.is_empty() && others.iter().all(|to| self.wire.n_unsent(*to) == 0);
            // All workers close a polled wire together, so this worker waits until the others are ready to close it.
            let others_left = || others.iter().all(|to| self.liveness.has_left(*to));
            if is_sent && (self.failed.is_some() || !self.wire.is_polled() || others_left()) {
                break;
            }
            match self.turn() {
                Ok(_) => std::thread::sleep(NAPS[1]),
                Err(error) => {
                    self.fail(error, true);
                    until = until.min(Instant::now() + LAST_WORDS);
                }
            }
        }
        // After a failure, the connections are cut without `close`, because the other side may never answer.
        if self.failed.is_none()
            && let Err(error) = self.wire.close(patience)
        {
            tracing::warn!("ending the connections to other workers: {error}");
        }
    }
}
