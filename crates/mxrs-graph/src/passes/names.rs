//! Unique names for the nodes that a pass adds.

use crate::Graph;
use rustc_hash::FxHashMap;

/// The names in use, and for each name the suffix to try next.
pub(crate) struct UniqueNames {
    next: FxHashMap<String, u32>,
}

impl UniqueNames {
    /// The names of a graph's nodes.
    pub fn of(graph: &Graph) -> Self {
        Self { next: graph.nodes().iter().map(|n| (n.name.clone(), 1)).collect() }
    }

    /// Returns the name `wanted`, followed by 1, 2, … if it is taken.
    pub fn take(&mut self, wanted: String) -> String {
        let Some(next) = self.next.get_mut(&wanted) else {
            self.next.insert(wanted.clone(), 1);
            return wanted;
        };
        let mut suffix = *next;
        let mut name = format!("{wanted}{suffix}");
        while self.next.contains_key(&name) {
            suffix += 1;
            name = format!("{wanted}{suffix}");
        }
        self.next.insert(wanted, suffix + 1);
        self.next.insert(name.clone(), 1);
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GraphBuilder;
    use mxrs_op::Attrs;

    #[test]
    fn a_name_is_given_once() {
        let mut b = GraphBuilder::new();
        let heads = ["x", "y1"].map(|name| crate::Entry::new(b.add_variable(name, Attrs::new()), 0));
        b.set_heads(heads.to_vec());
        let mut names = UniqueNames::of(&b.build().unwrap());
        let taken = ["x", "y", "y", "x", "x1", "y"].map(|n| names.take(n.into()));
        assert_eq!(taken, ["x1", "y", "y2", "x2", "x11", "y3"]);
    }
}
