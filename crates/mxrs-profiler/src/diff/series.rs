//! Finds the iterations in two runs, and which calls of the two runs correspond to each other.
//!
//! An iteration begins with the first node that is called equally often in all iterations. Several calls of one node in an
//! iteration are distinguished by their order. In a trace that does not name nodes, such as MXNet's, the calls of one
//! operator are distinguished in this way.

use super::calls::{Call, Run};
use super::model::FEWEST;
use super::robust::median;
use rustc_hash::FxHashMap;

/// The most different nodes in the two traces together.
pub(super) const MOST_GROUPS: usize = 1 << 16;
/// The most calls of one node in an iteration that are distinguished.
const MOST_POSITIONS: usize = 4096;
/// The shortest time in microseconds; shorter ones count as this, because a time of 0 has no logarithm.
const SHORTEST_US: f64 = 1e-3;

/// Pairs of an operator and a node, which is empty if the trace does not name it, and their numbers.
#[derive(Debug, Default)]
pub(super) struct Groups {
    names: Vec<(String, String)>,
    numbers: FxHashMap<String, FxHashMap<String, u32>>,
}

impl Groups {
    /// The number of a pair; `None` if it is new and there are too many.
    pub(super) fn number(&mut self, operator: &str, node: &str) -> Option<u32> {
        if let Some(number) = self.numbers.get(operator).and_then(|nodes| nodes.get(node)) {
            return Some(*number);
        }
        let number = u32::try_from(self.names.len()).ok().filter(|_| self.names.len() < MOST_GROUPS)?;
        self.names.push((operator.to_owned(), node.to_owned()));
        self.numbers.entry(operator.to_owned()).or_default().insert(node.to_owned(), number);
        Some(number)
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    pub(super) fn operator(&self, number: u32) -> &str {
        &self.names[number as usize].0
    }

    pub(super) fn node(&self, number: u32) -> &str {
        &self.names[number as usize].1
    }
}

/// The calls of one node that have the same position among the node's calls of their iteration, in both runs.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    pub(super) group: u32,
    /// The two runs.
    pub(super) sides: [UnitSide; 2],
}

/// The calls of a unit in one of the two runs.
#[derive(Clone, Debug, Default)]
pub(super) struct UnitSide {
    /// The iteration and the logarithm of the time of each call, in the order of their begins.
    pub(super) values: Vec<(u32, f64)>,
    pub(super) calls: usize,
    /// The median of the times, multiplied by the number of calls per iteration.
    pub(super) typical_us: f64,
    pub(super) total_us: f64,
}

/// The units of two runs in the order of their groups, and the number of iterations of each run, which is at least 1 if the run
/// has calls.
pub(super) fn align(groups: &Groups, runs: &[Run; 2]) -> (Vec<Unit>, [usize; 2]) {
    let begins = runs.each_ref().map(|run| iterations(groups, &run.calls));
    let mut calls: Vec<[Vec<(u32, f32)>; 2]> = vec![Default::default(); groups.len()];
    for (side, run) in runs.iter().enumerate() {
        for call in &run.calls {
            let at = begins[side].partition_point(|begin| *begin <= call.begin_us).saturating_sub(1);
            calls[call.group as usize][side].push((at as u32, call.us));
        }
    }
    let n_iterations = begins.each_ref().map(Vec::len);
    let mut units = Vec::new();
    for (group, calls) in calls.iter().enumerate() {
        let per_iteration = calls.each_ref().map(|calls| usual_count(calls));
        let n_positions = match per_iteration {
            [0, n] | [n, 0] => n,
            [in_a, in_b] if in_a == in_b => in_a,
            // The number of calls per iteration differs between the runs, so it is not known which calls correspond. All
            // calls form one unit.
            _ => 1,
        };
        let n_positions = if n_positions > MOST_POSITIONS { 1 } else { n_positions };
        let of_side = [0, 1].map(|side| {
            let are_distinguished = per_iteration[side] == n_positions;
            split(&calls[side], n_positions, are_distinguished, n_iterations[side])
        });
        let [in_a, in_b] = of_side;
        units.extend(in_a.into_iter().zip(in_b).map(|(mut a, mut b)| {
            // A call that most iterations lack has no reliable typical time, and its times say nothing about the speed of
            // the machine. So its values are dropped.
            for (side, n_iterations) in [&mut a, &mut b].into_iter().zip(n_iterations) {
                if n_iterations >= FEWEST && side.values.len() < FEWEST {
                    side.values.clear();
                }
            }
            Unit { group: group as u32, sides: [a, b] }
        }));
    }
    (units, n_iterations)
}

