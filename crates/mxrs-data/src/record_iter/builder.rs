//! Settings of a record iterator.

use super::bad_records::BadRecords;
use super::labels::ListLabels;
use super::{ImageRecordIter, Seen, mean_image};
use crate::detect::{DetectAugment, Detection, N_BEFORE};
use crate::record_source::{Chunks, RecordSource, Shuffle};
use crate::{Augment, DataDesc, DecodeLimits, ImageOptions, ImageThreads, PixelType, PrefetchingIter};
use mxrs_format::Lender;
use mxrs_format::recordio::ImageRecord;
use mxrs_sync::{Arc, Team, TeamConfig};
use mxrs_types::{DType, Error, ErrorKind, Result, Shape};
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Largest number of values in the label of a record, or in a row of labels after its first [`N_BEFORE`] values.
const MOST_LABELS: usize = 1 << 24;

/// Settings of an [`ImageRecordIter`], with the names and defaults of MXNet.
#[must_use]
#[derive(Clone, Debug)]
pub struct ImageRecordIterBuilder {
    pub(super) path_imgrec: PathBuf,
    pub(super) path_imgidx: Option<PathBuf>,
    pub(super) path_imglist: Option<PathBuf>,
    pub(super) mean_img: Option<PathBuf>,
    pub(super) batch_size: usize,
    pub(super) label_width: Option<usize>,
    pub(super) round_batch: bool,
    pub(super) preprocess_threads: usize,
    pub(super) prefetch_buffer: usize,
    pub(super) part_index: usize,
    pub(super) num_parts: usize,
    pub(super) keep_images: bool,
    pub(super) shuffle: Shuffle,
    pub(super) seed_aug: u64,
    pub(super) max_bad_records: u64,
    pub(super) pixel_type: PixelType,
    pub(super) image: ImageOptions,
    pub(super) augment: Augment,
    pub(super) detection: Option<Detection>,
    pub(super) image_threads: ImageThreads,
    pub(super) data_name: String,
    pub(super) label_name: String,
    pub(super) lender: Option<Lender>,
}

impl ImageRecordIterBuilder {
    pub(super) fn new(path_imgrec: PathBuf, data_shape: [usize; 3], batch_size: usize) -> Self {
        Self {
            path_imgrec,
            path_imgidx: None,
            path_imglist: None,
            mean_img: None,
            batch_size,
            label_width: None,
            round_batch: true,
            preprocess_threads: 4,
            prefetch_buffer: 4,
            part_index: 0,
            num_parts: 1,
            keep_images: false,
            shuffle: Shuffle::default(),
            seed_aug: 0,
            max_bad_records: 0,
            pixel_type: PixelType::default(),
            image: ImageOptions::new(data_shape),
            augment: Augment::default(),
            detection: None,
            image_threads: ImageThreads::calling(),
            data_name: "data".into(),
            label_name: "softmax_label".into(),
            lender: None,
        }
    }

    /// Sets the index (`.idx`) of the record file. Then only the records listed in it are read, in the order of their
    /// offsets unless shuffled.
    pub fn path_imgidx(self, path: impl Into<PathBuf>) -> Self {
        Self { path_imgidx: Some(path.into()), ..self }
    }

    /// Sets an image list (`.lst`). Its labels replace those of the records with the same id.
    pub fn path_imglist(self, path: impl Into<PathBuf>) -> Self {
        Self { path_imglist: Some(path.into()), ..self }
    }

    /// Sets a file with a mean image, which is subtracted from every image instead of the mean of the channels. If the file
    /// does not exist, [`Self::build`] computes the mean of all augmented images of this share and saves it to the file.
    pub fn mean_img(self, path: impl Into<PathBuf>) -> Self {
        Self { mean_img: Some(path.into()), ..self }
    }

    /// Sets the number of values in the label of each record or line of the list, at most 2^24; default 1. With
    /// [`Self::detection`] labels may have any length by default.
    pub fn label_width(self, label_width: usize) -> Self {
        Self { label_width: Some(label_width), ..self }
    }

    /// Sets whether the last batch is filled up with records from the start of the epoch (true, the default) or with zeros.
    /// In both cases [`crate::DataBatch::pad`] counts these rows.
    pub fn round_batch(self, round_batch: bool) -> Self {
        Self { round_batch, ..self }
    }

    /// Sets the number of threads that decode, including the calling thread; default 4.
    pub fn preprocess_threads(self, preprocess_threads: usize) -> Self {
        Self { preprocess_threads, ..self }
    }

    /// Sets the number of batches that [`Self::build_prefetching`] reads ahead; default 4.
    pub fn prefetch_buffer(self, prefetch_buffer: usize) -> Self {
        Self { prefetch_buffer, ..self }
    }

    /// Sets the threads that share the work on each image; by default only the calling thread works on it. They are used
    /// only if images are processed one after the other: if [`Self::preprocess_threads`] is 1, and in a process that was
    /// forked after the iterator was built.
    pub fn image_threads(self, image_threads: ImageThreads) -> Self {
        Self { image_threads, ..self }
    }

