//! Shear, rotation, scale and aspect in one affine map. Pixels from outside the image get the fill value.

use super::Augment;
use crate::random::Random;
use crate::resample::{AffineMap, warp};
use crate::{DecodeLimits, Image, ImageThreads};
use mxrs_types::Result;

/// Whether any setting makes the affine map differ from the identity.
pub(super) fn is_wanted(augment: &Augment) -> bool {
    augment.max_rotate_angle > 0
        || augment.max_shear_ratio > 0.0
        || augment.rotate > 0
        || !augment.rotate_list.is_empty()
        || augment.max_random_scale != 1.0
        || augment.min_random_scale != 1.0
        || (!augment.random_resized_crop && augment.aspects() != (1.0, 1.0))
        || augment.max_img_size != 1e10
        || augment.min_img_size != 0.0
}

/// The random numbers drawn for one image.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Draw {
    shear: f32,
    angle: i32,
    scale: f32,
    aspect: f32,
}

impl Draw {
    fn new(augment: &Augment, random: &mut Random) -> Self {
        let shear = random.around(0.0, augment.max_shear_ratio);
        let most = i64::from(augment.max_rotate_angle);
        // The argument of `below` is less than 2^33, so its result fits in an `i64`. The angle fits in an `i32` because
        // `Augment::check` refuses larger settings.
        let mut angle = (random.below(2 * most as usize + 1) as i64 - most) as i32;
        if augment.rotate > 0 {
            angle = augment.rotate as i32;
        }
        if !augment.rotate_list.is_empty() {
            angle = augment.rotate_list[random.below(augment.rotate_list.len())];
        }
        let (mut scale, mut aspect) = (1.0, 1.0);
        if !augment.random_resized_crop {
            scale = random.uniform(augment.min_random_scale, augment.max_random_scale);
            let (least, most) = augment.aspects();
            aspect = random.uniform(least, most);
        }
        Self { shear, angle, scale, aspect }
    }

    /// Returns height and width of the result, and the affine map from the image to the result. The map takes the center of
    /// the image to the center of the result.
    fn map(self, image: &Image, augment: &Augment) -> (f32, f32, AffineMap) {
        let radians = f64::from(self.angle) / 180.0 * std::f64::consts::PI;
        let (a, b) = (radians.cos() as f32, radians.sin() as f32);
        let hs = 2.0 * self.scale / (1.0 + self.aspect);
        let ws = self.aspect * hs;
        let (rows, cols) = (image.height() as f32, image.width() as f32);
        let size = |len: f32| (self.scale * len).min(augment.max_img_size).max(augment.min_img_size);
        let (height, width) = (size(rows), size(cols));
        let s = self.shear;
        let [m00, m01] = [hs * a - s * b * ws, hs * b + s * a * ws];
        let [m10, m11] = [-b * ws, a * ws];
        let m02 = (width - (m00 * cols + m01 * rows)) / 2.0;
        let m12 = (height - (m10 * cols + m11 * rows)) / 2.0;
        (height, width, AffineMap([[m00, m01, m02], [m10, m11, m12]].map(|row| row.map(f64::from))))
    }
}

