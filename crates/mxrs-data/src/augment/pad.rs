//! Adds a border of constant value around an image.

use crate::{DecodeLimits, Image};
use mxrs_types::{Error, Result};

/// Widths of a border in pixels.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Border {
    pub(crate) top: usize,
    pub(crate) bottom: usize,
    pub(crate) left: usize,
    pub(crate) right: usize,
}

/// Adds `pad` pixels on each side of the image; their alpha is 0.
pub(crate) fn apply(image: &Image, pad: usize, fill_value: u8, limits: &DecodeLimits) -> Result<Image> {
    let border = Border { top: pad, bottom: pad, left: pad, right: pad };
    with_border(image, border, fill_value, "pad", limits)
}

/// Adds a border with alpha 0 around the image. Errors contain `setting`, the name of the setting that requests the border.
pub(crate) fn with_border(
    image: &Image,
    border: Border,
    fill_value: u8,
    setting: &str,
    limits: &DecodeLimits,
) -> Result<Image> {
    let Border { top, bottom, left, right } = border;
    let height = image.height().saturating_add(top).saturating_add(bottom);
    let width = image.width().saturating_add(left).saturating_add(right);
    // Even without a limit, the image must have at most `isize::MAX` bytes, with four channels per pixel.
    let most = limits.max_pixels.min(isize::MAX as u64 / 4);
    if (height as u64).saturating_mul(width as u64) > most {
        let size = format!("an image of {height} x {width}");
        return Err(Error::invalid(setting, size, format!("at most {most} pixels with the border")));
    }
    let c = image.channels();
    let value = &[fill_value, fill_value, fill_value, 0][..c.min(4)];
    let mut pixels = value.repeat(height * width);
    for y in 0..image.height() {
        pixels[((top + y) * width + left) * c..][..image.width() * c].copy_from_slice(image.row(y));
    }
    Image::new(height, width, c, pixels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_lie_where_they_should() {
        let image = Image::new(1, 2, 1, vec![1, 2]).unwrap();
        let out = apply(&image, 1, 9, &DecodeLimits::default()).unwrap();
        assert_eq!((out.height(), out.width()), (3, 4));
        assert_eq!(out.pixels(), [9, 9, 9, 9, 9, 1, 2, 9, 9, 9, 9, 9]);
        let out = apply(&Image::new(1, 1, 4, vec![1, 2, 3, 4]).unwrap(), 2, 9, &DecodeLimits::default()).unwrap();
        assert_eq!((out.row(2)[8..12].to_vec(), out.row(0)[..4].to_vec()), (vec![1, 2, 3, 4], vec![9, 9, 9, 0]));
    }

    #[test]
    fn each_side_has_its_own_width() {
        let image = Image::new(1, 2, 1, vec![1, 2]).unwrap();
        let border = Border { top: 1, bottom: 0, left: 2, right: 1 };
        let out = with_border(&image, border, 9, "max_pad_scale", &DecodeLimits::default()).unwrap();
        assert_eq!((out.height(), out.width()), (2, 5));
        assert_eq!(out.pixels(), [9, 9, 9, 9, 9, 9, 9, 1, 2, 9]);
    }

    /// Sizes that overflow are refused, and the error contains the name of the setting.
    #[test]
    fn borders_beyond_the_limit_name_their_setting() {
        let image = Image::new(1, 2, 3, vec![0; 6]).unwrap();
        for pad in [1 << 20, usize::MAX / 2, usize::MAX] {
            for limits in [DecodeLimits::default(), DecodeLimits { max_pixels: 1 << 20 }] {
                let message = apply(&image, pad, 9, &limits).unwrap_err().to_string();
                assert!(message.starts_with("pad: "), "{message}");
                assert!(message.contains(&limits.max_pixels.to_string()), "{message}");
            }
        }
        let unlimited = DecodeLimits { max_pixels: u64::MAX };
        for border in [
            Border { top: usize::MAX, bottom: usize::MAX, ..Border::default() },
            Border { left: usize::MAX, right: 1, ..Border::default() },
        ] {
            let message = with_border(&image, border, 9, "max_pad_scale", &unlimited).unwrap_err().to_string();
            assert!(message.starts_with("max_pad_scale: "), "{message}");
        }
    }
}
