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

/// Most numbers of a record's label, and of a row of labels without those before.
const MOST_LABELS: usize = 1 << 24;

/// Settings of an [`ImageRecordIter`]; names and defaults are MXNet's.
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

    /// The index (`.idx`) of the record file: only the records it lists are read, without shuffling in the order of their
    /// offsets.
    #[must_use]
    pub fn path_imgidx(self, path: impl Into<PathBuf>) -> Self {
        Self { path_imgidx: Some(path.into()), ..self }
    }

    /// An image list (`.lst`) whose labels take the place of those in the records, by id.
    #[must_use]
    pub fn path_imglist(self, path: impl Into<PathBuf>) -> Self {
        Self { path_imglist: Some(path.into()), ..self }
    }

    /// A mean image to take away from every image, instead of the mean of the channels. Where there is no such file, the
    /// mean of all augmented images of this share is computed when the iterator is built, and saved there.
    #[must_use]
    pub fn mean_img(self, path: impl Into<PathBuf>) -> Self {
        Self { mean_img: Some(path.into()), ..self }
    }

    /// Numbers that the label of each record or line of the list must have, at most 2^24; 1, with [`Self::detection`] any.
    #[must_use]
    pub fn label_width(self, label_width: usize) -> Self {
        Self { label_width: Some(label_width), ..self }
    }

    /// Whether the last batch is filled up with records from the start of the epoch (true, the default) or with zeros. Either
    /// way [`crate::DataBatch::pad`] counts the rows.
    #[must_use]
    pub fn round_batch(self, round_batch: bool) -> Self {
        Self { round_batch, ..self }
    }

    /// Threads that decode, the caller included; 4.
    #[must_use]
    pub fn preprocess_threads(self, preprocess_threads: usize) -> Self {
        Self { preprocess_threads, ..self }
    }

    /// Batches that [`Self::build_prefetching`] reads ahead; 4.
    #[must_use]
    pub fn prefetch_buffer(self, prefetch_buffer: usize) -> Self {
        Self { prefetch_buffer, ..self }
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

    /// Keeps the decoded images in [`crate::Batch::images`]; no.
    #[must_use]
    pub fn keep_images(self, keep_images: bool) -> Self {
        Self { keep_images, ..self }
    }

    /// Brings all records of the share into another order every epoch, which depends on `seed` and the number of the epoch.
    /// Without an index the file is searched for its records first.
    #[must_use]
    pub fn shuffle(mut self, seed: u64) -> Self {
        self.shuffle.seed = Some(seed);
        self
    }

    /// Brings chunks of `size_mb` times 2^20 bytes into another order every epoch; with [`Self::shuffle`] records then change
    /// places within their chunk only, so that a slow disk reads neighbors together.
    #[must_use]
    pub fn shuffle_chunks(mut self, size_mb: u64, seed: u64) -> Self {
        let len_bytes = size_mb.saturating_mul(1 << 20);
        self.shuffle.chunks = (size_mb > 0).then_some(Chunks { len_bytes, seed });
        self
    }

    /// What the random numbers of augmentation depend on, besides epoch and record; 0.
    #[must_use]
    pub fn seed_aug(self, seed_aug: u64) -> Self {
        Self { seed_aug, ..self }
    }

    /// Records that cannot be read or decoded and are left out before that is an error; 0. Their rows in a batch are taken
    /// by other records of it and counted as padding, so that batches begin at the same records whatever is bad. A batch with
    /// no good record that counts is left out, and is not counted by [`crate::DataIter::seek`]: going to a batch therefore
    /// decodes a record of every batch before it in its epoch, and more where that one is bad. An epoch with no good record is an
    /// error. The log names the first ten that are left out; all are in [`ImageRecordIter::bad_records`].
    #[must_use]
    pub fn max_bad_records(self, max_bad_records: u64) -> Self {
        Self { max_bad_records, ..self }
    }

    /// Type of the numbers that [`crate::DataIter::next_batch`] delivers; [`PixelType::F32`].
    #[must_use]
    pub fn pixel_type(self, pixel_type: PixelType) -> Self {
        Self { pixel_type, ..self }
    }

    /// Random changes of the images; none.
    #[must_use]
    pub fn augment(self, augment: Augment) -> Self {
        Self { augment, ..self }
    }

    /// Makes it an iterator of images with objects (`ImageDetRecordIter`), with these changes instead of those of
    /// [`Self::augment`] and of the crop.
    ///
    /// A label in a record or list is `header_width, object_width, ...`, and for each object `class, left, top, right,
    /// bottom, ...` with edges in parts of the image. A row of labels is channels, height and width of the image, the number
    /// of numbers that follow, those, and `pad_value` up to `pad_width` numbers, at most 2^24, by default as many as the
    /// longest label of the file has. An image smaller than `data_shape` lies in its upper left corner.
    #[must_use]
    pub fn detection(self, augment: DetectAugment, pad_width: Option<usize>, pad_value: f32) -> Self {
        Self { detection: Some(Detection { augment, pad_width, pad_value }), ..self }
    }

    /// Names of the input and the label; `data` and `softmax_label`.
    #[must_use]
    pub fn names(self, data: impl Into<String>, label: impl Into<String>) -> Self {
        Self { data_name: data.into(), label_name: label.into(), ..self }
    }

    /// Whose memory the data of [`crate::DataBatch`]es is written into, so that whoever lent it can use it without a copy;
    /// memory of its own.
    #[must_use]
    pub fn lender(self, lender: Lender) -> Self {
        Self { lender: Some(lender), ..self }
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

    /// Mean of red, green, blue and alpha, in units of pixel values (0 to 255); 0. Gray images use the first.
    #[must_use]
    pub fn mean(mut self, mean: [f32; 4]) -> Self {
        self.image.mean = mean;
        self
    }

    /// Divisor of red, green, blue and alpha; 1. Gray images use the first.
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
    /// opening the record file, of opening and verifying the index, of reading the list and the mean image;
    /// [`ErrorKind::Io`] when a thread cannot be started.
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

    /// Numbers in a row of labels with objects: what the settings say or the longest label needs.
    fn row_of_labels(&self, detection: &Detection, list: Option<&ListLabels>) -> Result<usize> {
        detection.augment.check()?;
        let width = match (detection.pad_width, list) {
            (Some(width), _) => width,
            (None, Some(list)) => list.longest(),
            (None, None) => {
                // All shares are to agree, so it is the whole file.
                let lenient = self.max_bad_records > 0;
                longest_label(RecordSource::open(&self.path_imgrec, None, (0, 1), Shuffle::default(), lenient)?)?
            }
        };
        check_label_width("label_pad_width", width)?;
        Ok(width + N_BEFORE)
    }

    /// As [`Self::build`], with a thread that reads [`Self::prefetch_buffer`] batches ahead. Records are counted first, so
    /// that the length of an epoch is known.
    ///
    /// # Errors
    /// As [`Self::build`]; those of counting records and of [`PrefetchingIter::new`].
    pub fn build_prefetching(self) -> Result<PrefetchingIter> {
        let prefetch_buffer = self.prefetch_buffer;
        let mut iter = self.build()?;
        iter.count_records()?;
        PrefetchingIter::new(iter, prefetch_buffer)
    }
}

/// Proves that labels of this width can be held.
fn check_label_width(name: &str, width: usize) -> Result<()> {
    if width > MOST_LABELS {
        return Err(Error::invalid(name, width, format!("at most {MOST_LABELS}")));
    }
    Ok(())
}

/// Numbers of the longest label of all records. Those that are damaged have none.
fn longest_label(mut source: RecordSource) -> Result<usize> {
    let mut longest = 0;
    while let Some(record) = source.next_record()? {
        if let Ok(record) = record.payload.and_then(|payload| Ok(ImageRecord::unpack(&payload)?.all_labels().len())) {
            longest = longest.max(record);
        }
    }
    Ok(longest)
}