/// Applies a random affine map to the image, as `augment` specifies.
pub(super) fn apply(
    threads: &ImageThreads,
    image: &Image,
    augment: &Augment,
    limits: &DecodeLimits,
    random: &mut Random,
) -> Result<Image> {
    let (height, width, map) = Draw::new(augment, random).map(image, augment);
    // A size below one pixel becomes one pixel.
    let (height, width) = ((height as usize).max(1), (width as usize).max(1));
    let method = augment.inter_method.choose((image.height(), image.width()), (height, width), random);
    let fill = augment.fill_value;
    warp(threads, image, &map, height, width, method, [fill, fill, fill, 0], limits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::augment::Augment;

    fn draws(augment: &Augment) -> Vec<Draw> {
        (0..4000).map(|i| Draw::new(augment, &mut Random::keyed(&[3, i]))).collect()
    }

    /// Shear, scale and aspect are uniformly distributed: mean and variance of 4000 draws are within four standard errors.
    #[test]
    fn draws_are_uniform_in_their_ranges() {
        let augment = Augment {
            max_shear_ratio: 0.3,
            min_random_scale: 0.5,
            max_random_scale: 2.0,
            max_aspect_ratio: 0.25,
            max_rotate_angle: 10,
            ..Augment::default()
        };
        let draws = draws(&augment);
        for (value, low, high) in [
            (draws.iter().map(|d| d.shear).collect::<Vec<_>>(), -0.3, 0.3),
            (draws.iter().map(|d| d.scale).collect(), 0.5, 2.0),
            (draws.iter().map(|d| d.aspect).collect(), 0.75, 1.25),
        ] {
            let n = value.len() as f64;
            let mean = value.iter().map(|v| f64::from(*v)).sum::<f64>() / n;
            let sigma = (high - low) / 12_f64.sqrt();
            assert!((mean - (low + high) / 2.0).abs() < 4.0 * sigma / n.sqrt(), "{mean}");
            let spread = value.iter().map(|v| (f64::from(*v) - mean).powi(2)).sum::<f64>() / n;
            assert!((spread / sigma.powi(2) - 1.0).abs() < 0.06, "{spread}");
            assert!(value.iter().all(|v| (low..=high).contains(&f64::from(*v))));
        }
        let mut angles = [0_u32; 21];
        draws.iter().for_each(|d| angles[(d.angle + 10) as usize] += 1);
        // Chi-square test: 20 degrees of freedom, 0.999 quantile 45.3.
        let expected = 4000.0 / 21.0;
        let chi_square: f64 = angles.iter().map(|n| (f64::from(*n) - expected).powi(2) / expected).sum();
        assert!(chi_square < 45.3, "{chi_square}");
    }

    #[test]
    fn fixed_angles_win() {
        let list = Augment { rotate: 7, rotate_list: vec![-90, 180], max_rotate_angle: 5, ..Augment::default() };
        assert!(draws(&list).iter().all(|d| d.angle == -90 || d.angle == 180));
        let fixed = Augment { rotate_list: vec![], ..list };
        assert!(draws(&fixed).iter().all(|d| d.angle == 7));
        let widest = Augment { max_rotate_angle: u32::MAX, ..Augment::default() };
        draws(&widest);
    }

    #[test]
    fn a_quarter_turn_of_a_square_moves_pixels_exactly() {
        let image = Image::new(3, 3, 1, (0..9).collect()).unwrap();
        let augment = Augment { rotate: 90, ..Augment::default() };
        let mut random = Random::keyed(&[]);
        let limits = DecodeLimits::default();
        let out = apply(&ImageThreads::calling(), &image, &augment, &limits, &mut random).unwrap();
        assert_eq!((out.height(), out.width()), (3, 3));
        // The rotation is counter-clockwise, as in MXNet. The center of the rotation is a corner of a pixel, not the middle
        // of the image. The matrix is [[0, 1, 0], [-1, 0, 3]]: (x, y) of the result is (3 - y, x) of the image, and the
        // first row is outside the image.
        assert_eq!(out.pixels(), [255, 255, 255, 2, 5, 8, 1, 4, 7]);
    }

    /// The matrix is [[1, 1, -2], [0, 1, 0]]: (x, y) of the result is (x - y + 2, y) of the image.
    #[test]
    fn a_shear_of_one_moves_each_line_by_its_number() {
        let image = Image::new(4, 4, 1, (0..16).collect()).unwrap();
        let draw = Draw { shear: 1.0, angle: 0, scale: 1.0, aspect: 1.0 };
        let (height, width, map) = draw.map(&image, &Augment::default());
        assert_eq!((height, width), (4.0, 4.0));
        let (threads, limits) = (ImageThreads::calling(), DecodeLimits::default());
        let linear = Augment::default().inter_method.choose((4, 4), (4, 4), &mut Random::keyed(&[]));
        let out = warp(&threads, &image, &map, 4, 4, linear, [255; 4], &limits).unwrap();
        let expected = [[2, 3, 255, 255], [5, 6, 7, 255], [8, 9, 10, 11], [255, 12, 13, 14]];
        assert_eq!(out.pixels(), expected.concat());
    }
}
