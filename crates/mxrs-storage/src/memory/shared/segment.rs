//! One mapping of a shared segment, and the file descriptor of the segment.

use super::header::{HEADER_BYTES, Header, Unusable};
use super::{SharedId, memfd};
use mxrs_types::{Error, Result};
use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::ptr::NonNull;

/// The descriptor of a shared block, to be sent to another process or received from one; see
/// [`Storage::open_shared`](crate::Storage::open_shared). It maps nothing, so the number of mappings in the segment does not
/// include it.
#[derive(Debug)]
pub struct SharedHandle {
    fd: OwnedFd,
}

impl SharedHandle {
    /// Opens the block that another process has under the descriptor `id`, using `/proc`. The system permits this only to a
    /// process that may also debug the other process, normally one of the same user.
    ///
    /// # Errors
    /// [`ErrorKind::Io`](mxrs_types::ErrorKind::Io) if there is no such process or descriptor, or it may not be opened.
    pub fn of(id: SharedId) -> Result<Self> {
        let path = format!("/proc/{}/fd/{}", id.pid, id.fd);
        // A descriptor may refer to anything, and just opening a pipe or a device could block or have side effects.
        let is_memfd = std::fs::read_link(&path).map_err(|error| Error::io(&path, &error))?;
        if !is_memfd.to_string_lossy().starts_with("/memfd:") {
            return Err(Error::invalid("shared memory", is_memfd.display(), "a file made by memfd_create"));
        }
        // The other process may have replaced the descriptor since the check above, for example by a pipe. Opening a pipe
        // would wait for its other end, so the file is opened non-blocking. The standard library sets close-on-exec.
        let file =
            OpenOptions::new().read(true).write(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(&path);
        let file = file.map_err(|error| Error::io(&path, &error))?;
        Ok(Self { fd: file.into() })
    }
}

impl From<OwnedFd> for SharedHandle {
    fn from(fd: OwnedFd) -> Self {
        Self { fd }
    }
}

impl From<SharedHandle> for OwnedFd {
    fn from(handle: SharedHandle) -> Self {
        handle.fd
    }
}

impl AsFd for SharedHandle {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// A mapping that the header of its segment counts. Dropping it unmaps the segment, decreases the count and closes the
/// descriptor.
#[derive(Debug)]
pub(crate) struct SharedSegment {
    start: NonNull<u8>,
    map_bytes: usize,
    len: usize,
    fd: OwnedFd,
    /// The process that made this mapping. In a child made by `fork`, this value is a copy that the header does not count.
    pid: u32,
}

// SAFETY: the mapping belongs to the process, not to a thread, and the only owner of this value unmaps it once.
unsafe impl Send for SharedSegment {}
// SAFETY: a shared reference gives access only to the atomics of the header and to numbers that never change.
unsafe impl Sync for SharedSegment {}

impl SharedSegment {
    /// Creates a zeroed segment for `len ≥ 1` bytes; `None` if there is no memory for it.
    pub(crate) fn create(len: usize) -> Result<Option<Self>> {
        let Some(map_bytes) = len.checked_add(HEADER_BYTES).filter(|&bytes| isize::try_from(bytes).is_ok()) else {
            return Ok(None);
        };
        let made = memfd::create(map_bytes as u64).and_then(|fd| Ok((memfd::map(fd.as_fd(), map_bytes)?, fd)));
        let (start, fd) = match made {
            Ok(made) => made,
            Err(error) if is_shortage(&error) => return Ok(None),
            Err(error) => return Err(Error::io("memfd:mxrs", &error)),
        };
        let segment = Self { start, map_bytes, len, fd, pid: std::process::id() };
        segment.header().write(len as u64);
        Ok(Some(segment))
    }