/// The times at which the iterations begin: the begins of the first group that is called equally often in each iteration.
///
/// The number of iterations is guessed from the numbers of calls of all groups: it is the largest of these numbers that
/// divides most of the others. Groups that are called once, such as those that prepare weights, do not count if other groups
/// are called more often.
fn iterations(groups: &Groups, calls: &[Call]) -> Vec<f64> {
    let mut counts = vec![0_usize; groups.len()];
    calls.iter().for_each(|call| counts[call.group as usize] += 1);
    // For each number of calls, how many groups have it. There are fewer different numbers than groups, so this saves time.
    let mut n_groups: FxHashMap<usize, usize> = FxHashMap::default();
    let fewest = if counts.iter().any(|count| *count > 1) { 2 } else { 1 };
    counts.iter().filter(|count| **count >= fewest).for_each(|count| *n_groups.entry(*count).or_default() += 1);
    let n_all: usize = n_groups.values().sum();
    let divided = |by: usize| -> usize {
        n_groups.iter().filter(|(count, _)| count.is_multiple_of(by)).map(|(_, n_groups)| n_groups).sum()
    };
    // If no number divides most of the others, the number that divides the most of them is the best guess.
    let best = n_groups.keys().map(|count| (*count, divided(*count))).max_by_key(|(count, n_divided)| {
        let is_most = n_divided * 5 >= n_all * 3;
        (is_most, if is_most { *count } else { *n_divided }, *count)
    });
    let Some((n_iterations, _)) = best else { return Vec::new() };
    let anchor = calls.iter().map(|call| call.group).find(|group| counts[*group as usize].is_multiple_of(n_iterations));
    let Some(anchor) = anchor else { return Vec::new() };
    let of_anchor = calls.iter().filter(|call| call.group == anchor).map(|call| call.begin_us);
    of_anchor.step_by(counts[anchor as usize] / n_iterations).collect()
}

/// The most frequent number of calls per iteration, among iterations with at least one call; 0 if there are no calls.
fn usual_count(calls: &[(u32, f32)]) -> usize {
    let mut n_iterations: FxHashMap<usize, usize> = FxHashMap::default();
    for of_iteration in calls.chunk_by(|x, y| x.0 == y.0) {
        *n_iterations.entry(of_iteration.len()).or_default() += 1;
    }
    n_iterations.into_iter().max_by_key(|(count, n_iterations)| (*n_iterations, *count)).map_or(0, |(count, _)| count)
}

/// Divides the calls of a group by their position in their iteration, if positions are distinguished. Calls beyond the usual
/// number of an iteration are counted, but their times are not used.
fn split(calls: &[(u32, f32)], n_positions: usize, are_distinguished: bool, n_iterations: usize) -> Vec<UnitSide> {
    let mut sides = vec![UnitSide::default(); n_positions];
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); n_positions];
    for of_iteration in calls.chunk_by(|x, y| x.0 == y.0) {
        for (at, (iteration, us)) in of_iteration.iter().enumerate() {
            let position = if are_distinguished { at.min(n_positions - 1) } else { 0 };
            let (side, us) = (&mut sides[position], f64::from(*us));
            side.calls += 1;
            side.total_us += us;
            if !are_distinguished || at < n_positions {
                side.values.push((*iteration, us.max(SHORTEST_US).ln()));
                times[position].push(us);
            }
        }
    }
    for (side, times) in sides.iter_mut().zip(&mut times) {
        if !times.is_empty() {
            side.typical_us = median(times) * side.calls as f64 / n_iterations.max(1) as f64;
        }
    }
    sides
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::Footer;

    fn run(groups: &mut Groups, calls: &[(&str, &str)]) -> Run {
        let calls = calls.iter().enumerate().map(|(at, (operator, node))| {
            let group = groups.number(operator, node).unwrap();
            Call { begin_us: at as f64, us: 1.0 + at as f32, group }
        });
        Run { calls: calls.collect(), footer: Footer::default(), n_unpaired: 0 }
    }

    #[test]
    fn calls_without_names_are_distinguished_by_their_order() {
        let mut groups = Groups::default();
        let once = [("conv", ""), ("pool", ""), ("conv", ""), ("fc", "")];
        let a = run(&mut groups, &once.repeat(3));
        let b = run(&mut groups, &[&[("copy", "")], &once.repeat(4)[..]].concat());
        let (units, iterations) = align(&groups, &[a, b]);
        assert_eq!(iterations, [3, 4]);
        let convs: Vec<_> = units.iter().filter(|unit| groups.operator(unit.group) == "conv").collect();
        assert_eq!(convs.len(), 2);
        // The second convolution of each iteration of `a` begins at 2, 6 and 10.
        let times: Vec<_> = convs[1].sides[0].values.iter().map(|(at, log)| (*at, log.exp().round())).collect();
        assert_eq!(times, [(0, 3.0), (1, 7.0), (2, 11.0)]);
        let copy = units.iter().find(|unit| groups.operator(unit.group) == "copy").unwrap();
        assert_eq!([copy.sides[0].calls, copy.sides[1].calls], [0, 1]);
    }

    #[test]
    fn nodes_whose_number_of_calls_differs_are_one_unit() {
        let mut groups = Groups::default();
        let a = run(&mut groups, &[("conv", "c"), ("fc", "f"), ("fc", "f")].repeat(5));
        let b = run(&mut groups, &[("conv", "c"), ("fc", "f")].repeat(5));
        let (units, iterations) = align(&groups, &[a, b]);
        assert_eq!((units.len(), iterations), (2, [5, 5]));
        assert_eq!(units[1].sides.each_ref().map(|side| side.values.len()), [10, 5]);
        // The calls of `fc` take 2, 3, 5, 6, …, 14, 15. Their median is 8.5, and there are two calls in each iteration.
        assert_eq!(units[1].sides[0].typical_us, 17.0);
    }
}
