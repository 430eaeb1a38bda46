//! PNG decoding: the header is checked in this crate, and the png crate decodes.

use super::channels::{convert, png_gray};
use crate::{DecodeLimits, Image, fault};
use ::png::{ColorType, Decoder, DecodingError, Limits, Transformations};
use mxrs_types::{Error, FormatErrorKind, Result};
use std::io::{Cursor, ErrorKind};

/// Signature of every PNG.
pub(super) const MAGIC: [u8; 8] = [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a];
/// Offset of the width, after the signature and the length and type of the header chunk.
const WIDTH: usize = 16;
/// Largest number of bytes that one byte of deflate data can expand to.
const DEFLATE_MOST: u64 = 1032;
/// Memory in bytes that the decoder may use for tables and buffers in addition to rows.
const ROOM: usize = 4 << 20;

/// Decodes to 1, 3 or 4 channels.
pub(super) fn decode(bytes: &[u8], channels: usize, limits: &DecodeLimits) -> Result<Image> {
    let header = Header::read(bytes)?;
    limits.check(header.height, header.width, WIDTH)?;
    header.check_plausible(bytes.len())?;
    let mut cursor = Cursor::new(bytes);
    let (pixels, coded) = match read(&mut cursor, &header) {
        Ok(done) => done,
        Err(e) => return Err(failed(e, cursor.position() as usize, bytes.len())),
    };
    let (height, width) = (header.height as usize, header.width as usize);
    Image::new(height, width, channels, convert(pixels, coded, channels, png_gray))
}

/// The number of channels that the PNG needs: 1, 3 or 4. A palette counts as color, and gray with alpha as color with alpha.
pub(super) fn stored_channels(bytes: &[u8]) -> Result<usize> {
    Header::read(bytes)?;
    Ok(match bytes[25] {
        0 => 1,
        4 | 6 => 4,
        _ => 3,
    })
}

/// Decodes the pixels; also returns the number of channels.
fn read(cursor: &mut Cursor<&[u8]>, header: &Header) -> Result<(Vec<u8>, usize), DecodingError> {
    let row = usize::try_from(header.width * 8).unwrap_or(usize::MAX);
    let bytes = row.saturating_mul(4).saturating_add(ROOM);
    let mut decoder = Decoder::new_with_limits(cursor, Limits { bytes });
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    // Palettes become colors, depths below 8 bits become 8 bits, and of 16 bits the high byte is kept.
    decoder.set_transformations(Transformations::normalize_to_color8());
    let mut reader = decoder.read_info()?;
    let coded = match reader.output_color_type().0 {
        ColorType::Grayscale | ColorType::Indexed => 1,
        ColorType::GrayscaleAlpha => 2,
        ColorType::Rgb => 3,
        ColorType::Rgba => 4,
    };
    let mut pixels = vec![0; header.height as usize * header.width as usize * coded];
    reader.next_frame(&mut pixels)?;
    // Reads to the end of the file, so that a truncated file is noticed.
    reader.finish()?;
    Ok((pixels, coded))
}

fn failed(error: DecodingError, offset: usize, len: usize) -> Error {
    match error {
        DecodingError::IoError(e) if e.kind() == ErrorKind::UnexpectedEof => {
            fault::truncated(offset, 1, len.saturating_sub(offset), "PNG without its end")
        }
        DecodingError::LimitsExceeded => {
            fault::at(offset, FormatErrorKind::Overflow, "PNG chunk that needs more memory than its image")
        }
        e => fault::at(offset, FormatErrorKind::InvalidValue, format!("PNG cannot be decoded: {e}")),
    }
}

/// Contents of the header chunk.
struct Header {
    height: u64,
    width: u64,
    bits_per_pixel: u64,
}

impl Header {
    fn read(bytes: &[u8]) -> Result<Self> {
        let Some(chunk) = bytes.get(8..33) else {
            return Err(fault::truncated(bytes.len(), 33, bytes.len(), "PNG header"));
        };
        if chunk[..8] != *b"\0\0\0\x0dIHDR" {
            return Err(fault::at(8, FormatErrorKind::InvalidValue, "PNG that does not start with its header"));
        }
        let word = |at: usize| chunk[at..at + 4].iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
        let samples = match chunk[17] {
            0 | 3 => 1,
            2 => 3,
            4 => 2,
            6 => 4,
            other => {
                let context = format!("PNG color type {other}, expected 0, 2, 3, 4 or 6");
                return Err(fault::at(25, FormatErrorKind::InvalidValue, context));
            }
        };
        let depth = chunk[16];
        if !matches!(depth, 1 | 2 | 4 | 8 | 16) {
            let context = format!("PNG bit depth {depth}, expected 1, 2, 4, 8 or 16");
            return Err(fault::at(24, FormatErrorKind::InvalidValue, context));
        }
        Ok(Self { width: word(8), height: word(12), bits_per_pixel: samples * u64::from(depth) })
    }

    /// Checks that a file of `len` bytes can contain the image.
    fn check_plausible(&self, len: usize) -> Result<()> {
        let need = self.height.saturating_mul(self.width).saturating_mul(self.bits_per_pixel) / 8 / DEFLATE_MOST;
        if need > len as u64 {
            let context = format!("PNG of {} x {} pixels", self.height, self.width);
            return Err(fault::truncated(WIDTH, need, len, context));
        }
        Ok(())
    }
}
