//! Calls that all workers make together.

use super::Talker;
use crate::dist::collect::{Wanted, chunks};
use crate::dist::group::AllReduce;
use mxrs_types::Result;
use std::sync::Arc;
use std::time::Instant;

impl Talker {
    pub(super) fn collect(&mut self, number: u64, bytes: &[u8], to_all: bool, wanted: Wanted) -> Result<()> {
        let (rank, size) = (self.wire.rank(), self.wire.size());
        for packet in chunks(number, bytes) {
            let packet = Arc::new(packet);
            match (to_all, rank) {
                (true, _) => self.send_to_others(i32::MAX, packet),
                (false, 0) => {}
                (false, _) => self.outbox.push(0, i32::MAX, packet),
            }
        }
        if !to_all && rank != 0 {
            drop(wanted.reply.send(Ok(None)));
            return Ok(());
        }
        for packet in chunks(number, bytes) {
            self.collections.take(rank, &packet.header()?, packet)?;
        }
        self.collections.want(number, wanted);
        self.collections.answer(size);
        self.expect_none_left()
    }

    pub(super) fn all_reduce(&mut self, mut sum: AllReduce) -> Result<Option<AllReduce>> {
        // Queued messages are sent first: other workers may need them before they can make this call.
        while self.is_sending() {
            self.turn()?;
            // After a failure, queued messages may never be sent, so waiting for them would not end.
            if let Some(error) = &self.failed {
                return Err(error.clone());
            }
        }
        // The first call, with one value, waits until all workers have arrived. So the measured time of the second call is
        // that of the sum alone.
        if !self.wire.all_reduce(&[0.0], &mut [0.0])? {
            return Ok(None);
        }
        let since = Instant::now();
        self.wire.all_reduce(&sum.values, &mut sum.sums)?;
        sum.time = since.elapsed();
        Ok(Some(sum))
    }

    /// Whether messages are queued, or are being sent.
    pub(super) fn is_sending(&mut self) -> bool {
        !self.outbox.is_empty() || (0..self.wire.size()).any(|to| self.wire.n_unsent(to) > 0)
    }
}
