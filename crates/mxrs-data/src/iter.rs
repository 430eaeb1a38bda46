//! The trait of all iterators over training data: batches, epochs, and seeking to any batch of any epoch.

use mxrs_format::Dense;
use mxrs_types::{DType, Result, Shape};

/// An input or label that an iterator delivers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataDesc {
    /// Name of the graph's variable that it feeds, such as `data` or `softmax_label`.
    pub name: String,
    /// Shape of a batch; the first axis counts the examples.
    pub shape: Shape,
    /// Element type.
    pub dtype: DType,
}

impl DataDesc {
    /// A description with this name, shape and type.
    pub fn new(name: impl Into<String>, shape: impl Into<Shape>, dtype: DType) -> Self {
        Self { name: name.into(), shape: shape.into(), dtype }
    }
}

/// A batch. It always has as many rows as the batch size; the last [`Self::pad`] rows are padding.
///
/// The tensors own their memory, so a batch outlives its iterator and may move between threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataBatch {
    /// Inputs, in the order of [`DataIter::provide_data`].
    pub data: Vec<Dense>,
    /// Labels, in the order of [`DataIter::provide_label`].
    pub labels: Vec<Dense>,
    /// The number of the example in each row. The meaning of these numbers depends on the iterator.
    pub index: Vec<u64>,
    /// Number of padding rows at the end.
    pub pad: usize,
}

impl DataBatch {
    /// Number of rows that are not padding.
    pub fn n_valid(&self) -> usize {
        self.index.len().saturating_sub(self.pad)
    }
}

/// An iterator over batches of examples, epoch by epoch.
///
/// Order and content of an epoch depend on the settings, the seeds and the number of the epoch, but not on what was read
/// before. So training can be resumed exactly where it stopped.
pub trait DataIter: Send {
    /// Names, shapes and types of the inputs.
    fn provide_data(&self) -> &[DataDesc];

    /// Names, shapes and types of the labels.
    fn provide_label(&self) -> &[DataDesc];

    /// Number of rows of a batch.
    fn batch_size(&self) -> usize;

    /// Returns the next batch. Returns `None` at the end of the epoch, and from then on until [`Self::reset`] or
    /// [`Self::seek`].
    ///
    /// # Errors
    /// Returns the errors of reading and preprocessing examples.
    fn next_batch(&mut self) -> Result<Option<DataBatch>>;

    /// Starts the next epoch.
    ///
    /// # Errors
    /// Returns I/O errors of the source.
    fn reset(&mut self) -> Result<()>;

    /// Moves to a batch of an epoch, both counted from 0, as if everything before it had been read. A batch number beyond
    /// the last batch moves to the end of the epoch.
    ///
    /// # Errors
    /// Returns I/O errors of the source.
    fn seek(&mut self, epoch: u64, batch: u64) -> Result<()>;

    /// Number of the current epoch, counted from 0.
    fn epoch(&self) -> u64;

    /// Number of examples per epoch, if known.
    fn n_examples(&self) -> Option<u64>;

    /// Number of batches per epoch, if known and the same for all epochs.
    fn n_batches(&self) -> Option<u64> {
        let batch_size = self.batch_size().max(1) as u64;
        self.n_examples().map(|n| n.div_ceil(batch_size))
    }

    /// Number of bad records that were left out; 0 for an iterator that leaves none out.
    ///
    /// Counts all epochs, and each record once: the bad records up to the last returned batch. After [`Self::reset`] or
    /// [`Self::seek`] the count also includes bad records found while moving to the new position, and those in batches that
    /// were read ahead before the move and never returned. See [`crate::ImageRecordIterBuilder::max_bad_records`].
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
