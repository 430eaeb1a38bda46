//! The order of actions as reachability in a graph.

use crate::checker::Touch;
use mxrs_types::StreamId;
use std::collections::BTreeMap;

/// The order of all actions by brute force: each action with its direct predecessors. Unlike the
/// [`Checker`](crate::Checker), it does not model queries of events:
/// [`DeviceEvent::is_finished`](mxrs_types::DeviceEvent::is_finished).
#[derive(Default)]
pub struct Reachability {
    before: Vec<Vec<usize>>,
    touches: Vec<Vec<Touch>>,
    host: Option<usize>,
    streams: BTreeMap<StreamId, usize>,
}

impl Reachability {
    fn act(&mut self, after: impl IntoIterator<Item = usize>, touches: &[Touch]) -> usize {
        self.before.push(after.into_iter().collect());
        self.touches.push(touches.to_vec());
        self.before.len() - 1
    }

    fn on_stream(&mut self, stream: StreamId, after: Option<usize>, touches: &[Touch]) -> usize {
        let last = self.streams.get(&stream).copied();
        let action = self.act(last.into_iter().chain(self.host).chain(after), touches);
        self.streams.insert(stream, action);
        action
    }

    /// Adds a launch on `stream` that accesses `touches`.
    pub fn launch(&mut self, stream: StreamId, touches: &[Touch]) {
        self.on_stream(stream, None, touches);
    }

    /// Adds an event of `stream`. Returns the number that identifies the event in [`Reachability::stream_wait`] and
    /// [`Reachability::host_wait`].
    pub fn record(&mut self, stream: StreamId) -> usize {
        self.on_stream(stream, None, &[])
    }

    /// Makes the later work of `stream` come after the event.
    pub fn stream_wait(&mut self, stream: StreamId, event: usize) {
        self.on_stream(stream, Some(event), &[]);
    }

    /// Makes what the host does later come after the event.
    pub fn host_wait(&mut self, event: usize) {
        self.host = Some(self.act(self.host.into_iter().chain([event]), &[]));
    }

    /// Makes what the host does later come after all work of `stream` so far.
    pub fn synchronize(&mut self, stream: StreamId) {
        if let Some(&last) = self.streams.get(&stream) {
            self.host_wait(last);
        }
    }

    /// Adds an access by the host.
    pub fn host_access(&mut self, touches: &[Touch]) {
        self.host = Some(self.act(self.host, touches));
    }

    /// The pairs of actions that conflict and of which neither precedes the other.
    pub fn unordered(&self) -> Vec<(usize, usize)> {
        let n = self.before.len();
        let mut reaches: Vec<Vec<bool>> = Vec::with_capacity(n);
        for before in &self.before {
            let mut mine = vec![false; n];
            for &b in before {
                mine[b] = true;
                for i in 0..b {
                    mine[i] |= reaches[b][i];
                }
            }
            reaches.push(mine);
        }
        let conflict = |a: usize, b: usize| {
            let overlap = |x: &Touch, y: &Touch| x.range.clone().any(|cell| y.range.contains(&cell));
            self.touches[a].iter().any(|x| self.touches[b].iter().any(|y| (x.write || y.write) && overlap(x, y)))
        };
        let pairs = (0..n).flat_map(|b| (0..b).map(move |a| (a, b)));
        pairs.filter(|&(a, b)| conflict(a, b) && !reaches[b][a]).collect()
    }
}
