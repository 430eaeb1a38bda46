//! Reads CSV and LibSVM text. Checks that nothing panics, and that CSV gives whole rows only.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mxrs_data::fuzzing::{csv, libsvm};

fuzz_target!(|bytes: &[u8]| {
    let Some((first, text)) = bytes.split_first() else { return };
    let width = usize::from(*first % 16) + 1;
    if let Some(n) = csv(text, width) {
        assert!(n.is_multiple_of(width));
    }
    let _ = libsvm(text, width);
});
