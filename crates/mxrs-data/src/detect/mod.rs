//! Images with objects in them: labels of many numbers, and changes of an image that its objects go through as well, as
//! MXNet's `ImageDetRecordIter` makes them.

mod apply;
mod labels;
mod options;
mod params;

pub(crate) use apply::{apply, on_canvas};
pub(crate) use labels::Objects;
pub use options::{CropEmit, CropSampler, DetectAugment, DetectResize, RandomShift};
pub(crate) use params::{NAMES, read_augment};

/// Numbers in a row of labels before those of the record: channels, height and width of the image, and how many numbers.
pub(crate) const N_BEFORE: usize = 4;

/// What makes a record iterator one of images with objects.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Detection {
    pub(crate) augment: DetectAugment,
    /// Numbers of a row of labels, without those before; as many as the longest label has.
    pub(crate) pad_width: Option<usize>,
    /// What stands behind the numbers there are.
    pub(crate) pad_value: f32,
}