    /// Reads only share `part_index` of `num_parts`; default 0 of 1. With an index all shares have the same number of
    /// records, otherwise the same number of bytes.
    pub fn part(self, part_index: usize, num_parts: usize) -> Self {
        Self { part_index, num_parts, ..self }
    }

    /// Sets whether [`crate::Batch::images`] keeps the decoded images; default no.
    pub fn keep_images(self, keep_images: bool) -> Self {
        Self { keep_images, ..self }
    }

    /// Shuffles all records of the part that this iterator reads, in every epoch. The order depends on `seed` and the
    /// number of the epoch. Without an index, building the iterator first searches the file for its records.
    pub fn shuffle(mut self, seed: u64) -> Self {
        self.shuffle.seed = Some(seed);
        self
    }

    /// Shuffles chunks of `size_mb` times 2^20 bytes in every epoch, so that a slow disk still reads neighboring records
    /// together. If [`Self::shuffle`] is set too, the records are also shuffled, but only inside their chunk.
    pub fn shuffle_chunks(mut self, size_mb: u64, seed: u64) -> Self {
        let len_bytes = size_mb.saturating_mul(1 << 20);
        self.shuffle.chunks = (size_mb > 0).then_some(Chunks { len_bytes, seed });
        self
    }

    /// Sets the seed of the random numbers for augmentation; they depend on the seed, the epoch and the record. Default 0.
    pub fn seed_aug(self, seed_aug: u64) -> Self {
        Self { seed_aug, ..self }
    }

    /// Sets the number of records that may be left out because they cannot be read or decoded; one more is an error. Default
    /// 0.
    ///
    /// The rows of bad records are filled with other records of the batch and count as padding, so the division into batches
    /// does not depend on which records are bad. A batch without any good record, not counting padding, is not returned, and
    /// [`crate::DataIter::seek`] does not count it. Seeking therefore decodes at least one record of every earlier batch of
    /// the epoch, and more if that record is bad. An epoch without a good record is an error. The log reports the first ten
    /// bad records individually; [`ImageRecordIter::bad_records`] lists all of them.
    pub fn max_bad_records(self, max_bad_records: u64) -> Self {
        Self { max_bad_records, ..self }
    }

    /// Sets the element type of the data that [`crate::DataIter::next_batch`] returns; default [`PixelType::F32`].
    pub fn pixel_type(self, pixel_type: PixelType) -> Self {
        Self { pixel_type, ..self }
    }

    /// Sets the random augmentation of the images; default none.
    pub fn augment(self, augment: Augment) -> Self {
        Self { augment, ..self }
    }

    /// Makes this an iterator over images with objects (`ImageDetRecordIter`). `augment` replaces the crop and the
    /// augmentation of [`Self::augment`].
    ///
    /// A label in a record or list is `header_width, object_width, ...`, and for each object `class, left, top, right,
    /// bottom, ...`, with coordinates relative to the size of the image. A row of labels begins with four values: channels,
    /// height and width of the image, and the number of label values. Then come the label values, padded with `pad_value` to
    /// `pad_width` values, at most 2^24; by default `pad_width` is the length of the longest label in the file. An image
    /// smaller than `data_shape` is placed in the upper left corner.
    pub fn detection(self, augment: DetectAugment, pad_width: Option<usize>, pad_value: f32) -> Self {
        Self { detection: Some(Detection { augment, pad_width, pad_value }), ..self }
    }

    /// Sets the names of the input and the label; default `data` and `softmax_label`.
    pub fn names(self, data: impl Into<String>, label: impl Into<String>) -> Self {
        Self { data_name: data.into(), label_name: label.into(), ..self }
    }

    /// Sets a function that lends memory. The data of every [`crate::DataBatch`] is written into memory that it lends, so
    /// the owner of this memory can use the data without a copy. By default each batch allocates memory.
    pub fn lender(self, lender: Lender) -> Self {
        Self { lender: Some(lender), ..self }
    }

    /// Sets the length to which the shorter edge is resized before the crop.
    pub fn resize(mut self, shorter_edge: usize) -> Self {
        self.image.resize = Some(shorter_edge);
        self
    }

    /// Sets the factor by which pixels are multiplied after the mean is subtracted; default 1.
    pub fn scale(mut self, scale: f32) -> Self {
        self.image.scale = scale;
        self
    }

    /// Sets the mean of red, green, blue and alpha, in units of pixel values (0 to 255); default 0. Gray images use the
    /// first value.
    pub fn mean(mut self, mean: [f32; 4]) -> Self {
        self.image.mean = mean;
        self
    }

    /// Sets the divisor of red, green, blue and alpha; default 1. Gray images use the first value.
    pub fn std(mut self, std: [f32; 4]) -> Self {
        self.image.std = std;
        self
    }

    /// Sets the largest image that is decoded.
    pub fn limits(mut self, limits: DecodeLimits) -> Self {
        self.image.limits = limits;
        self
    }

