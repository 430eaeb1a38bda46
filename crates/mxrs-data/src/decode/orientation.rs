//! The Exif orientation of a JPEG, and the corresponding rotation of its pixels.

use crate::Image;
use mxrs_types::Result;

/// How stored pixels must be rotated or mirrored for display: one of the eight values of the Exif tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Orientation(u8);

impl Orientation {
    /// The orientation in which pixels are stored as they are displayed.
    pub(super) const UPRIGHT: Self = Self(1);

    /// Reads the orientation from the TIFF structure of an Exif segment; upright if it contains no valid orientation.
    pub(super) fn from_exif(tiff: &[u8]) -> Self {
        Self::read(tiff).unwrap_or(Self::UPRIGHT)
    }

    fn read(tiff: &[u8]) -> Option<Self> {
        let little = match tiff.get(..4)? {
            b"II*\0" => true,
            b"MM\0*" => false,
            _ => return None,
        };
        let u16_at = |at: usize| {
            let bytes = tiff.get(at..at.checked_add(2)?)?.try_into().ok()?;
            Some(if little { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) })
        };
        let bytes = tiff.get(4..8)?.try_into().ok()?;
        let directory = (if little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) }) as usize;
        for entry in 0..usize::from(u16_at(directory)?) {
            let at = directory.checked_add(2 + 12 * entry)?;
            // Tag 0x112 of type 3: one 16-bit number, stored inside the entry.
            if u16_at(at)? == 0x112 && u16_at(at + 2)? == 3 {
                let value = u16_at(at + 8)?;
                return (1..=8).contains(&value).then_some(Self(value as u8));
            }
        }
        None
    }

    /// Rotates and mirrors the image for display.
    pub(super) fn apply(self, image: Image) -> Result<Image> {
        if self == Self::UPRIGHT {
            return Ok(image);
        }
        let (h, w, c) = (image.height(), image.width(), image.channels());
        let (out_h, out_w) = if self.0 >= 5 { (w, h) } else { (h, w) };
        let mut pixels = Vec::with_capacity(image.pixels().len());
        for y in 0..out_h {
            for x in 0..out_w {
                let (sy, sx) = match self.0 {
                    2 => (y, w - 1 - x),
                    3 => (h - 1 - y, w - 1 - x),
                    4 => (h - 1 - y, x),
                    5 => (x, y),
                    6 => (h - 1 - x, y),
                    7 => (h - 1 - x, w - 1 - y),
                    8 => (x, w - 1 - y),
                    _ => (y, x),
                };
                pixels.extend_from_slice(&image.row(sy)[sx * c..][..c]);
            }
        }
        Image::new(out_h, out_w, c, pixels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exif(little: bool, value: u16) -> Vec<u8> {
        let u16s = |v: u16| if little { v.to_le_bytes() } else { v.to_be_bytes() };
        let u32s = |v: u32| if little { v.to_le_bytes() } else { v.to_be_bytes() };
        let mut tiff = if little { b"II*\0".to_vec() } else { b"MM\0*".to_vec() };
        tiff.extend(u32s(8));
        tiff.extend(u16s(2));
        for (tag, value) in [(0x100, 640), (0x112, value)] {
            tiff.extend(u16s(tag));
            tiff.extend(u16s(3));
            tiff.extend(u32s(1));
            tiff.extend(u16s(value));
            tiff.extend([0; 2]);
        }
        tiff
    }

    #[test]
    fn reads_both_byte_orders_and_survives_damage() {
        for little in [false, true] {
            for value in 1..=8 {
                assert_eq!(Orientation::from_exif(&exif(little, value)), Orientation(value as u8));
            }
            for value in [0, 9, 0xffff] {
                assert_eq!(Orientation::from_exif(&exif(little, value)), Orientation::UPRIGHT);
            }
            let good = exif(little, 6);
            for len in 0..good.len() - 4 {
                assert_eq!(Orientation::from_exif(&good[..len]), Orientation::UPRIGHT);
            }
            let mut far = good.clone();
            far[4..8].fill(0xff);
            assert_eq!(Orientation::from_exif(&far), Orientation::UPRIGHT);
        }
    }

    /// The list holds the picture `ab/cd/ef` as it is stored with each orientation. Exif 2.3, section 4.6.4, defines on
    /// which side of the picture row 0 and column 0 are shown.
    #[test]
    fn turns_stored_pixels_upright() {
        let stored = [
            (1, 3, 2, b"abcdef"),
            (2, 3, 2, b"badcfe"),
            (3, 3, 2, b"fedcba"),
            (4, 3, 2, b"efcdab"),
            (5, 2, 3, b"acebdf"),
            (6, 2, 3, b"bdface"),
            (7, 2, 3, b"fdbeca"),
            (8, 2, 3, b"ecafdb"),
        ];
        for (value, h, w, pixels) in stored {
            let image = Image::new(h, w, 1, pixels.to_vec()).unwrap();
            let shown = Orientation(value).apply(image).unwrap();
            assert_eq!((shown.height(), shown.width(), shown.pixels()), (3, 2, &b"abcdef"[..]), "{value}");
        }
    }
}
