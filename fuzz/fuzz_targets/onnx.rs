//! Reads and imports ONNX models. Checks that nothing panics, and that a model is the same after writing and reading it
//! again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mxrs_format::{Options, onnx};

fuzz_target!(|bytes: &[u8]| {
    let options = Options::default();
    let Ok(loaded) = onnx::from_bytes(bytes, &options) else { return };
    let written = onnx::to_bytes(&loaded.value).unwrap();
    let again = onnx::from_bytes(&written, &options).unwrap().value;
    // Bytes are compared, not numbers: NaN is not equal to itself.
    assert!(onnx::to_bytes(&again).unwrap() == written);
    for array in again.graph.iter().flat_map(|graph| &graph.initializer) {
        let _ = onnx::to_tensor(array, &options.limits);
    }
    let _ = mxrs_onnx::import(&again, &options);
});
