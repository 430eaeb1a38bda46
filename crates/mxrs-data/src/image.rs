//! A decoded image.

use mxrs_types::{Error, ErrorKind, Result};

/// A decoded image: rows of pixels with 8 bits per channel. The channels of a pixel are adjacent, in the order red, green,
/// blue, alpha.
#[derive(Clone, PartialEq, Eq)]
pub struct Image {
    height: usize,
    width: usize,
    channels: usize,
    pixels: Vec<u8>,
}

impl Image {
    /// Makes an image from `height * width * channels` bytes in the order (row, column, channel).
    ///
    /// # Errors
    /// Returns [`ErrorKind::InvalidValue`] if there are no pixels, if `channels` is not 1, 3 or 4, or if the number of bytes
    /// is wrong; [`ErrorKind::Overflow`] if the number of bytes overflows.
    pub fn new(height: usize, width: usize, channels: usize, pixels: Vec<u8>) -> Result<Self> {
        if height == 0 || width == 0 {
            return Err(Error::invalid("image size", format!("{height} x {width}"), "at least one pixel"));
        }
        check_channels(channels)?;
        let len = height.checked_mul(width).and_then(|n| n.checked_mul(channels));
        let len = len.ok_or_else(|| Error::new(ErrorKind::Overflow { what: format!("{height} x {width} pixels") }))?;
        if pixels.len() != len {
            return Err(Error::invalid(
                "bytes of an image",
                pixels.len(),
                format!("{len} for {height} x {width} x {channels}"),
            ));
        }
        Ok(Self { height, width, channels, pixels })
    }

    /// Number of rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Number of columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Number of channels: 1 for gray, 3 for red, green and blue, 4 with alpha.
    pub fn channels(&self) -> usize {
        self.channels
    }

    /// The bytes, in the order (row, column, channel).
    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    /// Takes the bytes out, in the order (row, column, channel).
    pub fn into_pixels(self) -> Vec<u8> {
        self.pixels
    }

    /// The bytes of all pixels, for writing.
    pub(crate) fn pixels_mut(&mut self) -> &mut [u8] {
        &mut self.pixels
    }

    /// The bytes of row `y`.
    pub(crate) fn row(&self, y: usize) -> &[u8] {
        let stride = self.width * self.channels;
        &self.pixels[y * stride..][..stride]
    }
}

/// Checks that `channels` is 1, 3 or 4.
pub(crate) fn check_channels(channels: usize) -> Result<()> {
    match channels {
        1 | 3 | 4 => Ok(()),
        _ => Err(Error::invalid("channels of an image", channels, "1 (gray), 3 (RGB) or 4 (RGB and alpha)")),
    }
}

impl std::fmt::Debug for Image {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "image of {} x {} pixels with {} channels", self.height, self.width, self.channels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_and_bytes_must_agree() {
        assert_eq!(Image::new(2, 1, 3, vec![1, 2, 3, 4, 5, 6]).unwrap().row(1), [4, 5, 6]);
        for (h, w, c, n) in [(0, 1, 1, 0), (1, 0, 1, 0), (1, 1, 2, 2), (1, 2, 3, 5), (usize::MAX, 2, 1, 1)] {
            assert!(Image::new(h, w, c, vec![0; n]).is_err(), "{h} {w} {c}");
        }
    }
}
