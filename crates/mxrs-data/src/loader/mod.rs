//! Batches of any data set, made by worker threads, like MXNet's `gluon.data.DataLoader`.

mod batchify;
mod iter;
mod sampler;
mod workers;

pub use batchify::stack;
pub use iter::DataLoaderIter;
pub use sampler::{BatchSampler, LastSamples, Sampler};
pub use workers::is_loader_thread;

use mxrs_format::Dense;
use mxrs_sync::Arc;
use mxrs_types::{Error, Result};
use workers::Workers;

/// A data set whose samples are read by number.
pub trait Dataset: Send + Sync {
    /// Number of samples.
    fn len(&self) -> usize;

    /// Reads one sample and returns its tensors, such as image and label. Several threads call this concurrently.
    ///
    /// # Errors
    /// Returns the errors of reading the sample.
    fn get(&self, index: usize) -> Result<Vec<Dense>>;

    /// Reads one sample for a given epoch. A data set with random changes per epoch overrides this method; the default calls
    /// [`Self::get`].
    ///
    /// # Errors
    /// Returns the errors of reading the sample.
    fn get_in(&self, epoch: u64, index: usize) -> Result<Vec<Dense>> {
        let _ = epoch;
        self.get(index)
    }

    /// Whether the data set has no samples.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A function that combines samples into a batch: one tensor of the batch for each tensor of a sample.
pub type Batchify = dyn Fn(&[Vec<Dense>]) -> Result<Vec<Dense>> + Send + Sync;

/// Batches of a data set in the order of a sampler. The order does not depend on the number of worker threads.
///
/// ```
/// use mxrs_data::{DataLoader, Dataset};
/// use mxrs_format::{Dense, Tensor};
/// use std::sync::Arc;
///
/// struct Squares;
/// impl Dataset for Squares {
///     fn len(&self) -> usize {
///         5
///     }
///     fn get(&self, index: usize) -> mxrs_types::Result<Vec<Dense>> {
///         Ok(vec![Tensor::from_slice([], &[(index * index) as f32])?.into_dense()?])
///     }
/// }
///
/// let mut loader = DataLoader::builder(Arc::new(Squares), 2).num_workers(2).build()?;
/// let mut batches = Vec::new();
/// while let Some(batch) = loader.next_batch()? {
///     batches.push(batch[0].as_slice::<f32>()?.to_vec());
/// }
/// assert_eq!(batches, [vec![0.0, 1.0], vec![4.0, 9.0], vec![16.0]]);
/// # Ok::<(), mxrs_types::Error>(())
/// ```
///
/// If a sample fails, the call for its batch returns the error; later batches can still be read.
/// [`DataLoaderBuilder::build_iter`] makes a [`crate::DataIter`] for a training loop.
pub struct DataLoader {
    maker: Arc<Maker>,
    sampler: BatchSampler,
    n_samples: usize,
    workers: Option<Workers>,
    epoch: u64,
    /// Number of the batch to return next.
    next: u64,
    /// The numbers of the samples in each batch of this epoch.
    batches: Arc<Vec<Vec<u64>>>,
    /// Whether samples from the start of the epoch fill up the last batch.
    fills_up: bool,
    /// Number of samples that fill up the last batch of this epoch.
    pad: usize,
}

/// Makes a batch from the numbers of its samples.
struct Maker {
    dataset: Arc<dyn Dataset>,
    batchify: Box<Batchify>,
}

impl Maker {
    fn make(&self, epoch: u64, samples: &[u64]) -> Result<Vec<Dense>> {
        let get = |index: &u64| {
            let sample = self.dataset.get_in(epoch, *index as usize);
            sample.map_err(|e| e.context(format!("loading sample {index}")))
        };
        (self.batchify)(&samples.iter().map(get).collect::<Result<Vec<_>>>()?)
    }
}

/// Settings of a [`DataLoader`], with the names and defaults of Gluon.
#[must_use]
pub struct DataLoaderBuilder {
    dataset: Arc<dyn Dataset>,
    batch_size: usize,
    sampler: Sampler,
    last_batch: LastSamples,
    num_workers: usize,
    prefetch: Option<usize>,
    batchify: Box<Batchify>,
}

impl DataLoaderBuilder {
    /// Sets the order of samples; default [`Sampler::Sequential`].
    pub fn sampler(self, sampler: Sampler) -> Self {
        Self { sampler, ..self }
    }

