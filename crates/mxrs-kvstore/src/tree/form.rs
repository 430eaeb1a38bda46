//! The form of a tree: slots, levels and sends.

use super::plan::Send;
use std::fmt;

/// The number of levels of a tree of `n` devices: the smallest number from 1 such that two to its power is at least `n`.
///
/// ```
/// use mxrs_kvstore::tree::depth_for;
/// assert_eq!([2, 3, 4, 5, 8, 9, 16].map(depth_for), [1, 2, 2, 3, 3, 4, 4]);
/// ```
pub fn depth_for(n: usize) -> usize {
    (n.max(2).next_power_of_two().trailing_zeros()) as usize
}

/// A binary tree of devices, given by its `2^depth` leaves. Slot 0 is the root. At level `l`, with `s = 2^l`, slot `j` (a
/// multiple of `2s`) gets the sum of slot `j + s`; if both hold the same device, nothing is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// The devices of the leaves. Their number is a power of two.
    pub leaves: Vec<usize>,
}

impl Tree {
    /// The device whose sum is complete.
    pub fn root(&self) -> usize {
        self.leaves.first().copied().unwrap_or(0)
    }

    /// Number of levels.
    pub fn depth(&self) -> usize {
        self.leaves.len().trailing_zeros() as usize
    }

    /// The devices of all levels, from the root to the leaves, one level after the other.
    pub fn topology(&self) -> Vec<usize> {
        (0..=self.depth()).rev().flat_map(|level| self.leaves.iter().copied().step_by(1 << level)).collect()
    }

    /// The positions in [`Self::topology`] at which levels begin, and its length.
    pub fn scan(&self) -> Vec<usize> {
        (0..=self.depth() + 1).map(|level| (1 << level) - 1).collect()
    }

    /// The pairs of one level: the device that gets a sum and the device that sends it, which may be the same.
    pub fn pairs(&self, level: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let stride = 1 << level;
        (0..self.leaves.len()).step_by(2 * stride).map(move |j| (self.leaves[j], self.leaves[j + stride]))
    }

    /// What is sent, in the order of the sum: the level of the leaves first.
    pub fn sends(&self) -> Vec<Send> {
        let pairs = (0..self.depth()).flat_map(|level| self.pairs(level));
        pairs.filter(|(to, from)| to != from).map(|(to, from)| Send { from, to }).collect()
    }

    /// Whether the tree sums all `n` devices: every device except the root sends once, after the last time that it
    /// receives.
    pub fn is_spanning(&self, n: usize) -> bool {
        let mut has_sent = vec![false; n];
        for Send { from, to } in self.sends() {
            if from.max(to) >= n || has_sent[to] || std::mem::replace(&mut has_sent[from], true) {
                return false;
            }
        }
        (0..n).all(|device| has_sent[device] != (device == self.root()))
    }
}

impl fmt::Display for Tree {
    /// Writes one line for each level, from the root to the leaves.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (topology, scan) = (self.topology(), self.scan());
        for level in scan.windows(2) {
            let devices: Vec<String> = topology[level[0]..level[1]].iter().map(usize::to_string).collect();
            writeln!(f, "  {}", devices.join(" "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn golden_topology() {
        let tree = Tree { leaves: vec![3, 2, 1, 5, 0, 0, 4, 6] };
        assert_eq!(tree.to_string(), "  3\n  3 0\n  3 1 0 4\n  3 2 1 5 0 0 4 6\n");
        assert_eq!(tree.topology(), [3, 3, 0, 3, 1, 0, 4, 3, 2, 1, 5, 0, 0, 4, 6]);
        assert_eq!(tree.scan(), [0, 1, 3, 7, 15]);
        let sends = [(2, 3), (5, 1), (6, 4), (1, 3), (4, 0), (0, 3)].map(|(from, to)| Send { from, to });
        assert_eq!(tree.sends(), sends);
        assert!(tree.is_spanning(7) && !tree.is_spanning(8) && !tree.is_spanning(6));
    }

    #[test]
    fn a_device_that_sends_twice_does_not_span() {
        assert!(!Tree { leaves: vec![0, 1, 2, 1] }.is_spanning(3));
        assert!(Tree { leaves: vec![0, 1, 2, 2] }.is_spanning(3));
    }
}
