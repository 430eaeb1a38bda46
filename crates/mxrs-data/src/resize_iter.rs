//! An iterator that changes the length of another iterator's epochs.

use crate::{DataBatch, DataDesc, DataIter};
use mxrs_types::{Error, ErrorKind, Result};

/// Another iterator, divided into epochs of `size` batches, like MXNet's `ResizeIter`. If the inner iterator reaches its
/// end, its next epoch follows.
///
/// With `reset_internal` (MXNet's default) every epoch starts a new epoch of the inner iterator; otherwise an epoch
/// continues where the last one stopped.
///
/// An inner iterator that leaves out bad records does not know how many batches its epochs have. Seeking then reads all
/// batches from the first batch of the first epoch; so does resetting before the end of an epoch.
pub struct ResizeIter<I> {
    inner: I,
    size: u64,
    reset_internal: bool,
    epoch: u64,
    batch: u64,
}

impl<I: DataIter> ResizeIter<I> {
    /// Divides `inner` into epochs of `size` batches; it must be at the start of its first epoch.
    ///
    /// # Errors
    /// Returns [`ErrorKind::InvalidValue`] for a size of 0.
    pub fn new(inner: I, size: u64, reset_internal: bool) -> Result<Self> {
        match size {
            0 => Err(Error::invalid("size of an epoch", 0, "at least 1")),
            _ => Ok(Self { inner, size, reset_internal, epoch: 0, batch: 0 }),
        }
    }

    /// Returns the inner iterator.
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

    /// Moves to a batch by reading all batches before it.
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
        // The next epoch must not depend on whether this one was read to its end.
        if self.batch < self.size || self.inner.n_batches().is_some_and(|n| n > 0) {
            return self.seek(self.epoch.saturating_add(1), 0);
        }
        self.step_to_next_epoch()
    }

    /// If the inner iterator does not know the number of batches of its epochs, this reads all batches before the position,
    /// including those of earlier epochs.
    fn seek(&mut self, epoch: u64, batch: u64) -> Result<()> {
        let batch = batch.min(self.size);
        let Some(n) = self.inner.n_batches().filter(|n| *n > 0) else {
            return self.walk(epoch, batch);
        };
        // The inner iterator moves to its next epoch only when a batch is requested after the end of the current epoch. So a
        // position directly after the last batch of an epoch is the end of that epoch, not the start of the next.
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
