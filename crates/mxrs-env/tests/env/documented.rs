//! Compares the registry with the list of documented variables in `tests/rows.txt`.

use mxrs_env::{Capabilities, Kind, ReadTime, Registered, State, find, registry};
use std::collections::BTreeMap;

pub(crate) const ROWS: &str = include_str!("../rows.txt");

/// Number of variables in `rows.txt`, without the rows of older names.
pub(crate) fn n_variables() -> usize {
    ROWS.lines().filter(|line| !line.starts_with('#')).count()
}

/// The type of a row as `rows.txt` writes it.
fn type_of(kind: &Kind) -> String {
    // The documentation names no limit as large as this. A larger limit is the limit of an integer type, and `rows.txt`
    // does not contain it.
    let wide = 1 << 31;
    match *kind {
        Kind::Bool => "bool".into(),
        Kind::Int { min, max } if max < wide - 1 => format!("int={min}..{max}"),
        Kind::Int { min, .. } if min < -wide => "int".into(),
        Kind::Int { min, .. } => format!("int>={min}"),
        Kind::FirstInt { min, .. } => format!("first>={min}"),
        Kind::IntList { min, .. } => format!("list>={min}"),
        Kind::Float { min, above_min, max } => {
            let upper = if max < f64::MAX { format!("<={max}") } else { String::new() };
            format!("float{}{min}{upper}", if above_min { ">" } else { ">=" })
        }
        Kind::Words(words) => format!("enum:{}", words.join(",")),
        Kind::Text => "text".into(),
        Kind::Path => "path".into(),
        Kind::PathList => "pathlist".into(),
        Kind::File => "file".into(),
        Kind::Folder => "folder".into(),
        Kind::Url => "url".into(),
        Kind::Grammar { .. } => "grammar".into(),
    }
}

fn read_letter(read: ReadTime) -> &'static str {
    match read {
        ReadTime::Process => "P",
        ReadTime::Engine => "E",
        ReadTime::FirstUse => "F",
        ReadTime::Owner => "O",
        ReadTime::EveryUse => "C",
    }
}

#[test]
fn every_documented_row_is_here_and_no_other() {
    let ids: BTreeMap<_, _> = registry().iter().map(|entry| (entry.id(), entry)).collect();
    assert_eq!(ids.len(), registry().len(), "a number occurs twice");
    let mut counts = BTreeMap::new();
    for line in ROWS.lines().filter(|line| !line.starts_with('#')) {
        let [id, name, type_name, default, read] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("five words: {line}");
        };
        *counts.entry(id.chars().next().unwrap()).or_insert(0) += 1;
        let entry = ids.get(id).unwrap_or_else(|| panic!("{id} {name} is missing"));
        assert_eq!(entry.name(), name, "{id}");
        match entry {
            Registered::OldNames(..) => assert_eq!(("alias", entry.canonical().as_str()), (type_name, default), "{id}"),
            Registered::Variable(_, row) => {
                assert_eq!(type_of(&row.kind), type_name, "{id} {name}");
                let value = row.default_value().map_or("-", |value| if value.is_empty() { "empty" } else { value });
                assert_eq!(value, default, "{id} {name}");
                assert!(read == "?" || read == read_letter(row.read), "{id} {name}: read time {:?}", row.read);
            }
        }
    }
    assert_eq!(counts, BTreeMap::from([('D', 94), ('O', 19), ('B', 71), ('M', 28)]));
    assert_eq!(registry().len(), n_variables());
}

#[test]
fn every_row_says_what_it_means() {
    for entry in registry() {
        let meaning = entry.meaning();
        assert!(meaning.len() > 20 && meaning.ends_with('.'), "{}: {meaning:?}", entry.name());
        let default = entry.default_text();
        assert!(!default.is_empty() && !default.contains(['\\', '"']), "{}: {default}", entry.name());
    }
}

#[test]
fn names_are_found_by_canonical_and_older_name() {
    assert_eq!(find("NNVM_EXEC_MATCH_RANGE").unwrap().id, "D11");
    assert_eq!(find("MXNET_EXEC_MATCH_RANGE").unwrap().id, "D11");
    assert_eq!(find("MXNET_DISABLE_MKLDNN_FC_SUM").unwrap().id, "B52");
    assert!(find("MXNET_NONSENSE").is_none());
}

#[test]
fn rows_without_a_backend_are_inert() {
    for id in ["B42", "B43", "B64", "B67", "O18", "O19"] {
        let entry = registry().iter().find(|entry| entry.id() == id).unwrap();
        let state = Capabilities::default().state(entry.needs());
        assert!(matches!(&state, State::Needs(what) if what.ends_with("which mxrs does not contain")), "{id}: {state}");
    }
}
