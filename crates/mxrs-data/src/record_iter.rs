//! The iterator over a file of image records.

use crate::record_source::{Record, RecordSource};
use crate::{Batch, DecodeLimits, Image, ImageOptions, ImageThreads, decode, fault, prepare_on};
use mxrs_format::recordio::ImageRecord;
use mxrs_sync::{Arc, Mutex, Team, TeamConfig};
use mxrs_types::{Error, ErrorKind, Result};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// Batches of prepared images from a record file, in the order of the file, as MXNet's `ImageRecordIter` makes them
/// without shuffling and augmentation.
///
/// ```no_run
/// use mxrs_data::ImageRecordIter;
///
/// let mut batches = ImageRecordIter::builder("val.rec", [1, 28, 28], 32).scale(1.0 / 255.0).build()?;
/// for epoch in 0..2 {
///     for batch in batches.by_ref() {
///         let batch = batch?;
///         println!("{epoch}: {} images, {} of them padding", batch.n, batch.pad);
///     }
///     batches.reset()?;
/// }
/// # Ok::<(), mxrs_types::Error>(())
/// ```
///
/// Every epoch starts at the first record (MXNet's starts where the wrapped batch of the last one ended). Images are decoded
/// by several threads; the result does not depend on how many.
///
/// A record that cannot be read, decoded or prepared is an error that names file, record and offset. It ends the epoch; the
/// records of the broken batch are not delivered.
pub struct ImageRecordIter {
    settings: ImageRecordIterBuilder,
    source: RecordSource,
    team: Arc<Team>,
    finished: bool,
}

/// Settings of an [`ImageRecordIter`]; names and defaults are MXNet's.
#[derive(Clone, Debug)]
pub struct ImageRecordIterBuilder {
    path_imgrec: PathBuf,
    path_imgidx: Option<PathBuf>,
    batch_size: usize,
    label_width: usize,
    round_batch: bool,
    preprocess_threads: usize,
    part_index: usize,
    num_parts: usize,
    keep_images: bool,
    image: ImageOptions,
    image_threads: ImageThreads,
}

impl ImageRecordIterBuilder {
    /// The index (`.idx`) of the record file: only the records it lists are read, in the order of their offsets.
    #[must_use]
    pub fn path_imgidx(self, path: impl Into<PathBuf>) -> Self {
        Self { path_imgidx: Some(path.into()), ..self }
    }

    /// Labels per record; 1.
    #[must_use]
    pub fn label_width(self, label_width: usize) -> Self {
        Self { label_width, ..self }
    }

    /// Whether the last batch is filled up with records from the start (true, the default) or with zeros. Either way
    /// [`Batch::pad`] counts the rows.
    #[must_use]
    pub fn round_batch(self, round_batch: bool) -> Self {
        Self { round_batch, ..self }
    }

    /// Threads that decode, the caller included; 4.
    #[must_use]
    pub fn preprocess_threads(self, preprocess_threads: usize) -> Self {
        Self { preprocess_threads, ..self }
    }

    /// Threads that share the work on each image where images are prepared one after the other: with
    /// [`Self::preprocess_threads`] of 1, and in a process forked since the iterator was built; the calling one alone.
    #[must_use]
    pub fn image_threads(self, image_threads: ImageThreads) -> Self {
        Self { image_threads, ..self }
    }

    /// Reads share `part_index` of `num_parts`; 0 of 1. With an index shares have equally many records, without one equally
    /// many bytes.
    #[must_use]
    pub fn part(self, part_index: usize, num_parts: usize) -> Self {
        Self { part_index, num_parts, ..self }
    }

    /// Keeps the decoded images in [`Batch::images`]; no.
    #[must_use]
    pub fn keep_images(self, keep_images: bool) -> Self {
        Self { keep_images, ..self }
    }

    /// Length that the shorter edge is resized to before the crop.
    #[must_use]
    pub fn resize(mut self, shorter_edge: usize) -> Self {
        self.image.resize = Some(shorter_edge);
        self
    }

    /// Factor after the mean is taken away; 1.
    #[must_use]
    pub fn scale(mut self, scale: f32) -> Self {
        self.image.scale = scale;
        self
    }

    /// Mean of red, green, blue and alpha, in units of pixel values (0 to 255); 0. Grey images use the first.
    #[must_use]
    pub fn mean(mut self, mean: [f32; 4]) -> Self {
        self.image.mean = mean;
        self
    }

    /// Divisor of red, green, blue and alpha; 1. Grey images use the first.
    #[must_use]
    pub fn std(mut self, std: [f32; 4]) -> Self {
        self.image.std = std;
        self
    }

    /// Largest image.
    #[must_use]
    pub fn limits(mut self, limits: DecodeLimits) -> Self {
        self.image.limits = limits;
        self
    }

    /// Checks the settings, opens the files and starts the threads.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidValue`] naming the setting; [`ErrorKind::Overflow`] for a batch too large to address; those of
    /// opening the record file and of opening and verifying the index; [`ErrorKind::Io`] when a thread cannot be started.
    pub fn build(self) -> Result<ImageRecordIter> {
        self.image.check()?;
        for (name, value) in
            [("batch_size", self.batch_size), ("label_width", self.label_width), ("num_parts", self.num_parts)]
        {
            if value == 0 {
                return Err(Error::invalid(name, 0, "at least 1"));
            }
        }
        if self.part_index >= self.num_parts {
            return Err(Error::invalid("part_index", self.part_index, format!("below num_parts ({})", self.num_parts)));
        }
        let Some(threads) = NonZeroUsize::new(self.preprocess_threads) else {
            return Err(Error::invalid("preprocess_threads", 0, "at least 1"));
        };
        let per_row = self.image.n_elements()?.max(self.label_width);
        if per_row.checked_mul(self.batch_size).is_none_or(|n| n > isize::MAX as usize / 4) {
            return Err(Error::new(ErrorKind::Overflow { what: format!("batch of {} images", self.batch_size) }));
        }
        let source =
            RecordSource::open(&self.path_imgrec, self.path_imgidx.as_deref(), self.part_index, self.num_parts)?;
        let team = Team::new(TeamConfig { threads, cpus: None })?;
        Ok(ImageRecordIter { settings: self, source, team, finished: false })
    }
}

