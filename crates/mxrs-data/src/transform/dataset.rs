//! A data set whose images are transformed.

use super::{Draw, Picture, Transform};
use crate::{Dataset, DecodeLimits, ImageThreads};
use mxrs_format::Dense;
use mxrs_sync::Arc;
use mxrs_types::{Error, Result};

/// A data set whose samples begin with an image, which is transformed each time a sample is read, on the workers of a
/// [`crate::DataLoader`]. The random numbers depend only on seed, epoch and number of the sample.
///
/// ```
/// use mxrs_data::transform::{RandomFlip, Transformed};
/// use mxrs_data::{DataLoader, Dataset};
/// use mxrs_format::{AlignedBytes, Dense, Tensor};
/// use mxrs_types::{DType, Result};
/// use std::sync::Arc;
///
/// struct Images;
/// impl Dataset for Images {
///     fn len(&self) -> usize {
///         8
///     }
///     fn get(&self, _: usize) -> Result<Vec<Dense>> {
///         let image = Tensor::dense(DType::U8, [1, 2, 1], AlignedBytes::copy_of(&[1, 2]))?.into_dense()?;
///         Ok(vec![image, Tensor::from_slice([], &[7.0_f32])?.into_dense()?])
///     }
/// }
///
/// let dataset = Transformed::new(Arc::new(Images), RandomFlip::left_right(), 6);
/// let mut loader = DataLoader::builder(Arc::new(dataset), 8).num_workers(2).build()?;
/// let batch = loader.next_batch()?.expect("one batch");
/// let mirrored = batch[0].bytes().chunks(2).filter(|pixels| **pixels == [2, 1]).count();
/// assert!((1..8).contains(&mirrored));
/// # Ok::<(), mxrs_types::Error>(())
/// ```
pub struct Transformed {
    dataset: Arc<dyn Dataset>,
    transform: Box<dyn Transform>,
    seed: u64,
    threads: ImageThreads,
    limits: DecodeLimits,
}

impl Transformed {
    /// Transforms the first tensor of each sample, an image of uint8 or float32 in the order (row, column, channel), with
    /// random numbers from this seed.
    pub fn new(dataset: Arc<dyn Dataset>, transform: impl Transform + 'static, seed: u64) -> Self {
        let (threads, limits) = (ImageThreads::calling(), DecodeLimits::default());
        Self { dataset, transform: transform.boxed(), seed, threads, limits }
    }

    /// Sets the threads that share the work on one image; by default only the calling thread works on it.
    #[must_use]
    pub fn threads(self, threads: ImageThreads) -> Self {
        Self { threads, ..self }
    }

    /// Sets the limits on image size.
    #[must_use]
    pub fn limits(self, limits: DecodeLimits) -> Self {
        Self { limits, ..self }
    }
}

impl Dataset for Transformed {
    fn len(&self) -> usize {
        self.dataset.len()
    }

    fn get(&self, index: usize) -> Result<Vec<Dense>> {
        self.get_in(0, index)
    }

    fn get_in(&self, epoch: u64, index: usize) -> Result<Vec<Dense>> {
        let mut sample = self.dataset.get_in(epoch, index)?;
        let Some(first) = sample.first_mut() else {
            return Err(Error::invalid("sample to transform", "no tensor", "an image first"));
        };
        let mut draw = Draw::keyed(&[self.seed, epoch, index as u64]);
        (draw.threads, draw.limits) = (self.threads.clone(), self.limits.clone());
        *first = self.transform.apply(Picture::from_dense(first)?, &mut draw)?.into_dense()?;
        Ok(sample)
    }
}
