//! Finds the value of one variable: from an API argument, the environment, an older name, or the default.

use crate::aliases::aliases_of;
use crate::{Area, Kind, Row, Snapshot, Warning, WarningKind};
use mxrs_types::{Error, ErrorKind};
use std::collections::BTreeMap;
use std::fmt;

/// The origin of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The default, because no value was given.
    Default,
    /// The environment variable with the canonical name.
    Environment,
    /// An environment variable with an older name.
    Alias,
    /// An explicit argument of the API.
    Api,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Default => "default",
            Self::Environment => "environment",
            Self::Alias => "alias",
            Self::Api => "api",
        })
    }
}

/// The value that was found for one variable.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub area: Area,
    pub row: &'static Row,
    /// Checked text to deserialize; `None` for a variable that is not set and has no default.
    pub text: Option<String>,
    pub origin: Origin,
}

impl Entry {
    /// The value as users see it: bools as 0 and 1, and a default in the words of the documentation.
    pub fn shown(&self) -> String {
        match (&self.text, self.origin) {
            (Some(text), origin) if origin != Origin::Default => shown(&self.row.kind, text),
            _ => self.row.default_text().to_owned(),
        }
    }

    pub fn differs_from_default(&self) -> bool {
        self.origin != Origin::Default && self.text != default_text(self.row)
    }
}

/// Collects values, errors and warnings while the values of variables are looked up.
pub(crate) struct Resolver<'a> {
    pub snapshot: &'a Snapshot,
    pub errors: Vec<Error>,
    pub warnings: Vec<Warning>,
    pub entries: Vec<Entry>,
    /// Older names that are set, with their checked values.
    pub old_names: BTreeMap<&'static str, String>,
}

impl<'a> Resolver<'a> {
    pub fn new(snapshot: &'a Snapshot) -> Self {
        Self { snapshot, errors: vec![], warnings: vec![], entries: vec![], old_names: BTreeMap::new() }
    }

    /// The value of `row`, or its default if the given value is bad. The result is also kept in `entries`.
    pub fn resolve(&mut self, area: Area, row: &'static Row) -> Entry {
        let mut text = default_text(row);
        let mut origin = Origin::Default;
        let canonical = self.variable(row.name, &row.kind);
        for alias in aliases_of(row.name) {
            let Some(old) = self.variable(alias.name, &row.kind) else { continue };
            let old_shown = shown(&row.kind, &old);
            if let Some(value) = &canonical {
                let message = format!(
                    "{}={} is used; {}={old_shown} is its older name and is ignored",
                    row.name,
                    shown(&row.kind, value),
                    alias.name
                );
                self.warnings.push(Warning::new(WarningKind::Shadowed, alias.name, message));
            } else {
                let message = format!("{} is an older name: set {} instead", alias.name, row.name);
                self.warnings.push(Warning::new(WarningKind::Deprecated, alias.name, message));
                (text, origin) = (Some(old), Origin::Alias);
            }
            self.old_names.insert(alias.name, old_shown);
        }
        if canonical.is_some() {
            (text, origin) = (canonical, Origin::Environment);
        }
        if let Some(given) = self.snapshot.api(row.name)
            && let Some(checked) = self.checked(row.name, &row.kind, given)
        {
            (text, origin) = (Some(checked), Origin::Api);
        }
        let entry = Entry { area, row, text, origin };
        self.entries.push(entry.clone());
        entry
    }

    fn variable(&mut self, name: &str, kind: &Kind) -> Option<String> {
        let value = self.snapshot.var(name)?;
        match value.to_str() {
            Some(value) => self.checked(name, kind, value),
            None => {
                self.errors.push(invalid(name, &value.to_string_lossy(), "text in UTF-8"));
                None
            }
        }
    }

    fn checked(&mut self, name: &str, kind: &Kind, value: &str) -> Option<String> {
        kind.check(value).map_err(|expected| self.errors.push(invalid(name, value, &expected))).ok()
    }
}

/// The error of a bad value.
pub(crate) fn invalid(name: &str, value: &str, expected: &str) -> Error {
    Error::new(ErrorKind::Env { name: name.into(), value: value.into(), expected: expected.into() })
}

/// The default in the form that is deserialized.
pub(crate) fn default_text(row: &Row) -> Option<String> {
    row.default_value().map(|value| row.kind.check(value).unwrap_or_else(|_| value.to_owned()))
}

fn shown(kind: &Kind, text: &str) -> String {
    match (kind, text) {
        (Kind::Bool, "false") => "0".into(),
        (Kind::Bool, "true") => "1".into(),
        _ => text.to_owned(),
    }
}
