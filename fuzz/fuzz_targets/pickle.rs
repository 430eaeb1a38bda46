//! Python pickles, and states of optimizers in them: no panic, and no more memory than the bytes of the file justify.
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
