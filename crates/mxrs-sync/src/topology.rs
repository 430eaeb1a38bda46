//! Which logical CPUs this process may use, and which of them share a core or a socket.

use std::collections::HashSet;

/// One logical CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cpu {
    /// Socket, as the system numbers it.
    pub package: usize,
    /// Core within the socket, as the system numbers it (numbers may have gaps).
    pub core: usize,
    /// Number of the logical CPU, as used by affinity calls.
    pub id: usize,
}

/// The logical CPUs this process may run on.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Topology {
    /// In ascending socket, core, id.
    pub cpus: Vec<Cpu>,
}

impl Topology {
    /// A topology made by hand; the CPUs are sorted.
    pub fn new(mut cpus: Vec<Cpu>) -> Self {
        cpus.sort_unstable();
        cpus.dedup();
        Self { cpus }
    }

    /// The CPUs this process may run on, from the system. `None` where the system does not tell (anything but Linux, or
    /// no sysfs).
    pub fn read() -> Option<Self> {
        let allowed = crate::affinity::current()?;
        let cpus: Option<Vec<Cpu>> = allowed
            .into_iter()
            .map(|id| Some(Cpu { id, core: sysfs(id, "core_id")?, package: sysfs(id, "physical_package_id")? }))
            .collect();
        cpus.map(Self::new).filter(|t| !t.cpus.is_empty())
    }

    /// Number of distinct physical cores.
    pub fn cores(&self) -> usize {
        self.cpus.iter().map(|c| (c.package, c.core)).collect::<HashSet<_>>().len()
    }
}

fn sysfs(cpu: usize, leaf: &str) -> Option<usize> {
    let text = std::fs::read_to_string(format!("/sys/devices/system/cpu/cpu{cpu}/topology/{leaf}")).ok()?;
    text.trim().parse().ok()
}

/// Physical cores this process may run on, at least 1: the default team size.
///
/// On Linux the cores of the CPUs in the process's affinity mask; elsewhere, or without sysfs, the number of logical CPUs.
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
