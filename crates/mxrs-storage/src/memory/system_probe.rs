//! Reads how much memory the machine and the process's control group have left.

use super::MemoryInfo;
use std::fs;
use std::path::{Path, PathBuf};

/// Reads `/proc/meminfo` and the limits of control groups, versions 1 and 2.
pub(super) struct SystemProbe {
    proc_dir: PathBuf,
    cgroup_dir: PathBuf,
}

impl Default for SystemProbe {
    fn default() -> Self {
        Self::at("/proc", "/sys/fs/cgroup")
    }
}

impl SystemProbe {
    pub(super) fn at(proc_dir: impl Into<PathBuf>, cgroup_dir: impl Into<PathBuf>) -> Self {
        Self { proc_dir: proc_dir.into(), cgroup_dir: cgroup_dir.into() }
    }

    /// The smallest free memory and the smallest total memory among the machine and the control groups of this process. A
    /// system without these files counts as having unlimited memory, so that no pool empties its cache because of a shortage
    /// that was not measured.
    pub(super) fn read(&self) -> MemoryInfo {
        let machine = self.machine().unwrap_or(MemoryInfo { free: u64::MAX >> 1, total: u64::MAX >> 1 });
        self.control_groups().into_iter().fold(machine, |tightest, group| MemoryInfo {
            free: tightest.free.min(group.free),
            total: tightest.total.min(group.total),
        })
    }

    fn machine(&self) -> Option<MemoryInfo> {
        let text = fs::read_to_string(self.proc_dir.join("meminfo")).ok()?;
        let bytes = |name: &str| {
            let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
            rest.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
        };
        Some(MemoryInfo { free: bytes("MemAvailable:")?, total: bytes("MemTotal:")? })
    }

    /// The memory limits of the process's control group and of every group that contains it.
    fn control_groups(&self) -> Vec<MemoryInfo> {
        let Ok(text) = fs::read_to_string(self.proc_dir.join("self/cgroup")) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for line in text.lines() {
            let mut fields = line.splitn(3, ':').skip(1);
            let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
            let (root, files) = if controllers.is_empty() {
                (self.cgroup_dir.clone(), &VERSION_2)
            } else if controllers.split(',').any(|controller| controller == "memory") {
                (self.cgroup_dir.join("memory"), &VERSION_1)
            } else {
                continue;
            };
            let group = Path::new(path.trim_start_matches('/'));
            found.extend(group.ancestors().filter_map(|group| files.read(&root.join(group))));
        }
        found
    }
}

/// The file names of one version of control groups.
struct GroupFiles {
    limit: &'static str,
    usage: &'static str,
    /// The line of `memory.stat` with the amount of page cache that can be dropped.
    droppable: &'static str,
}

const VERSION_1: GroupFiles =
    GroupFiles { limit: "memory.limit_in_bytes", usage: "memory.usage_in_bytes", droppable: "total_inactive_file" };
const VERSION_2: GroupFiles = GroupFiles { limit: "memory.max", usage: "memory.current", droppable: "inactive_file" };

impl GroupFiles {
    /// The limit of a group, and how much of it is free; `None` if the group does not exist or has no limit.
    fn read(&self, group: &Path) -> Option<MemoryInfo> {
        let number = |file: &str| fs::read_to_string(group.join(file)).ok()?.trim().parse::<u64>().ok();
        let total = number(self.limit)?;
        let usage = number(self.usage)?;
        let stat = fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
        let droppable = stat.lines().find_map(|line| line.strip_prefix(self.droppable)?.trim().parse::<u64>().ok());
        let used = usage.saturating_sub(droppable.unwrap_or(0));
        Some(MemoryInfo { free: total.saturating_sub(used), total })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    const GIB: u64 = 1 << 30;

    /// A machine with 16 GiB, of which 1 GiB is free and 10 GiB are available because of page cache.
    fn machine(groups: &str) -> (TempDir, SystemProbe) {
        let dir = tempfile::tempdir().unwrap();
        let (proc_dir, cgroup_dir) = (dir.path().join("proc"), dir.path().join("cgroup"));
        write(&proc_dir.join("self/cgroup"), groups);
        let kib = |gib: u64| gib * GIB / 1024;
        let text = format!("MemTotal: {} kB\nMemFree: {} kB\nMemAvailable: {} kB\n", kib(16), kib(1), kib(10));
        write(&proc_dir.join("meminfo"), &text);
        (dir, SystemProbe::at(proc_dir, cgroup_dir))
    }

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn page_cache_counts_as_free() {
        let (_dir, probe) = machine("");
        assert_eq!(probe.read(), MemoryInfo { free: 10 * GIB, total: 16 * GIB });
    }

    #[test]
    fn version_2_group_and_its_parents_limit() {
        let (dir, probe) = machine("0::/user/job\n");
        let groups = dir.path().join("cgroup");
        write(&groups.join("user/job/memory.max"), "max\n");
        write(&groups.join("user/memory.max"), &format!("{}\n", 4 * GIB));
        write(&groups.join("user/memory.current"), &format!("{}\n", 3 * GIB));
        write(&groups.join("user/memory.stat"), &format!("anon 5\nactive_file 7\ninactive_file {GIB}\n"));
        assert_eq!(probe.read(), MemoryInfo { free: 2 * GIB, total: 4 * GIB });
    }

    #[test]
    fn version_1_group_limits_also_where_only_the_root_is_visible() {
        let (dir, probe) = machine("5:cpu,cpuacct:/x\n4:memory:/docker/abc\n0::/\n");
        let root = dir.path().join("cgroup/memory");
        write(&root.join("memory.limit_in_bytes"), &format!("{}\n", 8 * GIB));
        write(&root.join("memory.usage_in_bytes"), &format!("{}\n", 9 * GIB));
        write(&root.join("memory.stat"), &format!("inactive_file 1\ntotal_inactive_file {}\n", 3 * GIB));
        assert_eq!(probe.read(), MemoryInfo { free: 2 * GIB, total: 8 * GIB });
    }

    #[test]
    fn without_figures_memory_is_endless() {
        let dir = tempfile::tempdir().unwrap();
        let info = SystemProbe::at(dir.path(), dir.path()).read();
        assert!(info.free > 1 << 60 && info.free == info.total);
    }
}
