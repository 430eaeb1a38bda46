//! Pins threads to CPUs, in the orders that `KMP_AFFINITY` defines.
//!
//! The machine is a tree of sockets, cores and hardware threads. A placement sorts the logical CPUs by their position
//! in that tree, level by level. Team thread `i` is pinned to the `i`-th CPU of the sorted list, or to all CPUs of the
//! core of that CPU. The list repeats if there are more threads than CPUs.

use crate::Topology;
use mxrs_types::{Error, Result};

/// How team threads are spread over CPUs: the type in `KMP_AFFINITY`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Placement {
    /// No pinning.
    None,
    /// No pinning. In `KMP_AFFINITY` this type also disables the functions by which a program sets its own affinity; in mxrs
    /// it is equal to [`Placement::None`].
    Disabled,
    /// Threads with adjacent numbers are placed close together.
    Compact,
    /// Threads with adjacent numbers are placed as far apart as possible.
    Scatter,
    /// Every core gets the same number of threads, or one more if the number of threads is not a multiple of that of cores.
    /// Threads on one core have adjacent numbers.
    Balanced {
        /// The size of the team.
        threads: usize,
    },
}

/// The CPUs for team threads 0, 1, 2, …, or `None` for "do not pin".
///
/// [`Placement::Compact`] and [`Placement::Scatter`] sort the list by up to three levels: socket, core and hardware thread,
/// from outer to inner. A level is left out if all CPUs have the same position at it, such as the socket if there is only
/// one. Let `n` be the number of levels that remain.
///
/// - `permute`: with [`Placement::Compact`], the list is sorted by the `permute` innermost levels, starting with the
///   innermost; CPUs that are equal at these levels are sorted by the other levels, starting with the outermost. A number
///   above `n - 1` has the same effect as `n - 1`. [`Placement::Scatter`] sorts by `n - 1 - permute` innermost levels in
///   the same way, or by none if `permute` is larger than `n - 1`. [`Placement::Balanced`] ignores `permute`.
/// - `offset`: position in the list of the CPU for thread 0. The CPUs before this position move to the end of the
///   list. An offset that is not below the length of the list is taken modulo the length.
///
/// ```
/// use mxrs_sync::{Cpu, Topology, affinity::{Placement, cpu_list}};
/// // Two cores with two hardware threads each: CPUs 0 and 2 share a core.
/// let t = Topology::new([(0, 0), (1, 1), (0, 2), (1, 3)].map(|(core, id)| Cpu { package: 0, core, id }).to_vec());
/// assert_eq!(cpu_list(Placement::Compact, 0, 0, &t), Some(vec![0, 2, 1, 3]));
/// assert_eq!(cpu_list(Placement::Compact, 1, 0, &t), Some(vec![0, 1, 2, 3]));
/// ```
pub fn cpu_list(placement: Placement, permute: usize, offset: usize, topology: &Topology) -> Option<Vec<usize>> {
    let positions = positions(topology);
    let depth = levels(&positions);
    let list = match placement {
        Placement::None | Placement::Disabled => return None,
        Placement::Compact => sorted(&positions, permute.min(depth.len().saturating_sub(1)), &depth),
        Placement::Scatter => sorted(&positions, depth.len().saturating_sub(1).saturating_sub(permute), &depth),
        Placement::Balanced { threads } => balanced(&positions, threads),
    };
    let mut list = Some(list).filter(|l| !l.is_empty())?;
    let start = offset % list.len();
    list.rotate_left(start);
    Some(list)
}

/// All CPUs of the core of `cpu`, ascending; `cpu` alone if the topology lacks it.
pub fn core_of(cpu: usize, topology: &Topology) -> Vec<usize> {
    let Some(own) = topology.cpus.iter().find(|c| c.id == cpu) else { return vec![cpu] };
    let shares = |c: &&crate::Cpu| (c.package, c.core) == (own.package, own.core);
    topology.cpus.iter().filter(shares).map(|c| c.id).collect()
}

/// Returns the places (a place is a list of CPUs for one thread) without the CPUs that the topology lacks, and the list
/// of these missing CPUs. A place that has no CPU left is omitted.
pub fn usable_places(places: &[Vec<usize>], topology: &Topology) -> (Vec<Vec<usize>>, Vec<usize>) {
    let is_here = |id: &usize| topology.cpus.iter().any(|c| c.id == *id);
    let kept = places.iter().map(|place| place.iter().copied().filter(is_here).collect::<Vec<_>>());
    let missing = places.iter().flatten().copied().filter(|id| !is_here(id)).collect();
    (kept.filter(|place| !place.is_empty()).collect(), missing)
}

/// The position of a logical CPU: its socket, its core within the socket, its hardware thread within the core.
struct CpuPosition {
    at: [usize; 3],
    id: usize,
}

