//! Host memory that another process can map: what lies behind `cpu_shared`.
//!
//! A segment is an anonymous file of the kernel (`memfd_create`) with a header of 64 bytes and the data after it. It has
//! no name, so there is none to choose, to collide on or to leave behind: MXNet's search for a free name in up to ten
//! attempts, and its removal of the name afterwards, have no counterpart. The file is known by its descriptor, and the
//! kernel frees it with the last descriptor and mapping, however their owners ended.
//!
//! # From process to process
//! A descriptor travels as a message on a Unix socket (`SCM_RIGHTS`), as the standard input of a child, or by
//! `/proc/<pid>/fd/<fd>` ([`SharedHandle::of`]). Every descriptor made here is closed on `exec`: a program that a process
//! starts gets none by accident. A child that was forked and not replaced has the parent's mappings; its copies of blocks
//! do not count.
//!
//! # The header
//! Bytes 0 to 7 are `mxrsshm` and a version, 8 to 15 the length of the data, 16 to 19 the number of mappings, 1 when the
//! segment is made. Each opening adds one and each end of a mapping takes one away, once. A count of 0 says that the last
//! owner is gone: such a segment is not opened any more, so a sender keeps its block until the receiver has opened it. A
//! process that is killed takes its mapping along and leaves the count too high, which keeps nothing alive.
//!
//! # Trust
//! What a peer wrote is believed only as far as it can do no harm. A segment must be sealed against shrinking, or a peer
//! could cut the file and kill whoever reads on; its size is asked of the kernel before it is mapped; the header's length
//! is read once and must fit. The data, and the count, a peer can change at any time.

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

/// Where a shared block's descriptor is: valid as long as that process keeps the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SharedId {
    /// The process that has the descriptor.
    pub pid: u32,
    /// Its number there.
    pub fd: i32,
}
