//! Images with labeled objects, as in MXNet's `ImageDetRecordIter`: labels with many values, and augmentation that changes
//! an image and its objects together.

mod apply;
mod labels;
mod options;
mod params;

pub(crate) use apply::{apply, on_canvas};
pub(crate) use labels::Objects;
pub use options::{CropEmit, CropSampler, DetectAugment, DetectResize, RandomShift};
pub(crate) use params::{NAMES, read_augment};

/// Number of values in a row of labels before those of the record: channels, height and width of the image, and the number
/// of values.
pub(crate) const N_BEFORE: usize = 4;

/// Settings of a record iterator for images with objects.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Detection {
    pub(crate) augment: DetectAugment,
    /// Number of values in a row of labels after the first [`N_BEFORE`]; `None` uses the length of the longest label.
    pub(crate) pad_width: Option<usize>,
    /// Value that fills a row of labels after its last value.
    pub(crate) pad_value: f32,
}