    /// Maps the segment of a descriptor. Another process may have made it, so its kind, seals, length and header are
    /// checked.
    pub(crate) fn open(handle: SharedHandle) -> Result<Self> {
        let fd = handle.fd;
        let os_error = |error: io::Error| Error::io("shared memory", &error);
        let fault = |got: String, expected: &str| Error::invalid("shared memory", got, expected);
        match memfd::cannot_shrink(fd.as_fd()) {
            None => return Err(fault("a file of another kind".into(), "a file made by memfd_create")),
            Some(false) => return Err(fault("a file that can shrink".into(), "one sealed with F_SEAL_SHRINK")),
            Some(true) => {}
        }
        if !memfd::has_ordinary_pages(fd.as_fd()).map_err(os_error)? {
            return Err(fault("a file of huge pages".into(), "one of ordinary pages"));
        }
        let file_bytes = memfd::len(fd.as_fd()).map_err(os_error)?;
        let Some(available) = file_bytes.checked_sub(HEADER_BYTES as u64) else {
            return Err(fault(format!("{file_bytes} bytes"), "at least the 64 bytes of the header"));
        };
        let map_bytes = usize::try_from(file_bytes).map_err(|_| fault(format!("{file_bytes} bytes"), "fewer"))?;
        let start = memfd::map(fd.as_fd(), map_bytes).map_err(os_error)?;
        // SAFETY: the mapping is at least as long as the header and starts at a page. It is unmapped below only after
        // the last use of the header.
        let joined = unsafe { Header::at(start) }.join(available);
        match joined {
            // `len <= available`, so it fits into `usize` as `file_bytes` did.
            Ok(len) => Ok(Self { start, map_bytes, len: len as usize, fd, pid: std::process::id() }),
            Err(unusable) => {
                // SAFETY: mapped above with this length, not known to other code, and not counted.
                unsafe { memfd::unmap(start, map_bytes) };
                Err(match unusable {
                    Unusable::Magic(found) => fault(
                        format!("a file that begins with {:02x?}", found.to_ne_bytes()),
                        "`mxrsshm` and version 1",
                    ),
                    Unusable::Length(len, available) => fault(
                        format!("a header that promises {len} bytes"),
                        &format!("1 to {available}, which follow it"),
                    ),
                    Unusable::NoOwner => fault("a block that its last owner has freed".into(), "one still in use"),
                    Unusable::TooMany => fault("a count of mappings that is full".into(), "fewer than 2^32 - 1"),
                })
            }
        }
    }

    fn header(&self) -> &Header {
        // SAFETY: the mapping lives as long as `self` and starts with a header.
        unsafe { Header::at(self.start) }
    }

    /// The first byte of the data, at a multiple of 64.
    pub(crate) fn data(&self) -> NonNull<u8> {
        // SAFETY: `create` and `open` made the mapping at least `HEADER_BYTES` long.
        unsafe { self.start.add(HEADER_BYTES) }
    }

    /// The length of the data in bytes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Identifies the descriptor of this segment in this process.
    pub(crate) fn id(&self) -> SharedId {
        SharedId { pid: self.pid, fd: self.fd.as_raw_fd() }
    }

    /// A duplicate of the descriptor, closed on `exec`.
    pub(crate) fn handle(&self) -> Result<SharedHandle> {
        let fd = self.fd.try_clone().map_err(|error| Error::io("memfd:mxrs", &error))?;
        Ok(SharedHandle { fd })
    }

    /// The number of mappings of this segment in all processes, according to its header.
    pub(crate) fn count(&self) -> u32 {
        self.header().count()
    }
}

impl Drop for SharedSegment {
    fn drop(&mut self) {
        if self.pid == std::process::id() {
            self.header().leave();
        }
        // SAFETY: `create` or `open` mapped it with this length, and `self` is the only owner. The descriptor closes
        // afterwards.
        unsafe { memfd::unmap(self.start, self.map_bytes) };
    }
}

/// Whether the cause of the error is a lack of memory or of address space.
fn is_shortage(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOMEM | libc::ENOSPC | libc::EFBIG))
        || error.kind() == io::ErrorKind::FileTooLarge
}
