//! Cropping: a region of random area and aspect, a square of random size, or a region of the requested size.

use super::Augment;
use crate::random::Random;
use crate::resample::{self, Region};
use crate::{Image, ImageOptions, ImageThreads, prepare};
use mxrs_types::{Error, Result};

/// Crops the image. If the returned image is larger than the requested size, the caller must still crop it, beginning at the
/// returned row and column.
pub(super) fn apply(
    threads: &ImageThreads,
    image: Image,
    options: &ImageOptions,
    augment: &Augment,
    random: &mut Random,
) -> Result<(Image, (usize, usize))> {
    let [_, height, width] = options.data_shape;
    let region = if augment.random_resized_crop {
        area(augment, image.height(), image.width(), random)
    } else if let Some(sizes) = augment.crop_sizes() {
        Some(square(&image, sizes, augment.rand_crop, random)?)
    } else {
        None
    };
    if let Some(region) = region {
        let method = augment.inter_method.choose((region.height, region.width), (height, width), random);
        let out = resample::resize_region(threads, &image, region, height, width, method, &options.limits)?;
        return Ok((out, (0, 0)));
    }
    let method = augment.inter_method.choose((image.height(), image.width()), (height, width), random);
    let mut image = image;
    for step in [prepare::up_to_height, prepare::up_to_width] {
        if let Some((h, w)) = step(&image, options) {
            image = resample::resize_image(threads, image, h, w, method, &options.limits)?;
        }
    }
    let (free_rows, free_columns) = (image.height() - height, image.width() - width);
    Ok((image, corner(free_rows, free_columns, augment.rand_crop, random)))
}

/// The top left corner of a crop: random if `anywhere` is set, otherwise that of the centered crop.
pub(crate) fn corner(free_rows: usize, free_columns: usize, anywhere: bool, random: &mut Random) -> (usize, usize) {
    if anywhere {
        (random.below(free_rows + 1), random.below(free_columns + 1))
    } else {
        (free_rows / 2, free_columns / 2)
    }
}

/// A region of random area and aspect. `None` if ten tries did not fit in the image, or if neither area nor aspect is
/// random.
fn area(augment: &Augment, rows: usize, columns: usize, random: &mut Random) -> Option<Region> {
    let (least, most) = augment.aspects();
    if (augment.min_random_area, augment.max_random_area, least, most) == (1.0, 1.0, 1.0, 1.0) {
        return None;
    }
    let whole = (rows * columns) as f32;
    for _ in 0..10 {
        let target = whole * random.uniform(augment.min_random_area, augment.max_random_area);
        let aspect = random.uniform(least, most);
        let mut height = (target / aspect).sqrt().round() as usize;
        let mut width = (target * aspect).sqrt().round() as usize;
        if random.below(2) == 1 {
            std::mem::swap(&mut height, &mut width);
        }
        if (1..=rows).contains(&height) && (1..=columns).contains(&width) {
            let (top, left) = corner(rows - height, columns - width, true, random);
            return Some(Region { top, left, height, width });
        }
    }
    None
}

/// A square of random size.
fn square(image: &Image, (least, most): (usize, usize), anywhere: bool, random: &mut Random) -> Result<Region> {
    let (rows, columns) = (image.height(), image.width());
    if rows < most || columns < most {
        let got = format!("an image of {rows} x {columns} pixels");
        return Err(Error::invalid("image to crop", got, format!("at least max_crop_size ({most}) pixels each way")));
    }
    let side = least + random.below(most - least + 1);
    let (top, left) = corner(rows - side, columns - side, anywhere, random);
    Ok(Region { top, left, height: side, width: side })
}

