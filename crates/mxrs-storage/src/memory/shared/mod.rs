//! Host memory that another process can map: the memory of `cpu_shared`.
//!
//! A segment is an anonymous file of the kernel (`memfd_create`) that contains a header of 64 bytes and then the data. It
//! has no name that could collide or be left behind: MXNet's search for a free name in up to ten attempts, and its removal
//! of the name afterwards, are not needed. The file is identified by its descriptor, and the kernel frees it when its last
//! descriptor and mapping are gone, even if their owners were killed.
//!
//! # From process to process
//! A descriptor is passed in a message on a Unix socket (`SCM_RIGHTS`), as the standard input of a child, or by
//! `/proc/<pid>/fd/<fd>` ([`SharedHandle::of`]). Every descriptor made here is closed on `exec`, so that a program started
//! by the process does not inherit it by accident. A child that was forked and did not call `exec` has the parent's
//! mappings, but its copies of blocks do not count.
//!
//! # The header
//! Bytes 0 to 7 are `mxrsshm` and a version, 8 to 15 the length of the data, 16 to 19 the number of mappings, which is
//! 1 when the segment is made. Each opening adds one, and the end of each mapping subtracts one, once. A count of 0
//! means that the last owner is gone; such a segment can no longer be opened, so a sender must keep its block until the
//! receiver has opened it. If a process is killed, its mapping ends but the count stays too high, which does not keep
//! the memory alive.
//!
//! # Trust
//! Data written by another process is trusted only where it can do no harm. A segment must be sealed against shrinking;
//! otherwise another process could truncate the file and so kill a process that reads it. Its size is queried from the
//! kernel before it is mapped. The header's length is read once and must fit. Other processes can change the data and
//! the count at any time.

#[cfg(all(target_os = "linux", not(miri)))]
mod header;
mod manager;
#[cfg(all(target_os = "linux", not(miri)))]
mod memfd;
#[cfg(all(target_os = "linux", not(miri)))]
mod segment;
#[cfg(not(all(target_os = "linux", not(miri))))]
#[path = "not_built.rs"]
mod segment;

pub(crate) use manager::{HeldSegments, SharedMemory};
pub use segment::SharedHandle;

/// Identifies the descriptor of a shared block, in the process `pid`; valid as long as that process keeps the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SharedId {
    /// The process that has the descriptor.
    pub pid: u32,
    /// The number of the descriptor in that process.
    pub fd: i32,
}
