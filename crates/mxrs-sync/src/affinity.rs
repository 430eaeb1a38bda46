//! Pinning threads to CPUs, and the order in which `KMP_AFFINITY` hands CPUs out.
//!
//! The machine is a tree: sockets, cores, hardware threads. A placement sorts the logical CPUs by their position in that
//! tree, level by level; team thread `i` is pinned to the `i`-th CPU of the sorted list, starting over at its end.

use crate::Topology;
use mxrs_types::{Error, Result};

/// How team threads are spread over CPUs; the type word of `KMP_AFFINITY`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Placement {
    /// No pinning.
    None,
    /// No pinning, and the affinity interface is off; the same as [`Placement::None`] here.
    Disabled,
    /// Neighbors in number are neighbors on the machine.
    Compact,
    /// Neighbors in number are as far apart as possible.
    Scatter,
    /// As many threads on each core as on any other, neighbors in number on one core.
    Balanced {
        /// Team size the balance is for.
        threads: usize,
    },
    /// The CPUs listed, in that order.
    Explicit,
}

/// The CPUs for team threads 0, 1, 2, …, or `None` for "do not pin".
///
/// - `permute`: how many of the innermost levels become the most significant ones ([`Placement::Compact`]); for
///   [`Placement::Scatter`] counted from the other end. A level on which all CPUs agree does not count.
/// - `offset`: position in the list where thread 0 starts.
/// - `proclist`: only for [`Placement::Explicit`], which ignores `permute` and `offset`. CPUs the process may not use
///   are left out; if none is left there is no pinning.
///
/// ```
/// use mxrs_sync::{Cpu, Topology, affinity::{Placement, cpu_list}};
/// // Two cores with two hardware threads each: CPUs 0 and 2 share a core.
/// let t = Topology::new([(0, 0), (1, 1), (0, 2), (1, 3)].map(|(core, id)| Cpu { package: 0, core, id }).to_vec());
/// assert_eq!(cpu_list(Placement::Compact, 0, 0, &[], &t), Some(vec![0, 2, 1, 3]));
/// assert_eq!(cpu_list(Placement::Compact, 1, 0, &[], &t), Some(vec![0, 1, 2, 3]));
/// ```
pub fn cpu_list(
    placement: Placement,
    permute: usize,
    offset: usize,
    proclist: &[usize],
    topology: &Topology,
) -> Option<Vec<usize>> {
    let seats = seats(topology);
    let depth = levels(&seats);
    let list = match placement {
        Placement::None | Placement::Disabled => return None,
        Placement::Explicit => {
            let list: Vec<usize> =
                proclist.iter().copied().filter(|id| topology.cpus.iter().any(|c| c.id == *id)).collect();
            return Some(list).filter(|l| !l.is_empty());
        }
        Placement::Compact => sorted(&seats, permute.min(depth.len().saturating_sub(1)), &depth),
        Placement::Scatter => sorted(&seats, depth.len().saturating_sub(1).saturating_sub(permute), &depth),
        Placement::Balanced { threads } => balanced(&seats, threads),
    };
    let mut list = Some(list).filter(|l| !l.is_empty())?;
    let start = offset % list.len();
    list.rotate_left(start);
    Some(list)
}

/// A logical CPU's ordinals: socket among sockets, core within its socket, hardware thread within its core.
struct Seat {
    at: [usize; 3],
    id: usize,
}

fn seats(topology: &Topology) -> Vec<Seat> {
    let mut seats: Vec<Seat> = Vec::with_capacity(topology.cpus.len());
    let mut previous: Option<(crate::Cpu, [usize; 3])> = None;
    for &cpu in &topology.cpus {
        let at = match previous {
            None => [0, 0, 0],
            Some((last, at)) if last.package != cpu.package => [at[0] + 1, 0, 0],
            Some((last, at)) if last.core != cpu.core => [at[0], at[1] + 1, 0],
            Some((_, at)) => [at[0], at[1], at[2] + 1],
        };
        previous = Some((cpu, at));
        seats.push(Seat { at, id: cpu.id });
    }
    seats
}

/// The levels on which CPUs differ, outermost first.
fn levels(seats: &[Seat]) -> Vec<usize> {
    (0..3).filter(|&level| seats.iter().any(|s| s.at[level] > 0)).collect()
}

/// Sorts by the `innermost` inner levels first, innermost of all first, then by the others from the outside in.
fn sorted(seats: &[Seat], innermost: usize, levels: &[usize]) -> Vec<usize> {
    let (outer, inner) = levels.split_at(levels.len() - innermost.min(levels.len()));
    let order: Vec<usize> = inner.iter().rev().chain(outer).copied().collect();
    let mut keyed: Vec<(Vec<usize>, usize)> =
        seats.iter().map(|s| (order.iter().map(|&l| s.at[l]).collect(), s.id)).collect();
    keyed.sort();
    keyed.into_iter().map(|(_, id)| id).collect()
}

