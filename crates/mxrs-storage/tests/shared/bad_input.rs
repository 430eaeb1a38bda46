//! Descriptors and headers as a faulty or hostile process would send them (guarantee S12): always an error, never a crash or
//! a leak.

use crate::{Turn, allocate, storage};
use mxrs_storage::{SharedHandle, SharedId, Tag};
use mxrs_types::{Error, ErrorKind};
use proptest::prelude::*;
use std::fs::{File, OpenOptions};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::FileExt;

const SHRINK: i32 = libc::F_SEAL_SHRINK;

/// A memfd of `len` bytes that starts with the bytes `start` and has these seals.
fn file(start: &[u8], len: u64, seals: i32) -> OwnedFd {
    // SAFETY: the label ends with a zero byte; the call creates a descriptor, which no other code owns.
    let file = unsafe {
        let fd = libc::memfd_create(c"bad".as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING);
        assert!(fd >= 0);
        File::from_raw_fd(fd)
    };
    file.set_len(len).unwrap();
    if !start.is_empty() {
        file.write_all_at(&start[..start.len().min(len as usize)], 0).unwrap();
    }
    // SAFETY: the descriptor is open, and the call affects only its file.
    assert_eq!(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) }, 0);
    file.into()
}

fn header(magic: &[u8; 8], len: u64, count: u32) -> Vec<u8> {
    let mut bytes = magic.to_vec();
    bytes.extend(len.to_ne_bytes());
    bytes.extend(count.to_ne_bytes());
    bytes.resize(64, 0);
    bytes
}

const MAGIC: &[u8; 8] = b"mxrsshm\x01";

fn refused(fd: OwnedFd) -> Error {
    storage().open_shared(SharedHandle::from(fd), Tag::default()).unwrap_err()
}

/// A segment with the documented layout is accepted. Each case of the tests below differs from it in one point, which causes
/// the error.
#[test]
fn s12_the_documented_layout_is_accepted() {
    let _turn = Turn::take();
    let storage = storage();
    let block = storage.open_shared(SharedHandle::from(file(&header(MAGIC, 936, 4), 1000, SHRINK)), Tag::default());
    let block = block.unwrap();
    assert_eq!((block.len(), block.shared_mappings()), (936, Some(5)));
}

#[test]
fn s12_bad_headers_are_errors() {
    let _turn = Turn::take();
    let good = header(MAGIC, 936, 1);
    let cases = [
        (file(&header(b"mxrsshm\x02", 936, 1), 1000, SHRINK), "begins with"),
        (file(&[0; 64], 1000, SHRINK), "begins with"),
        (file(&good, 63, SHRINK), "63 bytes"),
        (file(&[], 0, SHRINK), "0 bytes"),
        (file(&header(MAGIC, 937, 1), 1000, SHRINK), "promises 937 bytes, expected 1 to 936"),
        (file(&header(MAGIC, u64::MAX, 1), 1000, SHRINK), "promises 18446744073709551615 bytes"),
        (file(&header(MAGIC, u64::MAX - 63, 1), 1000, SHRINK), "promises"),
        (file(&header(MAGIC, 0, 1), 1000, SHRINK), "promises 0 bytes"),
        (file(&header(MAGIC, 1, 1), 64, SHRINK), "promises 1 bytes"),
        (file(&header(MAGIC, 936, 0), 1000, SHRINK), "its last owner has freed"),
        (file(&header(MAGIC, 936, u32::MAX), 1000, SHRINK), "full"),
        (file(&good, 1000, 0), "can shrink"),
        (file(&good, 1000, libc::F_SEAL_GROW), "can shrink"),
    ];
    for (fd, part) in cases {
        let error = refused(fd);
        assert!(matches!(error.kind(), ErrorKind::InvalidValue { .. }), "{error}");
        assert!(error.to_string().contains(part), "no {part:?} in {error}");
    }
}

