//! The fallback if the links allow no tree, as when the devices form a ring: sums move along a chain of devices towards the
//! root.

use super::Links;
use super::plan::{Send, SumPlan};

/// The most steps of the search for a chain.
const MOST_STEPS: usize = 200_000;

/// An order of all devices in which neighbors have a link. If the search finds none, the devices are in ascending order.
pub fn order(links: &Links) -> Vec<usize> {
    let mut n_steps = 0;
    for first in 0..links.n() {
        let mut chain = vec![first];
        if extend(links, &mut chain, &mut n_steps) {
            return chain;
        }
    }
    (0..links.n()).collect()
}

fn extend(links: &Links, chain: &mut Vec<usize>, n_steps: &mut usize) -> bool {
    if chain.len() == links.n() {
        return true;
    }
    for next in 0..links.n() {
        *n_steps += 1;
        if *n_steps > MOST_STEPS {
            return false;
        }
        let last = chain[chain.len() - 1];
        if links.weight(last, next) > 0.0 && !chain.contains(&next) {
            chain.push(next);
            if extend(links, chain, n_steps) {
                return true;
            }
            chain.pop();
        }
    }
    false
}

/// The sends from both ends of a chain to `root`.
pub fn plan(chain: &[usize], root: usize) -> SumPlan {
    let at = chain.iter().position(|&device| device == root).unwrap_or(0);
    let before = chain[..=at].windows(2).map(|pair| Send { from: pair[0], to: pair[1] });
    let after = chain[at..].windows(2).rev().map(|pair| Send { from: pair[1], to: pair[0] });
    SumPlan { root, sends: before.chain(after).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_move_from_both_ends_to_the_root() {
        let sends = |root| plan(&[2, 0, 3, 1], root).sends.iter().map(|s| (s.from, s.to)).collect::<Vec<_>>();
        assert_eq!(sends(3), [(2, 0), (0, 3), (1, 3)]);
        assert_eq!(sends(2), [(1, 3), (3, 0), (0, 2)]);
        assert_eq!(sends(1), [(2, 0), (0, 3), (3, 1)]);
    }

    #[test]
    fn devices_without_links_are_chained_by_number() {
        assert_eq!(order(&Links::new(3, vec![0.0; 9]).unwrap()), [0, 1, 2]);
    }
}
