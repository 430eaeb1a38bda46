//! Warnings for the user that are not errors. They are returned as values: the crate `mxrs` logs each once.

use crate::Row;
use std::fmt;

/// The reason of a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WarningKind {
    /// An older name was used.
    Deprecated,
    /// An older name was set in addition to the canonical one and is ignored.
    Shadowed,
    /// The name of a variable is unknown.
    Unknown,
    /// The variable is not at its default, and no code uses it yet.
    NotYetInEffect,
    /// The variable is not at its default, and this build or machine cannot honor it.
    Inert,
    /// The value works, but perhaps not as the user expects.
    Hint,
}

/// One warning for the user.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Warning {
    kind: WarningKind,
    name: String,
    text: String,
    shared_name: bool,
}

impl Warning {
    pub(crate) fn new(kind: WarningKind, name: impl Into<String>, text: String) -> Self {
        Self { kind, name: name.into(), text, shared_name: false }
    }

    pub(crate) fn of_row(kind: WarningKind, row: &Row, text: String) -> Self {
        Self { kind, name: row.name.into(), text, shared_name: row.is_shared_name() }
    }

    /// The reason of the warning.
    pub fn kind(&self) -> WarningKind {
        self.kind
    }

    /// The variable that the warning is about: as the user wrote it for [`Deprecated`](WarningKind::Deprecated),
    /// [`Shadowed`](WarningKind::Shadowed) and [`Unknown`](WarningKind::Unknown), otherwise its canonical name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the warning is about a name that other programs use too (`TMPDIR`, `LD_LIBRARY_PATH`, …). The log level
    /// should then be lower.
    pub fn is_about_shared_name(&self) -> bool {
        self.shared_name
    }
}

/// Prints the text for the user in one line.
impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
