//! Reads image records, decodes their images and prepares them. Checks that nothing panics, and that a record is the same
//! after packing it again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mxrs_data::{DecodeLimits, ImageOptions, decode, prepare};
use mxrs_format::recordio::{Detection, ImageRecord};

fuzz_target!(|bytes: &[u8]| {
    let Ok(record) = ImageRecord::unpack(bytes) else { return };
    assert!(record.pack() == bytes);
    let _ = Detection::from_labels(record.all_labels());
    let limits = DecodeLimits { max_pixels: 1 << 18 };
    // The ids of the record select how the image is prepared.
    let channels = [1, 3, 4][(record.id % 3) as usize];
    let [height, width] = [record.id >> 8, record.id >> 16].map(|n| (n % 40) as usize + 1);
    let Ok(image) = decode(record.image, channels, &limits) else { return };
    let options = ImageOptions {
        resize: Some((record.id2 % 64) as usize).filter(|edge| *edge > 0),
        limits,
        ..ImageOptions::new([channels, height, width])
    };
    let mut out = vec![f32::NAN; channels * height * width];
    if prepare(&image, &options, &mut out).is_ok() {
        assert!(out.iter().all(|v| (0.0..=255.0).contains(v)));
    }
});
