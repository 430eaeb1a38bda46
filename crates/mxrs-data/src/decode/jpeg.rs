//! JPEG decoding: the segments are checked in this crate, and zune-jpeg decodes.

use super::channels::{all_ycc_to_rgb, convert, inks_to_rgb, jpeg_gray, ycc_to_rgb};
use super::jpeg_survey::Survey;
use crate::{DecodeLimits, Image, fault};
use mxrs_types::{FormatErrorKind, Result};
use zune_jpeg::JpegDecoder;
use zune_jpeg::errors::DecodeErrors;
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

/// The start-of-image marker and the first byte of the next marker.
pub(super) const MAGIC: [u8; 3] = [0xff, 0xd8, 0xff];

/// Decodes to 1, 3 or 4 channels.
pub(super) fn decode(bytes: &[u8], channels: usize, limits: &DecodeLimits) -> Result<Image> {
    let survey = Survey::of(bytes)?;
    limits.check(survey.height, survey.width, survey.frame)?;
    survey.check_plausible(bytes.len())?;
    let failed = |e: DecodeErrors| {
        let kind = match e {
            DecodeErrors::Unsupported(_) => FormatErrorKind::UnsupportedFeature,
            _ => FormatErrorKind::InvalidValue,
        };
        fault::at(survey.scan, kind, format!("JPEG cannot be decoded: {e:?}"))
    };
    // Strict mode reports damage as an error instead of filling it with gray.
    let options = DecoderOptions::default()
        .set_strict_mode(true)
        .set_max_width(usize::from(u16::MAX))
        .set_max_height(usize::from(u16::MAX));
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    decoder.decode_headers().map_err(failed)?;
    let coded = decoder.input_colorspace().unwrap_or(ColorSpace::Unknown);
    // Colors are converted in this crate, so that they round as in MXNet.
    let wanted = match coded {
        ColorSpace::YCbCr if channels == 1 => ColorSpace::Luma,
        ColorSpace::Luma | ColorSpace::YCbCr | ColorSpace::RGB | ColorSpace::CMYK | ColorSpace::YCCK => coded,
        other => {
            let context = format!("JPEG with colors {other:?}; gray, YCbCr, RGB, CMYK and YCCK are read");
            return Err(fault::at(survey.frame, FormatErrorKind::UnsupportedFeature, context));
        }
    };
    decoder.set_options(options.jpeg_set_out_colorspace(wanted));
    let (height, width) = (survey.height as usize, survey.width as usize);
    // In a damaged file with two headers, `survey` may have read the size from one header and the decoder from the
    // other.
    if decoder.dimensions() != Some((width, height)) {
        return Err(fault::at(survey.frame, FormatErrorKind::Inconsistent, "JPEG with two sizes"));
    }
    let mut pixels = vec![0; height * width * wanted.num_components()];
    decoder.decode_into(&mut pixels).map_err(failed)?;
    drop(decoder);
    let (pixels, from) = to_gray_or_rgb(pixels, wanted);
    let pixels = convert(pixels, from, channels, jpeg_gray);
    survey.orientation.apply(Image::new(height, width, channels, pixels)?)
}

/// The number of channels that the JPEG stores: 1 for gray, 3 for all other color spaces.
pub(super) fn stored_channels(bytes: &[u8]) -> Result<usize> {
    Ok(if Survey::of(bytes)?.n_components == 1 { 1 } else { 3 })
}

/// Converts decoded components to gray or RGB; also returns the number of channels.
fn to_gray_or_rgb(mut pixels: Vec<u8>, coded: ColorSpace) -> (Vec<u8>, usize) {
    match coded {
        ColorSpace::Luma => (pixels, 1),
        ColorSpace::YCbCr => {
            all_ycc_to_rgb(&mut pixels);
            (pixels, 3)
        }
        ColorSpace::CMYK => (pixels.as_chunks().0.iter().flat_map(|inks| inks_to_rgb(*inks)).collect(), 3),
        ColorSpace::YCCK => {
            let inks = |&[y, cb, cr, k]: &[u8; 4]| {
                let mut rgb = [y, cb, cr];
                ycc_to_rgb(&mut rgb);
                let [r, g, b] = rgb.map(|v| 255 - v);
                inks_to_rgb([r, g, b, k])
            };
            (pixels.as_chunks().0.iter().flat_map(inks).collect(), 3)
        }
        _ => (pixels, 3),
    }
}
