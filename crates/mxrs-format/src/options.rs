//! How a reader treats its input: limits, strictness, and the warnings that come back.

use crate::Lender;

/// How to read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Keep going where MXNet would, and report each deviation as a warning.
    pub lenient: bool,
    /// Largest counts and sizes accepted.
    pub limits: Limits,
    /// Whose memory the elements of dense arrays are read into, where a file's length shows that they are there.
    pub lender: Option<Lender>,
}

impl Options {
    /// The default limits, strict.
    pub fn strict() -> Self {
        Self::default()
    }

    /// The default limits, lenient.
    pub fn lenient() -> Self {
        Self { lenient: true, ..Self::default() }
    }
}

/// Largest counts and sizes that a reader accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Arrays in one file.
    pub max_tensors: u64,
    /// Axes of one array.
    pub max_ndim: u64,
    /// Bytes of one name.
    pub max_name: u64,
    /// Bytes of one JSON file.
    pub max_json: u64,
    /// Nesting of objects and arrays in JSON; at most [`Limits::DEEPEST_JSON`] is used.
    pub max_json_depth: u64,
    /// Nodes of one graph with all its subgraphs.
    pub max_nodes: u64,
    /// Bytes of one record after its parts are joined.
    pub max_record: u64,
    /// Bytes of one text header (npy).
    pub max_header: u64,
}

impl Limits {
    /// Deepest JSON nesting whatever `max_json_depth` says, so that no setting can exhaust the stack.
    pub const DEEPEST_JSON: u64 = 512;
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_tensors: 1 << 20,
            max_ndim: 32,
            max_name: 64 << 10,
            max_json: 512 << 20,
            max_json_depth: 64,
            max_nodes: 4_000_000,
            max_record: (1 << 29) - 1,
            max_header: 100 << 20,
        }
    }
}

/// What was read, and what was odd about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded<T> {
    /// What was read.
    pub value: T,
    /// Deviations that were let pass, in the order met.
    pub warnings: Vec<String>,
}

impl<T> Loaded<T> {
    /// The same warnings with another value.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Loaded<U> {
        Loaded { value: f(self.value), warnings: self.warnings }
    }
}

/// Collects warnings; a hostile file cannot make the list grow without end.
#[derive(Debug, Default)]
pub struct Warnings {
    list: Vec<String>,
    unlisted: u64,
}

impl Warnings {
    const MOST_LISTED: usize = 100;

    /// Adds a warning; `text` is called only where the list has room for it.
    pub fn push(&mut self, text: impl FnOnce() -> String) {
        if self.list.len() < Self::MOST_LISTED {
            self.list.push(text());
        } else {
            self.unlisted += 1;
        }
    }

    /// The warnings, and a last line that counts those the list had no room for.
    pub fn into_list(mut self) -> Vec<String> {
        if self.unlisted > 0 {
            self.list.push(format!("{} further warnings", self.unlisted));
        }
        self.list
    }

    /// What was read, with these warnings.
    pub fn with<T>(self, value: T) -> Loaded<T> {
        Loaded { value, warnings: self.into_list() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_bounded() {
        let mut warnings = Warnings::default();
        for i in 0..1000 {
            warnings.push(|| i.to_string());
        }
        let list = warnings.into_list();
        assert_eq!(list.len(), Warnings::MOST_LISTED + 1);
        assert_eq!(list.last().map(String::as_str), Some("900 further warnings"));
    }
}
