//! Reads safetensors files. Checks that nothing panics, and that a file is the same after writing and reading it again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mxrs_format::Options;
use mxrs_format::safetensors::SafeTensors;

fuzz_target!(|bytes: &[u8]| {
    let Ok(file) = SafeTensors::from_bytes(bytes, &Options::strict()) else { return };
    let written = file.to_bytes().expect("what was read can be written");
    let again = SafeTensors::from_bytes(&written, &Options::strict()).expect("what was written can be read");
    // Bytes are compared, not numbers: NaN is not equal to itself.
    assert!(again.to_bytes().expect("as before") == written);
    assert_eq!(again.tensors.len(), file.tensors.len());
});
