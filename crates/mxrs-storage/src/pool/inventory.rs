//! A debug build's record of every range a pool holds; it makes a broken pool stop at the first wrong step.
//!
//! In a release build all methods return at once and the map stays empty.

use crate::Tag;
use std::collections::BTreeMap;
use std::fmt;
use std::ptr::NonNull;

enum Owner {
    Live(Tag),
    Cached,
}

impl fmt::Debug for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Live(tag) => write!(f, "live as {tag}"),
            Self::Cached => f.write_str("<cached>"),
        }
    }
}

/// Ranges by first address: live blocks with their tag, and cached ones.
#[derive(Debug, Default)]
pub(crate) struct Inventory {
    ranges: BTreeMap<usize, (usize, Owner)>,
}

impl Inventory {
    /// A new range from the device, live at once.
    pub(crate) fn grown(&mut self, ptr: NonNull<u8>, block_bytes: usize, tag: &Tag) {
        if !cfg!(debug_assertions) {
            return;
        }
        let start = ptr.addr().get();
        if let Some((&before, &(before_bytes, ref owner))) = self.ranges.range(..=start).next_back() {
            assert!(before + before_bytes <= start, "new block {start:#x} lies in {before:#x}, {owner:?}");
        }
        if let Some((&after, (_, owner))) = self.ranges.range(start..).next() {
            assert!(start + block_bytes <= after, "new block {start:#x} reaches into {after:#x}, {owner:?}");
        }
        self.ranges.insert(start, (block_bytes, Owner::Live(tag.clone())));
    }

    /// A cached range is handed out again.
    pub(crate) fn reused(&mut self, ptr: NonNull<u8>, tag: &Tag) {
        if !cfg!(debug_assertions) {
            return;
        }
        match self.ranges.get_mut(&ptr.addr().get()) {
            Some((_, owner @ Owner::Cached)) => *owner = Owner::Live(tag.clone()),
            other => panic!("block {ptr:p} was handed out from the cache, but is {other:?}"),
        }
    }

    /// A live range goes into the cache.
    pub(crate) fn cached(&mut self, ptr: NonNull<u8>, block_bytes: usize) {
        if !cfg!(debug_assertions) {
            return;
        }
        match self.ranges.get_mut(&ptr.addr().get()) {
            Some((bytes, owner @ Owner::Live(_))) if *bytes == block_bytes => *owner = Owner::Cached,
            other => panic!("block {ptr:p} of {block_bytes} bytes was freed, but is {other:?}"),
        }
    }

    /// A range leaves for the device; `live` says whether it had an owner until now.
    pub(crate) fn left(&mut self, ptr: NonNull<u8>, block_bytes: usize, live: bool) {
        if !cfg!(debug_assertions) {
            return;
        }
        match self.ranges.remove(&ptr.addr().get()) {
            Some((bytes, Owner::Live(_))) if live && bytes == block_bytes => {}
            Some((bytes, Owner::Cached)) if !live && bytes == block_bytes => {}
            other => panic!("block {ptr:p} of {block_bytes} bytes was returned to the device, but is {other:?}"),
        }
    }
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;

    fn at(address: usize) -> NonNull<u8> {
        NonNull::without_provenance(address.try_into().unwrap())
    }

    #[test]
    #[should_panic(expected = "was freed, but is Some((64, <cached>))")]
    fn double_free_is_noticed() {
        let mut inventory = Inventory::default();
        inventory.grown(at(0x1000), 64, &Tag::default());
        inventory.cached(at(0x1000), 64);
        inventory.cached(at(0x1000), 64);
    }

    #[test]
    #[should_panic(expected = "was freed, but is None")]
    fn foreign_free_is_noticed() {
        Inventory::default().cached(at(0x1000), 64);
    }

    #[test]
    #[should_panic(expected = "reaches into 0x1000, live as <unk>:first")]
    fn overlap_is_noticed_with_its_owner() {
        let mut inventory = Inventory::default();
        inventory.grown(at(0x1000), 64, &Tag::new("first"));
        inventory.grown(at(0xfc0), 128, &Tag::new("second"));
    }
}
