//! Reads npy arrays. Checks that nothing panics, and that an array is the same after writing and reading it again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mxrs_format::{Options, npy};

fuzz_target!(|bytes: &[u8]| {
    for options in [Options::strict(), Options::lenient()] {
        let loaded = npy::read_bytes(bytes, &options);
        let streamed = npy::read_from_stream(bytes, &options);
        assert_eq!(loaded.is_ok(), streamed.is_ok());
        let Ok(loaded) = loaded else { continue };
        let mut written = Vec::new();
        npy::write(&mut written, loaded.value.as_dense().unwrap()).unwrap();
        let again = npy::read_bytes(&written, &Options::strict()).unwrap().value;
        assert_eq!(again.shape(), loaded.value.shape());
        assert!(again.stored_bytes() == loaded.value.stored_bytes());
    }
});
