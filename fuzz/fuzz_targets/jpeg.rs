//! Decodes JPEG images. Checks that nothing panics, and that the image has the same size for every number of channels.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mxrs_data::{DecodeLimits, decode};

fuzz_target!(|bytes: &[u8]| {
    let limits = DecodeLimits { max_pixels: 1 << 18 };
    let decoded = [1, 3, 4].map(|channels| decode(bytes, channels, &limits));
    for (image, channels) in decoded.iter().zip([1, 3, 4]) {
        let Ok(image) = image else { continue };
        assert_eq!(image.channels(), channels);
        assert_eq!(image.pixels().len(), image.height() * image.width() * channels);
    }
    if let [Ok(gray), Ok(rgb), Ok(rgba)] = &decoded {
        assert_eq!((gray.height(), gray.width()), (rgb.height(), rgb.width()));
        assert_eq!((rgb.height(), rgb.width()), (rgba.height(), rgba.width()));
        assert!(rgb.pixels().chunks(3).zip(rgba.pixels().chunks(4)).all(|(a, b)| a == &b[..3]));
    }
});
