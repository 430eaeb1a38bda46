//! The score by which trees are compared.

use super::{Links, Tree};

/// The penalty for each use of a link after its first use within one tree.
const REUSED_LINK: f32 = 100.0;
/// The penalty for a device that takes part twice in the same level, except in the level of the leaves.
const REUSED_DEVICE: f32 = 10.0;

/// The sum of the weights of all sends.
pub fn weight(links: &Links, tree: &Tree) -> f32 {
    tree.sends().iter().map(|send| links.weight(send.to, send.from)).sum()
}

/// The sum of the weights of all sends, less the penalties for links and devices that are used repeatedly.
pub fn score(links: &Links, tree: &Tree) -> f32 {
    let n = links.n();
    let mut score = 0.0;
    let mut is_link_used = vec![false; n * n];
    for level in 0..tree.depth() {
        let mut is_device_used = vec![false; n];
        for (to, from) in tree.pairs(level) {
            if to != from {
                score += links.weight(to, from);
                let link = to.min(from) * n + to.max(from);
                if std::mem::replace(&mut is_link_used[link], true) {
                    score -= REUSED_LINK;
                }
            }
            is_device_used[to] = true;
            if level > 0 && is_device_used[from] {
                score -= REUSED_DEVICE;
            }
            is_device_used[from] = true;
        }
    }
    score
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_cost() {
        let links = Links::new(4, (0..16).map(|i| if i % 5 == 0 { 0.0 } else { 2.0 }).collect()).unwrap();
        let tree = |leaves: [usize; 4]| Tree { leaves: leaves.to_vec() };
        assert_eq!(score(&links, &tree([0, 1, 2, 3])), 6.0);
        assert_eq!(score(&links, &tree([0, 1, 1, 0])), 6.0 - 2.0 * 100.0);
        // In the level above the leaves, slots 0 and 2 both hold device 0, which costs one penalty.
        assert_eq!(score(&links, &tree([0, 1, 0, 2])), 4.0 - 10.0);
        assert_eq!(weight(&links, &tree([0, 1, 0, 2])), 4.0);
    }
}
