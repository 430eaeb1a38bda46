//! The iterator over a file of image records.

mod bad_records;
mod builder;
mod labels;
mod mean_image;
mod params;
mod row;

pub use builder::ImageRecordIterBuilder;

use crate::record_source::{Record, RecordSource};
use crate::{Batch, DataBatch, DataDesc, DataIter, Image, PixelType};
use bad_records::BadRecords;
use labels::ListLabels;
use mxrs_format::{AlignedBytes, Dense};
use mxrs_sync::{Arc, Mutex, Team};
use mxrs_types::{DType, Error, Result};
use row::{Row, RowSettings};
use std::path::Path;

/// Images between two lines of the log while a mean image is computed.
const BATCH_OF_MEAN: u64 = 10_000;

/// Batches of prepared images from a record file, as MXNet's `ImageRecordIter` makes them: decoded, augmented, normalised.
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
/// Order and augmentation of an epoch depend on the seeds, the number of the epoch and the records, not on the number of
/// threads or on what was read before. Without shuffling every epoch starts at the first record (MXNet's starts where the
/// wrapped batch of the last one ended). [`DataBatch::index`] holds the ids in the headers of the records.
///
/// A record that cannot be read, decoded or prepared is an error that names file, record and offset. It ends the epoch; the
/// records of the broken batch are not delivered. See [`ImageRecordIterBuilder::max_bad_records`] for going on instead.
///
/// It is also a plain iterator over [`Batch`]es of `f32`.
pub struct ImageRecordIter {
    settings: ImageRecordIterBuilder,
    source: RecordSource,
    list: Option<Box<ListLabels>>,
    mean_image: Option<Vec<f32>>,
    bad: BadRecords,
    team: Arc<Team>,
    data: [DataDesc; 1],
    labels: [DataDesc; 1],
    /// Numbers in a row of labels.
    label_width: usize,
    finished: bool,
}

/// The records of a batch.
struct Records {
    records: Vec<Record>,
    /// Rows that are not records of this epoch for the first time.
    pad: usize,
}

/// What is known of the rows of a batch besides their numbers.
struct Rows {
    index: Vec<u64>,
    images: Vec<Image>,
    pad: usize,
}

impl ImageRecordIter {
    /// Starts the settings of an iterator over the file at `path_imgrec`, for images of `data_shape` (channels, height,
    /// width) in batches of `batch_size`.
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
    /// I/O errors.
    pub fn reset(&mut self) -> Result<()> {
        self.seek(self.source.epoch().saturating_add(1), 0)
    }

    /// The record file.
    pub fn path(&self) -> &Path {
        self.source.path()
    }

    /// Rows of a batch.
    pub fn batch_size(&self) -> usize {
        self.settings.batch_size
    }

    /// Channels, height, width.
    pub fn data_shape(&self) -> [usize; 3] {
        self.settings.image.data_shape
    }

    /// Numbers in a row of labels: the labels of a record, and with [`ImageRecordIterBuilder::detection`] the width they are
    /// padded to and the four before.
    pub fn label_width(&self) -> usize {
        self.label_width
    }

    /// Records of an epoch when that is known without reading the file: from an index, or after a whole epoch.
    pub fn known_len(&self) -> Option<u64> {
        self.source.known_len()
    }

    /// Records of an epoch; goes through the file once if it is not known yet, without disturbing the iteration.
    ///
    /// # Errors
    /// Those of finding the records.
    pub fn count_records(&mut self) -> Result<u64> {
        self.source.count()
    }

    /// Offsets of the records that were left out so far; see [`ImageRecordIterBuilder::max_bad_records`].
    pub fn bad_records(&self) -> Vec<u64> {
        self.bad.offsets().collect()
    }

    /// Bytes between records that were passed over as damaged, with [`ImageRecordIterBuilder::max_bad_records`].
    pub fn skipped_bytes(&self) -> u64 {
        self.source.skipped_bytes()
    }

    /// The records of the next batch; none at the end.
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

    /// Decodes and prepares the records of one batch into `data` and `labels`, whose rows beyond them are zero.
    fn fill(&mut self, records: &Records, data: &mut [u8], labels: &mut [f32]) -> Result<Rows> {
        let settings = &self.settings;
        let (n, label_width) = (settings.batch_size, self.label_width);
        let row_len = data.len() / n;
        let mut index = vec![0; n];
        let shared = RowSettings {
            builder: settings,
            list: self.list.as_deref(),
            mean_image: self.mean_image.as_deref(),
            epoch: self.source.epoch(),
            path: &settings.path_imgrec,
        };
        let places = data.chunks_exact_mut(row_len).zip(labels.chunks_exact_mut(label_width));
        let places = places.zip(&mut index).zip(&records.records);
        let rows: Vec<Mutex<Row<'_>>> = places
            .map(|(((data, labels), id), record)| Mutex::new(Row { record, data, labels, id, outcome: Ok(None) }))
            .collect();
        let fill = |i: usize| rows[i].lock().fill(&shared);
        // Inside a loop of this team no other team would share anything.
        match self.team.size() {
            1 => (0..rows.len()).for_each(fill),
            _ => self.team.run(rows.len(), &fill),
        }
        let mut images = Vec::new();
        let mut bad = Vec::new();
        for (i, row) in rows.into_iter().enumerate() {
            let row = row.into_inner();
            match row.outcome {
                Ok(image) => images.extend(image),
                Err(e) => {
                    self.bad.note(&settings.path_imgrec, row.record.offset, e)?;
                    bad.push(i);
                }
            }
        }
        let mut rows = Rows { index, images, pad: records.pad };
        if !bad.is_empty() {
            self.close_ranks(&bad, records.records.len(), data, labels, &mut rows)?;
        }
        Ok(rows)
    }

