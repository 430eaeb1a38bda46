//! Epochs of another length.

use crate::{DataBatch, DataDesc, DataIter};
use mxrs_types::{Error, ErrorKind, Result};

/// Another iterator in epochs of `size` batches, MXNet's `ResizeIter`: where that one ends, its next epoch begins.
///
/// With `reset_internal` (MXNet's default) every epoch here starts one there; otherwise epochs here continue where the last
/// one stopped.
///
/// Where the other iterator does not know how many batches its epochs have, as one that leaves out bad records, going to a
/// place reads everything before it, from the first batch of the first epoch on: that is what `seek` costs then, and `reset`
/// of an epoch that was not read to its end.
pub struct ResizeIter<I> {
    inner: I,
    size: u64,
    reset_internal: bool,
    epoch: u64,
    batch: u64,
}

impl<I: DataIter> ResizeIter<I> {
    /// Epochs of `size` batches of `inner`, which must stand at the start of its first epoch.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidValue`] for a size of 0.
    pub fn new(inner: I, size: u64, reset_internal: bool) -> Result<Self> {
        match size {
            0 => Err(Error::invalid("size of an epoch", 0, "at least 1")),
            _ => Ok(Self { inner, size, reset_internal, epoch: 0, batch: 0 }),
        }
    }

    /// The iterator that delivers the batches.
    pub fn into_inner(self) -> I {
        self.inner
    }

    fn next_of_inner(&mut self) -> Result<DataBatch> {
        if let Some(batch) = self.inner.next_batch()? {
            return Ok(batch);
        }
        self.inner.reset()?;
        self.inner
            .next_batch()?
            .ok_or_else(|| Error::invalid("iterator to resize", "an empty epoch", "at least one batch"))
    }

    /// Goes to a place by reading everything before it.
    fn walk(&mut self, epoch: u64, batch: u64) -> Result<()> {
        self.inner.seek(0, 0)?;
        (self.epoch, self.batch) = (0, 0);
        while (self.epoch, self.batch) < (epoch, batch) {
            if self.batch < self.size {
                self.next_of_inner()?;
                self.batch += 1;
            } else {
                self.step_to_next_epoch()?;
            }
        }
        Ok(())
    }

    fn step_to_next_epoch(&mut self) -> Result<()> {
        if self.reset_internal {
            self.inner.reset()?;
        }
        (self.epoch, self.batch) = (self.epoch.saturating_add(1), 0);
        Ok(())
    }
}

impl<I: DataIter> DataIter for ResizeIter<I> {
    fn provide_data(&self) -> &[DataDesc] {
        self.inner.provide_data()
    }

    fn provide_label(&self) -> &[DataDesc] {
        self.inner.provide_label()
    }

    fn batch_size(&self) -> usize {
        self.inner.batch_size()
    }

    fn next_batch(&mut self) -> Result<Option<DataBatch>> {
        if self.batch >= self.size {
            return Ok(None);
        }
        let batch = self.next_of_inner()?;
        self.batch += 1;
        Ok(Some(batch))
    }

    fn reset(&mut self) -> Result<()> {
        // The next epoch is the same whether or not this one was read to its end.
        if self.batch < self.size || self.inner.n_batches().is_some_and(|n| n > 0) {
            return self.seek(self.epoch.saturating_add(1), 0);
        }
        self.step_to_next_epoch()
    }

    /// Reads everything before the place, all earlier epochs included, when the inner iterator does not know how many batches its
    /// epochs have.
    fn seek(&mut self, epoch: u64, batch: u64) -> Result<()> {
        let batch = batch.min(self.size);
        let Some(n) = self.inner.n_batches().filter(|n| *n > 0) else {
            return self.walk(epoch, batch);
        };
        // A batch counts as read once the next one is asked for: the end of an inner epoch is not yet the start of the next.
        let overflow = || Error::new(ErrorKind::Overflow { what: format!("batch {batch} of epoch {epoch}") });
        let (inner_epoch, inner_batch) = if self.reset_internal {
            let epochs_each = (self.size - 1) / n + 1;
            let start = epoch.checked_mul(epochs_each).ok_or_else(overflow)?;
            let (whole, rest) = if batch > 0 { ((batch - 1) / n, (batch - 1) % n + 1) } else { (0, 0) };
            (start.checked_add(whole).ok_or_else(overflow)?, rest)
        } else {
            let place = epoch.checked_mul(self.size).and_then(|p| p.checked_add(batch)).ok_or_else(overflow)?;
            if place > 0 { ((place - 1) / n, (place - 1) % n + 1) } else { (0, 0) }
        };
        self.inner.seek(inner_epoch, inner_batch)?;
        (self.epoch, self.batch) = (epoch, batch);
        Ok(())
    }

    fn epoch(&self) -> u64 {
        self.epoch
    }

    fn n_examples(&self) -> Option<u64> {
        self.size.checked_mul(self.batch_size() as u64)
    }

    fn n_batches(&self) -> Option<u64> {
        Some(self.size)
    }

    fn n_bad_records(&self) -> u64 {
        self.inner.n_bad_records()
    }
}
