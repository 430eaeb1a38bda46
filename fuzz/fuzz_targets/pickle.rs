//! Reads Python pickles and the optimizer states in them. Checks that nothing panics, and that memory use is bounded by the
//! size of the file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mxrs_format::Options;
use mxrs_format::pickle::{PickledStates, Value};

fuzz_target!(|bytes: &[u8]| {
    for options in [Options::strict(), Options::lenient()] {
        let value = Value::from_pickle(bytes, &options);
        if let Ok(states) = PickledStates::from_bytes(bytes, &options) {
            assert!(value.is_ok());
            for (_, state) in &states.states {
                let _ = state.arrays();
            }
        }
    }
});
