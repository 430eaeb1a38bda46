//! What an iterator over training data is: batches, epochs, and going to any place among them.

use mxrs_format::Dense;
use mxrs_types::{DType, Result, Shape};

/// One input or label an iterator delivers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataDesc {
    /// Name of the variable it feeds, such as `data` or `softmax_label`.
    pub name: String,
    /// Its shape, with the batch first.
    pub shape: Shape,
    /// Type of its elements.
    pub dtype: DType,
}

impl DataDesc {
    /// Of these parts.
    pub fn new(name: impl Into<String>, shape: impl Into<Shape>, dtype: DType) -> Self {
        Self { name: name.into(), shape: shape.into(), dtype }
    }
}

/// A batch: always as many rows as the batch size, of which the last [`Self::pad`] only fill it up.
///
/// The tensors own their memory, so a batch outlives its iterator and may move between threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataBatch {
    /// Inputs, in the order of [`DataIter::provide_data`].
    pub data: Vec<Dense>,
    /// Labels, in the order of [`DataIter::provide_label`].
    pub labels: Vec<Dense>,
    /// Which example each row is; what the numbers mean is up to the iterator.
    pub index: Vec<u64>,
    /// Rows at the end that do not count.
    pub pad: usize,
}

impl DataBatch {
    /// Rows that count.
    pub fn n_valid(&self) -> usize {
        self.index.len().saturating_sub(self.pad)
    }
}

/// Batches of examples, epoch after epoch.
///
/// Order and content of an epoch depend on the settings, the seeds and the number of the epoch, never on what was read
/// before, so training can be resumed exactly where it stopped.
pub trait DataIter: Send {
    /// Names, shapes and types of the inputs.
    fn provide_data(&self) -> &[DataDesc];

    /// Names, shapes and types of the labels.
    fn provide_label(&self) -> &[DataDesc];

    /// Rows of a batch.
    fn batch_size(&self) -> usize;

    /// The next batch; `None` at the end of the epoch, and again until [`Self::reset`] or [`Self::seek`].
    ///
    /// # Errors
    /// Those of reading and preparing examples.
    fn next_batch(&mut self) -> Result<Option<DataBatch>>;

    /// Starts the next epoch.
    ///
    /// # Errors
    /// Those of going there.
    fn reset(&mut self) -> Result<()>;

    /// Goes to a batch (counted from 0) of an epoch (counted from 0), as if everything before had been read. A batch beyond
    /// the last is the end of the epoch.
    ///
    /// # Errors
    /// Those of going there.
    fn seek(&mut self, epoch: u64, batch: u64) -> Result<()>;

    /// The epoch that is being read, from 0.
    fn epoch(&self) -> u64;

    /// Examples of an epoch, where known.
    fn n_examples(&self) -> Option<u64>;

    /// Batches of an epoch, where known and the same for all epochs.
    fn n_batches(&self) -> Option<u64> {
        let batch_size = self.batch_size().max(1) as u64;
        self.n_examples().map(|n| n.div_ceil(batch_size))
    }

    /// Records that could not be used and were left out, in all epochs, each counted once: those up to the last batch delivered,
    /// and from [`Self::reset`] or [`Self::seek`] on those that were met on the way to that place, or in batches that were read
    /// ahead before it and that nobody took. 0 of an iterator that leaves none out. See
    /// [`crate::ImageRecordIterBuilder::max_bad_records`].
    fn n_bad_records(&self) -> u64 {
        0
    }
}

impl<I: DataIter + ?Sized> DataIter for Box<I> {
    fn provide_data(&self) -> &[DataDesc] {
        (**self).provide_data()
    }

    fn provide_label(&self) -> &[DataDesc] {
        (**self).provide_label()
    }

    fn batch_size(&self) -> usize {
        (**self).batch_size()
    }

    fn next_batch(&mut self) -> Result<Option<DataBatch>> {
        (**self).next_batch()
    }

    fn reset(&mut self) -> Result<()> {
        (**self).reset()
    }

    fn seek(&mut self, epoch: u64, batch: u64) -> Result<()> {
        (**self).seek(epoch, batch)
    }

    fn epoch(&self) -> u64 {
        (**self).epoch()
    }

    fn n_examples(&self) -> Option<u64> {
        (**self).n_examples()
    }

    fn n_batches(&self) -> Option<u64> {
        (**self).n_batches()
    }

    fn n_bad_records(&self) -> u64 {
        (**self).n_bad_records()
    }
}
