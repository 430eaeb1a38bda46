//! Finds the addresses that tenants (the users of planned memory) occupy during a span of steps, without a visit to
//! each tenant.
//!
//! The structure is a tree over steps. Each node of the tree covers a span of steps and holds ranges of addresses. A tenant
//! is stored in its *tiles*, the few nodes whose spans together are its lifetime, and in the ancestors of its first and last
//! step. Adjacent ranges are merged, so a dense plan has few ranges even if it has many tenants. The time of a query is
//! about the logarithm of the number of steps.

/// Ranges of addresses: sorted, disjoint and not adjacent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Ranges(Vec<(usize, usize)>);

impl Ranges {
    fn insert(&mut self, (start, end): (usize, usize)) {
        // The ranges that overlap with the new one or are adjacent to it.
        let low = self.0.partition_point(|range| range.1 < start);
        let n_touching = self.0[low..].partition_point(|range| range.0 <= end);
        if n_touching == 0 {
            self.0.insert(low, (start, end));
            return;
        }
        let last = self.0[low + n_touching - 1];
        let first = &mut self.0[low];
        *first = (start.min(first.0), end.max(last.1));
        if n_touching > 1 {
            self.0.drain(low + 1..low + n_touching);
        }
    }
}

/// The data of one tree node; its span is the steps of the leaves below it.
#[derive(Clone, Debug, Default)]
struct Node {
    /// Addresses occupied during the whole span.
    throughout: Ranges,
    /// Addresses occupied at some step of the span.
    somewhere: Ranges,
}

/// The addresses occupied so far, by step.
#[derive(Debug)]
pub(super) struct Occupied {
    n_leaves: usize,
    /// The tree: the root is at position 1, the children of node `n` are at `2n` and `2n + 1`.
    nodes: Vec<Node>,
}

impl Occupied {
    /// Makes an empty tree for `n_steps` steps.
    pub fn new(n_steps: usize) -> Self {
        let n_leaves = n_steps.next_power_of_two();
        Self { n_leaves, nodes: vec![Node::default(); 2 * n_leaves] }
    }

    /// Occupies a range of addresses from step `first` to step `last`.
    pub fn insert(&mut self, first: usize, last: usize, range: (usize, usize)) {
        let nodes = &mut self.nodes;
        for_each_tile(self.n_leaves, first, last, |tile| {
            nodes[tile].throughout.insert(range);
            nodes[tile].somewhere.insert(range);
        });
        // Nodes whose span lies only partly in the lifetime are ancestors of the leaf of `first` or of `last`.
        for_each_above_ends(self.n_leaves, first, last, |node| nodes[node].somewhere.insert(range));
    }

    /// Returns the addresses occupied at any step from `first` to `last`: ranges sorted by their start, which may
    /// overlap.
    pub fn between(&self, first: usize, last: usize, ranges: &mut Vec<(usize, usize)>) {
        ranges.clear();
        // These two walks find every tenant that is alive between `first` and `last`. Its range is in `somewhere` of a
        // node that lies within the span. Or it is in `throughout` of a node above such a node, which is an ancestor of
        // the leaf of `first` or of `last`.
        for_each_tile(self.n_leaves, first, last, |tile| ranges.extend(&self.nodes[tile].somewhere.0));
        for_each_above_ends(self.n_leaves, first, last, |node| ranges.extend(&self.nodes[node].throughout.0));
        ranges.sort_unstable();
    }
}

/// Visits the fewest nodes whose spans together are the steps from `first` to `last`.
fn for_each_tile(n_leaves: usize, first: usize, last: usize, mut visit: impl FnMut(usize)) {
    let (mut low, mut high) = (first + n_leaves, last + n_leaves + 1);
    while low < high {
        if low % 2 == 1 {
            visit(low);
            low += 1;
        }
        if high % 2 == 1 {
            high -= 1;
            visit(high);
        }
        low /= 2;
        high /= 2;
    }
}

/// Visits the leaves of `first` and `last` and all nodes above them, each once.
fn for_each_above_ends(n_leaves: usize, first: usize, last: usize, mut visit: impl FnMut(usize)) {
    let (mut low, mut high) = (first + n_leaves, last + n_leaves);
    while low != high {
        visit(low);
        visit(high);
        low /= 2;
        high /= 2;
    }
    while low > 0 {
        visit(low);
        low /= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// For each address, whether one of the ranges contains it.
    fn addresses(ranges: &[(usize, usize)]) -> Vec<bool> {
        let mut taken = vec![false; 64];
        ranges.iter().for_each(|(start, end)| taken[*start..*end].fill(true));
        taken
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn touching_ranges_become_one(list in prop::collection::vec((0usize..48, 1usize..16), 0..20)) {
            let mut ranges = Ranges::default();
            let list: Vec<(usize, usize)> = list.into_iter().map(|(start, len)| (start, start + len)).collect();
            list.iter().for_each(|range| ranges.insert(*range));
            prop_assert!(ranges.0.windows(2).all(|pair| pair[0].1 < pair[1].0), "{:?}", ranges);
            prop_assert_eq!(addresses(&ranges.0), addresses(&list));
        }

        /// Compares the result of the tree with a search through a list of all tenants.
        #[test]
        fn finds_what_overlaps_in_time_and_nothing_else(
            n_steps in 1usize..40,
            taken in prop::collection::vec((any::<u8>(), any::<u8>(), 0usize..48, 1usize..16), 0..30),
        ) {
            let mut occupied = Occupied::new(n_steps);
            let mut all: Vec<(usize, usize, (usize, usize))> = Vec::new();
            for (a, b, start, len) in taken {
                let (a, b) = (a as usize % n_steps, b as usize % n_steps);
                let (first, last) = (a.min(b), a.max(b));
                let mut found = Vec::new();
                occupied.between(first, last, &mut found);
                let overlapping = all.iter().filter(|(f, l, _)| *f <= last && first <= *l).map(|(_, _, range)| *range);
                prop_assert_eq!(addresses(&found), addresses(&overlapping.collect::<Vec<_>>()));
                prop_assert!(found.is_sorted());
                occupied.insert(first, last, (start, start + len));
                all.push((first, last, (start, start + len)));
            }
        }
    }
}
