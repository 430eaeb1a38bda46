//! Transforms of single images: Gluon's `vision.transforms` and the augmenters of `mxnet.image`, which do the same under two
//! sets of names. One file per family.
//!
//! A [`Transform`] takes a [`Picture`] and a [`Draw`], which holds the random numbers. The result for a sample therefore
//! depends only on seed, epoch and number of the sample. [`Transformed`] makes a data set with transformed samples, which
//! the workers of a [`crate::DataLoader`] compute.
//!
//! | `mxnet.image` | `gluon.data.vision.transforms` | here |
//! |---|---|---|
//! | `SequentialAug` | `Compose` | [`Compose`] |
//! | `RandomOrderAug` | | [`RandomOrder`] |
//! | | `RandomApply` | [`RandomApply`] |
//! | `ResizeAug`, `ForceResizeAug` | `Resize` | [`Resize`] |
//! | `CenterCropAug` | `CenterCrop` | [`CenterCrop`] |
//! | `RandomCropAug` | `RandomCrop` | [`RandomCrop`] |
//! | `RandomSizedCropAug` | `RandomResizedCrop` | [`RandomResizedCrop`] |
//! | `fixed_crop` | `CropResize` | [`CropResize`] |
//! | `HorizontalFlipAug` | `RandomFlipLeftRight`, `RandomFlipTopBottom` | [`RandomFlip`] |
//! | `BrightnessJitterAug`, `ContrastJitterAug`, `SaturationJitterAug` | `RandomBrightness`, `RandomContrast`, `RandomSaturation` | [`RandomBrightness`], [`RandomContrast`], [`RandomSaturation`] |
//! | `HueJitterAug` | `RandomHue` | [`RandomHue`] |
//! | `ColorJitterAug` | `RandomColorJitter` | [`RandomColorJitter`] |
//! | `LightingAug` | `RandomLighting` | [`RandomLighting`] |
//! | `RandomGrayAug` | `RandomGray` | [`RandomGray`] |
//! | `CastAug` | `Cast` | [`Cast`] |
//! | `ColorNormalizeAug` | `Normalize` | [`Normalize`] |
//! | | `ToTensor` | [`ToTensor`] |
//! | `imrotate`, `random_rotate` | `Rotate`, `RandomRotation` | [`Rotate`], [`RandomRotation`] |
//! | `CreateAugmenter` | | [`Augmenter`] |

mod augmenter;
mod compose;
mod crop;
mod dataset;
mod flip;
mod hue;
mod jitter;
mod noise;
mod numbers;
mod picture;
mod resize;
mod rotate;

pub use augmenter::{Augmenter, IMAGENET_MEAN, IMAGENET_STD};
pub use compose::{Compose, RandomApply, RandomOrder};
pub use crop::{CenterCrop, CropResize, RandomCrop, RandomResizedCrop};
pub use dataset::Transformed;
pub use flip::{Flip, RandomFlip};
pub use hue::{HueSpace, RandomHue};
pub use jitter::{RandomBrightness, RandomColorJitter, RandomContrast, RandomSaturation};
pub use noise::{RandomGray, RandomLighting};
pub use numbers::{Cast, Normalize, ToTensor};
pub use picture::{Channels, Numbers, Picture};
pub use resize::{Resize, ResizeTo};
pub use rotate::{RandomRotation, Rotate, Zoom};

use crate::random::Random;
use crate::{DecodeLimits, ImageThreads};
use mxrs_types::{Error, Result};

/// A transform of an image.
///
/// ```
/// use mxrs_data::Image;
/// use mxrs_data::transform::{CenterCrop, Compose, Draw, Normalize, Picture, RandomFlip, ToTensor, Transform};
///
/// let transform = Compose::of([
///     CenterCrop::new(2, 2).boxed(),
///     RandomFlip::left_right().boxed(),
///     ToTensor.boxed(),
///     Normalize::new([0.5], [0.5])?.boxed(),
/// ]);
/// let image = Image::new(2, 4, 1, vec![0, 255, 255, 0, 0, 255, 255, 0])?;
/// let picture = transform.apply(Picture::Pixels(image), &mut Draw::keyed(&[1]))?;
/// assert_eq!(picture.into_dense()?.as_slice::<f32>()?, [1.0; 4]);
/// # Ok::<(), mxrs_types::Error>(())
/// ```
pub trait Transform: Send + Sync + std::fmt::Debug {
    /// Applies the transform and returns the new image.
    ///
    /// # Errors
    /// Returns [`mxrs_types::ErrorKind::InvalidValue`] if the image does not suit the transform.
    fn apply(&self, picture: Picture, draw: &mut Draw) -> Result<Picture>;

    /// Moves the transform into a `Box`, for lists of transforms.
    fn boxed(self) -> Box<dyn Transform>
    where
        Self: Sized + 'static,
    {
        Box::new(self)
    }
}

/// State that a transform needs in addition to the image: random numbers, threads, and limits on image size.
#[derive(Clone, Debug)]
pub struct Draw {
    /// Source of random numbers.
    pub random: Random,
    /// Threads that share the work on one image.
    pub threads: ImageThreads,
    /// Limits on image size.
    pub limits: DecodeLimits,
}

impl Draw {
    /// A state whose random numbers depend only on these keys, such as the seed, the epoch and the number of the sample. The
    /// thread that calls [`Transform::apply`] does all the work itself. The limits on image size are the defaults.
    pub fn keyed(keys: &[u64]) -> Self {
        Self { random: Random::keyed(keys), threads: ImageThreads::calling(), limits: DecodeLimits::default() }
    }

    /// Returns true with this probability.
    pub(crate) fn happens(&mut self, probability: f64) -> bool {
        self.random.unit() < probability
    }
}

/// Checks that a probability is between 0 and 1.
fn check_probability(name: &str, value: f64) -> Result<()> {
    if (0.0..=1.0).contains(&value) { Ok(()) } else { Err(Error::invalid(name, value, "a probability, 0 to 1")) }
}

/// Checks that a range is ordered and has finite bounds of at least `least`.
fn check_range(name: &str, (low, high): (f32, f32), least: f32) -> Result<()> {
    if low.is_finite() && high.is_finite() && least <= low && low <= high {
        return Ok(());
    }
    let expected = format!("two finite numbers of at least {least}, the smaller first");
    Err(Error::invalid(name, format!("({low}, {high})"), expected))
}