/// A copy of a part of the image.
pub(crate) fn cut_out(image: &Image, (top, left): (usize, usize), height: usize, width: usize) -> Result<Image> {
    let c = image.channels();
    let mut pixels = Vec::with_capacity(height * width * c);
    for y in top..top + height {
        pixels.extend_from_slice(&image.row(y)[left * c..(left + width) * c]);
    }
    Image::new(height, width, c, pixels)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn regions(augment: &Augment, rows: usize, columns: usize) -> Vec<Option<Region>> {
        (0..4000).map(|i| area(augment, rows, columns, &mut Random::keyed(&[i]))).collect()
    }

    /// If every try fits, area and aspect are uniformly distributed; the aspect is inverted with probability 1/2.
    #[test]
    fn areas_and_aspects_follow_the_formulas() {
        let augment = Augment { min_random_area: 0.1, max_random_area: 0.4, ..Augment::imagenet() };
        let mut areas = Vec::new();
        let mut aspects = Vec::new();
        let mut wide = 0;
        for region in regions(&augment, 1000, 1000) {
            let r = region.expect("at most 0.74 of a side");
            assert!(r.top + r.height <= 1000 && r.left + r.width <= 1000);
            areas.push((r.height * r.width) as f64 / 1e6);
            let aspect = r.width as f64 / r.height as f64;
            wide += usize::from(aspect > 1.0);
            aspects.push(aspect.min(1.0 / aspect));
        }
        // The area is uniform in [0.1, 0.4]: mean 0.25, standard error 0.0866 / 63.
        let mean = areas.iter().sum::<f64>() / 4000.0;
        assert!((mean - 0.25).abs() < 0.0055, "{mean}");
        // An aspect that is uniform in [3/4, 4/3] and inverted with probability 1/2 is above 1 with probability 1/2.
        assert!((wide as f64 / 4000.0 - 0.5).abs() < 0.032, "{wide}");
        // For a = min(r, 1/r) and r uniform in [3/4, 4/3], P(a <= t) = (t - 3/4 + 4/3 - 1/t) / (7/12). Kolmogorov-Smirnov
        // test at level 0.001.
        aspects.sort_by(f64::total_cmp);
        let distance = |(i, t): (usize, &f64)| {
            let p = (t - 0.75 + 4.0 / 3.0 - 1.0 / t) / (7.0 / 12.0);
            (p - (i as f64 + 0.5) / 4000.0).abs()
        };
        let most = aspects.iter().enumerate().map(distance).fold(0.0, f64::max);
        assert!(most < 1.95 / 4000_f64.sqrt(), "{most}");
    }

    #[test]
    fn what_never_fits_falls_through() {
        let tall = Augment {
            min_random_area: 1.0,
            max_random_area: 1.0,
            min_aspect_ratio: Some(1.3),
            max_aspect_ratio: 1.4,
            ..Augment::imagenet()
        };
        assert!(regions(&tall, 100, 100).iter().all(Option::is_none));
        let nothing = Augment { random_resized_crop: true, ..Augment::default() };
        assert_eq!(area(&nothing, 100, 100, &mut Random::keyed(&[])), None);
        let line = Augment { min_random_area: 0.0, max_random_area: 0.0, ..Augment::imagenet() };
        assert_eq!(area(&line, 100, 100, &mut Random::keyed(&[])), None, "no empty region");
    }

    #[test]
    fn squares_are_of_every_size_and_place() {
        let image = Image::new(5, 6, 1, vec![0; 30]).unwrap();
        let mut seen = std::collections::HashSet::new();
        for i in 0..2000 {
            let r = square(&image, (3, 5), true, &mut Random::keyed(&[i])).unwrap();
            assert!(r.height == r.width && r.top + r.height <= 5 && r.left + r.width <= 6);
            seen.insert((r.height, r.top, r.left));
        }
        assert_eq!(seen.len(), 3 * 4 + 2 * 3 + 2);
        let center = square(&image, (3, 3), false, &mut Random::keyed(&[])).unwrap();
        assert_eq!((center.top, center.left), (1, 1));
        assert!(
            square(&image, (3, 6), true, &mut Random::keyed(&[])).unwrap_err().to_string().contains("max_crop_size")
        );
    }

    #[test]
    fn cut_out_takes_the_pixels_named() {
        let image = Image::new(3, 3, 1, (0..9).collect()).unwrap();
        assert_eq!(cut_out(&image, (1, 0), 2, 2).unwrap().pixels(), [3, 4, 6, 7]);
    }
}
