//! Options of readers: limits, strictness, and a list of warnings.

use crate::Lender;

/// Options of a reader.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// If set, continues wherever MXNet would, and reports each deviation as a warning.
    pub lenient: bool,
    /// Largest counts and sizes accepted.
    pub limits: Limits,
    /// Lends the memory into which the elements of dense arrays are read, if the length of the file shows that the file
    /// contains the elements.
    pub lender: Option<Lender>,
}

impl Options {
    /// Options with the default limits, and with deviations as errors.
    pub fn strict() -> Self {
        Self::default()
    }

    /// Options with the default limits, and with deviations as warnings.
    pub fn lenient() -> Self {
        Self { lenient: true, ..Self::default() }
    }
}

/// Largest counts and sizes that a reader accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Largest number of arrays in one file.
    pub max_tensors: u64,
    /// Largest number of axes of one array.
    pub max_ndim: u64,
    /// Largest number of bytes of one name.
    pub max_name: u64,
    /// Largest number of bytes of one JSON file.
    pub max_json: u64,
    /// Deepest nesting of objects and arrays in JSON; at most [`Limits::DEEPEST_JSON`] is used.
    pub max_json_depth: u64,
    /// Largest number of nodes of one graph with all its subgraphs.
    pub max_nodes: u64,
    /// Largest number of bytes of one record after its parts are concatenated.
    pub max_record: u64,
    /// Largest number of bytes of one text header (npy).
    pub max_header: u64,
}

impl Limits {
    /// Deepest JSON nesting for any value of `max_json_depth`, so that no setting can exhaust the stack.
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

/// A value that was read, with warnings about its file.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded<T> {
    /// The value that was read.
    pub value: T,
    /// Deviations that were accepted, in file order.
    pub warnings: Vec<String>,
}

impl<T> Loaded<T> {
    /// Applies `f` to the value and keeps the warnings.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Loaded<U> {
        Loaded { value: f(self.value), warnings: self.warnings }
    }
}

/// Collects warnings. Their number is bounded, so that a hostile file cannot exhaust memory.
#[derive(Debug, Default)]
pub struct Warnings {
    list: Vec<String>,
    unlisted: u64,
}

impl Warnings {
    const MOST_LISTED: usize = 100;

    /// Adds a warning. `text` is called only if the list has room for it.
    pub fn push(&mut self, text: impl FnOnce() -> String) {
        if self.list.len() < Self::MOST_LISTED {
            self.list.push(text());
        } else {
            self.unlisted += 1;
        }
    }

    /// The warnings; a last line counts those for which the list had no room.
    pub fn into_list(mut self) -> Vec<String> {
        if self.unlisted > 0 {
            self.list.push(format!("{} further warnings", self.unlisted));
        }
        self.list
    }

    /// Combines these warnings with the value that was read.
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
