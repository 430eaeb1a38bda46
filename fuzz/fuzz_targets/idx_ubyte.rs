//! Files of MNIST: no panic, no more memory than there are bytes, and as many bytes as the sizes say.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mxrs_data::fuzzing::idx_ubyte;

fuzz_target!(|bytes: &[u8]| {
    // Unpacked, a stream may be a thousand times as long: only what is not packed is tried at any length.
    if bytes.starts_with(&[0x1f, 0x8b]) && bytes.len() > 4096 {
        return;
    }
    if let Ok(array) = idx_ubyte(bytes) {
        assert_eq!(array.sizes.iter().product::<usize>(), array.bytes.len());
    }
});
