//! Builds a tree by halving the set of devices, with the method of Kernighan and Lin (1970): devices of the two halves are
//! swapped in pairs as long as this reduces the weight of the links between the halves. Each halving gives one level of the
//! tree.

use super::{Links, Tree, depth_for};

/// How often the construction of one tree may start again after a halving whose halves have no link.
const MOST_REWINDS: usize = 10;

/// A random number generator that gives the same numbers on every machine (SplitMix64).
pub struct Random(u64);

impl Random {
    /// A source with this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) % n.max(1) as u64) as usize
    }

    fn shuffle(&mut self, items: &mut [usize]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

/// A tree with this root, or `None` if the halves of some set have no link.
pub fn tree(links: &Links, root: usize, random: &mut Random) -> Option<Tree> {
    let n = links.n();
    let mut parts: Vec<Vec<usize>> = vec![(0..n).collect()];
    // The device of each slot of the current level, with the number of its part. The device collects the sum of this part.
    let mut roots = vec![(root, 0)];
    let mut n_rewinds = 0;
    for _ in 0..depth_for(n) {
        (parts, roots) = loop {
            let halves: Vec<[Vec<usize>; 2]> = parts.iter().map(|part| halve(links, part, random)).collect();
            match next_level(links, &halves, &roots, random) {
                Some(roots) => break (halves.into_iter().flatten().collect(), roots),
                None if n_rewinds == MOST_REWINDS => return None,
                None => n_rewinds += 1,
            }
        };
    }
    let tree = Tree { leaves: roots.into_iter().map(|(device, _)| device).collect() };
    tree.is_spanning(n).then_some(tree)
}

/// Splits each root into two slots: the root itself, and a device of the other half that sends its sum to the root. Both
/// have the number of their half.
fn next_level(
    links: &Links,
    halves: &[[Vec<usize>; 2]],
    roots: &[(usize, usize)],
    random: &mut Random,
) -> Option<Vec<(usize, usize)>> {
    let mut next = Vec::with_capacity(2 * roots.len());
    for &(root, part) in roots {
        let own = usize::from(!halves[part][0].contains(&root));
        let other = &halves[part][1 - own];
        next.push((root, 2 * part + own));
        if other.is_empty() {
            next.push((root, 2 * part + own));
            continue;
        }
        let heaviest = other.iter().map(|&device| links.weight(root, device)).fold(0.0, f32::max);
        let ties: Vec<usize> = other.iter().copied().filter(|&d| links.weight(root, d) == heaviest).collect();
        if heaviest <= 0.0 {
            return None;
        }
        next.push((ties[random.below(ties.len())], 2 * part + 1 - own));
    }
    Some(next)
}

/// Cuts a set of devices into two halves with light links between them.
fn halve(links: &Links, part: &[usize], random: &mut Random) -> [Vec<usize>; 2] {
    let mut part = part.to_vec();
    random.shuffle(&mut part);
    let mut side: Vec<bool> = (0..part.len()).map(|i| i < part.len() / 2).collect();
    for _ in 0..=links.n() {
        let swaps = best_swaps(links, &part, &side);
        if swaps.is_empty() {
            break;
        }
        swaps.into_iter().flatten().for_each(|i| side[i] = !side[i]);
    }
    [true, false].map(|of| part.iter().zip(&side).filter(|&(_, &s)| s == of).map(|(&device, _)| device).collect())
}

/// The sequence of swaps of pairs that reduces the weight of the links between the sides the most. Empty if no swap reduces
/// it.
fn best_swaps(links: &Links, part: &[usize], side: &[bool]) -> Vec<[usize; 2]> {
    let mut side = side.to_vec();
    let mut is_locked = vec![false; part.len()];
    let (mut swaps, mut gain, mut best_gain, mut n_best) = (Vec::new(), 0.0, 0.0, 0);
    for _ in 0..part.len() / 2 {
        // How much the weight across falls if a device changes sides: its links to the other side, less its links within its
        // own side.
        let saved: Vec<f32> = (0..part.len())
            .map(|i| {
                let signed = |j: usize| if side[j] == side[i] { -1.0 } else { 1.0 };
                (0..part.len()).map(|j| signed(j) * links.weight(part[i], part[j])).sum()
            })
            .collect();
        let mut best: Option<(f32, [usize; 2])> = None;
        for a in 0..part.len() {
            for b in a + 1..part.len() {
                let gain = saved[a] + saved[b] - 2.0 * links.weight(part[a], part[b]);
                let is_allowed = !is_locked[a] && !is_locked[b] && side[a] != side[b] && gain > 0.0;
                if is_allowed && best.is_none_or(|(most, _)| gain > most) {
                    best = Some((gain, [a, b]));
                }
            }
        }
        let Some((step, pair)) = best else { break };
        for i in pair {
            (side[i], is_locked[i]) = (!side[i], true);
        }
        swaps.push(pair);
        gain += step;
        if gain > best_gain {
            (best_gain, n_best) = (gain, swaps.len());
        }
    }
    swaps.truncate(n_best);
    swaps
}