#[test]
fn s12_other_descriptors_are_errors() {
    let _turn = Turn::take();
    let on_disk = tempfile::tempfile().unwrap();
    on_disk.write_all_at(&header(MAGIC, 936, 1), 0).unwrap();
    on_disk.set_len(1000).unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    let zero = OpenOptions::new().read(true).write(true).open("/dev/zero").unwrap();
    let (socket, other) = std::os::unix::net::UnixStream::pair().unwrap();
    let folder = File::open("/").unwrap();
    for fd in [on_disk.into(), reader.into(), writer.into(), zero.into(), socket.into(), other.into(), folder.into()] {
        let error = refused(fd);
        assert!(error.to_string().contains("memfd_create"), "{error}");
    }
    // The contents of these segments are valid, but the segments cannot be written: one has a read-only descriptor, another
    // a seal.
    let good = file(&header(MAGIC, 936, 1), 1000, SHRINK);
    let read_only = File::open(format!("/proc/self/fd/{}", good.as_raw_fd())).unwrap();
    for fd in [read_only.into(), file(&header(MAGIC, 936, 1), 1000, SHRINK | libc::F_SEAL_WRITE)] {
        let error = refused(fd);
        assert!(matches!(error.kind(), ErrorKind::Io { .. }), "{error}");
    }
}

#[test]
fn s12_unknown_identities_are_errors() {
    let _turn = Turn::take();
    let pid = std::process::id();
    let (_reader, writer) = std::io::pipe().unwrap();
    for id in [
        SharedId { pid, fd: -1 },
        SharedId { pid, fd: 99_999 },
        SharedId { pid: u32::MAX, fd: 0 },
        SharedId { pid, fd: writer.as_raw_fd() },
    ] {
        assert!(SharedHandle::of(id).is_err(), "{id:?}");
    }
    let block = allocate(&storage(), 10);
    let handle = SharedHandle::of(block.shared_id().unwrap()).unwrap();
    assert_eq!(storage().open_shared(handle, Tag::default()).unwrap().shared_mappings(), Some(2));
}

/// Another process cannot truncate a segment of ours, or remove its seals.
#[test]
fn s12_a_peer_cannot_resize_a_block() {
    let _turn = Turn::take();
    let block = allocate(&storage(), 10_000);
    let file = File::from(OwnedFd::from(block.shared_handle().unwrap().unwrap()));
    for len in [0, 64, 10_000, 1 << 20] {
        assert!(file.set_len(len).is_err(), "{len}");
    }
    // SAFETY: the descriptor is open, and the call affects only its file.
    assert_eq!(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, libc::F_SEAL_WRITE) }, -1);
    assert_eq!(file.metadata().unwrap().len(), 10_064);
}

/// If another process writes a wrong count of mappings, the count still never falls below 0, and the block can be freed.
#[test]
fn s12_count_stays_at_least_0() {
    let _turn = Turn::take();
    let storage = storage();
    let block = allocate(&storage, 100);
    let second = crate::again(&storage, &block);
    let file = File::from(OwnedFd::from(block.shared_handle().unwrap().unwrap()));
    file.write_all_at(&1u32.to_ne_bytes(), 16).unwrap();
    drop(block);
    assert_eq!(second.shared_mappings(), Some(0));
    drop(second);
    let mut count = [9; 4];
    file.read_exact_at(&mut count, 16).unwrap();
    assert_eq!(u32::from_ne_bytes(count), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// For any header and any length of the file, opening returns an error or a block within the file.
    #[test]
    fn s12_no_header_is_trusted(
        magic in prop_oneof![3 => Just(*MAGIC), 1 => any::<[u8; 8]>()],
        len in prop_oneof![0u64..300, any::<u64>()],
        count in prop_oneof![0u32..4, any::<u32>()],
        file_bytes in 0u64..300,
    ) {
        let _turn = Turn::take();
        let handle = SharedHandle::from(file(&header(&magic, len, count), file_bytes, SHRINK));
        match storage().open_shared(handle, Tag::default()) {
            Ok(block) => {
                prop_assert!(magic == *MAGIC && count > 0 && count < u32::MAX && block.len() as u64 == len);
                prop_assert!(len > 0 && len + 64 <= file_bytes);
                crate::write(&block, block.len() - 1, 1);
            }
            Err(_) => {
                let fits = len > 0 && len.checked_add(64).is_some_and(|all| all <= file_bytes);
                prop_assert!(magic != *MAGIC || count == 0 || count == u32::MAX || !fits);
            }
        }
    }
}
