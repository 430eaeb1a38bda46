//! The iterator over a file of image records.

mod bad_records;
mod builder;
mod fill;
mod labels;
mod mean_image;
mod params;
mod place;
mod row;

pub use builder::ImageRecordIterBuilder;

use crate::record_source::{Record, RecordSource};
use crate::{Batch, DataBatch, DataDesc, DataIter, Image, PixelType};
use bad_records::BadRecords;
use labels::ListLabels;
use mxrs_format::{AlignedBytes, Dense};
use mxrs_sync::{Arc, Team};
use mxrs_trace::api_call;
use mxrs_types::{DType, Error, ErrorKind, FormatErrorKind, Result};
use std::path::Path;

/// Number of images between two log lines while a mean image is computed.
const BATCH_OF_MEAN: u64 = 10_000;

/// Batches of images from a record file: decoded, augmented and normalized like those of MXNet's `ImageRecordIter`.
///
/// ```no_run
/// use mxrs_data::{Augment, DataIter, ImageRecordIter};
///
/// let augment = Augment { rand_crop: true, rand_mirror: true, ..Augment::default() };
/// let mut batches = ImageRecordIter::builder("train.rec", [3, 28, 28], 32)
///     .shuffle(0)
///     .augment(augment)
///     .scale(1.0 / 255.0)
///     .build_prefetching()?;
/// for epoch in 0..2 {
///     while let Some(batch) = batches.next_batch()? {
///         println!("{epoch}: {} images, {} of them padding", batch.index.len(), batch.pad);
///     }
///     batches.reset()?;
/// }
/// # Ok::<(), mxrs_types::Error>(())
/// ```
///
/// Order and augmentation of an epoch depend on the seeds, the number of the epoch and the records, but not on the number of
/// threads or on what was read before. Without shuffling every epoch starts at the first record; in MXNet it starts after
/// the records that filled up the last batch. [`DataBatch::index`] holds the ids in the headers of the records.
///
/// A record that cannot be read, decoded or preprocessed causes an error with the file, the record and the offset. The error
/// ends the epoch, and the other records of that batch are not returned. With [`ImageRecordIterBuilder::max_bad_records`]
/// such records are left out instead; [`DataIter::n_bad_records`] counts them.
///
/// The iterator also implements [`Iterator`], over [`Batch`]es of `f32`.
pub struct ImageRecordIter {
    settings: ImageRecordIterBuilder,
    source: RecordSource,
    list: Option<Box<ListLabels>>,
    mean_image: Option<Vec<f32>>,
    bad: BadRecords,
    team: Arc<Team>,
    data: [DataDesc; 1],
    labels: [DataDesc; 1],
    /// Number of values in a row of labels.
    label_width: usize,
    finished: bool,
    seen: Seen,
}

/// Whether this epoch has had a good record so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    /// No batch has been read yet.
    Nothing,
    /// All records so far were bad.
    OnlyBad,
    /// At least one batch with a good record was returned or passed by a seek.
    Good,
}

/// The records of one batch.
struct Records {
    records: Vec<Record>,
    /// Number of rows at the end that are padding.
    pad: usize,
}

/// The data of a batch in addition to pixels and labels.
struct Rows {
    index: Vec<u64>,
    images: Vec<Image>,
    pad: usize,
}

impl ImageRecordIter {
    /// A builder of an iterator over the file at `path_imgrec`, for images of `data_shape` (channels, height, width) in
    /// batches of `batch_size`.
    pub fn builder(
        path_imgrec: impl Into<std::path::PathBuf>,
        data_shape: [usize; 3],
        batch_size: usize,
    ) -> ImageRecordIterBuilder {
        ImageRecordIterBuilder::new(path_imgrec.into(), data_shape, batch_size)
    }

    /// Starts the next epoch.
    ///
    /// # Errors
    /// Returns I/O errors.
    pub fn reset(&mut self) -> Result<()> {
        self.seek(self.source.epoch().saturating_add(1), 0)
    }

    /// Path of the record file.
    pub fn path(&self) -> &Path {
        self.source.path()
    }

    /// Number of rows per batch.
    pub fn batch_size(&self) -> usize {
        self.settings.batch_size
    }

    /// Channels, height and width of an image.
    pub fn data_shape(&self) -> [usize; 3] {
        self.settings.image.data_shape
    }

    /// Number of values in a row of labels: the labels of one record. With [`ImageRecordIterBuilder::detection`] it is the
    /// width to which labels are padded plus the four values before them.
    pub fn label_width(&self) -> usize {
        self.label_width
    }

    /// Number of records per epoch, if known without reading the file: from an index, or after a whole epoch.
    pub fn known_len(&self) -> Option<u64> {
        self.source.known_len()
    }

    /// Number of records per epoch. If it is not known yet, the file is read once; this does not affect the iteration.
    ///
    /// # Errors
    /// Returns I/O errors, and an error for damage after which the next record cannot be found.
    pub fn count_records(&mut self) -> Result<u64> {
        self.source.count()
    }

    /// Offsets of the records left out so far; see [`ImageRecordIterBuilder::max_bad_records`].
    pub fn bad_records(&self) -> Vec<u64> {
        self.bad.offsets().collect()
    }

    /// Number of damaged bytes skipped between records, with [`ImageRecordIterBuilder::max_bad_records`].
    pub fn skipped_bytes(&self) -> u64 {
        self.source.skipped_bytes()
    }