    /// Checks the settings, opens the files and starts the threads.
    ///
    /// # Errors
    /// Returns [`ErrorKind::InvalidValue`] with the name of the invalid setting; [`ErrorKind::Overflow`] for a batch too
    /// large to address; the errors of opening the record file, of opening and checking the index, and of reading the list
    /// and the mean image; [`ErrorKind::Io`] if a thread cannot be started.
    pub fn build(self) -> Result<ImageRecordIter> {
        self.image.check()?;
        self.augment.check(&self.image)?;
        let label_width = self.label_width.unwrap_or(1);
        for (name, value) in
            [("batch_size", self.batch_size), ("label_width", label_width), ("num_parts", self.num_parts)]
        {
            if value == 0 {
                return Err(Error::invalid(name, 0, "at least 1"));
            }
        }
        check_label_width("label_width", label_width)?;
        if self.part_index >= self.num_parts {
            return Err(Error::invalid("part_index", self.part_index, format!("below num_parts ({})", self.num_parts)));
        }
        let Some(threads) = NonZeroUsize::new(self.preprocess_threads) else {
            return Err(Error::invalid("preprocess_threads", 0, "at least 1"));
        };
        let list = self.open_list()?;
        let label_width = match &self.detection {
            Some(detection) => self.row_of_labels(detection, list.as_deref())?,
            None => label_width,
        };
        let per_row = self.image.n_elements()?.max(label_width);
        if per_row.checked_mul(self.batch_size).is_none_or(|n| n > isize::MAX as usize / 4) {
            return Err(Error::new(ErrorKind::Overflow { what: format!("batch of {} images", self.batch_size) }));
        }
        let part = (self.part_index, self.num_parts);
        let lenient = self.max_bad_records > 0;
        let open = |shuffle| RecordSource::open(&self.path_imgrec, self.path_imgidx.as_deref(), part, shuffle, lenient);
        let source = open(self.shuffle.clone())?;
        let team = Team::new(TeamConfig { threads, cpus: None })?;
        let [c, h, w] = self.image.data_shape;
        let data = DataDesc::new(&self.data_name, [self.batch_size, c, h, w], self.pixel_type.dtype());
        let labels = match label_width {
            1 => Shape::from([self.batch_size]),
            width => Shape::from([self.batch_size, width]),
        };
        let labels = DataDesc::new(&self.label_name, labels, DType::F32);
        let mean_img = self.mean_img.clone();
        let mut iter = ImageRecordIter {
            bad: BadRecords::new(self.max_bad_records),
            settings: self,
            source,
            list,
            mean_image: None,
            team: Arc::clone(&team),
            data: [data],
            labels: [labels],
            label_width,
            finished: false,
            seen: Seen::Nothing,
        };
        if let Some(path) = mean_img.filter(|_| iter.settings.pixel_type != PixelType::U8) {
            let shape = iter.settings.image.data_shape;
            let is_there = path.try_exists().map_err(|e| Error::io(&path, &e))?;
            let mean = if is_there { mean_image::read(&path, shape)? } else { mean_image::compute(&mut iter, &path)? };
            iter.mean_image = Some(mean);
        }
        Ok(iter)
    }

    fn open_list(&self) -> Result<Option<Box<ListLabels>>> {
        let width = self.label_width.or(self.detection.is_none().then_some(1));
        self.path_imglist.as_deref().map(|path| ListLabels::open(path, width).map(Box::new)).transpose()
    }

    /// Number of values in a row of labels for images with objects: given by the settings, or enough for the longest label.
    fn row_of_labels(&self, detection: &Detection, list: Option<&ListLabels>) -> Result<usize> {
        detection.augment.check()?;
        let width = match (detection.pad_width, list) {
            (Some(width), _) => width,
            (None, Some(list)) => list.longest(),
            (None, None) => {
                // The whole file is searched, so that the rows of all shares have the same width.
                let lenient = self.max_bad_records > 0;
                longest_label(RecordSource::open(&self.path_imgrec, None, (0, 1), Shuffle::default(), lenient)?)?
            }
        };
        check_label_width("label_pad_width", width)?;
        Ok(width + N_BEFORE)
    }

    /// Builds the iterator as [`Self::build`] does, with a thread that reads [`Self::prefetch_buffer`] batches ahead. Counts
    /// the records first, so that the length of an epoch is known.
    ///
    /// # Errors
    /// Returns the errors of [`Self::build`], of counting records and of [`PrefetchingIter::new`].
    pub fn build_prefetching(self) -> Result<PrefetchingIter> {
        let prefetch_buffer = self.prefetch_buffer;
        let mut iter = self.build()?;
        iter.count_records()?;
        PrefetchingIter::new(iter, prefetch_buffer)
    }
}

/// Checks that the label width is within the limit.
fn check_label_width(name: &str, width: usize) -> Result<()> {
    if width > MOST_LABELS {
        return Err(Error::invalid(name, width, format!("at most {MOST_LABELS}")));
    }
    Ok(())
}

/// Number of values in the longest label of all records. Damaged records are ignored.
fn longest_label(mut source: RecordSource) -> Result<usize> {
    let mut longest = 0;
    while let Some(record) = source.next_record()? {
        if let Ok(record) = record.payload.and_then(|payload| Ok(ImageRecord::unpack(&payload)?.all_labels().len())) {
            longest = longest.max(record);
        }
    }
    Ok(longest)
}
