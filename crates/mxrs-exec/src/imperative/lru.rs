//! A bounded cache that drops the least recently used value.
//!
//! Values are found by a hash and a comparison, so that a lookup needs no owned key. Inserting into a full cache looks at
//! all entries, which takes far less time than making the value to insert.

use rustc_hash::FxHashMap;
use std::sync::Arc;

struct Slot<K, V> {
    key: K,
    value: Arc<V>,
    /// The clock of the cache at the last lookup of this entry.
    used: u64,
}

/// A map from keys to values with a maximum number of entries.
pub struct Lru<K, V> {
    capacity: usize,
    clock: u64,
    len: usize,
    slots: FxHashMap<u64, Vec<Slot<K, V>>>,
}

impl<K, V> Lru<K, V> {
    /// An empty cache for at most `capacity` values. A capacity of 0 counts as 1.
    pub fn new(capacity: usize) -> Self {
        Self { capacity: capacity.max(1), clock: 0, len: 0, slots: FxHashMap::default() }
    }

    /// The value whose key has this hash and for whose key `matches` returns true.
    pub fn get(&mut self, hash: u64, matches: impl Fn(&K) -> bool) -> Option<Arc<V>> {
        self.clock += 1;
        let slot = self.slots.get_mut(&hash)?.iter_mut().find(|slot| matches(&slot.key))?;
        slot.used = self.clock;
        Some(slot.value.clone())
    }

    /// Inserts a value and returns the value that was dropped to make room. The caller drops it after releasing its lock.
    #[must_use]
    pub fn insert(&mut self, hash: u64, key: K, value: Arc<V>) -> Option<Arc<V>> {
        let evicted = if self.len >= self.capacity { self.evict() } else { None };
        self.clock += 1;
        self.slots.entry(hash).or_default().push(Slot { key, value, used: self.clock });
        self.len += 1;
        evicted
    }

    fn evict(&mut self) -> Option<Arc<V>> {
        let oldest = self.slots.iter().flat_map(|(hash, slots)| slots.iter().map(|s| (s.used, *hash))).min()?;
        let slots = self.slots.get_mut(&oldest.1)?;
        let at = slots.iter().position(|slot| slot.used == oldest.0)?;
        let slot = slots.swap_remove(at);
        if slots.is_empty() {
            self.slots.remove(&oldest.1);
        }
        self.len -= 1;
        Some(slot.value)
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_goes() {
        let mut lru: Lru<&str, u32> = Lru::new(2);
        // Both keys have the same hash, so only the comparison distinguishes them.
        assert!(lru.insert(7, "a", Arc::new(1)).is_none());
        assert!(lru.insert(7, "b", Arc::new(2)).is_none());
        assert_eq!(lru.get(7, |k| *k == "a").as_deref(), Some(&1));
        assert_eq!(lru.insert(9, "c", Arc::new(3)).as_deref(), Some(&2));
        assert_eq!(lru.len(), 2);
        assert!(lru.get(7, |k| *k == "b").is_none());
        assert!(lru.get(7, |k| *k == "c").is_none(), "another hash");
        assert_eq!(lru.get(9, |k| *k == "c").as_deref(), Some(&3));
    }
}
