//! Preprocessing of one decoded image: resize, crop and normalization.

use crate::{Image, ImageOptions, ImageThreads, resize_on};
use mxrs_types::{Error, Result};
use std::borrow::Cow;

/// Preprocesses an image and writes it to `out`, in the order (channel, row, column).
///
/// 1. The shorter edge is resized to `resize`, if set.
/// 2. An image that is still smaller than `data_shape` is enlarged, first to its height, then to its width.
/// 3. The center is cropped to `data_shape`.
/// 4. Each value becomes `(pixel - mean) * (scale / std)`, all in f32.
///
/// # Errors
/// Returns [`mxrs_types::ErrorKind::InvalidValue`] for invalid options, an image with another number of channels, or an
/// image so narrow that resizing it would exceed the limits; [`mxrs_types::ErrorKind::Shape`] if `out` has another length.
pub fn prepare(image: &Image, options: &ImageOptions, out: &mut [f32]) -> Result<()> {
    prepare_on(&ImageThreads::calling(), image, options, out)
}

/// Like [`prepare`], but threads share the rows of each operation (resizing and normalization).
///
/// # Errors
/// Returns the errors of [`prepare`], and those of the function that was given to [`ImageThreads::chosen_by`].
pub fn prepare_on(threads: &ImageThreads, image: &Image, options: &ImageOptions, out: &mut [f32]) -> Result<()> {
    options.check()?;
    let [channels, height, width] = options.data_shape;
    if image.channels() != channels {
        let expected = format!("{channels}, the first number of data_shape; decode it with that many");
        return Err(Error::invalid("channels of the image to prepare", image.channels(), expected));
    }
    if out.len() != options.n_elements()? {
        let expected = format!("{} elements for data_shape ({channels}, {height}, {width})", options.n_elements()?);
        return Err(Error::shape("prepare", "out", expected, format!("{} elements", out.len())));
    }
    let mut image = Cow::Borrowed(image);
    for step in [shorter_edge, up_to_height, up_to_width] {
        if let Some((h, w)) = step(&image, options) {
            image = Cow::Owned(resize_on(threads, &image, h, w, &options.limits)?);
        }
    }
    let top = (image.height() - height) / 2;
    let left = (image.width() - width) / 2;
    threads.share_rows(out, width, &|first, lines| {
        for (line, row) in lines.chunks_exact_mut(width).zip(first..) {
            // The result is one plane per channel; the planes follow each other.
            let (c, y) = (row / height, row % height);
            let factor = options.scale / options.std[c];
            let mean = options.mean[c];
            let pixels = image.row(top + y)[left * channels + c..].iter().step_by(channels);
            for (value, pixel) in line.iter_mut().zip(pixels) {
                *value = (f32::from(*pixel) - mean) * factor;
            }
        }
    })?;
    Ok(())
}

/// The height and width at which the shorter edge has the requested length; `None` if no length is set.
pub(crate) fn shorter_edge(image: &Image, options: &ImageOptions) -> Option<(usize, usize)> {
    Some(shorter_edge_to(options.resize?, (image.height(), image.width())))
}

/// The height and width at which the shorter edge has the length `edge`, in the proportion of `h` and `w`, which are not 0.
pub(crate) fn shorter_edge_to(edge: usize, (h, w): (usize, usize)) -> (usize, usize) {
    let longer =
        |long: usize, short: usize| usize::try_from(edge as u128 * long as u128 / short as u128).unwrap_or(usize::MAX);
    if h > w { (longer(h, w), edge) } else { (edge, longer(w, h)) }
}

/// The size to which the image is enlarged if its height is too small.
pub(crate) fn up_to_height(image: &Image, options: &ImageOptions) -> Option<(usize, usize)> {
    let height = options.data_shape[1];
    let width = height as f32 / image.height() as f32 * image.width() as f32;
    (image.height() < height).then_some((height, (width as usize).max(1)))
}

/// The size to which the image is enlarged if its width is too small.
pub(crate) fn up_to_width(image: &Image, options: &ImageOptions) -> Option<(usize, usize)> {
    let [_, height, width] = options.data_shape;
    let scaled = width as f32 / image.width() as f32 * image.height() as f32;
    // Rounding must not make the height smaller than required.
    (image.width() < width).then_some(((scaled as usize).max(height), width))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn center_crop_and_normalization_per_channel() {
        // The image has 3 x 4 pixels with 3 channels; the crop of 1 x 2 pixels starts at row 1, column 1.
        let image = Image::new(3, 4, 3, (0..36).collect()).unwrap();
        let mut options = ImageOptions::new([3, 1, 2]);
        let mut out = [0.0; 6];
        prepare(&image, &options, &mut out).unwrap();
        assert_eq!(out, [15.0, 18.0, 16.0, 19.0, 17.0, 20.0]);
        (options.mean, options.std, options.scale) = ([5.0, 6.0, 7.0, 0.0], [1.0, 2.0, 4.0, 1.0], 2.0);
        prepare(&image, &options, &mut out).unwrap();
        assert_eq!(out, [20.0, 26.0, 10.0, 13.0, 5.0, 6.5]);
    }

    #[test]
    fn wrong_channels_and_lengths_are_errors() {
        let image = Image::new(1, 1, 1, vec![9]).unwrap();
        let e = prepare(&image, &ImageOptions::new([3, 1, 1]), &mut [0.0; 3]).unwrap_err();
        assert!(e.to_string().contains("got 1, expected 3"), "{e}");
        let e = prepare(&image, &ImageOptions::new([1, 2, 2]), &mut [0.0; 3]).unwrap_err();
        assert!(e.to_string().contains("expected 4 elements"), "{e}");
    }

    #[test]
    fn a_line_of_pixels_does_not_grow_without_bound() {
        let line = Image::new(1, 60_000, 1, vec![0; 60_000]).unwrap();
        let options = ImageOptions { resize: Some(60_000), ..ImageOptions::new([1, 8, 8]) };
        let e = prepare(&line, &options, &mut [0.0; 64]).unwrap_err();
        assert!(e.to_string().contains("resize"), "{e}");
    }

    #[test]
    fn every_small_size_can_be_prepared() {
        for h in 1..12 {
            for w in 1..12 {
                let image = Image::new(h, w, 1, vec![77; h * w]).unwrap();
                for edge in [None, Some(1), Some(5), Some(13)] {
                    for (oh, ow) in [(1, 1), (3, 7), (7, 3), (9, 9)] {
                        let mut out = vec![0.0; oh * ow];
                        let options = ImageOptions { resize: edge, ..ImageOptions::new([1, oh, ow]) };
                        prepare(&image, &options, &mut out).unwrap();
                        assert!(out.iter().all(|v| *v == 77.0), "{h} {w} {edge:?} {oh} {ow}");
                    }
                }
            }
        }
    }
}
