//! Things the user should be told that are no errors. They are values: the facade logs each once.

use crate::Row;
use std::fmt;

/// Why a warning was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WarningKind {
    /// An older name was used.
    Deprecated,
    /// An older name was set beside the canonical one and lost.
    Shadowed,
    /// A name that nobody knows.
    Unknown,
    /// The variable is set to other than its default, and nothing uses it yet.
    NotYetInEffect,
    /// The variable is set to other than its default, and this build or machine cannot honor it.
    Inert,
    /// The value works, but perhaps not as the user thinks.
    Hint,
}

/// One thing to tell the user.
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

    /// Why it was given.
    pub fn kind(&self) -> WarningKind {
        self.kind
    }

    /// The variable it is about, as the user wrote it for [`Deprecated`](WarningKind::Deprecated),
    /// [`Shadowed`](WarningKind::Shadowed) and [`Unknown`](WarningKind::Unknown), otherwise its canonical name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is about a name that other programs use too (`TMPDIR`, `LD_LIBRARY_PATH`, …), for which a quieter log
    /// level is in order.
    pub fn is_about_shared_name(&self) -> bool {
        self.shared_name
    }
}

/// The text for the user, in one line.
impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
