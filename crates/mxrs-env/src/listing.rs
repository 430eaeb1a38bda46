//! The list of variables with their values, as `mxrs env` prints it, and the full description of one variable.

use crate::docs::accepted;
use crate::{Area, Capabilities, Origin, Registered, Settings, State, check, registry};
use mxrs_types::{Error, Result};
use serde::Serialize;
use std::fmt::Write;

/// Headings of [`Listing::cells`].
pub const COLUMNS: [&str; 6] = ["name", "value", "origin", "default", "state", "meaning"];

/// One variable or older name, with the value it has in this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowView {
    /// Number of the entry in the documentation, such as `D4`.
    pub id: &'static str,
    /// The name. If several older names share a number, their common prefix followed by `*`.
    pub name: String,
    /// The effective value. For an older name: the text that it is set to, or `unset`.
    pub value: String,
    /// The origin of the value.
    pub origin: Origin,
    /// The default in words.
    pub default: String,
    /// Whether setting the variable has an effect in this build on this machine.
    pub state: State,
    /// The area under which the variable is listed.
    pub area: Area,
    /// The meaning of the variable.
    pub meaning: String,
    /// Type and accepted values, as in the documentation.
    pub accepted: String,
    /// When the variable is read.
    pub read: &'static str,
}

impl RowView {
    fn cells(&self) -> [String; COLUMNS.len()] {
        [
            self.name.clone(),
            self.value.clone(),
            self.origin.to_string(),
            self.default.clone(),
            self.state.to_string(),
            self.meaning.clone(),
        ]
    }
}

/// Rows in the order of the documentation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// The rows.
    pub rows: Vec<RowView>,
}

impl Settings {
    /// All variables and older names, or only those of `area`. Each has its value, and the state that follows from
    /// `capabilities`.
    pub fn listing(&self, area: Option<Area>, capabilities: &Capabilities) -> Listing {
        let all = self.registered().filter(|entry| area.is_none_or(|area| entry.area() == area));
        Listing { rows: all.map(|entry| self.view(&entry, capabilities)).collect() }
    }

    /// The row of one variable, found by its canonical name or an older one.
    ///
    /// # Errors
    /// Returns `InvalidValue` with the nearest known name if no variable has this name.
    pub fn view_of(&self, name: &str, capabilities: &Capabilities) -> Result<RowView> {
        let canonical = registry::find(name).map_or(name, |row| row.name);
        let named = |entry: &Registered| matches!(entry, Registered::Variable(_, row) if row.name == canonical);
        match self.registered().find(named) {
            Some(entry) => Ok(self.view(&entry, capabilities)),
            None => {
                let expected = format!("the name of a variable; the nearest is {}", check::nearest_name(name));
                Err(Error::invalid("variable", format!("`{name}`"), expected))
            }
        }
    }

    /// The entries of mxrs, then the variables of crates outside mxrs.
    fn registered(&self) -> impl Iterator<Item = Registered> {
        let extensions = self.entries().iter().filter(|entry| entry.area == Area::Extension);
        let extensions = extensions.map(|entry| Registered::Variable(entry.area, entry.row));
        registry().iter().cloned().chain(extensions)
    }

    fn view(&self, entry: &Registered, capabilities: &Capabilities) -> RowView {
        let (value, origin) = match entry {
            Registered::Variable(_, row) => (self.value(row.name).unwrap_or_default(), self.origin(row.name)),
            Registered::OldNames(_, aliases) => {
                let set = aliases.iter().filter_map(|alias| Some((alias, self.old_names().get(alias.name)?)));
                let texts: Vec<_> = set
                    .map(|(alias, value)| match (aliases.len(), self.origin(alias.name)) {
                        (1, Origin::Alias) => value.clone(),
                        (1, _) => format!("{value} (not used)"),
                        (_, Origin::Alias) => format!("{}={value}", alias.name),
                        _ => format!("{}={value} (not used)", alias.name),
                    })
                    .collect();
                match texts.is_empty() {
                    true => ("unset".to_owned(), Origin::Default),
                    false => (texts.join(", "), Origin::Environment),
                }
            }
        };
        let (accepted, read) = match entry {
            Registered::Variable(_, row) => (accepted(&row.kind), row.read.text()),
            Registered::OldNames(..) => ("as the newer name".to_owned(), "as the newer name"),
        };
        RowView {
            id: entry.id(),
            name: entry.name(),
            value,
            origin,
            default: entry.default_text(),
            state: capabilities.state(entry.needs()),
            area: entry.area(),
            meaning: entry.meaning(),
            accepted,
            read,
        }
    }
}

/// One object of the JSON array that [`Listing::to_json`] returns.
#[derive(Serialize)]
struct Object<'a> {
    name: &'a str,
    value: &'a str,
    origin: String,
    default: &'a str,
    in_effect: bool,
    state: &'static str,
    why: Option<&'a str>,
    meaning: &'a str,
}

impl Listing {
    /// The cells of each row, in the order of [`COLUMNS`], for a table that is drawn by other code.
    pub fn cells(&self) -> Vec<[String; COLUMNS.len()]> {
        self.rows.iter().map(RowView::cells).collect()
    }

    /// A Markdown table.
    pub fn to_markdown(&self) -> String {
        let mut text = format!("| {} |\n|{}\n", COLUMNS.join(" | "), " --- |".repeat(COLUMNS.len()));
        for [name, rest @ ..] in self.cells() {
            let rest = rest.map(|cell| markdown_cell(&cell));
            // Writing to a String cannot fail.
            let _ = writeln!(text, "| `{name}` | {} |", rest.join(" | "));
        }
        text
    }

    /// A JSON array of objects with the keys `name`, `value`, `origin`, `default`, `in_effect`, `state`, `why` and
    /// `meaning`. `state` is `in effect`, `needs` or `not yet`; `why` is null for a variable in effect.
    pub fn to_json(&self) -> String {
        let objects = self.rows.iter().map(|row| Object {
            name: &row.name,
            value: &row.value,
            origin: row.origin.to_string(),
            default: &row.default,
            in_effect: row.state == State::InEffect,
            state: row.state.word(),
            why: row.state.why(),
            meaning: &row.meaning,
        });
        // Strings and bools always serialize.
        serde_json::to_string_pretty(&objects.collect::<Vec<_>>()).unwrap_or_default()
    }
}

/// `text` on one line, with the bars escaped that would end a table cell.
pub(crate) fn markdown_cell(text: &str) -> String {
    text.replace('|', "\\|").replace(['\n', '\r'], " ")
}
