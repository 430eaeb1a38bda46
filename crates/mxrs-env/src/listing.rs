//! The list of variables with their values, as `mxrs env` prints it.

use crate::{Area, Origin, Registered, Settings, Status, registry};
use serde::Serialize;
use std::fmt::Write;

/// Headings of [`Listing::cells`].
pub const COLUMNS: [&str; 6] = ["name", "value", "origin", "default", "in effect", "meaning"];

/// One variable or older name, with the value it has in this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowView {
    /// Its number, such as `D4`.
    pub id: &'static str,
    /// Its name; where several older names share a number, what they have in common followed by `*`.
    pub name: String,
    /// The effective value; of an older name, what it is set to, or `unset`.
    pub value: String,
    /// Where the value comes from.
    pub origin: Origin,
    /// The default in words.
    pub default: String,
    /// Whether it does anything.
    pub status: Status,
    /// The area under which it is listed.
    pub area: Area,
    /// What it means.
    pub meaning: String,
}

impl RowView {
    /// Whether setting it changes anything.
    pub fn in_effect(&self) -> bool {
        self.status == Status::InEffect
    }

    fn cells(&self) -> [String; COLUMNS.len()] {
        [
            self.name.clone(),
            self.value.clone(),
            self.origin.to_string(),
            self.default.clone(),
            if self.in_effect() { "yes".into() } else { self.status.text().into() },
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
    /// Every variable and older name with its value, or those of one area.
    pub fn listing(&self, area: Option<Area>) -> Listing {
        let extensions = self.entries().iter().filter(|entry| entry.area == Area::Extension);
        let extensions: Vec<_> = extensions.map(|entry| Registered::Variable(entry.area, entry.row)).collect();
        let all = registry().iter().chain(&extensions);
        let rows = all.filter(|entry| area.is_none_or(|area| entry.area() == area)).map(|entry| self.view(entry));
        Listing { rows: rows.collect() }
    }

    fn view(&self, entry: &Registered) -> RowView {
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
        RowView {
            id: entry.id(),
            name: entry.name(),
            value,
            origin,
            default: entry.default_text(),
            status: entry.status(),
            area: entry.area(),
            meaning: entry.meaning(),
        }
    }
}

impl Listing {
    /// The cells of each row, under [`COLUMNS`]; for a table drawn elsewhere.
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

    /// A JSON array of objects with the keys `name`, `value`, `origin`, `default`, `in_effect`, `meaning`.
    pub fn to_json(&self) -> String {
        #[derive(Serialize)]
        struct Object<'a> {
            name: &'a str,
            value: &'a str,
            origin: String,
            default: &'a str,
            in_effect: bool,
            meaning: &'a str,
        }
        let objects = self.rows.iter().map(|row| Object {
            name: &row.name,
            value: &row.value,
            origin: row.origin.to_string(),
            default: &row.default,
            in_effect: row.in_effect(),
            meaning: &row.meaning,
        });
        // Strings and bools always serialize.
        serde_json::to_string_pretty(&objects.collect::<Vec<_>>()).unwrap_or_default()
    }
}

/// `text` on one line and without what would end the cell.
pub(crate) fn markdown_cell(text: &str) -> String {
    text.replace('|', "\\|").replace(['\n', '\r'], " ")
}
