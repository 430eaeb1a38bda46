//! Reads image lists. Checks that nothing panics, and that a list is the same after writing and reading it again, up to
//! decimals.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mxrs_format::Options;
use mxrs_format::recordio::ImageList;

fuzz_target!(|bytes: &[u8]| {
    for options in [Options::strict(), Options::lenient()] {
        let Ok(loaded) = ImageList::from_bytes(bytes, &options) else { continue };
        // A path may contain characters that cannot be written, such as a carriage return.
        let Ok(text) = loaded.value.to_text() else { continue };
        let again = ImageList::from_bytes(text.as_bytes(), &Options::strict()).unwrap().value;
        assert_eq!(again.entries.len(), loaded.value.entries.len());
        assert_eq!(again.to_text().unwrap(), text);
    }
});
