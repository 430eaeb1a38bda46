//! Reads the index of a record file. Checks that nothing panics, and that the index is the same after writing and reading it
//! again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mxrs_format::recordio::Index;

fuzz_target!(|bytes: &[u8]| {
    let Ok(index) = Index::from_bytes(bytes, None) else { return };
    assert_eq!(Index::from_bytes(index.to_text().as_bytes(), None).unwrap(), index);
    for &(key, offset) in index.entries() {
        assert_eq!(index.offset(key), Some(offset));
    }
    let _ = Index::from_bytes(bytes, Some(1 << 20));
});
