//! The sizes of the caches.

use mxrs_sync::OnceLock;

/// The sizes of the data caches in bytes. 0 means that the processor does not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caches {
    /// The first-level cache of a core.
    pub l1: usize,
    /// The second-level cache of a core, or of the few cores that share it.
    pub l2: usize,
    /// The third-level cache, which many cores share. On a virtual machine it may serve other machines too.
    pub l3: usize,
}

impl Caches {
    /// The caches of the processor that runs this program.
    pub fn here() -> Self {
        static FOUND: OnceLock<Caches> = OnceLock::new();
        *FOUND.get_or_init(find)
    }
}

#[cfg(any(not(target_arch = "x86_64"), miri))]
fn find() -> Caches {
    Caches::default()
}

/// Intel lists the caches in leaf 4 of CPUID, AMD in the same format in leaf 0x8000_001D.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn find() -> Caches {
    use std::arch::x86_64::{__cpuid, __cpuid_count};
    const INTEL: u32 = 4;
    const AMD: u32 = 0x8000_001D;
    /// The largest number of list entries to read. No processor lists as many; the limit ends a list that has no end mark.
    const MOST: u32 = 16;
    let mut caches = Caches::default();
    for (leaf, last) in [(INTEL, __cpuid(0).eax), (AMD, __cpuid(0x8000_0000).eax)] {
        if leaf > last || caches != Caches::default() {
            continue;
        }
        for index in 0..MOST {
            let cache = __cpuid_count(leaf, index);
            // Kinds: 0 is the end of the list, 1 a data cache, 2 an instruction cache, 3 a cache of data and instructions.
            let (kind, level) = (cache.eax & 0x1f, cache.eax >> 5 & 7);
            let fields = [cache.ebx >> 22 & 0x3ff, cache.ebx >> 12 & 0x3ff, cache.ebx & 0xfff, cache.ecx];
            // Each field is one less than a factor of the size: ways, partitions, bytes of a line, sets.
            let size = fields.iter().fold(1usize, |size, field| size.saturating_mul(*field as usize + 1));
            match (kind, level) {
                (0, _) => break,
                (1 | 3, 1) => caches.l1 = size,
                (1 | 3, 2) => caches.l2 = size,
                (1 | 3, 3) => caches.l3 = size,
                _ => {}
            }
        }
    }
    caches
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the sizes with those that Linux lists in `/sys`.
    #[test]
    #[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
    fn sizes_are_those_that_the_system_lists() {
        let read = |index: u32, file: &str| {
            let path = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{file}");
            std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
        };
        let caches = Caches::here();
        for index in 0..8 {
            let (Some(level), Some(kind), Some(size)) =
                (read(index, "level"), read(index, "type"), read(index, "size"))
            else {
                continue;
            };
            let size = size.strip_suffix('K').and_then(|size| size.parse::<usize>().ok()).map(|size| size << 10);
            let found = match (level.as_str(), kind.as_str()) {
                ("1", "Data") => caches.l1,
                ("2", _) => caches.l2,
                ("3", _) => caches.l3,
                _ => continue,
            };
            assert_eq!(Some(found), size, "level {level}");
        }
    }

    #[test]
    fn a_higher_level_is_not_smaller() {
        let Caches { l1, l2, l3 } = Caches::here();
        assert!(l2 == 0 || l1 <= l2, "{l1} {l2}");
        assert!(l3 == 0 || l1 <= l3, "{l1} {l3}");
    }
}
