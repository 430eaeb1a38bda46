//! Reads files of MNIST. Checks that nothing panics, that memory use is bounded by the file, and that the number of bytes
//! matches the sizes.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mxrs_data::fuzzing::idx_ubyte;

fuzz_target!(|bytes: &[u8]| {
    // A compressed stream may unpack to a thousand times its length, so only uncompressed files may be long.
    if bytes.starts_with(&[0x1f, 0x8b]) && bytes.len() > 4096 {
        return;
    }
    if let Ok(array) = idx_ubyte(bytes) {
        assert_eq!(array.sizes.iter().product::<usize>(), array.bytes.len());
    }
});
