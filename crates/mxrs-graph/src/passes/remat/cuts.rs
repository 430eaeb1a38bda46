//! The forward part as a line of calls, and the positions where it can be cut.

use super::{is_read, must_store};
use crate::{NodeId, TrainingGraph};

/// The calls of the forward part in order of execution.
pub(super) struct Line {
    pub calls: Vec<NodeId>,
    /// The bytes of the outputs of each call.
    pub bytes: Vec<usize>,
    /// The bytes of each call that gradients keep alive and that recomputation can save; 0 if no gradient reads the call, or
    /// if it must be stored.
    pub saved: Vec<usize>,
    /// For each call, the position of the last forward call that reads it, or its own position if none does.
    last_reader: Vec<usize>,
}

impl Line {
    pub fn of(training: &TrainingGraph, bytes: impl Fn(NodeId) -> usize) -> Self {
        let graph = &training.graph;
        let calls: Vec<NodeId> =
            graph.iter().take(training.n_forward_nodes).filter(|(_, n)| !n.is_variable()).map(|(id, _)| id).collect();
        let must = must_store(training);
        let mut position = vec![usize::MAX; training.n_forward_nodes];
        calls.iter().enumerate().for_each(|(i, id)| position[id.index()] = i);
        let mut is_head = vec![false; graph.n_nodes()];
        training.forward_heads().iter().for_each(|h| is_head[h.node.index()] = true);
        let mut last_reader: Vec<usize> = (0..calls.len()).collect();
        let mut saved = vec![0; calls.len()];
        let bytes: Vec<usize> = calls.iter().map(|id| bytes(*id)).collect();
        for (i, id) in calls.iter().enumerate() {
            let readers = graph.output_ids(*id).flat_map(|e| graph.consumers(e));
            for (reader, input) in readers {
                if training.is_forward(*reader) {
                    last_reader[i] = last_reader[i].max(position[reader.index()]);
                } else if is_read(graph.node(*reader), *input as usize) && !must[id.index()] && !is_head[id.index()] {
                    saved[i] = bytes[i];
                }
            }
        }
        Self { calls, bytes, saved, last_reader }
    }

    /// The positions of the calls at or before `position` that a call after `position` reads.
    pub fn crossing(&self, position: usize) -> impl Iterator<Item = usize> + '_ {
        (0..=position).filter(move |i| self.last_reader[*i] > position)
    }

    /// For the cut after each position: the bytes of the calls before the cut that calls after it read, and whether only the
    /// call right before the cut is read.
    pub fn cuts(&self) -> Vec<(usize, bool)> {
        let mut ends: Vec<Vec<usize>> = vec![Vec::new(); self.calls.len()];
        let (mut bytes, mut n) = (0usize, 0usize);
        let mut cuts = Vec::with_capacity(self.calls.len());
        for i in 0..self.calls.len() {
            for &ended in &ends[i] {
                bytes -= self.bytes[ended];
                n -= 1;
            }
            let crosses = self.last_reader[i] > i;
            if crosses {
                ends[self.last_reader[i]].push(i);
                bytes += self.bytes[i];
                n += 1;
            }
            cuts.push((bytes, crosses && n == 1));
        }
        cuts
    }

    /// For each forward node, whether it is stored: the calls at `positions`, and all calls from position `from` on, which
    /// would otherwise be recomputed immediately.
    pub fn stored(&self, n_forward_nodes: usize, positions: impl IntoIterator<Item = usize>, from: usize) -> Vec<bool> {
        let mut stored = vec![false; n_forward_nodes];
        for position in positions.into_iter().chain(from..self.calls.len()) {
            stored[self.calls[position].index()] = true;
        }
        stored
    }
}
