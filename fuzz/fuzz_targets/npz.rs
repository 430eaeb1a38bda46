//! npz archives: no panic, and what was read survives the trip through a parameter list.
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
        // Some names that an archive may hold are refused in a new one.
        if npz::write(&mut archive, &again.arrays).is_ok() {
            let archived = npz::read_bytes(&archive, &Options::strict()).unwrap().value;
            assert!(archived.to_params_bytes().unwrap().len() == list.len());
        }
    }
});
