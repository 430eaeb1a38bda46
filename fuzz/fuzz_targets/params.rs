//! Reads parameter lists. Checks that nothing panics, and that a list is the same after writing and reading it again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mxrs_format::{Checkpoint, Options, params};

fuzz_target!(|bytes: &[u8]| {
    for options in [Options::strict(), Options::lenient()] {
        let loaded = params::read_bytes(bytes, &options);
        let streamed = params::read_stream(bytes, &options);
        assert_eq!(loaded.is_ok(), streamed.is_ok());
        let Ok(loaded) = loaded else { continue };
        let written = loaded.value.to_params_bytes().unwrap();
        let again = params::read_bytes(&written, &Options::strict()).unwrap().value;
        // Bytes are compared, not numbers: NaN is not equal to itself.
        assert!(again.to_params_bytes().unwrap() == written);
        let _ = Checkpoint::from_arrays(again, &options);
    }
    let _ = params::read_array(bytes, &Options::lenient());
});
