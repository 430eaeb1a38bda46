//! Bulk segments: runs of nodes that are handed to the engine as one task.
//!
//! - G19 segments in order are the whole range of nodes, without gap or overlap.
//! - G20 a node that must be a task of its own shares its segment with no other task.
//!
//! A segment has one device, does not cross from the forward to the backward part, and has no more tasks than its part's
//! limit.

use mxrs_types::Device;
use std::ops::Range;

/// How a node takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bulk {
    /// No task: variables, sums done in place by the producer. It belongs to any segment and counts nowhere.
    Nothing,
    /// A task of its own: asynchronous operators, copies between devices, nodes on arrays that change per call.
    Alone,
    /// May share a task with others on this device.
    Joins(Device),
}

/// The most nodes in a task; 0 counts as 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentLimits {
    /// In the forward part.
    pub forward: usize,
    /// In the backward part.
    pub backward: usize,
}

impl SegmentLimits {
    /// The documented default of `MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN`.
    pub const DEFAULT_TRAIN: usize = 15;

    /// No limit: at inference, whatever may join does.
    pub const fn unlimited() -> Self {
        Self { forward: usize::MAX, backward: usize::MAX }
    }

    /// Every node is a task of its own.
    pub const fn single() -> Self {
        Self { forward: 1, backward: 1 }
    }
}

impl Default for SegmentLimits {
    fn default() -> Self {
        Self { forward: Self::DEFAULT_TRAIN, backward: Self::DEFAULT_TRAIN }
    }
}

/// A run of nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Positions of its nodes.
    pub nodes: Range<usize>,
    /// How many of them are tasks.
    pub n_tasks: usize,
}

/// Cuts the nodes `0..n_nodes`, of which the first `n_forward_nodes` are the forward part, into segments.
pub fn segments(
    n_nodes: usize,
    n_forward_nodes: usize,
    limits: SegmentLimits,
    bulk: impl Fn(usize) -> Bulk,
) -> Vec<Segment> {
    let mut list: Vec<Segment> = Vec::new();
    // What the tasks of the open segment are: `None` while it has none.
    let mut open: Option<Bulk> = None;
    for node in 0..n_nodes {
        let limit = if node < n_forward_nodes { limits.forward } else { limits.backward };
        let kind = bulk(node);
        let fits = |segment: &Segment| match (open, kind) {
            (_, Bulk::Nothing) | (None, _) => true,
            (Some(Bulk::Joins(a)), Bulk::Joins(b)) => a == b && segment.n_tasks < limit,
            _ => false,
        };
        let is_task = kind != Bulk::Nothing;
        match list.last_mut().filter(|s| node != n_forward_nodes && fits(s)) {
            Some(segment) => {
                segment.nodes.end = node + 1;
                segment.n_tasks += usize::from(is_task);
            }
            None => {
                list.push(Segment { nodes: node..node + 1, n_tasks: usize::from(is_task) });
                open = None;
            }
        }
        if is_task {
            open = Some(kind);
        }
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kind(code: u8) -> Bulk {
        match code {
            0 => Bulk::Nothing,
            1 => Bulk::Alone,
            2 => Bulk::Joins(Device::gpu(0)),
            _ => Bulk::Joins(Device::cpu(0)),
        }
    }

    fn sizes(codes: &[u8], forward: usize, limits: SegmentLimits) -> Vec<usize> {
        segments(codes.len(), forward, limits, |i| kind(codes[i])).into_iter().map(|s| s.nodes.len()).collect()
    }

    #[test]
    fn segments_end_at_limits_borders_and_lone_tasks() {
        let limits = SegmentLimits { forward: 2, backward: 3 };
        assert_eq!(sizes(&[3; 9], 5, limits), [2, 2, 1, 3, 1]);
        assert_eq!(sizes(&[3; 9], 9, SegmentLimits::unlimited()), [9]);
        assert_eq!(sizes(&[3; 3], 3, SegmentLimits { forward: 0, backward: 0 }), [1, 1, 1]);
        assert_eq!(sizes(&[3; 3], 3, SegmentLimits::single()), [1, 1, 1]);
        // Nodes without task count nowhere.
        assert_eq!(sizes(&[0, 3, 0, 3, 0, 3], 6, limits), [5, 1]);
        assert_eq!(sizes(&[0, 3, 3, 1, 0, 3, 2, 2, 0], 9, SegmentLimits::unlimited()), [3, 2, 1, 3]);
        assert_eq!(sizes(&[], 0, limits), Vec::<usize>::new());
        assert_eq!(sizes(&[3; 40], 40, SegmentLimits::default()), [15, 15, 10]);
    }

    proptest! {
        #[test]
        fn g19_g20_hold(
            codes in prop::collection::vec(0u8..6, 0..60), part in 0usize..60, forward in 0usize..6, backward in 0usize..6,
        ) {
            let limits = SegmentLimits { forward, backward };
            let part = part.min(codes.len());
            let list = segments(codes.len(), part, limits, |i| kind(codes[i]));
            let joined: Vec<usize> = list.iter().flat_map(|s| s.nodes.clone()).collect();
            prop_assert_eq!(joined, (0..codes.len()).collect::<Vec<_>>());
            for (i, segment) in list.iter().enumerate() {
                let tasks: Vec<Bulk> =
                    segment.nodes.clone().map(|n| kind(codes[n])).filter(|k| *k != Bulk::Nothing).collect();
                prop_assert_eq!(tasks.len(), segment.n_tasks);
                prop_assert!(tasks.len() == 1 || !tasks.contains(&Bulk::Alone));
                prop_assert!(tasks.windows(2).all(|pair| pair[0] == pair[1]));
                prop_assert!(segment.nodes.end <= part || segment.nodes.start >= part);
                let limit = if segment.nodes.start < part { forward } else { backward };
                prop_assert!(tasks.len() <= limit.max(1));
                // Greedy: a segment ends only where the next task cannot join.
                if let Some(next) = list.get(i + 1).filter(|n| n.nodes.start != part) {
                    let first = kind(codes[next.nodes.start]);
                    prop_assert!(first != Bulk::Nothing);
                    let same = tasks.last() == Some(&first) && first != Bulk::Alone;
                    prop_assert!(!same || tasks.len() >= limit.max(1));
                }
            }
        }
    }
}
