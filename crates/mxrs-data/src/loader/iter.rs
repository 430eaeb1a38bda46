//! A data loader as a [`DataIter`], the form in which a training loop takes batches.

use super::{DataLoader, DataLoaderBuilder, LastSamples};
use crate::{DataBatch, DataDesc, DataIter};
use mxrs_format::Dense;
use mxrs_trace::api_call;
use mxrs_types::{DType, Error, Result, Shape};

/// A [`DataLoader`] as a [`DataIter`], for `Module::fit` and other code that needs a [`DataIter`]; MXNet's `DataLoaderIter`.
///
/// A sample is data, or data and a label; both are converted to `float32`, as in MXNet. [`DataBatch::index`] holds the
/// numbers of the samples. With [`LastSamples::Keep`] the last batch is filled up with samples from the start of the epoch
/// (MXNet leaves these rows uninitialized), and [`DataBatch::pad`] is their number. With [`LastSamples::Discard`] and
/// [`LastSamples::RollOver`] no row is padding.
///
/// ```
/// use mxrs_data::{DataIter, DataLoader, Dataset};
/// use mxrs_format::{Dense, Tensor};
/// use std::sync::Arc;
///
/// /// The points of a line segment, each labeled with the half of the segment where it lies.
/// struct Points;
/// impl Dataset for Points {
///     fn len(&self) -> usize {
///         5
///     }
///     fn get(&self, index: usize) -> mxrs_types::Result<Vec<Dense>> {
///         let point = Tensor::from_slice([1], &[index as f32 / 4.0])?;
///         Ok(vec![point.into_dense()?, Tensor::from_slice([], &[i64::from(index > 2)])?.into_dense()?])
///     }
/// }
///
/// let mut train = DataLoader::builder(Arc::new(Points), 3).num_workers(2).build_iter()?;
/// assert_eq!(train.provide_data()[0].name, "data");
/// assert_eq!(train.provide_label()[0].name, "softmax_label");
/// let first = train.next_batch()?.expect("two batches");
/// assert_eq!(first.data[0].as_slice::<f32>()?, [0.0, 0.25, 0.5]);
/// let last = train.next_batch()?.expect("two batches");
/// assert_eq!(last.labels[0].as_slice::<f32>()?, [1.0, 1.0, 0.0]);
/// assert_eq!((last.index, last.pad), (vec![3, 4, 0], 1));
/// assert_eq!(train.next_batch()?, None);
/// train.reset()?;
/// # Ok::<(), mxrs_types::Error>(())
/// ```
///
/// If a sample fails, the call for its batch returns the error; later batches can still be read.
pub struct DataLoaderIter {
    loader: DataLoader,
    data: [DataDesc; 1],
    labels: Vec<DataDesc>,
}

impl DataLoaderBuilder {
    /// Builds an iterator, as [`Self::build`] builds a loader. Makes the first sample to determine the shapes.
    ///
    /// # Errors
    /// Returns the errors of [`Self::build`] and of making the first sample; [`mxrs_types::ErrorKind::InvalidValue`] for a
    /// data set without samples, for one with fewer samples than a batch under [`LastSamples::Discard`] or
    /// [`LastSamples::RollOver`], and for a sample that does not have one or two tensors; [`mxrs_types::ErrorKind::Shape`]
    /// if `batchify` does not make exactly one row of one sample; [`mxrs_types::ErrorKind::Overflow`] for a batch too large
    /// to address.
    pub fn build_iter(self) -> Result<DataLoaderIter> {
        let (n_samples, batch_size) = (self.dataset.len(), self.batch_size);
        if n_samples == 0 {
            return Err(Error::invalid("samples of a data set", 0, "at least 1"));
        }
        if self.last_batch != LastSamples::Keep && n_samples < batch_size {
            return Err(Error::invalid("batch_size", batch_size, format!("at most the {n_samples} samples there are")));
        }
        let loader = self.start(true)?;
        let first = loader.batches.first().map_or(&[][..], |batch| &batch[..1]);
        let tensors = loader.maker.make(0, first)?;
        let desc = |name: &str, tensor: &Dense| {
            let [1, row @ ..] = &tensor.shape()[..] else {
                return Err(Error::shape("DataLoader", name, "one row of one sample", tensor.shape()));
            };
            let shape = Shape::new(std::iter::once(batch_size).chain(row.iter().copied()));
            shape.checked_size_bytes(DType::F32)?;
            Ok(DataDesc::new(name, shape, DType::F32))
        };
        let (data, labels) = match &tensors[..] {
            [data] => (desc("data", data)?, Vec::new()),
            [data, label] => (desc("data", data)?, vec![desc("softmax_label", label)?]),
            other => return Err(Error::invalid("tensors of a sample", other.len(), "data, or data and a label")),
        };
        Ok(DataLoaderIter { loader, data: [data], labels })
    }
}