/// A row on its way: where it goes, and what became of it.
struct Row<'a> {
    record: &'a Record,
    data: &'a mut [f32],
    labels: &'a mut [f32],
    id: &'a mut u64,
    outcome: Result<Option<Image>>,
}

impl ImageRecordIter {
    /// Starts the settings of an iterator over the file at `path_imgrec`, for images of `data_shape` (channels, height,
    /// width) in batches of `batch_size`.
    pub fn builder(
        path_imgrec: impl Into<PathBuf>,
        data_shape: [usize; 3],
        batch_size: usize,
    ) -> ImageRecordIterBuilder {
        ImageRecordIterBuilder {
            path_imgrec: path_imgrec.into(),
            path_imgidx: None,
            batch_size,
            label_width: 1,
            round_batch: true,
            preprocess_threads: 4,
            part_index: 0,
            num_parts: 1,
            keep_images: false,
            image: ImageOptions::new(data_shape),
            image_threads: ImageThreads::calling(),
        }
    }

    /// Goes back to the first record.
    ///
    /// # Errors
    /// I/O errors.
    pub fn reset(&mut self) -> Result<()> {
        self.source.rewind()?;
        self.finished = false;
        Ok(())
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

    /// Labels per record.
    pub fn label_width(&self) -> usize {
        self.settings.label_width
    }

    /// Records of an epoch when that is known without reading the file: from an index, or after a whole epoch.
    pub fn known_len(&self) -> Option<u64> {
        self.source.known_len()
    }

    /// Records of an epoch; reads the file once if it is not known yet, without disturbing the iteration.
    ///
    /// # Errors
    /// Those of reading the records.
    pub fn count_records(&mut self) -> Result<u64> {
        self.source.count()
    }

    /// The records of the next batch, and how many of them are from the start again.
    fn read_records(&mut self) -> Result<(Vec<Record>, usize)> {
        let batch_size = self.settings.batch_size;
        let mut records = Vec::new();
        while records.len() < batch_size {
            let Some(record) = self.source.next_record()? else {
                break;
            };
            records.push(record);
        }
        let wanted = batch_size - records.len();
        if wanted > 0 {
            self.finished = true;
        }
        let wraps = self.settings.round_batch && !records.is_empty();
        while wraps && records.len() < batch_size {
            self.source.rewind()?;
            while records.len() < batch_size {
                match self.source.next_record()? {
                    Some(record) => records.push(record),
                    None => break,
                }
            }
        }
        Ok((records, wanted))
    }

    /// Decodes and prepares the records of one batch.
    fn make_batch(&self, records: &[Record], pad: usize) -> Result<Batch> {
        let settings = &self.settings;
        let (n, label_width) = (settings.batch_size, settings.label_width);
        let row_len = settings.image.n_elements()?;
        let mut batch = Batch {
            data: vec![0.0; n * row_len],
            labels: vec![0.0; n * label_width],
            index: vec![0; n],
            pad,
            n,
            data_shape: settings.image.data_shape,
            label_width,
            images: Vec::new(),
        };
        let places = batch.data.chunks_exact_mut(row_len).zip(batch.labels.chunks_exact_mut(label_width));
        let places = places.zip(&mut batch.index).zip(records);
        let rows: Vec<Mutex<Row<'_>>> = places
            .map(|(((data, labels), id), record)| Mutex::new(Row { record, data, labels, id, outcome: Ok(None) }))
            .collect();
        let fill = |i: usize| {
            let mut row = rows[i].lock();
            row.outcome = row.fill(settings);
        };
        // Inside a loop of this team no other team would share anything.
        match self.team.size() {
            1 => (0..rows.len()).for_each(fill),
            _ => self.team.run(rows.len(), &fill),
        }
        let mut images = Vec::new();
        for row in rows {
            let row = row.into_inner();
            let located = |e| fault::in_record(e, row.record.number, row.record.offset).with_path(self.path());
            images.extend(row.outcome.map_err(located)?);
        }
        batch.images = images;
        Ok(batch)
    }
}

impl Row<'_> {
    /// Decodes and prepares one record; returns the image if it is to be kept.
    fn fill(&mut self, settings: &ImageRecordIterBuilder) -> Result<Option<Image>> {
        let record = ImageRecord::unpack(&self.record.payload)?;
        *self.id = record.id;
        self.labels.copy_from_slice(record.labels_of_width(settings.label_width)?);
        let options = &settings.image;
        let image = decode(record.image, options.data_shape[0], &options.limits)?;
        prepare_on(&settings.image_threads, &image, options, self.data)?;
        Ok(settings.keep_images.then_some(image))
    }
}

impl Iterator for ImageRecordIter {
    type Item = Result<Batch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.finished {
            return None;
        }
        let batch = match self.read_records() {
            Ok((records, _)) if records.is_empty() => return None,
            Ok((records, pad)) => self.make_batch(&records, pad),
            Err(e) => Err(e),
        };
        self.finished |= batch.is_err();
        Some(batch)
    }
}

impl std::fmt::Debug for ImageRecordIter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ImageRecordIter").field("settings", &self.settings).finish_non_exhaustive()
    }
}
