//! Reads the segments of a JPEG without decoding it: size, coding, orientation, and whether the file is complete.

use super::orientation::Orientation;
use crate::fault;
use mxrs_types::{Error, FormatErrorKind, Result};

/// Properties of a JPEG, read from its segments.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Survey {
    pub(super) height: u64,
    pub(super) width: u64,
    /// Offset of the frame header.
    pub(super) frame: usize,
    /// Offset of the first scan.
    pub(super) scan: usize,
    pub(super) orientation: Orientation,
    /// Number of components: 1 for gray, 3 for color, 4 for inks.
    pub(super) n_components: usize,
    /// Number of blocks of 8 x 8 coefficients in all components.
    n_blocks: u64,
}

/// Marker codes, the byte after 0xff.
mod marker {
    pub(super) const STUFFED: u8 = 0x00;
    pub(super) const TEM: u8 = 0x01;
    pub(super) const RST0: u8 = 0xd0;
    pub(super) const RST7: u8 = 0xd7;
    pub(super) const SOI: u8 = 0xd8;
    pub(super) const EOI: u8 = 0xd9;
    pub(super) const SOS: u8 = 0xda;
    pub(super) const APP1: u8 = 0xe1;
}

impl Survey {
    /// Reads the segments from the start to the end-of-image marker.
    pub(super) fn of(bytes: &[u8]) -> Result<Self> {
        let mut frame: Option<Frame> = None;
        let mut scan = None;
        let mut orientation = Orientation::UPRIGHT;
        let mut pos = 2;
        loop {
            let found = bytes[pos..].iter().position(|b| *b == 0xff);
            let Some(code_at) = found.map(|n| pos + n + 1).filter(|at| *at < bytes.len()) else {
                return Err(fault::truncated(bytes.len(), 2, 0, "JPEG without its end marker"));
            };
            pos = code_at + 1;
            let code = bytes[code_at];
            match code {
                // The first of two 0xff is a fill byte; the second one may introduce the marker.
                0xff => {
                    pos = code_at;
                    continue;
                }
                marker::STUFFED | marker::TEM | marker::RST0..=marker::RST7 | marker::SOI => continue,
                marker::EOI => break,
                _ => {}
            }
            let body = segment(bytes, pos)?;
            match code {
                0xc0..=0xcf if !matches!(code, 0xc4 | 0xc8 | 0xcc) => {
                    if frame.is_some() {
                        return Err(fault::at(code_at - 1, FormatErrorKind::Inconsistent, "second frame of a JPEG"));
                    }
                    frame = Some(Frame::read(code, body, code_at - 1)?);
                }
                marker::APP1 if orientation == Orientation::UPRIGHT => {
                    if let Some(tiff) = body.strip_prefix(b"Exif\0\0") {
                        orientation = Orientation::from_exif(tiff);
                    }
                }
                marker::SOS => scan = scan.or(Some(code_at - 1)),
                _ => {}
            }
            pos += 2 + body.len();
        }
        let missing = |what: &str| fault::at(pos, FormatErrorKind::Inconsistent, format!("JPEG without {what}"));
        let frame = frame.ok_or_else(|| missing("a frame header"))?;
        Ok(Self {
            height: frame.height,
            width: frame.width,
            frame: frame.offset,
            scan: scan.ok_or_else(|| missing("a scan"))?,
            orientation,
            n_components: frame.n_components,
            n_blocks: frame.n_blocks,
        })
    }

    /// Checks that the file is long enough for the image: each block takes at least one bit.
    pub(super) fn check_plausible(&self, len: usize) -> Result<()> {
        let need = self.n_blocks / 8;
        if need > len as u64 {
            let context = format!("JPEG of {} x {} pixels", self.height, self.width);
            return Err(fault::truncated(self.scan, need, len, context));
        }
        Ok(())
    }
}

/// The body of the segment whose length field is at offset `pos`.
fn segment(bytes: &[u8], pos: usize) -> Result<&[u8]> {
    let rest = &bytes[pos..];
    let Some(field) = rest.first_chunk::<2>() else {
        return Err(fault::truncated(pos, 2, rest.len(), "length of a JPEG segment"));
    };
    let len = usize::from(u16::from_be_bytes(*field));
    if len < 2 {
        return Err(fault::at(pos, FormatErrorKind::InvalidValue, format!("JPEG segment of length {len}")));
    }
    rest.get(2..len).ok_or_else(|| fault::truncated(pos, len as u64, rest.len(), "JPEG segment"))
}

/// A frame header.
struct Frame {
    offset: usize,
    height: u64,
    width: u64,
    n_components: usize,
    n_blocks: u64,
}

