//! Truncated and altered images give an error or other pixels, never a panic; truncation always gives an error.

mod golden;

use golden::{bytes, image};
use mxrs_data::{DecodeLimits, decode};
use mxrs_types::{ErrorKind, FormatErrorKind};

const SMALL: [&str; 14] = [
    "s0b.jpg",
    "s1b.jpg",
    "s2b.jpg",
    "s2p.jpg",
    "restart.jpg",
    "gray.jpg",
    "cmyk.jpg",
    "exif6.jpg",
    "1.png",
    "LA.png",
    "P.png",
    "RGB.png",
    "RGBA.png",
    "I16.png",
];

/// Checks the result of decoding an altered image; returns whether it decoded.
fn check(bytes: &[u8], channels: usize) -> bool {
    let limits = DecodeLimits { max_pixels: 1 << 20 };
    match decode(bytes, channels, &limits) {
        Ok(image) => {
            assert_eq!(image.pixels().len(), image.height() * image.width() * channels);
            true
        }
        Err(e) => {
            let ErrorKind::Format { offset: Some(offset), context, .. } = e.kind() else { panic!("{e}") };
            assert!(*offset <= bytes.len() as u64 && !context.is_empty(), "{e}");
            false
        }
    }
}

#[test]
fn truncated_images_are_errors() {
    let photo = bytes("tests/fixtures/china.jpg");
    for len in (3..photo.len()).step_by(97) {
        let e = decode(&photo[..len], 3, &DecodeLimits::default()).unwrap_err();
        let ErrorKind::Format { kind: FormatErrorKind::Truncated { .. }, .. } = e.kind() else { panic!("{len}: {e}") };
    }
    for name in SMALL {
        let whole = image(name);
        for len in 0..whole.len() {
            assert!(!check(&whole[..len], 3), "{name} cut to {len} bytes");
        }
        assert!(check(&whole, 3), "{name}");
    }
}

#[test]
fn altered_images_never_panic() {
    let mut n_noticed = 0;
    for name in SMALL {
        let whole = image(name);
        for at in 0..whole.len() {
            // Alters every bit of the first bytes, which contain the headers, then one bit per byte.
            let bits = if at < 64 { 0..8 } else { at % 8..at % 8 + 1 };
            for bit in bits {
                let mut altered = whole.clone();
                altered[at] ^= 1 << bit;
                n_noticed += usize::from(!check(&altered, [1, 3, 4][at % 3]));
            }
        }
        for at in (2..whole.len()).step_by(5) {
            for value in [0x00, 0xff] {
                let mut altered = whole.clone();
                altered[at] = value;
                check(&altered, 3);
            }
        }
    }
    assert!(n_noticed > 1000, "{n_noticed}");
}

#[test]
fn an_altered_png_is_noticed() {
    // A checksum covers every byte of a PNG except the signature; with an altered signature, the format of the file is not
    // recognized.
    for name in ["L.png", "RGBA.png"] {
        let whole = image(name);
        for at in 0..whole.len() {
            let mut altered = whole.clone();
            altered[at] ^= 0x10;
            assert!(!check(&altered, 1), "{name} {at}");
        }
    }
}
