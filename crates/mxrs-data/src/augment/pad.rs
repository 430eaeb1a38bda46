//! A border of one value around the image.

use crate::{DecodeLimits, Image};
use mxrs_types::{Error, ErrorKind, Result};

/// The image with `pad` more pixels on each side; alpha is 0 there.
pub(crate) fn apply(image: &Image, pad: usize, fill_value: u8, limits: &DecodeLimits) -> Result<Image> {
    let grown = |len: usize| pad.checked_mul(2).and_then(|both| both.checked_add(len));
    let overflow = || Error::new(ErrorKind::Overflow { what: format!("image padded by {pad} pixels") });
    let (height, width) = (grown(image.height()).ok_or_else(overflow)?, grown(image.width()).ok_or_else(overflow)?);
    if (height as u64).saturating_mul(width as u64) > limits.max_pixels {
        let most = format!("a padded image of at most {} pixels", limits.max_pixels);
        return Err(Error::invalid("pad", pad, most));
    }
    let c = image.channels();
    let value = &[fill_value, fill_value, fill_value, 0][..c.min(4)];
    let mut pixels = Vec::with_capacity(height * width * c);
    let border = |pixels: &mut Vec<u8>, n: usize| (0..n).for_each(|_| pixels.extend_from_slice(value));
    border(&mut pixels, pad * width + pad);
    for y in 0..image.height() {
        pixels.extend_from_slice(image.row(y));
        // The right side of this row and the left side of the next.
        border(&mut pixels, 2 * pad);
    }
    border(&mut pixels, pad * width - pad);
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
        assert!(apply(&image, 1 << 20, 9, &DecodeLimits::default()).is_err());
        assert!(apply(&image, usize::MAX, 9, &DecodeLimits::default()).is_err());
    }
}
