//! Affine mapping of an image, with positions in fixed point.

use super::{Interpolation, check_size, kernel};
use crate::{DecodeLimits, Image, ImageThreads};
use mxrs_types::{Error, Result};

/// Number of fractional bits of a position between pixels.
const INTER_BITS: u32 = 5;
/// Number of fractional bits of a position while it is computed as a sum.
const PLACE_BITS: u32 = 10;
/// Number of fractional bits of the product of two weights.
const WEIGHT_BITS: u32 = 15;

/// A 2 x 3 matrix that maps (x, y, 1) of the source to x and y of the result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AffineMap(pub(crate) [[f64; 3]; 2]);

impl AffineMap {
    /// The inverse map. For a singular matrix the linear part is 0, as in OpenCV, so all pixels come from one position.
    fn inverse(&self) -> [[f64; 3]; 2] {
        let [[a, b, c], [d, e, f]] = self.0;
        let det = a * e - b * d;
        let over = if det != 0.0 { 1.0 / det } else { 0.0 };
        let [[a, b], [d, e]] = [[e * over, -b * over], [-d * over, a * over]];
        [[a, b, -a * c - b * f], [d, e, -d * c - e * f]]
    }
}

/// Maps an image; pixels from outside the image get the value `fill`.
pub(crate) fn warp(
    threads: &ImageThreads,
    image: &Image,
    map: &AffineMap,
    height: usize,
    width: usize,
    way: Interpolation,
    fill: [u8; 4],
    limits: &DecodeLimits,
) -> Result<Image> {
    check_size(height, width, limits)?;
    let [[a, b, c], [d, e, f]] = map.inverse();
    if ![a, b, c, d, e, f].iter().all(|v| v.is_finite()) {
        return Err(Error::invalid("affine map", format!("{map:?}"), "finite numbers"));
    }
    let channels = image.channels();
    let mut pixels = vec![0; height * width * channels];
    let row_len = width * channels;
    let fixed = |v: f64| (v * f64::from(1 << PLACE_BITS)).round_ties_even() as i64;
    let along: Vec<(i64, i64)> = (0..width).map(|x| (fixed(a * x as f64), fixed(d * x as f64))).collect();
    let sampler = Sampler::new(image, way, &fill[..channels.min(4)]);
    let half = if way == Interpolation::Nearest { 1 << (PLACE_BITS - 1) } else { 1 << (PLACE_BITS - INTER_BITS - 1) };
    threads.share_rows(&mut pixels, row_len, &|first, lines| {
        for (line, y) in lines.chunks_exact_mut(row_len).zip(first..) {
            let x0 = fixed(b * y as f64 + c).saturating_add(half);
            let y0 = fixed(e * y as f64 + f).saturating_add(half);
            for (pixel, (dx, dy)) in line.chunks_exact_mut(channels).zip(&along) {
                sampler.sample(x0.saturating_add(*dx), y0.saturating_add(*dy), pixel);
            }
        }
    })?;
    Image::new(height, width, channels, pixels)
}

/// Computes the pixel at any position of the source.
struct Sampler<'a> {
    image: &'a Image,
    fill: &'a [u8],
    /// Weights of the pixels around a position, indexed by its fraction; empty for nearest-neighbor interpolation.
    weights: Vec<Vec<f32>>,
}

impl<'a> Sampler<'a> {
    fn new(image: &'a Image, way: Interpolation, fill: &'a [u8]) -> Self {
        let steps = (0..1 << INTER_BITS).map(|i: u16| f32::from(i) / f32::from(1_u16 << INTER_BITS));
        let weights = match way {
            Interpolation::Nearest => Vec::new(),
            Interpolation::Linear | Interpolation::Area => steps.map(|x| vec![1.0 - x, x]).collect(),
            Interpolation::Cubic => steps.map(kernel::cubic).collect(),
            Interpolation::Lanczos => steps.map(kernel::lanczos).collect(),
        };
        Self { image, fill, weights }
    }

