//! Augmentation of an image together with its objects, in MXNet's order.

use super::labels::{Objects, Rect};
use super::{CropSampler, DetectAugment, DetectResize, RandomShift};
use crate::augment::{Border, cut_out, scale_colors, shift_hls, with_border};
use crate::prepare::shorter_edge_to;
use crate::random::Random;
use crate::resample::resize_image;
use crate::transform::Picture;
use crate::{DecodeLimits, Image, ImageOptions, ImageThreads};
use mxrs_types::Result;

/// Smallest scale factor of padding; a smaller one adds no border.
const LEAST_PAD: f32 = 1.05;

/// Augments the image and its objects. The result has at most the height and width of `data_shape`.
pub(crate) fn apply(
    threads: &ImageThreads,
    mut image: Image,
    objects: &mut Objects,
    options: &ImageOptions,
    augment: &DetectAugment,
    random: &mut Random,
) -> Result<Image> {
    let limits = &options.limits;
    let resize = |image: Image, (height, width): (usize, usize), random: &mut Random| {
        let way = augment.inter_method.choose((image.height(), image.width()), (height, width), random);
        resize_image(threads, image, height, width, way, limits)
    };
    if let Some(edge) = options.resize {
        let size = shorter_edge_to(edge, (image.height(), image.width()));
        image = resize(image, size, random)?;
    }
    colors(&mut image, augment, random);
    if random.unit() < augment.rand_mirror_prob {
        objects.mirror();
        if let Picture::Pixels(mirrored) = Picture::Pixels(image.clone()).flipped(false)? {
            image = mirrored;
        }
    }
    if random.unit() < augment.rand_pad_prob {
        image = pad(image, objects, augment, limits, random)?;
    }
    if random.unit() < augment.rand_crop_prob {
        image = crop(image, objects, augment, random)?;
    }
    let [_, height, width] = options.data_shape;
    let (h, w) = (image.height(), image.width());
    let ratio = (height as f32 / h as f32).min(width as f32 / w as f32);
    let in_proportion = ((ratio * h as f32) as usize, (ratio * w as f32) as usize);
    let in_proportion = (in_proportion.0.clamp(1, height), in_proportion.1.clamp(1, width));
    match augment.resize_mode {
        DetectResize::Force => resize(image, (height, width), random),
        DetectResize::Shrink if h <= height && w <= width => Ok(image),
        DetectResize::Shrink | DetectResize::Fit => resize(image, in_proportion, random),
    }
}

/// Places the image in the upper left corner of a canvas of at least this size; the rest has the pixel value `fill`.
pub(crate) fn on_canvas(image: Image, height: usize, width: usize, fill: u8, limits: &DecodeLimits) -> Result<Image> {
    let (bottom, right) = (height.saturating_sub(image.height()), width.saturating_sub(image.width()));
    if (bottom, right) == (0, 0) {
        Ok(image)
    } else {
        with_border(&image, Border { bottom, right, ..Border::default() }, fill, "data_shape", limits)
    }
}

fn colors(image: &mut Image, augment: &DetectAugment, random: &mut Random) {
    let mut draw = |shift: RandomShift| {
        let value = random.around(0.0, 1.0) * shift.most;
        if random.unit() < shift.probability { value } else { 0.0 }
    };
    let [h, s, l] = [augment.hue, augment.saturation, augment.illumination].map(|shift| draw(shift) as i32);
    let contrast = draw(augment.contrast);
    if (h, s, l) != (0, 0, 0) {
        shift_hls(image, [h, s, l]);
    }
    if contrast.abs() > 1e-3 {
        scale_colors(image, contrast + 1.0);
    }
}

fn pad(
    image: Image,
    objects: &mut Objects,
    augment: &DetectAugment,
    limits: &DecodeLimits,
    random: &mut Random,
) -> Result<Image> {
    let scale = random.uniform(1.0, augment.max_pad_scale);
    if scale < LEAST_PAD {
        return Ok(image);
    }
    let (x, y) = (random.uniform(0.0, scale - 1.0), random.uniform(0.0, scale - 1.0));
    objects.project(Rect { left: -x, top: -y, width: scale, height: scale });
    // The border before and after the image along one axis, in pixels.
    let ends =
        |before: f32, len: usize| [before, scale - before - 1.0].map(|part| (part * len as f32).max(0.0) as usize);
    let ([top, bottom], [left, right]) = (ends(y, image.height()), ends(x, image.width()));
    with_border(&image, Border { top, bottom, left, right }, augment.fill_value, "max_pad_scale", limits)
}

