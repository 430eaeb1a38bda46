//! Tests what the documentation promises about variables, on all of them.

mod any_text;
mod documented;
mod listing;
mod older_names;
mod values;

use mxrs_env::{Kind, MapSource, Registered, Row, Settings, Warning, registry};

/// The rows of all variables, without older names.
fn rows() -> impl Iterator<Item = &'static Row> {
    registry().iter().filter_map(|entry| match entry {
        Registered::Variable(_, row) => Some(*row),
        Registered::OldNames(..) => None,
    })
}

fn read(vars: &[(&str, &str)]) -> (Settings, Vec<Warning>) {
    Settings::from_source(&MapSource::new(vars.iter().copied())).unwrap()
}

fn error(vars: &[(&str, &str)]) -> String {
    Settings::from_source(&MapSource::new(vars.iter().copied())).unwrap_err().to_string()
}

/// An accepted value other than the default.
fn other_value(row: &Row) -> String {
    let default = row.default_value();
    match row.kind {
        Kind::Bool => if matches!(default, Some("1" | "true")) { "0" } else { "1" }.into(),
        Kind::Int { min, max } | Kind::FirstInt { min, max } | Kind::IntList { min, max } => {
            let candidate = (min..=max).take(3).find(|value| default != Some(value.to_string().as_str()));
            candidate.unwrap().to_string()
        }
        Kind::Float { .. } => "0.5".into(),
        Kind::Words(words) => words.iter().find(|&&word| default != Some(word)).unwrap().to_string(),
        Kind::Text | Kind::Path | Kind::PathList => "some/text".into(),
        Kind::File => concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml").into(),
        Kind::Folder => env!("CARGO_MANIFEST_DIR").into(),
        Kind::Url => "file:/data".into(),
        Kind::Grammar { .. } if row.name == "KMP_AFFINITY" => "granularity=fine,compact,1,0".into(),
        Kind::Grammar { name: "bytes", .. } => "2GiB".into(),
        Kind::Grammar { name: "mode", .. } => "budget:2GiB".into(),
        Kind::Grammar { name: "file", .. } => "0".into(),
        Kind::Grammar { .. } => "float32".into(),
    }
}
