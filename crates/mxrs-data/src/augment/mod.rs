//! Random augmentation of images, in MXNet's order. Each file implements one kind of change.

mod affine;
mod crop;
mod hls;
mod jitter;
mod options;
mod pad;
mod pca;

pub(crate) use crop::{corner, cut_out};
pub(crate) use hls::{hls_of, rgb_of, shift_hls};
pub(crate) use jitter::scale_colors;
pub use options::Augment;
pub(crate) use pad::{Border, apply as pad, with_border};
pub(crate) use pca::noise as pca_noise;

use crate::normalize::Finish;
use crate::random::Random;
use crate::resample;
use crate::{Image, ImageOptions, ImageThreads, prepare};
use mxrs_types::Result;

/// Augments an image. The returned image has at least the height and width of `data_shape`. The changes in [`Finish`] are
/// applied later, by [`crate::normalize::write`].
pub(crate) fn apply(
    threads: &ImageThreads,
    mut image: Image,
    options: &ImageOptions,
    augment: &Augment,
    random: &mut Random,
) -> Result<(Image, Finish)> {
    let limits = &options.limits;
    if let Some((height, width)) = prepare::shorter_edge(&image, options) {
        let method = augment.inter_method.choose((image.height(), image.width()), (height, width), random);
        image = resample::resize_image(threads, image, height, width, method, limits)?;
    }
    if affine::is_wanted(augment) {
        image = affine::apply(threads, &image, augment, limits, random)?;
    }
    if augment.pad > 0 {
        image = pad::apply(&image, augment.pad, augment.fill_value, limits)?;
    }
    let (mut image, mut corner) = crop::apply(threads, image, options, augment, random)?;
    let jitters = jitter::is_wanted(augment);
    let shifts = hls::is_wanted(augment);
    if jitters || shifts {
        let [_, height, width] = options.data_shape;
        if (image.height(), image.width()) != (height, width) {
            image = crop::cut_out(&image, corner, height, width)?;
            corner = (0, 0);
        }
        if jitters {
            jitter::apply(&mut image, augment, random);
        }
        if shifts {
            hls::apply(&mut image, augment, random);
        }
    }
    let mut finish = Finish::plain(corner);
    if augment.pca_noise > 0.0 {
        finish.noise = pca::noise(augment.pca_noise, random);
    }
    finish.mirrored = augment.mirror || (augment.rand_mirror && random.below(2) == 1);
    finish.contrast = random.around(1.0, augment.max_random_contrast);
    finish.illumination = random.around(0.0, augment.max_random_illumination);
    Ok((image, finish))
}