fn crop(image: Image, objects: &mut Objects, augment: &DetectAugment, random: &mut Random) -> Result<Image> {
    let mut order: Vec<usize> = (0..augment.crop_samplers.len()).collect();
    random.shuffle(&mut order);
    let (rows, columns) = (image.height(), image.width());
    for sampler in order.into_iter().map(|i| &augment.crop_samplers[i]) {
        for _ in 0..sampler.max_trials {
            let part = region(sampler, columns as f32 / rows as f32, random);
            if objects.crop(part, sampler, augment.crop_emit) {
                let pixels = |part: f32, n: usize| (part * n as f32) as usize;
                let (top, left) = (pixels(part.top, rows).min(rows - 1), pixels(part.left, columns).min(columns - 1));
                let height = pixels(part.height, rows).clamp(1, rows - top);
                let width = pixels(part.width, columns).clamp(1, columns - left);
                return cut_out(&image, (top, left), height, width);
            }
        }
    }
    Ok(image)
}

/// A region of random scale, proportion and position, for an image whose width is `aspect` times its height.
fn region(sampler: &CropSampler, aspect: f32, random: &mut Random) -> Rect {
    let scale = random.uniform(sampler.scales.0, sampler.scales.1) + 1e-12;
    let least = (sampler.aspect_ratios.0 / aspect).max(scale * scale);
    let most = (sampler.aspect_ratios.1 / aspect).min(1.0 / (scale * scale));
    let ratio = random.uniform(least, most).sqrt();
    let (width, height) = ((scale * ratio).min(1.0), (scale / ratio).min(1.0));
    let (left, top) = (random.uniform(0.0, 1.0 - width), random.uniform(0.0, 1.0 - height));
    Rect { left, top, width, height }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Borders below a scale of 1.05 are left out; all other borders have the size that was drawn.
    #[test]
    fn borders_below_a_twentieth_are_left_out() {
        let sizes = |most: f32| -> Vec<usize> {
            let augment = DetectAugment { max_pad_scale: most, ..DetectAugment::default() };
            let draw = |i| {
                let image = Image::new(100, 100, 1, vec![0; 10_000]).unwrap();
                let mut objects = Objects::read(&[2.0, 5.0]).unwrap();
                let limits = DecodeLimits::default();
                pad(image, &mut objects, &augment, &limits, &mut Random::keyed(&[i])).unwrap().height()
            };
            (0..200).map(draw).collect()
        };
        assert!(sizes(1.049).iter().all(|size| *size == 100));
        let some = sizes(1.1);
        assert!(some.iter().all(|size| *size == 100 || (103..=110).contains(size)), "{some:?}");
        // Half of the drawn scales are below 1.05; the tolerance is four standard errors.
        assert!(some.iter().filter(|size| **size == 100).count().abs_diff(100) < 29, "{some:?}");
    }

    /// Sizes that overflow are refused with an error that contains the name of the setting.
    #[test]
    fn borders_without_bounds_are_refused_by_name() {
        for most in [1e30, f32::MAX] {
            let augment = DetectAugment { max_pad_scale: most, ..DetectAugment::default() };
            for i in 0..50 {
                let image = Image::new(2, 3, 1, vec![0; 6]).unwrap();
                let mut objects = Objects::read(&[2.0, 5.0, 1.0, 0.1, 0.2, 0.3, 0.4]).unwrap();
                let limits = DecodeLimits::default();
                let padded = pad(image, &mut objects, &augment, &limits, &mut Random::keyed(&[i]));
                let message = padded.unwrap_err().to_string();
                assert!(message.starts_with("max_pad_scale: "), "{message}");
            }
        }
    }
}
