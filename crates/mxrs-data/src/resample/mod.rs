//! Resizing and affine mapping of images, with OpenCV's rounding.

mod area;
mod kernel;
mod linear;
mod nearest;
mod warp;

pub use linear::{resize, resize_on};
pub(crate) use warp::{AffineMap, warp};

use crate::random::Random;
use crate::{DecodeLimits, Image, ImageThreads};
use mxrs_types::{Error, Result};

/// Interpolation between pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    /// Takes the nearest pixel.
    Nearest,
    /// Interpolation between two pixels along each axis.
    Linear,
    /// Interpolation between four pixels along each axis, with Keys' cubic kernel and its parameter a = -3/4.
    Cubic,
    /// The mean of the covered area if an image shrinks; nearly linear interpolation otherwise.
    Area,
    /// Interpolation between eight pixels along each axis, with a Lanczos window.
    Lanczos,
}

/// How the interpolation is chosen, MXNet's `inter_method`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterMethod {
    /// Always this interpolation.
    Fixed(Interpolation),
    /// Cubic if both sides grow, area if both shrink, otherwise linear; MXNet's number is 9.
    Auto,
    /// A random choice among all five interpolations; MXNet's number is 10.
    Random,
}

impl Default for InterMethod {
    fn default() -> Self {
        Self::Fixed(Interpolation::Linear)
    }
}

impl InterMethod {
    /// MXNet's numbers of all variants, for error messages.
    pub(crate) const NUMBERS: &'static str =
        "0 nearest, 1 linear, 2 cubic, 3 area, 4 Lanczos, 9 automatic or 10 random";

    /// Converts MXNet's number of an `inter_method`.
    ///
    /// # Errors
    /// Returns [`mxrs_types::ErrorKind::InvalidValue`], with the valid numbers, for any other number.
    pub fn from_number(number: i64) -> Result<Self> {
        Ok(match number {
            0 => Self::Fixed(Interpolation::Nearest),
            1 => Self::Fixed(Interpolation::Linear),
            2 => Self::Fixed(Interpolation::Cubic),
            3 => Self::Fixed(Interpolation::Area),
            4 => Self::Fixed(Interpolation::Lanczos),
            9 => Self::Auto,
            10 => Self::Random,
            _ => return Err(Error::invalid("inter_method", number, Self::NUMBERS)),
        })
    }

    /// The interpolation for resizing from the height and width `old` to `new`.
    pub(crate) fn choose(self, old: (usize, usize), new: (usize, usize), random: &mut Random) -> Interpolation {
        match self {
            Self::Fixed(way) => way,
            Self::Auto if new.0 > old.0 && new.1 > old.1 => Interpolation::Cubic,
            Self::Auto if new.0 < old.0 && new.1 < old.1 => Interpolation::Area,
            Self::Auto => Interpolation::Linear,
            Self::Random => match random.below(5) {
                0 => Interpolation::Nearest,
                1 => Interpolation::Linear,
                2 => Interpolation::Cubic,
                3 => Interpolation::Area,
                _ => Interpolation::Lanczos,
            },
        }
    }
}

/// A rectangular part of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    pub(crate) top: usize,
    pub(crate) left: usize,
    pub(crate) height: usize,
    pub(crate) width: usize,
}

/// The pixels of a region of an image.
#[derive(Clone, Copy)]
struct View<'a> {
    image: &'a Image,
    region: Region,
}

impl<'a> View<'a> {
    /// Row `y` of the region.
    fn row(self, y: usize) -> &'a [u8] {
        let c = self.image.channels();
        &self.image.row(self.region.top + y)[self.region.left * c..][..self.region.width * c]
    }
}

/// Checks that an image of this size is not empty and within the limits.
fn check_size(height: usize, width: usize, limits: &DecodeLimits) -> Result<()> {
    if (height as u64).saturating_mul(width as u64) > limits.max_pixels {
        let most = format!("at most {} pixels", limits.max_pixels);
        return Err(Error::invalid("size to resize to", format!("{height} x {width}"), most));
    }
    if height == 0 || width == 0 {
        return Err(Error::invalid("size to resize to", format!("{height} x {width}"), "at least one pixel"));
    }
    Ok(())
}

/// Resizes an image; returns it unchanged if it already has this size.
pub(crate) fn resize_image(
    threads: &ImageThreads,
    image: Image,
    height: usize,
    width: usize,
    way: Interpolation,
    limits: &DecodeLimits,
) -> Result<Image> {
    if (height, width) == (image.height(), image.width()) {
        return Ok(image);
    }
    let region = Region { top: 0, left: 0, height: image.height(), width: image.width() };
    resize_region(threads, &image, region, height, width, way, limits)
}

