//! Seeking to a batch of an epoch. If records may be bad, batches without a good record are not counted.

use super::{ImageRecordIter, Seen};
use crate::record_source::Record;
use mxrs_format::AlignedBytes;
use mxrs_types::Result;

/// Number of records per thread that are decoded together.
const AHEAD: usize = 4;

impl ImageRecordIter {
    /// Moves to a batch of an epoch, counted from 0, as if the earlier batches had been returned.
    pub(super) fn go_to(&mut self, epoch: u64, batch: u64) -> Result<()> {
        self.seen = Seen::Nothing;
        let n_read = if batch > 0 && self.settings.max_bad_records > 0 {
            self.records_before(epoch, batch)?
        } else {
            batch.saturating_mul(self.settings.batch_size as u64)
        };
        self.source.start(epoch, n_read)?;
        self.finished = false;
        Ok(())
    }

    /// The number of records before a batch, including those of batches without a good record. If the epoch has no such
    /// batch, the result is at least the number of its records. Of each earlier batch, records are decoded until a good one
    /// is found.
    fn records_before(&mut self, epoch: u64, batch: u64) -> Result<u64> {
        let size = self.settings.batch_size as u64;
        let (mut n_records, mut n_batches) = (0, 0);
        while n_batches < batch {
            let n_tried = (batch - n_batches).min((AHEAD * self.team.size()) as u64);
            let mut firsts = Vec::new();
            for i in 0..n_tried {
                self.source.start(epoch, i.saturating_mul(size).saturating_add(n_records))?;
                let Some(record) = self.source.next_record()? else { break };
                firsts.push(record);
            }
            let is_end = (firsts.len() as u64) < n_tried;
            for is_first_good in self.are_good(&firsts)? {
                if is_first_good || self.has_good(epoch, n_records + 1, size - 1)? {
                    n_batches += 1;
                    self.seen = Seen::Good;
                } else if self.seen == Seen::Nothing {
                    self.seen = Seen::OnlyBad;
                }
                n_records += size;
            }
            if is_end {
                break;
            }
        }
        Ok(n_records)
    }

    /// Whether any of the `n` records from number `first` of the epoch is good.
    fn has_good(&mut self, epoch: u64, first: u64, n: u64) -> Result<bool> {
        self.source.start(epoch, first)?;
        for _ in 0..n {
            let Some(record) = self.source.next_record()? else { break };
            if self.are_good(&[record])?.contains(&true) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether each of these records is good. Bad ones are registered.
    fn are_good(&mut self, records: &[Record]) -> Result<Vec<bool>> {
        if records.is_empty() {
            return Ok(Vec::new());
        }
        let ([data], n) = (&self.data, records.len());
        let row_bytes = data.shape.checked_size_bytes(data.dtype)? / self.settings.batch_size;
        let mut data = AlignedBytes::zeroed(n * row_bytes);
        let (mut labels, mut index) = (vec![0.0; n * self.label_width], vec![0; n]);
        let mut good = Vec::with_capacity(n);
        for (outcome, record) in self.fill_rows(records, &mut data, &mut labels, &mut index).into_iter().zip(records) {
            good.push(outcome.is_ok());
            if let Err(e) = outcome {
                self.bad.note(&self.settings.path_imgrec, record.offset, e)?;
            }
        }
        Ok(good)
    }
}
