//! In a debug build, records every range of memory that a pool has from its device, and panics when a device or a container
//! makes an error, such as returning a range twice.
//!
//! In a release build the methods do nothing and the map stays empty.

use crate::Tag;
use std::collections::BTreeMap;
use std::ptr::NonNull;

/// Ranges by first address, with their length and the tag of their first owner.
#[derive(Debug, Default)]
pub(crate) struct Inventory {
    ranges: BTreeMap<usize, (usize, Tag)>,
}

impl Inventory {
    /// Adds a range from the device.
    pub(crate) fn arrived(&mut self, ptr: NonNull<u8>, bytes: usize, tag: &Tag) {
        if !cfg!(debug_assertions) {
            return;
        }
        let start = ptr.addr().get();
        if let Some((&before, (before_bytes, owner))) = self.ranges.range(..=start).next_back() {
            assert!(before + before_bytes <= start, "new block {start:#x} lies in {before:#x}, got for {owner}");
        }
        if let Some((&after, (_, owner))) = self.ranges.range(start..).next() {
            assert!(start + bytes <= after, "new block {start:#x} reaches into {after:#x}, got for {owner}");
        }
        self.ranges.insert(start, (bytes, tag.clone()));
    }

    /// Removes a range that is returned to the device.
    pub(crate) fn left(&mut self, ptr: NonNull<u8>, bytes: usize) {
        if !cfg!(debug_assertions) {
            return;
        }
        match self.ranges.remove(&ptr.addr().get()) {
            Some((held, _)) if held == bytes => {}
            other => panic!("{bytes} bytes at {ptr:p} were returned to the device, but it gave {other:?}"),
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
    #[should_panic(expected = "64 bytes at 0x1000 were returned to the device, but it gave None")]
    fn double_return_is_noticed() {
        let mut inventory = Inventory::default();
        inventory.arrived(at(0x1000), 64, &Tag::default());
        inventory.left(at(0x1000), 64);
        inventory.left(at(0x1000), 64);
    }

    #[test]
    #[should_panic(expected = "32 bytes at 0x1000 were returned")]
    fn a_part_is_not_the_whole() {
        let mut inventory = Inventory::default();
        inventory.arrived(at(0x1000), 64, &Tag::default());
        inventory.left(at(0x1000), 32);
    }

    #[test]
    #[should_panic(expected = "reaches into 0x1000, got for <unk>:first")]
    fn overlap_is_noticed_with_its_owner() {
        let mut inventory = Inventory::default();
        inventory.arrived(at(0x1000), 64, &Tag::new("first"));
        inventory.arrived(at(0xfc0), 128, &Tag::new("second"));
    }
}
