//! Tests older names: each is read if the canonical name is unset, with one warning.

use crate::{other_value, read};
use mxrs_env::{ALIASES, MapSource, Origin, Settings, Warning, WarningKind, find};

fn about_names(warnings: &[Warning]) -> Vec<&Warning> {
    let kinds = [WarningKind::Deprecated, WarningKind::Shadowed, WarningKind::Unknown];
    warnings.iter().filter(|warning| kinds.contains(&warning.kind())).collect()
}

#[test]
fn an_older_name_alone_acts_as_the_canonical_one() {
    assert_eq!(ALIASES.len(), 15 + 8);
    for alias in ALIASES {
        let row = find(alias.name).unwrap();
        assert_eq!(row.name, alias.canonical);
        let value = other_value(row);
        let (settings, warnings) = read(&[(alias.name, &value)]);
        assert_eq!(settings.value(alias.canonical), Some(value), "{}", alias.name);
        assert_eq!(settings.origin(alias.canonical), Origin::Alias);
        let names = about_names(&warnings);
        assert_eq!(names.len(), 1, "{warnings:?}");
        assert_eq!((names[0].kind(), names[0].name()), (WarningKind::Deprecated, alias.name));
        assert_eq!(names[0].to_string(), format!("{} is an older name: set {} instead", alias.name, alias.canonical));
    }
}

#[test]
fn the_canonical_name_wins_and_one_warning_gives_both_values() {
    for alias in ALIASES {
        let row = find(alias.name).unwrap();
        let old = other_value(row);
        let Some(new) = row.default_value().map(str::to_owned).or(Some("1".into())) else { continue };
        let (settings, warnings) = read(&[(alias.name, &old), (alias.canonical, &new)]);
        assert_eq!(settings.value(alias.canonical), Some(new.clone()), "{}", alias.name);
        assert_eq!(settings.origin(alias.canonical), Origin::Environment);
        let names = about_names(&warnings);
        assert_eq!(names.len(), 1, "{warnings:?}");
        assert_eq!(names[0].kind(), WarningKind::Shadowed);
        let text = names[0].to_string();
        assert!(text.contains(&format!("{}={new} ", alias.canonical)), "{text}");
        assert!(text.contains(&format!("{}={old} ", alias.name)), "{text}");
    }
}

#[test]
fn a_bad_value_is_reported_under_the_name_that_was_set() {
    let error = |vars: [(&str, &str); 2]| Settings::from_source(&MapSource::new(vars)).unwrap_err().to_string();
    assert_eq!(
        error([("MXNET_CPU_POOL_PAGE_SIZE", "16"), ("MXNET_CPU_MEM_POOL_PAGE_SIZE", "")]),
        "MXNET_CPU_POOL_PAGE_SIZE: invalid value \"16\": expected an integer >= 32"
    );
    assert_eq!(
        error([("MXNET_CPU_POOL_PAGE_SIZE", "x"), ("MXNET_CPU_MEM_POOL_PAGE_SIZE", "64")]),
        "MXNET_CPU_POOL_PAGE_SIZE: invalid value \"x\": expected an integer >= 32"
    );
}

#[test]
fn values_reach_the_struct_through_older_names() {
    let (settings, _) = read(&[
        ("MXNET_MKLDNN_ENABLED", "0"),
        ("MXNET_MKLDNN_CACHE_NUM", "7"),
        ("NNVM_EXEC_NUM_TEMP", "2"),
        ("MXNET_USE_NAIVE_STORAGE_MANAGER", "1"),
    ]);
    assert_eq!((settings.onednn.enabled, settings.onednn.cache_limit()), (false, Some(7)));
    assert_eq!((settings.n_colors().get(), settings.pools.no_pools), (2, 1));
}