    /// Shuffles the samples in every epoch. The order depends on the seed and the number of the epoch.
    pub fn shuffle(self, seed: u64) -> Self {
        self.sampler(Sampler::Random(seed))
    }

    /// Sets what happens to samples that do not fill the last batch; default [`LastSamples::Keep`].
    pub fn last_batch(self, last_batch: LastSamples) -> Self {
        Self { last_batch, ..self }
    }

    /// Sets the number of threads that make batches; default 0, which makes each batch when it is requested.
    pub fn num_workers(self, num_workers: usize) -> Self {
        Self { num_workers, ..self }
    }

    /// Sets the number of batches that are made ahead; default twice the number of workers.
    pub fn prefetch(self, prefetch: usize) -> Self {
        Self { prefetch: Some(prefetch), ..self }
    }

    /// Sets the function that makes a batch of samples; default [`stack`].
    pub fn batchify(self, batchify: impl Fn(&[Vec<Dense>]) -> Result<Vec<Dense>> + Send + Sync + 'static) -> Self {
        Self { batchify: Box::new(batchify), ..self }
    }

    /// Starts the workers, which begin with the first batch.
    ///
    /// # Errors
    /// Returns [`mxrs_types::ErrorKind::InvalidValue`] for a batch size of 0, and [`mxrs_types::ErrorKind::Io`] if a thread
    /// cannot be started.
    pub fn build(self) -> Result<DataLoader> {
        self.start(false)
    }

    fn start(self, fills_up: bool) -> Result<DataLoader> {
        if self.batch_size == 0 {
            return Err(Error::invalid("batch_size", 0, "at least 1"));
        }
        let sampler = BatchSampler { sampler: self.sampler, batch_size: self.batch_size, last_batch: self.last_batch };
        let maker = Arc::new(Maker { dataset: self.dataset, batchify: self.batchify });
        let ahead = self.prefetch.unwrap_or(2 * self.num_workers).max(1);
        let workers = match self.num_workers {
            0 => None,
            n => Some(Workers::start(&maker, n, ahead)?),
        };
        let n_samples = maker.dataset.len();
        let (epoch, next, batches, pad) = (0, 0, Arc::default(), 0);
        let mut loader = DataLoader { maker, sampler, n_samples, workers, epoch, next, batches, fills_up, pad };
        loader.seek(0, 0)?;
        Ok(loader)
    }
}

impl DataLoader {
    /// A builder of a loader with batches of `batch_size` samples.
    pub fn builder(dataset: Arc<dyn Dataset>, batch_size: usize) -> DataLoaderBuilder {
        DataLoaderBuilder {
            dataset,
            batch_size,
            sampler: Sampler::Sequential,
            last_batch: LastSamples::default(),
            num_workers: 0,
            prefetch: None,
            batchify: Box::new(stack),
        }
    }

    /// Returns the next batch; `None` at the end of the epoch.
    ///
    /// # Errors
    /// Returns the errors of making a sample of the batch, with the number of the sample, and those of combining the
    /// samples.
    pub fn next_batch(&mut self) -> Result<Option<Vec<Dense>>> {
        let Some(samples) = usize::try_from(self.next).ok().and_then(|next| self.batches.get(next)) else {
            return Ok(None);
        };
        self.next += 1;
        match &self.workers {
            None => self.maker.make(self.epoch, samples).map(Some),
            Some(workers) => workers.take(self.next - 1).map(Some),
        }
    }

    /// Starts the next epoch.
    ///
    /// # Errors
    /// Returns no errors at present.
    pub fn reset(&mut self) -> Result<()> {
        self.seek(self.epoch.saturating_add(1), 0)
    }

    /// Moves to a batch of an epoch, as if everything before it had been read.
    ///
    /// # Errors
    /// Returns no errors at present.
    pub fn seek(&mut self, epoch: u64, batch: u64) -> Result<()> {
        let mut batches = self.sampler.batches(self.n_samples, epoch);
        self.pad = if self.fills_up { self.sampler.fill_up(&mut batches) } else { 0 };
        self.batches = Arc::new(batches);
        (self.epoch, self.next) = (epoch, batch);
        if let Some(workers) = &self.workers {
            workers.restart(epoch, Arc::clone(&self.batches), batch);
        }
        Ok(())
    }

    /// Number of the current epoch, counted from 0.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Number of batches in this epoch.
    pub fn n_batches(&self) -> usize {
        self.batches.len()
    }
}
