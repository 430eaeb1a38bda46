//! Tests that no environment makes the reader panic, and that accepted environments can be listed.

use crate::rows;
use mxrs_env::{ALIASES, MapSource, Settings};
use proptest::prelude::*;

fn any_name() -> impl Strategy<Value = String> {
    let names: Vec<String> =
        rows().map(|row| row.name).chain(ALIASES.iter().map(|alias| alias.name)).map(str::to_owned).collect();
    prop_oneof![8 => prop::sample::select(names), 1 => "(MXNET|NNVM|MXRS)_[A-Z_]{0,20}", 1 => "\\PC{0,8}"]
}

fn any_value() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{0,12}",
        "[-+]?[0-9]{0,25}",
        "[-+0-9.eE ]{0,10}",
        "[0-9, ]{0,10}",
        "(off|mirror|sqrt|chain|budget:)?[0-9]{0,20} ?([KMGTkmgt]?i?B)?",
        Just("true".to_owned()),
        Just("Round".to_owned()),
        Just("float32,int8".to_owned()),
        "(granularity=fine,)?(compact|scatter|proclist=\\[[0-9,:{}-]{0,8}\\],explicit)(,[0-9])?",
        "(https?|file):/?/?[a-z]{0,5}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_environment_is_read_or_refused(vars in prop::collection::vec((any_name(), any_value()), 0..12)) {
        let source = MapSource::new(vars);
        let errors = Settings::check_all(&source);
        match Settings::from_source(&source) {
            Ok((settings, warnings)) => {
                prop_assert!(errors.is_empty());
                prop_assert!(warnings.iter().all(|warning| !warning.to_string().is_empty()));
                prop_assert_eq!(settings.listing(None, &mxrs_env::Capabilities::default()).rows.len(), crate::documented::n_variables());
                prop_assert!(serde_json::from_str::<serde_json::Value>(&settings.listing(None, &mxrs_env::Capabilities::default()).to_json()).is_ok());
            }
            Err(error) => prop_assert_eq!(Some(&error), errors.first()),
        }
    }
}
