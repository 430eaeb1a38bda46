//! Checkpoints on a chain: the best choice of calls to store, by dynamic programming.
//!
//! The forward part can be cut where a single call connects the calls before and after the cut. Such calls are the *stages*.
//! If some stages are stored, the segment between two of them is recomputed for its backward part. So the memory consists of
//! the bytes of the stored stages and of the largest segment. For each bound on the size of segments, a pass over the chain
//! finds the stages with the fewest bytes to store. The bound with the least memory is chosen. The result is exact for
//! chains of up to 89 stages, for which all bounds are tried. For longer chains, evenly spaced bounds are tried.

use super::cuts::Line;
use crate::{NodeId, TrainingGraph};
use std::collections::VecDeque;

/// The largest number of bounds to try.
const MAX_BOUNDS: usize = 4096;

/// The limit on bounds times stages, which sets the number of bounds for long chains. At least `MAX_BOUNDS / 64` bounds are
/// tried, even if this limit is exceeded.
const MAX_STEPS: usize = 1 << 22;

/// Chooses the forward calls to store, as one flag per forward node. The choice minimizes the sum of the stored bytes and
/// the bytes of the largest segment. The last segment is stored too. `bytes` are the bytes of a call's outputs.
pub fn chain_checkpoints(training: &TrainingGraph, bytes: impl Fn(NodeId) -> usize) -> Vec<bool> {
    let line = Line::of(training, bytes);
    let stages = Stages::of(&line);
    let best = stages.best();
    let from = best.last().map_or(0, |stage| stages.positions[*stage] + 1);
    line.stored(training.n_forward_nodes, best.into_iter().map(|stage| stages.positions[stage]), from)
}

/// A chain of stages, which are the calls that may be stored, and the bytes between them.
#[derive(Debug, Default)]
pub(super) struct Stages {
    /// For each stage, its position in the [`Line`] of forward calls.
    pub positions: Vec<usize>,
    /// For each stage, the bytes of its outputs: the memory that it takes to store the stage.
    pub bytes: Vec<usize>,
    /// For each stage, the bytes that recomputation can save (`Line::saved`) in the calls before it that are not
    /// stages. The last item is the total of all such calls.
    pub before: Vec<usize>,
    /// For each stage, the bytes that recomputation can save in the stages before it. The last item is the total of all
    /// stages.
    pub own_before: Vec<usize>,
}

impl Stages {
    pub fn of(line: &Line) -> Self {
        let mut stages = Self::default();
        let (mut between, mut own) = (0, 0);
        for (position, (_, is_single)) in line.cuts().into_iter().enumerate() {
            if is_single {
                stages.positions.push(position);
                stages.bytes.push(line.bytes[position]);
                stages.before.push(between);
                stages.own_before.push(own);
                own += line.saved[position];
            } else {
                between += line.saved[position];
            }
        }
        stages.before.push(between);
        stages.own_before.push(own);
        stages
    }

    /// The bytes that recomputation can save in the calls between stage `from` and stage `to`, excluding both. `None`
    /// is the start of the chain; the number of stages is its end.
    pub fn between(&self, from: Option<usize>, to: usize) -> usize {
        let start = from.map_or(0, |f| self.before[f] + self.own_before[f + 1]);
        self.before[to] + self.own_before[to] - start
    }

    /// The stages to store if no segment may be larger than `bound`, and their bytes: `(bytes, stages)`. `None` if even the
    /// segment between two adjacent stages is larger.
    pub fn cheapest(&self, bound: usize) -> Option<(usize, Vec<usize>)> {
        let n = self.positions.len();
        // `least`: for each stage, and for the end, the fewest bytes stored up to there if that stage is stored. `from`: the
        // stage stored before it.
        let mut least: Vec<Option<usize>> = vec![None; n + 1];
        let mut from: Vec<Option<usize>> = vec![None; n + 1];
        // The stages that may be stored before the current stage, with their `least` bytes, cheapest first. Each is later
        // than all cheaper ones. `None` is the start.
        let mut window: VecDeque<(Option<usize>, usize)> = VecDeque::from([(None, 0)]);
        for to in 0..=n {
            while window.front().is_some_and(|(f, _)| self.between(*f, to) > bound) {
                window.pop_front();
            }
            let Some(&(before, stored)) = window.front() else { continue };
            let stored = stored + self.bytes.get(to).copied().unwrap_or(0);
            least[to] = Some(stored);
            from[to] = before;
            while window.back().is_some_and(|(_, cost)| *cost >= stored) {
                window.pop_back();
            }
            window.push_back((Some(to), stored));
        }
        let mut chosen: Vec<usize> = std::iter::successors(from[n], |stage| from[*stage]).collect();
        chosen.reverse();
        least[n].map(|stored| (stored, chosen))
    }

    /// The bounds to try, ascending: the bytes between any two stages, or evenly spaced numbers if those are too many.
    pub fn bounds(&self) -> Vec<usize> {
        let n = self.positions.len();
        let total = self.between(None, n);
        let most = (MAX_STEPS / (n + 1)).clamp(MAX_BOUNDS / 64, MAX_BOUNDS);
        let mut bounds: Vec<usize> = if (n + 1) * (n + 2) / 2 <= most {
            let starts = std::iter::once(None).chain((0..n).map(Some));
            starts.flat_map(|from| (from.map_or(0, |f| f + 1)..=n).map(move |to| self.between(from, to))).collect()
        } else {
            (1..=most).map(|k| (total as u128 * k as u128).div_ceil(most as u128) as usize).collect()
        };
        bounds.sort_unstable();
        bounds.dedup();
        bounds
    }

    /// The stages to store for the least memory. Of equally good choices, the one with the largest bound on segments is
    /// returned.
    pub fn best(&self) -> Vec<usize> {
        let mut best: Option<(usize, Vec<usize>)> = None;
        for bound in self.bounds().into_iter().rev() {
            if let Some((stored, chosen)) = self.cheapest(bound) {
                let bytes = stored.saturating_add(bound);
                if best.as_ref().is_none_or(|(least, _)| bytes < *least) {
                    best = Some((bytes, chosen));
                }
            }
        }
        best.map_or_else(Vec::new, |(_, chosen)| chosen)
    }
}