    /// Reads the records of the next batch; empty at the end of the epoch.
    fn read_records(&mut self) -> Result<Records> {
        let batch_size = self.settings.batch_size;
        let mut records = Vec::new();
        while records.len() < batch_size {
            let Some(record) = self.source.next_record()? else {
                break;
            };
            records.push(record);
        }
        let pad = batch_size - records.len();
        if pad > 0 {
            self.finished = true;
        }
        let wraps = self.settings.round_batch && !records.is_empty();
        while wraps && records.len() < batch_size {
            self.source.start(self.source.epoch(), 0)?;
            while records.len() < batch_size {
                match self.source.next_record()? {
                    Some(record) => records.push(record),
                    None => break,
                }
            }
        }
        Ok(Records { records, pad })
    }

    /// Reads the records of the next batch; `None` at the end of the epoch.
    ///
    /// # Errors
    /// Returns the errors of reading. At the end of the epoch, returns an error if all records were bad.
    fn next_records(&mut self) -> Result<Option<Records>> {
        if !self.finished {
            let records = self.read_records()?;
            if !records.records.is_empty() {
                return Ok(Some(records));
            }
        }
        if self.seen == Seen::OnlyBad {
            return Err(Error::new(ErrorKind::Format {
                path: Some(self.path().into()),
                offset: None,
                kind: FormatErrorKind::InvalidValue,
                context: "the records of an epoch are only bad ones, expected at least one good record".into(),
            }));
        }
        Ok(None)
    }

    /// Ends the epoch after an error, so that the next call returns `None`.
    fn end(&mut self) {
        (self.finished, self.seen) = (true, Seen::Nothing);
    }

    fn next_plain(&mut self) -> Result<Option<Batch>> {
        if self.settings.pixel_type != PixelType::F32 {
            return Err(Error::invalid("dtype of plain batches", self.settings.pixel_type.dtype(), "float32"));
        }
        let (n, label_width) = (self.settings.batch_size, self.label_width);
        let data_shape = self.settings.image.data_shape;
        while let Some(records) = self.next_records()? {
            let mut data = vec![0.0_f32; n * self.settings.image.n_elements()?];
            let mut labels = vec![0.0; n * label_width];
            let rows = self.fill(&records, bytemuck::cast_slice_mut(&mut data), &mut labels)?;
            if let Some(Rows { index, images, pad }) = rows {
                return Ok(Some(Batch { data, labels, index, pad, n, data_shape, label_width, images }));
            }
        }
        Ok(None)
    }

    fn next_tensors(&mut self) -> Result<Option<DataBatch>> {
        while let Some(records) = self.next_records()? {
            let ([data], [label]) = (&self.data, &self.labels);
            let (dtype, shape, label_shape) = (data.dtype, data.shape.clone(), label.shape.clone());
            let len = shape.checked_size_bytes(dtype)?;
            let mut data = match &self.settings.lender {
                Some(lender) => {
                    let mut lent = lender.lend(len)?;
                    // Lent memory may have any content; rows without a record must be zero.
                    let written = len / self.settings.batch_size * records.records.len();
                    lent[written..].fill(0);
                    lent
                }
                None => AlignedBytes::zeroed(len),
            };
            let mut labels = vec![0.0_f32; label_shape.n_elements()];
            let Some(Rows { index, pad, .. }) = self.fill(&records, &mut data, &mut labels)? else { continue };
            let data = Dense::new(dtype, shape, data)?;
            let labels = Dense::new(DType::F32, label_shape, AlignedBytes::copy_of(bytemuck::cast_slice(&labels)))?;
            return Ok(Some(DataBatch { data: vec![data], labels: vec![labels], index, pad }));
        }
        Ok(None)
    }
}

impl Iterator for ImageRecordIter {
    type Item = Result<Batch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_plain().inspect_err(|_| self.end()).transpose()
    }
}

impl DataIter for ImageRecordIter {
    fn provide_data(&self) -> &[DataDesc] {
        &self.data
    }

    fn provide_label(&self) -> &[DataDesc] {
        &self.labels
    }

    fn batch_size(&self) -> usize {
        self.settings.batch_size
    }

    fn next_batch(&mut self) -> Result<Option<DataBatch>> {
        let _call = api_call("ImageRecordIter::next_batch");
        self.next_tensors().inspect_err(|_| self.end())
    }

    fn reset(&mut self) -> Result<()> {
        ImageRecordIter::reset(self)
    }

    fn seek(&mut self, epoch: u64, batch: u64) -> Result<()> {
        self.go_to(epoch, batch)
    }

    fn epoch(&self) -> u64 {
        self.source.epoch()
    }

    fn n_examples(&self) -> Option<u64> {
        self.source.known_len()
    }

    /// `None` if bad records may be left out, because a batch that has only bad records is not returned.
    fn n_batches(&self) -> Option<u64> {
        let n_examples = self.source.known_len().filter(|_| self.settings.max_bad_records == 0);
        n_examples.map(|n| n.div_ceil(self.settings.batch_size as u64))
    }

    fn n_bad_records(&self) -> u64 {
        self.bad.len()
    }
}

impl std::fmt::Debug for ImageRecordIter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ImageRecordIter").field("settings", &self.settings).finish_non_exhaustive()
    }
}
