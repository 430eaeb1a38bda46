//! Unique names. Values of a model are identified by name, but nodes of a symbol may share names.

use std::collections::{HashMap, HashSet};

/// The names that are in use in a graph.
#[derive(Default)]
pub(crate) struct Names {
    taken: HashSet<String>,
    /// The last number that was tried for a name. Without it, a model of many nodes with one name would take a time that grows
    /// with the square of their number.
    numbers: HashMap<String, u64>,
}

impl Names {
    /// Reserves a name: `wanted`, or if it is in use, `wanted` followed by the first free number.
    pub fn claim(&mut self, wanted: &str) -> String {
        let wanted = if wanted.is_empty() { "unnamed" } else { wanted };
        if self.taken.insert(wanted.to_owned()) {
            return wanted.to_owned();
        }
        let number = self.numbers.entry(wanted.to_owned()).or_default();
        loop {
            *number += 1;
            let name = format!("{wanted}_{number}");
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_given_once() {
        let mut names = Names::default();
        assert_eq!(
            ["a", "a", "a_1", "a", ""].map(|wanted| names.claim(wanted)),
            ["a", "a_1", "a_1_1", "a_2", "unnamed"]
        );
    }

    #[test]
    fn many_equal_names_take_little_time() {
        let mut names = Names::default();
        // In a time that grows with the square of this number, the test would take hours.
        let last = (0..200_000).map(|_| names.claim("a")).last();
        assert_eq!(last.as_deref(), Some("a_199999"));
    }
}