fn positions(topology: &Topology) -> Vec<CpuPosition> {
    let mut positions: Vec<CpuPosition> = Vec::with_capacity(topology.cpus.len());
    let mut previous: Option<(crate::Cpu, [usize; 3])> = None;
    for &cpu in &topology.cpus {
        let at = match previous {
            None => [0, 0, 0],
            Some((last, at)) if last.package != cpu.package => [at[0] + 1, 0, 0],
            Some((last, at)) if last.core != cpu.core => [at[0], at[1] + 1, 0],
            Some((_, at)) => [at[0], at[1], at[2] + 1],
        };
        previous = Some((cpu, at));
        positions.push(CpuPosition { at, id: cpu.id });
    }
    positions
}

/// The levels on which the CPUs differ, outermost first.
fn levels(positions: &[CpuPosition]) -> Vec<usize> {
    (0..3).filter(|&level| positions.iter().any(|s| s.at[level] > 0)).collect()
}

/// Sorts by the `innermost` inner levels first, starting with the innermost, then by the other levels, starting with the
/// outermost.
fn sorted(positions: &[CpuPosition], innermost: usize, levels: &[usize]) -> Vec<usize> {
    let (outer, inner) = levels.split_at(levels.len() - innermost.min(levels.len()));
    let order: Vec<usize> = inner.iter().rev().chain(outer).copied().collect();
    let mut keyed: Vec<(Vec<usize>, usize)> =
        positions.iter().map(|s| (order.iter().map(|&l| s.at[l]).collect(), s.id)).collect();
    keyed.sort();
    keyed.into_iter().map(|(_, id)| id).collect()
}

fn balanced(positions: &[CpuPosition], threads: usize) -> Vec<usize> {
    let mut cores: Vec<Vec<usize>> = Vec::new();
    let mut last = None;
    for position in positions {
        let core = (position.at[0], position.at[1]);
        if last != Some(core) {
            cores.push(Vec::new());
            last = Some(core);
        }
        if let Some(core) = cores.last_mut() {
            core.push(position.id);
        }
    }
    let Some(n_cores) = std::num::NonZeroUsize::new(cores.len()) else { return Vec::new() };
    let (share, extra) = (threads / n_cores, threads % n_cores);
    let mut list = Vec::with_capacity(threads);
    for (i, core) in cores.iter().enumerate() {
        let count = share + usize::from(i < extra);
        list.extend(core.iter().copied().cycle().take(count));
    }
    list
}

/// The CPUs that the calling thread may use, ascending; `None` if the system does not report them.
#[cfg(all(target_os = "linux", not(miri)))]
pub fn current() -> Option<Vec<usize>> {
    let mut words = [0 as libc::c_ulong; MASK_WORDS];
    // SAFETY: the kernel writes at most `size_of_val(&words)` bytes into `words`, which outlives the call; pid 0 means
    // the calling thread.
    let rc = unsafe { libc::sched_getaffinity(0, size_of_val(&words), words.as_mut_ptr().cast()) };
    let bits = libc::c_ulong::BITS as usize;
    (rc == 0).then(|| (0..MASK_WORDS * bits).filter(|cpu| words[cpu / bits] >> (cpu % bits) & 1 == 1).collect())
}

/// Pins the calling thread to `cpus`; the system may move the thread from one of these CPUs to another.
///
/// # Errors
/// Fails with [`mxrs_types::ErrorKind::InvalidValue`] if the process may use none of these CPUs, or if the system
/// refuses to pin the thread.
#[cfg(all(target_os = "linux", not(miri)))]
pub fn pin_current(cpus: &[usize]) -> Result<()> {
    let refused = || Error::invalid("cpus to pin a thread to", format!("{cpus:?}"), "cpus this process may run on");
    let bits = libc::c_ulong::BITS as usize;
    let mut words = [0 as libc::c_ulong; MASK_WORDS];
    for cpu in cpus {
        *words.get_mut(cpu / bits).ok_or_else(refused)? |= 1 << (cpu % bits);
    }
    // SAFETY: the kernel reads `size_of_val(&words)` initialized bytes from `words`; pid 0 means the calling thread, so
    // no other thread is affected.
    let rc = unsafe { libc::sched_setaffinity(0, size_of_val(&words), words.as_ptr().cast()) };
    if rc == 0 { Ok(()) } else { Err(refused()) }
}

/// Room for 8192 logical CPUs, the largest number for which a Linux kernel is configured.
#[cfg(all(target_os = "linux", not(miri)))]
const MASK_WORDS: usize = 8192 / libc::c_ulong::BITS as usize;

/// The CPUs that the calling thread may use; this system does not report them.
#[cfg(not(all(target_os = "linux", not(miri))))]
pub fn current() -> Option<Vec<usize>> {
    None
}

