//! Which worker sums and updates which elements.
//!
//! A *piece* is a range of the elements of a key. It is sent as one message, and one worker owns it: that worker sums the
//! values of all workers and sends the result to them. The pieces of a key that one worker owns are adjacent, except in
//! `p3`, which only sums: its owners take turns.

use std::cmp::Reverse;
use std::ops::Range;

/// The most elements of a piece: 256 KiB of float32. A piece that was received stays in a second-level cache while it is added.
const MOST_ELEMENTS: usize = 1 << 16;
/// The most elements of a slice in `p3`, whatever the setting is, because messages have a bounded size.
const MOST_SLICE: usize = 1 << 18;

/// Some elements of a key, with the worker that sums them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub elements: Range<usize>,
    pub owner: usize,
}

/// How keys are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rules {
    pub n_workers: usize,
    /// The fewest elements of a key that is divided among all workers (`MXNET_KVSTORE_BIGARRAY_BOUND`).
    pub big_array_elements: u64,
    /// In `p3`, the most elements of a slice (`MXNET_KVSTORE_SLICE_THRESHOLD`).
    pub slice_elements: Option<u64>,
    /// Whether a part of a key can be updated without the others. If not, each key has one owner: its update may need all
    /// elements, such as a norm.
    pub is_divisible: bool,
    /// A part of a key ends at a multiple of this number of elements, or at the end of the key. With compression it is the
    /// number of elements in 4 bytes of code; otherwise it is 1.
    pub grain: usize,
}

/// The ends of `n_parts` parts of `n` elements. Part `i`, counted from 1, ends at `round(n / n_parts * i)`, where a half is
/// rounded up, as MXNet divides a key over its servers. With a `grain` above 1, whole grains are divided in this way instead
/// of elements.
pub(crate) fn part_ends(n: usize, n_parts: usize, grain: usize) -> Vec<usize> {
    let (n_grains, n_parts) = (n.div_ceil(grain) as u128, n_parts as u128);
    let end = |i: u128| (2 * n_grains * i + n_parts) / (2 * n_parts);
    (1..=n_parts).map(|i| usize::try_from(end(i)).unwrap_or(n).saturating_mul(grain).min(n)).collect()
}

/// Divides keys of these numbers of elements.
///
/// A key of at least `big_array_elements` is divided over all workers as MXNet divides it over its servers. Each other key
/// has one owner: keys are assigned from the largest to the smallest, each to the worker that has the fewest elements so
/// far. MXNet instead chooses the server by the number of the key, whatever the sizes are. In `p3`, slices go to the workers
/// in turn.
pub(super) fn plan(sizes: &[usize], rules: &Rules) -> Vec<Vec<Piece>> {
    let n_workers = rules.n_workers.max(1);
    let mut pieces = vec![Vec::new(); sizes.len()];
    if let Some(most) = rules.slice_elements {
        let most = usize::try_from(most).unwrap_or(usize::MAX).clamp(1, MOST_SLICE);
        let mut n_slices = 0;
        for (pieces, &n) in pieces.iter_mut().zip(sizes) {
            for elements in cut(0..n, most) {
                pieces.push(Piece { elements, owner: n_slices % n_workers });
                n_slices += 1;
            }
        }
        return pieces;
    }
    let mut loads = vec![0u64; n_workers];
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|&key| (Reverse(sizes[key]), key));
    for key in order {
        let n = sizes[key];
        if rules.is_divisible && n as u64 >= rules.big_array_elements && n_workers > 1 {
            let mut begin = 0;
            for (owner, end) in part_ends(n, n_workers, rules.grain.max(1)).into_iter().enumerate() {
                loads[owner] += (end - begin) as u64;
                pieces[key].extend(cut(begin..end, MOST_ELEMENTS).map(|elements| Piece { elements, owner }));
                begin = end;
            }
        } else if let Some(owner) = (0..n_workers).min_by_key(|&worker| loads[worker]) {
            loads[owner] += n as u64;
            pieces[key].extend(cut(0..n, MOST_ELEMENTS).map(|elements| Piece { elements, owner }));
        }
    }
    pieces
}

/// Ranges of at most `most` elements that cover `range`. A range without elements has no parts.
fn cut(range: Range<usize>, most: usize) -> impl Iterator<Item = Range<usize>> {
    let end = range.end;
    range.step_by(most).map(move |begin| begin..begin.saturating_add(most).min(end))
}

/// The elements that this worker owns, if its pieces are adjacent; an empty range if it owns none.
pub(super) fn owned(pieces: &[Piece], rank: usize) -> Range<usize> {
    let mut own = pieces.iter().filter(|piece| piece.owner == rank).map(|piece| &piece.elements);
    let Some(first) = own.next() else { return 0..0 };
    first.start..own.next_back().unwrap_or(first).end
}

#[cfg(test)]
mod tests;
