//! Recomputes the forward part in about √n segments of equal bytes: memory grows with the square root of the depth, at the
//! cost of one more forward run. Chen, Xu, Zhang and Guestrin, "Training deep nets with sublinear memory cost",
//! arXiv:1604.06174.

use super::cuts::Line;
use crate::{NodeId, TrainingGraph};

/// Chooses the forward calls to store, as one flag per forward node. The calls are cut into about √n segments of equal
/// bytes, where n is the number of calls that gradients read. The stored calls are those before a cut whose outputs are
/// read after the cut, and all calls of the last segment. `bytes` are the bytes of a call's outputs.
///
/// Each cut is made where the stored calls have the fewest bytes, at most half a segment after the segment is full.
pub fn sqrt_segments(training: &TrainingGraph, bytes: impl Fn(NodeId) -> usize) -> Vec<bool> {
    let line = Line::of(training, bytes);
    let n_saved = line.saved.iter().filter(|b| **b > 0).count();
    let total = line.saved.iter().fold(0usize, |sum, b| sum.saturating_add(*b));
    let n_segments = (n_saved as f64).sqrt().ceil().max(1.0) as usize;
    let stored = in_segments(&line, total / n_segments);
    line.stored(training.n_forward_nodes, stored.0, stored.1)
}

/// Cuts the line into segments of about `target` bytes. Returns the positions of the calls to store, and the position at
/// which the last segment starts.
pub(super) fn in_segments(line: &Line, target: usize) -> (Vec<usize>, usize) {
    let cuts = line.cuts();
    let target = target.max(1);
    let mut stored = Vec::new();
    let mut start = 0;
    let (mut at, mut filled) = (0, 0usize);
    let mut best: Option<usize> = None;
    while at < line.calls.len() {
        filled = filled.saturating_add(line.saved[at]);
        if filled >= target && at + 1 < line.calls.len() && best.is_none_or(|b| cuts[at].0 < cuts[b].0) {
            best = Some(at);
        }
        let is_over = filled >= target.saturating_add(target / 2) || at + 1 == line.calls.len();
        if let Some(cut) = best.filter(|_| is_over) {
            stored.extend(line.crossing(cut));
            start = cut + 1;
            (at, filled, best) = (cut, 0, None);
        }
        at += 1;
    }
    (stored, start)
}
