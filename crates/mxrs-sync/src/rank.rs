//! The order in which locks may be taken, defined in one place.
//!
//! A thread that holds a lock may take another lock only if the other lock has a higher rank. Locks of one rank may
//! only be taken in ascending order of an agreed number (for engine variables, their address). Ranks are listed from
//! outer to inner. A fork also pauses the owners of the locks in this order ([`crate::fork`]).

/// The rank of a lock; see the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum Rank {
    /// The list of fork guards: locked from before the first hook of a fork until after the last one, so its rank is
    /// the outermost; see [`crate::fork`].
    Fork = 0,
    /// Start and stop of an engine. A thread that stops the engine holds this lock until all workers have ended, so no other
    /// thread can start the engine meanwhile. The lock for creating the streams of a GPU has the same rank.
    EngineLifecycle = 10,
    /// The list of an engine's buffers of collected tasks.
    EngineBulks = 12,
    /// One buffer of collected tasks.
    EngineBulk = 14,
    /// The list of running tasks, which an engine has if it watches for stalls.
    EngineWatch = 16,
    /// State of one engine variable; a thread may hold several in ascending address.
    EngineVar = 20,
    /// Failures that have not been reported yet.
    EngineErrors = 30,
    /// The lock with which threads sleep in a wait for all tasks.
    EngineWaiters = 40,
    /// The threads of one worker pool: held while they are started or joined.
    EngineThreads = 45,
    /// One worker pool: its priority heap and its sleepers.
    EnginePool = 50,
    /// The list of threads that cache freed blocks of a storage pool.
    StorageThreads = 54,
    /// One thread's cache of freed blocks; a thread may hold several in the order of their numbers.
    StorageCache = 57,
    /// A storage pool's free lists.
    Storage = 60,
    /// A backend's cache of prepared kernels.
    KernelCache = 70,
    /// Free memory for tasks, by size.
    EngineSlab = 90,
    /// Locks whose holder takes no further lock.
    Leaf = 100,
}

/// A lock requested against the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inversion {
    /// A lock that the thread holds, with its order number.
    pub held: (Rank, u64),
    /// The lock that it requested.
    pub wanted: (Rank, u64),
}

impl std::fmt::Display for Inversion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "lock order: {:?}#{} wanted while {:?}#{} is held; see the order in mxrs_sync::rank",
            self.wanted.0, self.wanted.1, self.held.0, self.held.1
        )
    }
}

/// Checks whether a thread that holds `held` may take `wanted`.
///
/// # Errors
/// Returns the first lock in `held` that may only be taken after `wanted`.
pub fn check(held: &[(Rank, u64)], wanted: (Rank, u64)) -> Result<(), Inversion> {
    match held.iter().find(|h| **h >= wanted) {
        Some(h) => Err(Inversion { held: *h, wanted }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_ascend() {
        let var = |id| (Rank::EngineVar, id);
        assert!(check(&[], var(7)).is_ok());
        assert!(check(&[var(1), var(3)], var(4)).is_ok());
        assert!(check(&[var(1)], (Rank::EnginePool, 0)).is_ok());
        assert_eq!(check(&[var(1), var(3)], var(2)).unwrap_err().held, var(3));
        assert!(check(&[var(1)], var(1)).is_err(), "the same lock twice");
        assert!(check(&[(Rank::Leaf, 0)], var(9)).is_err());
    }
}