/// Pins the calling thread to some CPUs.
///
/// # Errors
/// Always fails on this system.
#[cfg(not(all(target_os = "linux", not(miri))))]
pub fn pin_current(_cpus: &[usize]) -> Result<()> {
    Err(Error::not_built("pinning threads to cpus", "only Linux has it; leave KMP_AFFINITY unset"))
}

/// Rejects places that a team cannot be pinned to: an empty list, an empty place, or a CPU that the machine lacks.
pub(crate) fn check(places: &[Vec<usize>]) -> Result<()> {
    if places.is_empty() || places.iter().any(Vec::is_empty) {
        return Err(Error::invalid("cpus of a team", "an empty list", "at least one cpu, or no list for no pinning"));
    }
    let Some(allowed) = current() else {
        return Err(Error::not_built("pinning threads to cpus", "only Linux has it; leave KMP_AFFINITY unset"));
    };
    let online: Vec<usize> = Topology::read_online().map_or(vec![], |all| all.cpus.iter().map(|c| c.id).collect());
    match places.iter().flatten().find(|cpu| !allowed.contains(cpu) && !online.contains(cpu)) {
        Some(cpu) => Err(Error::invalid("cpu to pin a team thread to", cpu, format!("one of {allowed:?}"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cpu;

    /// Two sockets with two cores each and two hardware threads per core, numbered as Linux does: second hardware
    /// threads last. Core numbers have a gap, as on real machines.
    fn eight() -> Topology {
        let mut cpus = Vec::new();
        for id in 0..8 {
            cpus.push(Cpu { package: id % 4 / 2, core: id % 2 * 4, id });
        }
        Topology::new(cpus)
    }

    #[test]
    fn compact_fills_a_core_then_a_socket() {
        assert_eq!(cpu_list(Placement::Compact, 0, 0, &eight()).unwrap(), [0, 4, 1, 5, 2, 6, 3, 7]);
    }

    #[test]
    fn compact_1_0_takes_distinct_cores_before_second_threads() {
        assert_eq!(cpu_list(Placement::Compact, 1, 0, &eight()).unwrap(), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(cpu_list(Placement::Compact, 1, 3, &eight()).unwrap(), [3, 4, 5, 6, 7, 0, 1, 2]);
    }

    #[test]
    fn scatter_alternates_sockets() {
        assert_eq!(cpu_list(Placement::Scatter, 0, 0, &eight()).unwrap(), [0, 2, 1, 3, 4, 6, 5, 7]);
        // `compact,2` and `scatter,0` give the same order: the hardware thread varies slowest.
        assert_eq!(cpu_list(Placement::Compact, 2, 0, &eight()), cpu_list(Placement::Scatter, 0, 0, &eight()));
    }

    #[test]
    fn balanced_keeps_neighbors_on_one_core() {
        let list = |threads| cpu_list(Placement::Balanced { threads }, 0, 0, &eight()).unwrap();
        assert_eq!(list(4), [0, 1, 2, 3]);
        assert_eq!(list(6), [0, 4, 1, 5, 2, 3]);
        assert_eq!(list(8), [0, 4, 1, 5, 2, 6, 3, 7]);
    }

    #[test]
    fn places_keep_their_order_and_drop_foreign_cpus() {
        let places = [vec![6, 2], vec![99], vec![0, 98]];
        assert_eq!(usable_places(&places, &eight()), (vec![vec![6, 2], vec![0]], vec![99, 98]));
        assert_eq!(usable_places(&[vec![99]], &eight()), (vec![], vec![99]));
    }

    #[test]
    fn a_core_has_all_its_hardware_threads() {
        assert_eq!(core_of(5, &eight()), [1, 5]);
        assert_eq!(core_of(0, &eight()), [0, 4]);
        assert_eq!(core_of(99, &eight()), [99]);
    }

    #[test]
    fn nothing_is_pinned_without_a_placement_or_cpus() {
        assert_eq!(cpu_list(Placement::None, 0, 0, &eight()), None);
        assert_eq!(cpu_list(Placement::Compact, 0, 0, &Topology::default()), None);
    }

    #[test]
    #[cfg(all(target_os = "linux", not(miri)))]
    fn pinning_shows_in_the_mask_and_refuses_foreign_cpus() {
        std::thread::spawn(|| {
            let all = current().unwrap();
            let last = *all.last().unwrap();
            pin_current(&[last]).unwrap();
            assert_eq!(current().unwrap(), [last]);
            pin_current(&all).unwrap();
            assert_eq!(current().unwrap(), all, "a place of several");
            assert!(pin_current(&[8191]).is_err());
            assert!(pin_current(&[100_000]).is_err());
        })
        .join()
        .unwrap();
    }
}
