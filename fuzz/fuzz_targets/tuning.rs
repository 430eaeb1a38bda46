//! Reads files of tuning results. Checks that nothing panics, and that a file is the same after writing and reading it
//! again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mxrs_format::tuning::TuningFile;

fuzz_target!(|text: &str| {
    let Ok(file) = TuningFile::parse(text) else { return };
    let again = TuningFile::parse(&file.to_text()).unwrap();
    assert_eq!(again.to_text(), file.to_text());
});
