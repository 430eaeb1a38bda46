//! The weights of links between devices.

use mxrs_types::{Error, Result};
use std::fmt;

/// What the driver reports about the links between `n` devices. Matrices are row-major, one row per device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkFacts {
    /// Number of devices.
    pub n: usize,
    /// The performance rank of direct copies between two devices: 0 through PCIe, 1 for one NVLink, 2 for two. The
    /// diagonal is not used.
    pub ranks: Vec<u8>,
    /// Whether two devices can copy directly.
    pub is_direct: Vec<bool>,
}

impl LinkFacts {
    /// Facts about `n` devices that cannot copy directly.
    pub fn indirect(n: usize) -> Self {
        Self { n, ranks: vec![0; n * n], is_direct: vec![false; n * n] }
    }

    /// Number of ordered pairs of different devices that can copy directly.
    pub fn n_direct(&self) -> usize {
        (0..self.n).map(|from| (0..self.n).filter(|&to| self.copies_directly(from, to)).count()).sum()
    }

    /// A line for each device, with `v` for each device to which it can copy directly and `.` for each other one.
    pub fn direct_matrix(&self) -> String {
        let word = |from, to| if self.copies_directly(from, to) { 'v' } else { '.' };
        let line = |from| (0..self.n).map(|to| word(from, to)).collect::<String>();
        (0..self.n).map(line).collect::<Vec<_>>().join("\n")
    }

    fn copies_directly(&self, from: usize, to: usize) -> bool {
        from != to && self.is_direct.get(from * self.n + to) == Some(&true)
    }
}

/// A symmetric matrix of weights; larger weights are faster links, and links of weight 0 are not used.
#[derive(Clone, Debug, PartialEq)]
pub struct Links {
    n: usize,
    weights: Vec<f32>,
}

impl Links {
    /// Makes a matrix of these weights, row-major.
    ///
    /// # Errors
    /// Fails unless there are `n * n` weights that are finite and not negative, with zeros on the diagonal.
    pub fn new(n: usize, weights: Vec<f32>) -> Result<Self> {
        if weights.len() != n * n {
            return Err(Error::invalid("weights of links", format!("{} of them", weights.len()), format!("{n} x {n}")));
        }
        let is_good = |(i, w): (usize, &f32)| w.is_finite() && *w >= 0.0 && (i % (n + 1) != 0 || *w == 0.0);
        match weights.iter().enumerate().find(|&(i, w)| !is_good((i, w))) {
            None => Ok(Self { n, weights }),
            Some((i, w)) => {
                let what = format!("weight of the link from {} to {}", i / n, i % n);
                Err(Error::invalid(what, w, "a finite number from 0, and 0 from a device to itself"))
            }
        }
    }

    /// The weights as the driver's facts give them: the rank plus 1. If some pair of devices copies directly although its
    /// rank is that of PCIe, the ranks are not trusted: each pair that copies directly gets 2, any other pair 1.
    ///
    /// # Errors
    /// Fails unless both matrices have `n * n` entries.
    pub fn of_facts(facts: &LinkFacts) -> Result<Self> {
        let n = facts.n;
        if facts.ranks.len() != n * n || facts.is_direct.len() != n * n {
            let got = format!("{} ranks and {} flags", facts.ranks.len(), facts.is_direct.len());
            return Err(Error::invalid("facts about links", got, format!("{n} x {n} of each")));
        }
        let pairs = || (0..n * n).filter(|i| i % (n + 1) != 0);
        let is_trusted = !pairs().any(|i| facts.is_direct[i] && facts.ranks[i] == 0);
        let mut weights = vec![0.0; n * n];
        for i in pairs() {
            weights[i] = if is_trusted { f32::from(facts.ranks[i]) + 1.0 } else { 1.0 + f32::from(facts.is_direct[i]) };
        }
        Self::new(n, weights)
    }

    /// The weights from which trees are built. If the links that are faster than PCIe (weight 1) connect all devices, PCIe
    /// links get the weight 0 and are not used. Otherwise they get the weight `1 / n`.
    pub fn without_slow(&self) -> Self {
        let replacement = if self.is_connected_above(1.0) { 0.0 } else { 1.0 / self.n as f32 };
        let weights = self.weights.iter().map(|&w| if w == 1.0 { replacement } else { w }).collect();
        Self { n: self.n, weights }
    }