fn balanced(seats: &[Seat], threads: usize) -> Vec<usize> {
    let mut cores: Vec<Vec<usize>> = Vec::new();
    let mut last = None;
    for seat in seats {
        let core = (seat.at[0], seat.at[1]);
        if last != Some(core) {
            cores.push(Vec::new());
            last = Some(core);
        }
        if let Some(core) = cores.last_mut() {
            core.push(seat.id);
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

/// The CPUs the calling thread may run on, ascending; `None` where the system does not tell.
#[cfg(all(target_os = "linux", not(miri)))]
pub fn current() -> Option<Vec<usize>> {
    let mut words = [0 as libc::c_ulong; MASK_WORDS];
    // SAFETY: the kernel writes at most `size_of_val(&words)` bytes into `words`, which is that large and outlives the
    // call; pid 0 is the calling thread.
    let rc = unsafe { libc::sched_getaffinity(0, size_of_val(&words), words.as_mut_ptr().cast()) };
    let bits = libc::c_ulong::BITS as usize;
    (rc == 0).then(|| (0..MASK_WORDS * bits).filter(|cpu| words[cpu / bits] >> (cpu % bits) & 1 == 1).collect())
}

/// Pins the calling thread to one CPU.
///
/// # Errors
/// [`mxrs_types::ErrorKind::InvalidValue`] for a CPU the process may not use, or where pinning is not possible.
#[cfg(all(target_os = "linux", not(miri)))]
pub fn pin_current(cpu: usize) -> Result<()> {
    let refused = || Error::invalid("cpu to pin a thread to", cpu, "a cpu this process may run on");
    let bits = libc::c_ulong::BITS as usize;
    let mut words = [0 as libc::c_ulong; MASK_WORDS];
    *words.get_mut(cpu / bits).ok_or_else(refused)? |= 1 << (cpu % bits);
    // SAFETY: the kernel reads `size_of_val(&words)` bytes from `words`, which is that large and initialized; pid 0 is
    // the calling thread, so no other thread is affected.
    let rc = unsafe { libc::sched_setaffinity(0, size_of_val(&words), words.as_ptr().cast()) };
    if rc == 0 { Ok(()) } else { Err(refused()) }
}

/// Room for 8192 logical CPUs, the most a Linux kernel is configured for.
#[cfg(all(target_os = "linux", not(miri)))]
const MASK_WORDS: usize = 8192 / libc::c_ulong::BITS as usize;

/// The CPUs the calling thread may run on; this system does not tell.
#[cfg(not(all(target_os = "linux", not(miri))))]
pub fn current() -> Option<Vec<usize>> {
    None
}

/// Pins the calling thread to one CPU.
///
/// # Errors
/// Always, on this system.
#[cfg(not(all(target_os = "linux", not(miri))))]
pub fn pin_current(_cpu: usize) -> Result<()> {
    Err(Error::not_built("pinning threads to cpus", "only Linux has it; leave KMP_AFFINITY unset"))
}

/// Refuses a list a team cannot be pinned to: an empty one, or with a CPU this process may not use.
pub(crate) fn check(cpus: &[usize]) -> Result<()> {
    if cpus.is_empty() {
        return Err(Error::invalid("cpus of a team", "an empty list", "at least one cpu, or no list for no pinning"));
    }
    let Some(allowed) = current() else {
        return Err(Error::not_built("pinning threads to cpus", "only Linux has it; leave KMP_AFFINITY unset"));
    };
    match cpus.iter().find(|cpu| !allowed.contains(cpu)) {
        Some(cpu) => Err(Error::invalid("cpu to pin a team thread to", cpu, format!("one of {allowed:?}"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cpu;

    /// Two sockets, two cores each, two hardware threads each, numbered as Linux does: second threads last.
    /// Core numbers have a gap, as on real machines.
    fn eight() -> Topology {
        let mut cpus = Vec::new();
        for id in 0..8 {
            cpus.push(Cpu { package: id % 4 / 2, core: id % 2 * 4, id });
        }
        Topology::new(cpus)
    }

    #[test]
    fn compact_fills_a_core_then_a_socket() {
        assert_eq!(cpu_list(Placement::Compact, 0, 0, &[], &eight()).unwrap(), [0, 4, 1, 5, 2, 6, 3, 7]);
    }

    #[test]
    fn compact_1_0_takes_distinct_cores_before_second_threads() {
        assert_eq!(cpu_list(Placement::Compact, 1, 0, &[], &eight()).unwrap(), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(cpu_list(Placement::Compact, 1, 3, &[], &eight()).unwrap(), [3, 4, 5, 6, 7, 0, 1, 2]);
    }

    #[test]
    fn scatter_alternates_sockets() {
        assert_eq!(cpu_list(Placement::Scatter, 0, 0, &[], &eight()).unwrap(), [0, 2, 1, 3, 4, 6, 5, 7]);
        // compact,2 and scatter,0 sort the same way: both make the hardware thread the slowest to vary.
        assert_eq!(
            cpu_list(Placement::Compact, 2, 0, &[], &eight()),
            cpu_list(Placement::Scatter, 0, 0, &[], &eight())
        );
    }

    #[test]
    fn balanced_keeps_neighbors_on_one_core() {
        let list = |threads| cpu_list(Placement::Balanced { threads }, 0, 0, &[], &eight()).unwrap();
        assert_eq!(list(4), [0, 1, 2, 3]);
        assert_eq!(list(6), [0, 4, 1, 5, 2, 3]);
        assert_eq!(list(8), [0, 4, 1, 5, 2, 6, 3, 7]);
    }

    #[test]
    fn explicit_keeps_the_order_and_drops_foreign_cpus() {
        assert_eq!(cpu_list(Placement::Explicit, 1, 1, &[6, 99, 0], &eight()), Some(vec![6, 0]));
        assert_eq!(cpu_list(Placement::Explicit, 0, 0, &[99], &eight()), None);
        assert_eq!(cpu_list(Placement::None, 0, 0, &[], &eight()), None);
        assert_eq!(cpu_list(Placement::Compact, 0, 0, &[], &Topology::default()), None);
    }

    #[test]
    #[cfg(all(target_os = "linux", not(miri)))]
    fn pinning_shows_in_the_mask_and_refuses_foreign_cpus() {
        std::thread::spawn(|| {
            let all = current().unwrap();
            let last = *all.last().unwrap();
            pin_current(last).unwrap();
            assert_eq!(current().unwrap(), [last]);
            assert!(pin_current(8191).is_err());
            assert!(pin_current(100_000).is_err());
        })
        .join()
        .unwrap();
    }
}
