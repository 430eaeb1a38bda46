//! An iterator over training data: its batches, its epochs, and seeking to any place among them.

use mxrs_format::Dense;
use mxrs_types::{DType, Result, Shape};

/// An input or label that an iterator delivers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataDesc {
    /// Name of the graph's variable that it feeds, such as `data` or `softmax_label`.
    pub name: String,
    /// Its shape. The batch is the first axis.
    pub shape: Shape,
    /// Type of its elements.
    pub dtype: DType,
}

impl DataDesc {
    /// A description of these parts.
    pub fn new(name: impl Into<String>, shape: impl Into<Shape>, dtype: DType) -> Self {
        Self { name: name.into(), shape: shape.into(), dtype }
    }
}

/// A batch. It always has as many rows as the batch size; the last [`Self::pad`] rows only fill it up.
///
/// The tensors own their memory, so a batch outlives its iterator and may move between threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataBatch {
    /// Inputs, in the order of [`DataIter::provide_data`].
    pub data: Vec<Dense>,
    /// Labels, in the order of [`DataIter::provide_label`].
    pub labels: Vec<Dense>,
    /// The number of the example in each row. What the numbers mean depends on the iterator.
    pub index: Vec<u64>,
    /// How many rows at the end are padding.
    pub pad: usize,
}

impl DataBatch {
    /// How many rows are not padding.
    pub fn n_valid(&self) -> usize {
        self.index.len().saturating_sub(self.pad)
    }
}

/// Batches of examples, one epoch after the other.
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
    /// I/O errors of the source.
    fn reset(&mut self) -> Result<()>;

    /// Goes to a batch of an epoch, both counted from 0, as if everything before it had been read. A batch beyond
    /// the last means the end of the epoch.
    ///
    /// # Errors
    /// I/O errors of the source.
    fn seek(&mut self, epoch: u64, batch: u64) -> Result<()>;

    /// The epoch that is being read, from 0.
    fn epoch(&self) -> u64;

    /// How many examples an epoch has, if that is known.
    fn n_examples(&self) -> Option<u64>;

    /// How many batches an epoch has, if that is known and the same for all epochs.
    fn n_batches(&self) -> Option<u64> {
        let batch_size = self.batch_size().max(1) as u64;
        self.n_examples().map(|n| n.div_ceil(batch_size))
    }

    /// How many records were left out because they could not be used; 0 for an iterator that leaves none out.
    ///
    /// Counts all epochs, and each record once: the bad records up to the last delivered batch. After
    /// [`Self::reset`] or [`Self::seek`] it also counts those that were found on the way to the new place, and those in
    /// batches that were read ahead before it and never delivered. See
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
