//! Reads npz archives. Checks that nothing panics, and that the arrays are the same after writing them as a parameter list
//! and reading that.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mxrs_format::{ArrayFile, Options, npz};

fuzz_target!(|bytes: &[u8]| {
    for options in [Options::strict(), Options::lenient()] {
        let Ok(loaded) = npz::read_bytes(bytes, &options) else { continue };
        let list = loaded.value.to_params_bytes().unwrap();
        let again = ArrayFile::from_bytes(&list, &Options::strict()).unwrap().value;
        assert_eq!(again.arrays.len(), loaded.value.arrays.len());
        let mut archive = Vec::new();
        // Some names are accepted when an archive is read but not when it is written.
        if npz::write(&mut archive, &again.arrays).is_ok() {
            let archived = npz::read_bytes(&archive, &Options::strict()).unwrap().value;
            assert!(archived.to_params_bytes().unwrap().len() == list.len());
        }
    }
});
