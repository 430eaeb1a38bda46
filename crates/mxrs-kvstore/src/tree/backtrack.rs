//! Searches all trees with one root for the one with the best score.

use super::postprocess::postprocess;
use super::score::score;
use super::{Links, Tree, depth_for};

/// The largest depth at which all trees are tried. At a larger depth, the search takes the first legal tree.
const EXHAUSTIVE_DEPTH: usize = 3;
/// The most slots that a search fills before it gives up. An exhaustive search fills fewer than half of this number.
const MOST_STEPS: usize = 2_000_000;

/// The best tree with this root, or `None` if there is none or the search is too long.
pub fn best_tree(links: &Links, root: usize) -> Option<Tree> {
    let n = links.n();
    let depth = depth_for(n);
    let mut leaves = vec![usize::MAX; 1 << depth];
    leaves[0] = root;
    let mut search = Search { links, n, takes_first: depth > EXHAUSTIVE_DEPTH, leaves, best: None, n_steps: 0 };
    search.fill(1);
    search.best.map(|(_, tree)| tree)
}

struct Search<'a> {
    links: &'a Links,
    n: usize,
    takes_first: bool,
    leaves: Vec<usize>,
    best: Option<(f32, Tree)>,
    n_steps: usize,
}

impl Search<'_> {
    /// Tries all legal devices for `slot` and the slots after it.
    fn fill(&mut self, slot: usize) {
        if slot == self.leaves.len() {
            return self.keep_if_best();
        }
        // The device of the slot that gets what this slot sends. The number of that slot is `slot` without its lowest set
        // bit.
        let parent = self.leaves[slot & (slot - 1)];
        for device in 0..self.n {
            if self.n_steps == MOST_STEPS || self.takes_first && self.best.is_some() {
                return;
            }
            self.n_steps += 1;
            if device == parent || self.links.weight(parent, device) > 0.0 {
                self.leaves[slot] = device;
                if self.may_become_spanning(slot + 1) {
                    self.fill(slot + 1);
                }
            }
        }
    }

    /// Whether a tree that begins with these `len` slots can still hold all devices: enough slots must be left for the
    /// devices that are missing.
    fn may_become_spanning(&self, len: usize) -> bool {
        let mut is_found = vec![false; self.n];
        self.leaves[..len].iter().for_each(|&device| is_found[device] = true);
        let n_found = is_found.into_iter().filter(|&found| found).count();
        if len == self.leaves.len() {
            return n_found == self.n;
        }
        len >= self.n || n_found + (self.leaves.len() - self.n) >= len
    }

    fn keep_if_best(&mut self) {
        let mut tree = Tree { leaves: self.leaves.clone() };
        postprocess(&mut tree.leaves, self.n);
        // `postprocess` may replace the device of a slot, so that other slots send to a device to which they have no link.
        // MXNet keeps such trees; here they are dropped.
        let has_links = tree.sends().iter().all(|send| self.links.weight(send.to, send.from) > 0.0);
        if !has_links || !tree.is_spanning(self.n) {
            return;
        }
        let score = score(self.links, &tree);
        if self.best.as_ref().is_none_or(|(best, _)| score > *best) {
            self.best = Some((score, tree));
        }
    }
}
