//! The logical CPUs that this process may use, and their cores and sockets.

use std::collections::HashSet;

/// One logical CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cpu {
    /// The socket, as the system numbers it.
    pub package: usize,
    /// The core within the socket, as the system numbers it (numbers may have gaps).
    pub core: usize,
    /// The number of the logical CPU, as used by affinity calls.
    pub id: usize,
}

/// The logical CPUs that this process may use.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Topology {
    /// Sorted by socket, core and id.
    pub cpus: Vec<Cpu>,
}

impl Topology {
    /// Makes a topology from a list; the CPUs are sorted.
    pub fn new(mut cpus: Vec<Cpu>) -> Self {
        cpus.sort_unstable();
        cpus.dedup();
        Self { cpus }
    }

    /// Reads the CPUs that this process may use from the system. `None` if the system does not report them (other than
    /// Linux, or without sysfs).
    pub fn read() -> Option<Self> {
        Self::of(crate::affinity::current()?)
    }

    /// All CPUs that are online, including those that this process may not use; `None` in the same cases as
    /// [`Self::read`].
    pub fn read_online() -> Option<Self> {
        let text = std::fs::read_to_string("/sys/devices/system/cpu/online").ok()?;
        Self::of(ranges(text.trim())?)
    }

    fn of(ids: Vec<usize>) -> Option<Self> {
        let cpus: Option<Vec<Cpu>> = ids
            .into_iter()
            .map(|id| Some(Cpu { id, core: sysfs(id, "core_id")?, package: sysfs(id, "physical_package_id")? }))
            .collect();
        cpus.map(Self::new).filter(|t| !t.cpus.is_empty())
    }

    /// The number of distinct physical cores.
    pub fn cores(&self) -> usize {
        self.cpus.iter().map(|c| (c.package, c.core)).collect::<HashSet<_>>().len()
    }
}

/// The numbers in a list such as `0-3,8`.
fn ranges(text: &str) -> Option<Vec<usize>> {
    let mut ids = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        // Linux numbers at most 8192 CPUs.
        ids.extend((last < 8192).then_some(first..=last)?);
    }
    Some(ids)
}

fn sysfs(cpu: usize, leaf: &str) -> Option<usize> {
    let text = std::fs::read_to_string(format!("/sys/devices/system/cpu/cpu{cpu}/topology/{leaf}")).ok()?;
    text.trim().parse().ok()
}

/// The number of physical cores that this process may use, at least 1: the default team size.
///
/// On Linux, this counts the cores of the CPUs in the process's affinity mask. On other systems, or without sysfs, it
/// is the number of logical CPUs.
pub fn physical_cores() -> usize {
    match Topology::read() {
        Some(topology) => topology.cores().max(1),
        None => std::thread::available_parallelism().map_or(1, usize::from),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_the_system_is_read() {
        assert_eq!(ranges("0-2,5"), Some(vec![0, 1, 2, 5]));
        assert_eq!(ranges("7"), Some(vec![7]));
        for bad in ["", "x", "1-", "0-99999999"] {
            assert_eq!(ranges(bad), None, "{bad}");
        }
    }

    #[test]
    fn two_threads_of_one_core_count_once() {
        let cpu = |package, core, id| Cpu { package, core, id };
        let t = Topology::new(vec![cpu(0, 0, 0), cpu(0, 0, 4), cpu(0, 1, 1), cpu(1, 0, 2)]);
        assert_eq!(t.cores(), 3);
    }

    #[test]
    fn never_more_cores_than_logical_cpus() {
        let logical = std::thread::available_parallelism().unwrap().get();
        assert!((1..=logical.max(1)).contains(&physical_cores()) || cfg!(miri));
    }
}
