//! Reads symbol files. Checks that nothing panics, and that a file is the same after writing and reading it again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mxrs_format::Options;
use mxrs_symbol::{Attrs, OperatorKnowledge, SymbolFile, check_operators, upgrade};

/// Made-up operators whose numbers of inputs and outputs follow from the length of their name.
struct Anything;

impl OperatorKnowledge for Anything {
    fn input_names(&self, op: &str, _: &Attrs) -> Option<Vec<String>> {
        (op.len() < 20)
            .then(|| (0..op.len() % 5).map(|i| ["data", "weight", "bias", "mean", "var"][i].to_string()).collect())
    }

    fn n_outputs(&self, op: &str, _: &Attrs) -> Option<usize> {
        Some(op.len() % 3)
    }

    fn default_init(&self, _: &str, input: &str) -> Option<String> {
        (input == "mean").then(|| "[\"zero\", {}]".to_string())
    }
}

fuzz_target!(|bytes: &[u8]| {
    for options in [Options::strict(), Options::lenient()] {
        let Ok(loaded) = SymbolFile::from_bytes(bytes, &options) else { continue };
        let text = loaded.value.to_json();
        let again = SymbolFile::from_bytes(text.as_bytes(), &Options::strict()).unwrap().value;
        assert_eq!(again, loaded.value);
        let mut upgraded = again;
        if upgrade(&mut upgraded, &Anything).is_ok() {
            let _ = check_operators(&upgraded, &Anything);
            let text = upgraded.to_json();
            // Reading may fail because an added input has the name of an existing node; nothing else may fail.
            if let Ok(again) = SymbolFile::from_bytes(text.as_bytes(), &Options::strict()) {
                assert_eq!(again.value, upgraded);
            }
        }
    }
});