impl DataLoaderIter {
    /// Sets the names of the data and the label; default `data` and `softmax_label`.
    #[must_use]
    pub fn names(mut self, data: impl Into<String>, label: impl Into<String>) -> Self {
        self.data[0].name = data.into();
        if let Some(desc) = self.labels.first_mut() {
            desc.name = label.into();
        }
        self
    }
}

/// Checks the shape of the tensor and converts it to the type of the description.
fn as_promised(tensor: Dense, desc: &DataDesc) -> Result<Dense> {
    if *tensor.shape() != desc.shape {
        return Err(Error::shape("DataLoader", &desc.name, desc.shape.to_string(), tensor.shape()));
    }
    Ok(if tensor.dtype() == desc.dtype { tensor } else { tensor.cast(desc.dtype) })
}

impl DataIter for DataLoaderIter {
    fn provide_data(&self) -> &[DataDesc] {
        &self.data
    }

    fn provide_label(&self) -> &[DataDesc] {
        &self.labels
    }

    fn batch_size(&self) -> usize {
        self.loader.sampler.batch_size
    }

    fn next_batch(&mut self) -> Result<Option<DataBatch>> {
        let _call = api_call("DataLoaderIter::next_batch");
        let number = self.loader.next as usize;
        let Some(tensors) = self.loader.next_batch()? else { return Ok(None) };
        let (index, is_last) = (self.loader.batches[number].clone(), number + 1 == self.loader.n_batches());
        let n_promised = 1 + self.labels.len();
        if tensors.len() != n_promised {
            let expected = format!("{n_promised} as in the first");
            return Err(Error::invalid("tensors of a batch", tensors.len(), expected));
        }
        let descs = self.data.iter().chain(&self.labels);
        let tensors = tensors.into_iter().zip(descs).map(|(tensor, desc)| as_promised(tensor, desc));
        let mut data = tensors.collect::<Result<Vec<Dense>>>()?;
        let labels = data.split_off(1);
        Ok(Some(DataBatch { data, labels, index, pad: if is_last { self.loader.pad } else { 0 } }))
    }

    fn reset(&mut self) -> Result<()> {
        self.loader.reset()
    }

    fn seek(&mut self, epoch: u64, batch: u64) -> Result<()> {
        self.loader.seek(epoch, batch)
    }

    fn epoch(&self) -> u64 {
        self.loader.epoch()
    }

    fn n_examples(&self) -> Option<u64> {
        Some(self.loader.n_samples as u64)
    }

    fn n_batches(&self) -> Option<u64> {
        let (n, size) = (self.loader.n_samples as u64, self.batch_size() as u64);
        match self.loader.sampler.last_batch {
            LastSamples::Keep => Some(n.div_ceil(size)),
            LastSamples::Discard => Some(n / size),
            // If the samples do not fill whole batches, the number of batches can differ by one between epochs.
            LastSamples::RollOver => n.is_multiple_of(size).then_some(n / size),
        }
    }
}