    /// The pixel at a position with `PLACE_BITS` fractional bits.
    fn sample(&self, x: i64, y: i64, out: &mut [u8]) {
        if self.weights.is_empty() {
            let pixel = self.pixel(x >> PLACE_BITS, y >> PLACE_BITS);
            out.copy_from_slice(pixel);
            return;
        }
        let (x, y) = (x >> (PLACE_BITS - INTER_BITS), y >> (PLACE_BITS - INTER_BITS));
        let part = |v: i64| (v & ((1 << INTER_BITS) - 1)) as usize;
        let (along, down) = (&self.weights[part(x)], &self.weights[part(y)]);
        let before = along.len() as i64 / 2 - 1;
        let (left, top) = ((x >> INTER_BITS) - before, (y >> INTER_BITS) - before);
        let mut sums = [0_i64; 4];
        for (row, v) in (top..).zip(down) {
            for (column, h) in (left..).zip(along) {
                let weight = (h * v * (1 << WEIGHT_BITS) as f32).round_ties_even() as i64;
                for (sum, value) in sums.iter_mut().zip(self.pixel(column, row)) {
                    *sum += weight * i64::from(*value);
                }
            }
        }
        for (out, sum) in out.iter_mut().zip(sums) {
            *out = ((sum + (1 << (WEIGHT_BITS - 1))) >> WEIGHT_BITS).clamp(0, 255) as u8;
        }
    }

    fn pixel(&self, x: i64, y: i64) -> &[u8] {
        let inside = usize::try_from(x).ok().filter(|x| *x < self.image.width());
        match (inside, usize::try_from(y).ok().filter(|y| *y < self.image.height())) {
            (Some(x), Some(y)) => {
                let c = self.image.channels();
                &self.image.row(y)[x * c..][..c]
            }
            _ => self.fill,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn go(image: &Image, map: AffineMap, (h, w): (usize, usize), way: Interpolation) -> Image {
        warp(&ImageThreads::calling(), image, &map, h, w, way, [99, 98, 97, 0], &DecodeLimits::default()).unwrap()
    }

    const WAYS: [Interpolation; 5] = [
        Interpolation::Nearest,
        Interpolation::Linear,
        Interpolation::Cubic,
        Interpolation::Area,
        Interpolation::Lanczos,
    ];

    #[test]
    fn whole_moves_are_exact_in_every_way() {
        let image = Image::new(4, 5, 3, (0..60).map(|v| v * 4).collect()).unwrap();
        for way in WAYS {
            assert_eq!(go(&image, AffineMap([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]), (4, 5), way), image, "{way:?}");
            let moved = go(&image, AffineMap([[1.0, 0.0, 1.0], [0.0, 1.0, 2.0]]), (4, 5), way);
            assert_eq!(moved.row(2)[3..], image.row(0)[..12], "{way:?}");
            assert_eq!(moved.row(1)[..3], [99, 98, 97], "{way:?}");
            // Exchanging x and y keeps every pixel.
            let turned = go(&image, AffineMap([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]), (5, 4), way);
            assert!((0..5).all(|y| (0..4).all(|x| turned.row(y)[x * 3..][..3] == image.row(x)[y * 3..][..3])));
        }
    }

    #[test]
    fn half_a_pixel_is_the_mean() {
        let image = Image::new(1, 3, 1, vec![10, 20, 60]).unwrap();
        let half = go(&image, AffineMap([[1.0, 0.0, 0.5], [0.0, 1.0, 0.0]]), (1, 3), Interpolation::Linear);
        assert_eq!(half.pixels(), [55, 15, 40]);
    }

    #[test]
    fn no_map_panics() {
        let image = Image::new(2, 2, 1, vec![1, 2, 3, 4]).unwrap();
        for way in WAYS {
            for v in [0.0, 1e-300, 1e18, -1e18] {
                go(&image, AffineMap([[v, v, v], [v, -v, 1.0]]), (3, 3), way);
            }
        }
        let nan = AffineMap([[f64::NAN; 3]; 2]);
        let limits = DecodeLimits::default();
        assert!(warp(&ImageThreads::calling(), &image, &nan, 1, 1, WAYS[1], [0; 4], &limits).is_err());
    }
}
