//! Checks every invariant of a heap; for tests and debug builds.

use super::chunks::State;
use super::{Heap, NONE};
use std::collections::BTreeSet;

impl Heap {
    /// Panics at the first invariant that does not hold. The time grows with the number of chunks.
    pub(in crate::pool::best_fit) fn check(&self) {
        let (mut live, mut free, mut holes, mut sums) = (0, BTreeSet::new(), 0, self.sums);
        (sums.live_bytes, sums.free_bytes, sums.free_chunks) = (0, 0, 0);
        for (id, chunk) in self.chunks.iter() {
            let (start, len) = (chunk.start, chunk.len);
            assert!(len > 0 && len.is_multiple_of(self.granule), "{chunk:?}");
            if chunk.above != NONE {
                let above = &self.chunks[chunk.above];
                assert_eq!((above.start, above.below), (chunk.end(), id), "{chunk:?} below {above:?}");
                let joinable = matches!(chunk.state, State::Free | State::Hole);
                assert!(!(joinable && above.state == chunk.state), "not joined: {chunk:?} and {above:?}");
                assert_eq!(above.arena, chunk.arena);
            }
            match chunk.state {
                State::Live => {
                    assert_eq!(self.live.get(&start), Some(&id), "{chunk:?}");
                    live += 1;
                    sums.live_bytes += len as u64;
                }
                State::Free => {
                    free.insert((chunk.arena as usize, id));
                    sums.free_bytes += len as u64;
                    sums.free_chunks += 1;
                }
                State::Hole => {
                    let unit = self.unit.expect("holes exist in ranges only");
                    assert!(start.is_multiple_of(unit) && len.is_multiple_of(unit), "{chunk:?}");
                    assert_eq!(self.holes.get(&start), Some(&id), "{chunk:?}");
                    holes += 1;
                }
                State::Moving => {}
                State::Unused => unreachable!("not iterated"),
            }
        }
        assert_eq!((live, holes), (self.live.len(), self.holes.len()));
        let listed: Vec<_> =
            self.free.iter().enumerate().flat_map(|(arena, set)| set.iter().map(move |id| (arena, id))).collect();
        assert_eq!(listed.len(), free.len(), "free chunks listed twice or not at all");
        assert_eq!(listed.into_iter().collect::<BTreeSet<_>>(), free);
        assert_eq!(sums, self.sums);
        let longest = free.iter().map(|&(_, id)| self.chunks[id].len).max().unwrap_or(0);
        assert_eq!(self.longest_free(), longest);
    }
}
