//! Fills one row of a batch: from the bytes of a record to values.

use super::ImageRecordIterBuilder;
use super::labels::{ListLabels, labels_of};
use crate::detect::{Detection, Objects};
use crate::normalize::Finish;
use crate::random::Random;
use crate::record_source::Record;
use crate::{Image, augment, decode, detect, fault, normalize};
use mxrs_format::recordio::ImageRecord;
use mxrs_types::Result;
use std::path::Path;

/// Settings shared by all rows.
pub(super) struct RowSettings<'a> {
    pub(super) builder: &'a ImageRecordIterBuilder,
    pub(super) list: Option<&'a ListLabels>,
    pub(super) mean_image: Option<&'a [f32]>,
    pub(super) epoch: u64,
    pub(super) path: &'a Path,
}

/// A row of a batch: its record, its destination, and the outcome.
pub(super) struct Row<'a> {
    pub(super) record: &'a Record,
    pub(super) data: &'a mut [u8],
    pub(super) labels: &'a mut [f32],
    pub(super) id: &'a mut u64,
    pub(super) outcome: Result<Option<Image>>,
}

impl Row<'_> {
    /// Decodes, augments and normalizes the record. The outcome contains the decoded image, if it is to be kept.
    pub(super) fn fill(&mut self, settings: &RowSettings<'_>) {
        let located = |e| fault::in_record(e, self.record.number, self.record.offset).with_path(settings.path);
        self.outcome = match &self.record.payload {
            Ok(payload) => self.fill_from(payload, settings).map_err(located),
            // The error already contains the position of the record.
            Err(e) => Err(e.clone()),
        };
    }

    fn fill_from(&mut self, payload: &[u8], settings: &RowSettings<'_>) -> Result<Option<Image>> {
        let builder = settings.builder;
        let record = ImageRecord::unpack(payload)?;
        *self.id = record.id;
        if let Some(detection) = &builder.detection {
            return self.fill_detection(&record, detection, settings);
        }
        let labels = labels_of(settings.list, &record, self.labels.len())?;
        self.labels.copy_from_slice(labels);
        let options = &builder.image;
        let image = decode(record.image, options.data_shape[0], &options.limits)?;
        let kept = builder.keep_images.then(|| image.clone());
        // The offset identifies the record, however the epoch is shuffled and the file divided into shares. So the
        // random numbers are reproducible.
        let mut random = Random::keyed(&[builder.seed_aug, settings.epoch, self.record.offset]);
        let threads = &builder.image_threads;
        let (image, finish) = augment::apply(threads, image, options, &builder.augment, &mut random)?;
        normalize::write(threads, &image, options, &finish, settings.mean_image, builder.pixel_type, self.data)?;
        Ok(kept)
    }

    /// Like [`Self::fill_from`], for an image with objects.
    fn fill_detection(
        &mut self,
        record: &ImageRecord<'_>,
        detection: &Detection,
        settings: &RowSettings<'_>,
    ) -> Result<Option<Image>> {
        let (builder, augment) = (settings.builder, &detection.augment);
        let label = match (settings.list, builder.label_width) {
            (Some(list), _) => list.of(record.id)?,
            (None, Some(width)) => record.labels_of_width(width)?,
            (None, None) => record.all_labels(),
        };
        let mut objects = Objects::read(label)?;
        let options = &builder.image;
        let image = decode(record.image, options.data_shape[0], &options.limits)?;
        let kept = builder.keep_images.then(|| image.clone());
        let mut random = Random::keyed(&[builder.seed_aug, settings.epoch, self.record.offset]);
        let threads = &builder.image_threads;
        let image = detect::apply(threads, image, &mut objects, options, augment, &mut random)?;
        objects.write(&image, detection.pad_value, self.labels)?;
        let [_, height, width] = options.data_shape;
        let image = detect::on_canvas(image, height, width, augment.fill_value, &options.limits)?;
        let finish = Finish::plain((0, 0));
        normalize::write(threads, &image, options, &finish, settings.mean_image, builder.pixel_type, self.data)?;
        Ok(kept)
    }
}