    /// Moves the good rows together and fills up behind them with the first good ones again.
    fn close_ranks(&self, bad: &[usize], n: usize, data: &mut [u8], labels: &mut [f32], rows: &mut Rows) -> Result<()> {
        let (n_rows, width) = (self.settings.batch_size, self.label_width);
        let len = data.len() / n_rows;
        let good: Vec<usize> = (0..n).filter(|i| bad.binary_search(i).is_err()).collect();
        if good.is_empty() {
            let expected = format!("at least one good record among the {n} of a batch");
            return Err(Error::invalid("records of a batch", "only bad ones", expected)
                .context(format!("reading {}", self.path().display())));
        }
        let n_valid = n_rows - rows.pad;
        rows.pad += bad.iter().filter(|i| **i < n_valid).count();
        // Sources are never before their targets until all good rows have moved.
        for (to, &from) in good.iter().enumerate() {
            data.copy_within(from * len..(from + 1) * len, to * len);
            labels.copy_within(from * width..(from + 1) * width, to * width);
            rows.index[to] = rows.index[from];
        }
        for to in good.len()..n {
            let from = (to - good.len()) % good.len();
            data.copy_within(from * len..(from + 1) * len, to * len);
            labels.copy_within(from * width..(from + 1) * width, to * width);
            rows.index[to] = rows.index[from];
        }
        Ok(())
    }

    /// The records of the next batch, unless the epoch has ended.
    fn next_records(&mut self) -> Result<Option<Records>> {
        if self.finished {
            return Ok(None);
        }
        let records = self.read_records().inspect_err(|_| self.finished = true)?;
        Ok(Some(records).filter(|records| !records.records.is_empty()))
    }

    fn next_plain(&mut self) -> Result<Option<Batch>> {
        if self.settings.pixel_type != PixelType::F32 {
            return Err(Error::invalid("dtype of plain batches", self.settings.pixel_type.dtype(), "float32"));
        }
        let Some(records) = self.next_records()? else { return Ok(None) };
        let (n, label_width) = (self.settings.batch_size, self.label_width);
        let data_shape = self.settings.image.data_shape;
        let mut data = vec![0.0_f32; n * self.settings.image.n_elements()?];
        let mut labels = vec![0.0; n * label_width];
        let rows = self.fill(&records, bytemuck::cast_slice_mut(&mut data), &mut labels)?;
        let Rows { index, images, pad } = rows;
        Ok(Some(Batch { data, labels, index, pad, n, data_shape, label_width, images }))
    }

    fn next_tensors(&mut self) -> Result<Option<DataBatch>> {
        let Some(records) = self.next_records()? else { return Ok(None) };
        let ([data], [label]) = (&self.data, &self.labels);
        let (dtype, shape, label_shape) = (data.dtype, data.shape.clone(), label.shape.clone());
        let len = shape.checked_size_bytes(dtype)?;
        let mut data = match &self.settings.lender {
            Some(lender) => {
                let mut lent = lender.lend(len)?;
                // Rows that are not written are zero.
                let written = len / self.settings.batch_size * records.records.len();
                lent[written..].fill(0);
                lent
            }
            None => AlignedBytes::zeroed(len),
        };
        let mut labels = vec![0.0_f32; label_shape.n_elements()];
        let Rows { index, pad, .. } = self.fill(&records, &mut data, &mut labels)?;
        let data = Dense::new(dtype, shape, data)?;
        let labels = Dense::new(DType::F32, label_shape, AlignedBytes::copy_of(bytemuck::cast_slice(&labels)))?;
        Ok(Some(DataBatch { data: vec![data], labels: vec![labels], index, pad }))
    }
}

impl Iterator for ImageRecordIter {
    type Item = Result<Batch>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.next_plain().transpose();
        self.finished |= matches!(batch, Some(Err(_)));
        batch
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
        self.next_tensors().inspect_err(|_| self.finished = true)
    }

    fn reset(&mut self) -> Result<()> {
        ImageRecordIter::reset(self)
    }

    fn seek(&mut self, epoch: u64, batch: u64) -> Result<()> {
        let n_read = batch.saturating_mul(self.settings.batch_size as u64);
        self.source.start(epoch, n_read)?;
        self.finished = false;
        Ok(())
    }

    fn epoch(&self) -> u64 {
        self.source.epoch()
    }

    fn n_examples(&self) -> Option<u64> {
        self.source.known_len()
    }
}

impl std::fmt::Debug for ImageRecordIter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ImageRecordIter").field("settings", &self.settings).finish_non_exhaustive()
    }
}