/// Resizes a region of the image, which must lie inside it. Pixels outside the region have no influence.
pub(crate) fn resize_region(
    threads: &ImageThreads,
    image: &Image,
    region: Region,
    height: usize,
    width: usize,
    way: Interpolation,
    limits: &DecodeLimits,
) -> Result<Image> {
    check_size(height, width, limits)?;
    let channels = image.channels();
    let view = View { image, region };
    let mut pixels = vec![0; height * width * channels];
    let out = Out { threads, pixels: &mut pixels, height, width };
    if (height, width) == (region.height, region.width) {
        out.pixels.chunks_exact_mut(width * channels).enumerate().for_each(|(y, row)| row.copy_from_slice(view.row(y)));
    } else {
        match way {
            Interpolation::Nearest => nearest::resize(view, out)?,
            Interpolation::Linear => linear::resize_view(view, out)?,
            Interpolation::Cubic => kernel::resize(view, out, &kernel::cubic)?,
            Interpolation::Lanczos => kernel::resize(view, out, &kernel::lanczos)?,
            Interpolation::Area if height <= region.height && width <= region.width => area::shrink(view, out)?,
            Interpolation::Area => linear::enlarge_area(view, out)?,
        }
    }
    Image::new(height, width, channels, pixels)
}

/// The destination of resizing: pixels and size of the result.
struct Out<'a> {
    threads: &'a ImageThreads,
    pixels: &'a mut [u8],
    height: usize,
    width: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_is_chosen_by_the_change_of_size() {
        let random = &mut Random::keyed(&[]);
        let auto = InterMethod::from_number(9).unwrap();
        assert_eq!(auto.choose((4, 4), (5, 5), random), Interpolation::Cubic);
        assert_eq!(auto.choose((4, 4), (3, 3), random), Interpolation::Area);
        assert_eq!(auto.choose((4, 4), (4, 3), random), Interpolation::Linear);
        assert_eq!(auto.choose((4, 4), (5, 3), random), Interpolation::Linear);
        let any = InterMethod::from_number(10).unwrap();
        let seen: std::collections::HashSet<String> =
            (0..100).map(|_| format!("{:?}", any.choose((1, 1), (2, 2), random))).collect();
        assert_eq!(seen.len(), 5);
        for number in [5, -1, 8, 11] {
            let message = InterMethod::from_number(number).unwrap_err().to_string();
            assert!(message.contains(InterMethod::NUMBERS), "{message}");
        }
        assert_eq!(InterMethod::from_number(1).unwrap(), InterMethod::default());
    }

    /// Every interpolation keeps a constant image constant, reads only pixels of the region, and keeps a ramp monotonic.
    #[test]
    fn every_way_keeps_constants_and_stays_in_its_region() {
        let ways = [
            Interpolation::Nearest,
            Interpolation::Linear,
            Interpolation::Cubic,
            Interpolation::Area,
            Interpolation::Lanczos,
        ];
        let limits = DecodeLimits::default();
        let mut pixels = vec![0; 12 * 13 * 3];
        let region = Region { top: 2, left: 3, height: 7, width: 8 };
        for y in 2..9 {
            pixels[(y * 13 + 3) * 3..][..24].fill(200);
        }
        let image = Image::new(12, 13, 3, pixels).unwrap();
        let ramp = Image::new(1, 16, 1, (0..16).map(|x| x * 16).collect()).unwrap();
        for way in ways {
            for (h, w) in [(1, 1), (3, 4), (7, 8), (7, 3), (20, 30), (5, 17), (14, 4)] {
                let out = resize_region(&ImageThreads::calling(), &image, region, h, w, way, &limits).unwrap();
                assert!(out.pixels().iter().all(|p| *p == 200), "{way:?} {h} {w}");
                assert_eq!((out.height(), out.width()), (h, w));
            }
            for w in [5, 8, 11, 40] {
                let out = resize_image(&ImageThreads::calling(), ramp.clone(), 1, w, way, &limits).unwrap();
                let inner = &out.pixels()[w / 5..w - w / 5];
                assert!(inner.windows(2).all(|two| two[0] <= two[1]), "{way:?} {w}: {inner:?}");
            }
            assert!(resize_region(&ImageThreads::calling(), &image, region, 0, 1, way, &limits).is_err());
            assert!(resize_region(&ImageThreads::calling(), &image, region, 1 << 14, 1 << 14, way, &limits).is_err());
        }
    }
}
