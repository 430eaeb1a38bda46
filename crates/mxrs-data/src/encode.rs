//! Encoding of images as JPEG and PNG.

use crate::Image;
use jpeg_encoder::{ColorType, Encoder, SamplingFactor};
use mxrs_types::{Error, Result};

/// Format of encoded images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// JPEG with this quality, 1 to 100. The color planes have half the height and width; alpha is dropped.
    Jpeg {
        /// Quality, 1 to 100.
        quality: u8,
    },
    /// PNG with this compression level, 1 to 9.
    Png {
        /// Compression level, 1 to 9.
        level: u8,
    },
}

impl Encoding {
    /// Checks that quality or level is in range.
    ///
    /// # Errors
    /// Returns [`mxrs_types::ErrorKind::InvalidValue`] if it is out of range.
    pub fn check(self) -> Result<()> {
        match self {
            Self::Jpeg { quality } if !(1..=100).contains(&quality) => {
                Err(Error::invalid("quality", quality, "1 to 100 for JPEG"))
            }
            Self::Png { level } if !(1..=9).contains(&level) => Err(Error::invalid("quality", level, "1 to 9 for PNG")),
            _ => Ok(()),
        }
    }
}

/// Encodes an image as the bytes of a JPEG or PNG file.
///
/// # Errors
/// Returns [`mxrs_types::ErrorKind::InvalidValue`] for a quality or level out of range, and for a JPEG with a side above 65
/// 535.
pub fn encode(image: &Image, encoding: Encoding) -> Result<Vec<u8>> {
    encoding.check()?;
    match encoding {
        Encoding::Jpeg { quality } => jpeg(image, quality),
        Encoding::Png { level } => png(image, level),
    }
}

fn jpeg(image: &Image, quality: u8) -> Result<Vec<u8>> {
    let side =
        |len: usize| u16::try_from(len).map_err(|_| Error::invalid("side of a JPEG", len, "at most 65535 pixels"));
    let (height, width) = (side(image.height())?, side(image.width())?);
    let colors = match image.channels() {
        1 => ColorType::Luma,
        3 => ColorType::Rgb,
        _ => ColorType::Rgba,
    };
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, quality);
    if image.channels() > 1 {
        // OpenCV uses the same subsampling of colors.
        encoder.set_sampling_factor(SamplingFactor::F_2_2);
    }
    encoder
        .encode(image.pixels(), width, height, colors)
        .map_err(|e| Error::invalid("image to encode as JPEG", format!("{image:?}"), e.to_string()))?;
    Ok(bytes)
}

fn png(image: &Image, level: u8) -> Result<Vec<u8>> {
    let bad = |e: png::EncodingError| Error::invalid("image to encode as PNG", format!("{image:?}"), e.to_string());
    let side = |len: usize| u32::try_from(len).map_err(|_| Error::invalid("side of a PNG", len, "at most 2^32 pixels"));
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, side(image.width())?, side(image.height())?);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_color(match image.channels() {
        1 => png::ColorType::Grayscale,
        3 => png::ColorType::Rgb,
        _ => png::ColorType::Rgba,
    });
    encoder.set_deflate_compression(png::DeflateCompression::Level(level));
    let mut writer = encoder.write_header().map_err(bad)?;
    writer.write_image_data(image.pixels()).map_err(bad)?;
    writer.finish().map_err(bad)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DecodeLimits, decode};

    fn image(channels: usize) -> Image {
        let pixel = |i: usize| (128.0 + 100.0 * (i as f64 / channels as f64 / 40.0).sin()) as u8;
        Image::new(24, 31, channels, (0..24 * 31 * channels).map(pixel).collect()).unwrap()
    }

    /// A PNG decodes to the same image. A JPEG decodes approximately: higher quality gives a smaller error and more bytes.
    #[test]
    fn there_and_back() {
        let limits = DecodeLimits::default();
        for channels in [1, 3, 4] {
            let whole = image(channels);
            for level in 1..=9 {
                let bytes = encode(&whole, Encoding::Png { level }).unwrap();
                assert_eq!(decode(&bytes, channels, &limits).unwrap(), whole);
            }
            let mut last = (f64::MAX, 0);
            for quality in [10, 60, 95] {
                let bytes = encode(&whole, Encoding::Jpeg { quality }).unwrap();
                let back = decode(&bytes, channels.min(3), &limits).unwrap();
                let step = if channels == 4 { 4 } else { 1 };
                let pairs = back.pixels().iter().zip(whole.pixels());
                let error = if step == 1 { pairs.map(|(a, b)| f64::from(a.abs_diff(*b))).sum::<f64>() } else { last.0 };
                assert!(error <= last.0 && bytes.len() > last.1, "{channels} {quality}: {error} {last:?}");
                last = (error, bytes.len());
            }
            assert!(channels == 4 || last.0 / (whole.pixels().len() as f64) < 3.0, "{last:?}");
        }
        assert!(encode(&image(1), Encoding::Jpeg { quality: 0 }).is_err());
        assert!(encode(&image(1), Encoding::Png { level: 10 }).is_err());
        let line = Image::new(1, 70_000, 1, vec![0; 70_000]).unwrap();
        assert!(encode(&line, Encoding::Jpeg { quality: 90 }).unwrap_err().to_string().contains("65535"));
    }
}
