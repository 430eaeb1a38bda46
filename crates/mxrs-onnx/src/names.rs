//! Names that are given once: values of a model are known by name, and nodes of a symbol need not have unique ones.

use std::collections::HashSet;

/// Names in use.
#[derive(Default)]
pub(crate) struct Names {
    taken: HashSet<String>,
}

impl Names {
    /// The name asked for, or that with the first free number behind it.
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
