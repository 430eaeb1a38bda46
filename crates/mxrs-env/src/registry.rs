//! Every variable and every older name, grouped by area.

use crate::settings::{FIELDS, GROUPS};
use crate::{ALIASES, Alias, Area, Capability, Row};
use std::sync::LazyLock;

/// One numbered entry of the documentation.
#[derive(Clone, Debug)]
pub enum Registered {
    /// A variable that is not an older name.
    Variable(Area, &'static Row),
    /// All older names that share one number; at least one.
    OldNames(Area, Vec<&'static Alias>),
}

impl Registered {
    /// Number of the entry in the documentation, such as `D4`.
    pub fn id(&self) -> &'static str {
        match self {
            Self::Variable(_, row) => row.id,
            Self::OldNames(_, aliases) => aliases.first().map_or("", |alias| alias.id),
        }
    }

    /// The area under which the entry is listed.
    pub fn area(&self) -> Area {
        match self {
            Self::Variable(area, _) | Self::OldNames(area, _) => *area,
        }
    }

    /// The name. If several older names share a number, their common prefix followed by `*`.
    pub fn name(&self) -> String {
        match self {
            Self::Variable(_, row) => row.name.to_owned(),
            Self::OldNames(_, aliases) => shared_name(aliases.iter().map(|alias| alias.name)),
        }
    }

    /// The name to use instead of an older one, written like [`name`](Self::name).
    pub fn canonical(&self) -> String {
        match self {
            Self::Variable(_, row) => row.name.to_owned(),
            Self::OldNames(_, aliases) => shared_name(aliases.iter().map(|alias| alias.canonical)),
        }
    }

    /// The default in words.
    pub fn default_text(&self) -> String {
        match self {
            Self::Variable(_, row) => row.default_text().to_owned(),
            Self::OldNames(..) => format!("that of {}", self.canonical()),
        }
    }

    /// The meaning of the entry.
    pub fn meaning(&self) -> String {
        match self {
            Self::Variable(_, row) => row.meaning().to_owned(),
            Self::OldNames(..) => format!("Older name of `{}`.", self.canonical()),
        }
    }

    /// The capability that a build and machine must have so that setting the variable has an effect. An older name needs
    /// the same capability as the canonical name.
    pub fn needs(&self) -> Capability {
        match self {
            Self::Variable(_, row) => row.needs,
            Self::OldNames(_, aliases) => aliases
                .first()
                .and_then(|alias| rows().find(|(_, row)| row.name == alias.canonical))
                .map_or(Capability::Reader, |(_, row)| row.needs),
        }
    }
}

/// Every numbered entry, ordered by area. In each area the variables come before the older names.
pub fn registry() -> &'static [Registered] {
    static REGISTRY: LazyLock<Vec<Registered>> = LazyLock::new(|| {
        let mut entries: Vec<Registered> = rows().map(|(area, row)| Registered::Variable(area, row)).collect();
        for chunk in ALIASES.chunk_by(|a, b| a.id == b.id) {
            let area = rows().find(|(_, row)| row.name == chunk[0].canonical).map_or(Area::Extension, |(area, _)| area);
            entries.push(Registered::OldNames(area, chunk.iter().collect()));
        }
        entries.sort_by_key(Registered::area);
        entries
    });
    &REGISTRY
}

/// The row of the variable that has this canonical or older name.
pub fn find(name: &str) -> Option<&'static Row> {
    let canonical = ALIASES.iter().find(|alias| alias.name == name).map_or(name, |alias| alias.canonical);
    rows().map(|(_, row)| row).find(|row| row.name == canonical)
}

/// Each row with the path of its field in [`Settings`](crate::Settings), such as `threads.cpu_workers`.
pub fn field_paths() -> impl Iterator<Item = (String, &'static Row)> {
    FIELDS.iter().flat_map(|(group, rows)| rows.iter().map(move |row| (format!("{group}.{}", row.field), row)))
}

pub(crate) fn rows() -> impl Iterator<Item = (Area, &'static Row)> {
    GROUPS.iter().flat_map(|&(area, rows)| rows.iter().map(move |row| (area, row)))
}

fn shared_name<'a>(mut names: impl Iterator<Item = &'a str>) -> String {
    let Some(first) = names.next() else { return String::new() };
    let mut n_common = first.len();
    let mut alone = true;
    for name in names {
        alone = false;
        let n_same = first.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count();
        n_common = n_common.min(n_same);
    }
    if alone { first.to_owned() } else { format!("{}*", &first[..n_common]) }
}
