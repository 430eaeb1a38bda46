//! Anonymous files of the Linux kernel: creating, inspecting and mapping them.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;

/// The name shown in `/proc/<pid>/maps`; no file can be opened by this name.
const LABEL: &CStr = c"mxrs";

/// The seals of a segment: its size is final, and no seal can be added.
const SEALS: libc::c_int = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;

/// Creates a file of `len` bytes, all with memory allocated. The size of the file cannot change.
pub(super) fn create(len: u64) -> io::Result<OwnedFd> {
    // SAFETY: the label ends with a zero byte, and the call only creates a descriptor.
    let fd = unsafe { libc::memfd_create(LABEL.as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was just created, and no other code owns it.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    let off_len = libc::off_t::try_from(len).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
    // Allocates now instead of at the first write, because a write without available memory would kill the process.
    repeat(|| {
        // SAFETY: `fd` is open, and the call affects only its file.
        unsafe { libc::fallocate(fd.as_raw_fd(), 0, 0, off_len) }
    })?;
    // SAFETY: `fd` is open, and the call affects only its file.
    repeat(|| unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_ADD_SEALS, SEALS) })?;
    Ok(fd)
}

/// Repeats a system call while a signal interrupts it.
fn repeat(mut call: impl FnMut() -> libc::c_int) -> io::Result<libc::c_int> {
    loop {
        let status = call();
        if status >= 0 {
            return Ok(status);
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// Whether no process can make the file shorter; `None` if the file does not support seals, which means that it is not a
/// memfd.
pub(super) fn cannot_shrink(fd: BorrowedFd<'_>) -> Option<bool> {
    // SAFETY: the borrowed descriptor is open, and the call only queries its file.
    let seals = repeat(|| unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GET_SEALS) }).ok()?;
    Some(seals & libc::F_SEAL_SHRINK != 0)
}

/// Whether the file consists of ordinary pages; false for a file of the huge page file system, which can be mapped only
/// in multiples of a huge page.
pub(super) fn has_ordinary_pages(fd: BorrowedFd<'_>) -> io::Result<bool> {
    let mut info = std::mem::MaybeUninit::<libc::statfs>::zeroed();
    // SAFETY: the kernel writes a `statfs`, and `info` has room for one.
    repeat(|| unsafe { libc::fstatfs(fd.as_raw_fd(), info.as_mut_ptr()) })?;
    // SAFETY: zeros are a valid `statfs`, and the call succeeded in filling it.
    let info = unsafe { info.assume_init() };
    Ok(i128::from(info.f_type) == i128::from(libc::TMPFS_MAGIC))
}

/// The length of the file in bytes.
pub(super) fn len(fd: BorrowedFd<'_>) -> io::Result<u64> {
    let mut info = std::mem::MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: the kernel writes a `stat`, and `info` has room for one.
    repeat(|| unsafe { libc::fstat(fd.as_raw_fd(), info.as_mut_ptr()) })?;
    // SAFETY: zeros are a valid `stat`, and the call succeeded in filling it.
    let info = unsafe { info.assume_init() };
    Ok(u64::try_from(info.st_size).unwrap_or(0))
}

/// Maps the first `len` bytes for reading and writing, shared with every other mapping of the file.
pub(super) fn map(fd: BorrowedFd<'_>, len: usize) -> io::Result<NonNull<u8>> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping at an address chosen by the system does not affect existing memory.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), len, access, libc::MAP_SHARED, fd.as_raw_fd(), 0) };
    match NonNull::new(start.cast::<u8>()) {
        Some(start) if start.as_ptr().cast() != libc::MAP_FAILED => Ok(start),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Removes a mapping.
///
/// # Safety
/// `start` came from `map` with the same length, is unmapped once, and nothing uses it.
pub(super) unsafe fn unmap(start: NonNull<u8>, len: usize) {
    // SAFETY: the caller guarantees a mapping of exactly this length.
    let status = unsafe { libc::munmap(start.as_ptr().cast(), len) };
    debug_assert_eq!(status, 0, "munmap of {len} bytes at {start:p}");
}
