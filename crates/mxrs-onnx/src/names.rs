//! Unique names. Values of a model are identified by name, but nodes of a symbol may share names.

use std::collections::HashSet;

/// The names that are in use in a graph.
#[derive(Default)]
pub(crate) struct Names {
    taken: HashSet<String>,
}

impl Names {
    /// Reserves a name: `wanted`, or if it is in use, `wanted` followed by the first free number.
    pub fn claim(&mut self, wanted: &str) -> String {
        let wanted = if wanted.is_empty() { "unnamed" } else { wanted };
        let mut name = wanted.to_owned();
        let mut number = 0;
        while !self.taken.insert(name.clone()) {
            number += 1;
            name = format!("{wanted}_{number}");
        }
        name
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
}
