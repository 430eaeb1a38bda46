//! Reads encoded images: their format, their size and their pixels.

mod channels;
mod jpeg;
mod jpeg_survey;
mod orientation;
mod png;

use crate::image::check_channels;
use crate::{Image, fault};
use mxrs_types::{FormatErrorKind, Result};

/// The largest image file that is read, in bytes. This is the length of the longest part of a record: the length field of a
/// part has 29 bits.
pub const MAX_IMAGE_FILE_BYTES: u64 = (1 << 29) - 1;

/// The largest image that is decoded, or to which an image is resized.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeLimits {
    /// Height times width; default 2^26 (64 Mi pixels).
    pub max_pixels: u64,
}

impl Default for DecodeLimits {
    fn default() -> Self {
        Self { max_pixels: 1 << 26 }
    }
}

impl DecodeLimits {
    /// Checks that an image of this size is not empty and within the limit.
    fn check(&self, height: u64, width: u64, offset: usize) -> Result<()> {
        let size = || format!("image of {height} x {width} pixels");
        if height == 0 || width == 0 {
            return Err(fault::at(offset, FormatErrorKind::InvalidValue, size()));
        }
        let n_pixels = height.saturating_mul(width);
        if n_pixels > self.max_pixels {
            let kind = FormatErrorKind::LimitExceeded { value: n_pixels, max: self.max_pixels };
            return Err(fault::at(offset, kind, format!("{}; raise max_pixels if it is genuine", size())));
        }
        Ok(())
    }
}

/// Decodes a JPEG or PNG image to 8 bits per channel. `channels` is 1 for gray, 3 for RGB, 4 for RGB and alpha.
///
/// A gray image fills red, green and blue. Alpha is 255 if the image has none, and is dropped if `channels` is less than 4.
/// The gray of a color JPEG is its luminance plane; the gray of a color PNG is `(9797 r + 19234 g + 3737 b) / 32768`,
/// rounded down. A 16-bit PNG keeps the high bytes. A JPEG is rotated according to its Exif orientation. MXNet's iterator
/// does the same: PNG pixels are equal to its pixels; JPEG pixels differ by at most two gray levels, or four if the
/// color planes of the file have half the height and width.
///
/// Before memory is allocated, the size in the header is compared with the limit, and with the largest image that a file of
/// this length can contain.
///
/// # Errors
/// Returns [`mxrs_types::ErrorKind::Format`] with the offset inside `bytes`: `Truncated` if the image is not complete,
/// `LimitExceeded`, `UnsupportedFeature` (arithmetic coding, 12 bits, ...), `InvalidValue` for damage, `BadMagic` for
/// another format. Returns [`mxrs_types::ErrorKind::InvalidValue`] for `channels` other than 1, 3 and 4.
pub fn decode(bytes: &[u8], channels: usize, limits: &DecodeLimits) -> Result<Image> {
    check_channels(channels)?;
    if bytes.starts_with(&jpeg::MAGIC) {
        return jpeg::decode(bytes, channels, limits);
    }
    if bytes.starts_with(&png::MAGIC) {
        return png::decode(bytes, channels, limits);
    }
    let start: Vec<u8> = bytes.iter().copied().chain([0; 4]).take(4).collect();
    let found = start.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
    Err(fault::at(0, FormatErrorKind::BadMagic { found }, "expected a JPEG or PNG image"))
}

/// The number of channels that an encoded image needs in [`decode`]: 4 if it has alpha, 1 if it is gray, otherwise 3.
///
/// # Errors
/// Returns the errors of [`decode`] that the headers alone can cause.
pub(crate) fn stored_channels(bytes: &[u8]) -> Result<usize> {
    if bytes.starts_with(&jpeg::MAGIC) {
        return jpeg::stored_channels(bytes);
    }
    if bytes.starts_with(&png::MAGIC) {
        return png::stored_channels(bytes);
    }
    decode(bytes, 3, &DecodeLimits::default()).map(|image| image.channels())
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_types::ErrorKind;

    #[test]
    fn other_formats_are_named_as_such() {
        for bytes in [&b""[..], b"\xff", b"GIF89a", b"\x89PN", b"BM......"] {
            let e = decode(bytes, 3, &DecodeLimits::default()).unwrap_err();
            assert!(
                matches!(e.kind(), ErrorKind::Format { kind: FormatErrorKind::BadMagic { .. }, offset: Some(0), .. }),
                "{e}"
            );
        }
        assert!(decode(b"", 2, &DecodeLimits::default()).unwrap_err().to_string().contains("channels"));
    }
}