impl Frame {
    fn read(code: u8, body: &[u8], offset: usize) -> Result<Self> {
        let unsupported = |what: String| -> Error { fault::at(offset, FormatErrorKind::UnsupportedFeature, what) };
        if !matches!(code, 0xc0..=0xc2) {
            return Err(unsupported(format!(
                "JPEG with frame type {code:#x}; lossless, hierarchical and arithmetic coding are not read"
            )));
        }
        let &[precision, h1, h0, w1, w0, n, ref components @ ..] = body else {
            return Err(fault::truncated(offset, 6, body.len(), "JPEG frame header"));
        };
        if precision != 8 {
            return Err(unsupported(format!("JPEG with {precision} bits per sample; 8 are read")));
        }
        if components.len() != 3 * usize::from(n) || !(1..=4).contains(&n) {
            let context = format!("JPEG frame of {n} components in {} bytes", components.len());
            return Err(fault::at(offset, FormatErrorKind::InvalidValue, context));
        }
        let (height, width) = (u64::from(u16::from_be_bytes([h1, h0])), u64::from(u16::from_be_bytes([w1, w0])));
        if height == 0 {
            return Err(unsupported("JPEG whose height comes after its first scan".into()));
        }
        let factors = components.chunks_exact(3).map(|c| (u64::from(c[1] >> 4), u64::from(c[1] & 15)));
        let factors: Vec<(u64, u64)> = factors.collect();
        if factors.iter().any(|(h, v)| !(1..=4).contains(h) || !(1..=4).contains(v)) {
            return Err(fault::at(offset, FormatErrorKind::InvalidValue, "JPEG sampling factor, expected 1 to 4"));
        }
        let h_max = factors.iter().map(|f| f.0).max().unwrap_or(1);
        let v_max = factors.iter().map(|f| f.1).max().unwrap_or(1);
        let blocks = |(h, v): &(u64, u64)| (width * h).div_ceil(8 * h_max) * (height * v).div_ceil(8 * v_max);
        let n_components = factors.len();
        Ok(Self { offset, height, width, n_components, n_blocks: factors.iter().map(blocks).sum() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs_types::ErrorKind;

    /// A JPEG that has all segments, but no coded data.
    fn skeleton(code: u8, height: u16, width: u16, factors: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0xff, 0xd8, 0xff, code, 0, 8 + 3 * factors.len() as u8, 8];
        bytes.extend(height.to_be_bytes());
        bytes.extend(width.to_be_bytes());
        bytes.push(factors.len() as u8);
        for (i, f) in factors.iter().enumerate() {
            bytes.extend([i as u8 + 1, *f, 0]);
        }
        bytes.extend([0xff, 0xda, 0, 2, 0x12, 0xff, 0x00, 0xff, 0xd0, 0x34, 0xff, 0xff, 0xd9]);
        bytes
    }

    fn kind(bytes: &[u8]) -> FormatErrorKind {
        match Survey::of(bytes).unwrap_err().kind() {
            ErrorKind::Format { kind, offset: Some(_), .. } => kind.clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn size_blocks_and_places() {
        let bytes = skeleton(0xc0, 17, 33, &[0x22, 0x11, 0x11]);
        let survey = Survey::of(&bytes).unwrap();
        assert_eq!((survey.height, survey.width, survey.frame, survey.scan), (17, 33, 2, 21));
        // The luminance has 3 x 5 blocks; the two chrominance components have half the size, 2 x 3 blocks each.
        assert_eq!(survey.n_blocks, 15 + 6 + 6);
        assert_eq!(survey.orientation, Orientation::UPRIGHT);
    }

    #[test]
    fn every_truncation_is_noticed() {
        let bytes = skeleton(0xc2, 8, 8, &[0x11]);
        for len in 2..bytes.len() {
            assert!(matches!(kind(&bytes[..len]), FormatErrorKind::Truncated { .. }), "{len}");
        }
    }

    #[test]
    fn refusals() {
        assert_eq!(kind(&skeleton(0xc9, 8, 8, &[0x11])), FormatErrorKind::UnsupportedFeature);
        assert_eq!(kind(&skeleton(0xc0, 0, 8, &[0x11])), FormatErrorKind::UnsupportedFeature);
        assert_eq!(kind(&skeleton(0xc0, 8, 8, &[0x10])), FormatErrorKind::InvalidValue);
        assert_eq!(kind(&skeleton(0xc0, 8, 8, &[])), FormatErrorKind::InvalidValue);
        assert_eq!(kind(&[0xff, 0xd8, 0xff, 0xd9]), FormatErrorKind::Inconsistent);
        assert_eq!(kind(&[0xff, 0xd8, 0xff, 0xe0, 0, 1, 0xff, 0xd9]), FormatErrorKind::InvalidValue);
        let huge = skeleton(0xc0, 60_000, 60_000, &[0x11]);
        let survey = Survey::of(&huge).unwrap();
        assert!(survey.check_plausible(huge.len()).is_err());
        assert!(survey.check_plausible(7500 * 7500 / 8).is_ok());
    }
}