    fn is_connected_above(&self, bound: f32) -> bool {
        let mut reached = vec![false; self.n];
        let mut next: Vec<usize> = (0..self.n.min(1)).collect();
        while let Some(device) = next.pop() {
            if !std::mem::replace(&mut reached[device], true) {
                next.extend((0..self.n).filter(|&other| self.weight(device, other) > bound));
            }
        }
        reached.into_iter().all(|is_reached| is_reached)
    }

    /// Number of devices.
    pub fn n(&self) -> usize {
        self.n
    }

    /// The weight of the link between two devices.
    pub fn weight(&self, from: usize, to: usize) -> f32 {
        self.weights[from * self.n + to]
    }

    /// Multiplies the weight of a link, in both directions.
    pub fn scale(&mut self, from: usize, to: usize, factor: f32) {
        self.weights[from * self.n + to] *= factor;
        self.weights[to * self.n + from] *= factor;
    }
}

impl fmt::Display for Links {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in self.weights.chunks(self.n.max(1)) {
            let row: Vec<String> = row.iter().map(|w| format!("{w:.3}")).collect();
            writeln!(f, "{}", row.join(" "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(ranks: &[u8], is_direct: &[u8]) -> LinkFacts {
        let is_direct = is_direct.iter().map(|&flag| flag == 1).collect();
        LinkFacts { n: 3, ranks: ranks.to_vec(), is_direct }
    }

    #[test]
    fn ranks_become_weights_unless_a_direct_pair_has_rank_0() {
        let direct = [0, 1, 0, 1, 0, 1, 0, 1, 0];
        let trusted = Links::of_facts(&facts(&[7, 1, 0, 1, 7, 2, 0, 2, 7], &direct)).unwrap();
        assert_eq!(trusted.weights, [0.0, 2.0, 1.0, 2.0, 0.0, 3.0, 1.0, 3.0, 0.0]);
        let distrusted = Links::of_facts(&facts(&[0, 0, 0, 0, 0, 2, 0, 2, 0], &direct)).unwrap();
        assert_eq!(distrusted.weights, [0.0, 2.0, 1.0, 2.0, 0.0, 2.0, 1.0, 2.0, 0.0]);
        assert_eq!(Links::of_facts(&LinkFacts::indirect(2)).unwrap().weights, [0.0, 1.0, 1.0, 0.0]);
        let facts = facts(&[0; 9], &[1, 1, 0, 1, 0, 0, 0, 1, 1]);
        assert_eq!((facts.n_direct(), &*facts.direct_matrix()), (3, ".v.\nv..\n.v."));
        let short = LinkFacts { n: 2, ranks: vec![], is_direct: vec![false, true] };
        assert_eq!((short.n_direct(), &*short.direct_matrix()), (1, ".v\n.."));
    }

    #[test]
    fn slow_links_count_only_where_they_are_needed() {
        let links = |w: [f32; 9]| Links::new(3, w.to_vec()).unwrap().without_slow().weights;
        let connected = links([0.0, 2.0, 1.0, 2.0, 0.0, 3.0, 1.0, 3.0, 0.0]);
        assert_eq!(connected, [0.0, 2.0, 0.0, 2.0, 0.0, 3.0, 0.0, 3.0, 0.0]);
        let third = 1.0 / 3.0;
        let split = links([0.0, 2.0, 1.0, 2.0, 0.0, 1.0, 1.0, 1.0, 0.0]);
        assert_eq!(split, [0.0, 2.0, third, 2.0, 0.0, third, third, third, 0.0]);
    }

    #[test]
    fn bad_matrices_are_refused() {
        for (weights, word) in [
            (vec![0.0; 3], "3 of them"),
            (vec![0.0, -1.0, 1.0, 0.0], "from 0 to 1"),
            (vec![0.0, 1.0, 1.0, 1.0], "from 1 to 1"),
        ] {
            let error = Links::new(2, weights).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
        assert!(Links::of_facts(&LinkFacts { n: 2, ranks: vec![0; 3], is_direct: vec![false; 4] }).is_err());
    }
}
