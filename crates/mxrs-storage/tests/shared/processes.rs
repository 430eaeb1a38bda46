//! Shared blocks between two processes: the memory is freed exactly once (guarantee S12, see `src/lib.rs`).

use crate::{Turn, allocate, read, storage, write};
use mxrs_storage::{Block, SharedHandle, SharedId, Tag};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Starts this program again to run one of the ignored tests, with a block as its standard input.
fn start(role: &str, block: &Block) -> Child {
    let fd: OwnedFd = block.shared_handle().unwrap().unwrap().into();
    Command::new(std::env::current_exe().unwrap())
        .args([role, "--exact", "--ignored", "--test-threads", "1"])
        .stdin(Stdio::from(fd))
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// The block whose descriptor is the standard input; `None` if this program was not started by a test.
fn given() -> Option<Block> {
    let handle = SharedHandle::from(std::io::stdin().as_fd().try_clone_to_owned().ok()?);
    storage().open_shared(handle, Tag::default()).ok()
}

fn wait_for(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what} took too long");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
#[ignore = "the second process of s12_a_child_writes_what_the_parent_reads"]
fn child_writes() {
    let Some(block) = given() else { return };
    assert_eq!((block.shared_mappings(), read(&block, 0)), (Some(2), 1));
    write(&block, block.len() - 1, 42);
}

/// S12: a child maps the parent's block by its descriptor; the parent sees what the child wrote, and that its mapping
/// has ended.
#[test]
fn s12_a_child_writes_what_the_parent_reads() {
    let _turn = Turn::take();
    let block = allocate(&storage(), 200_000);
    write(&block, 0, 1);
    let mut child = start("processes::child_writes", &block);
    assert!(child.wait().unwrap().success());
    assert_eq!((read(&block, 199_999), block.shared_mappings()), (42, Some(1)));
}

#[test]
#[ignore = "the second process of s12_a_child_outlives_its_parent_s_block"]
fn child_keeps() {
    let Some(block) = given() else { return };
    write(&block, 0, 2);
    wait_for("the parent's end of the block", || block.shared_mappings() == Some(1));
    // The parent has freed its block, but this mapping keeps the bytes. Byte 1 is the descriptor of another block, which the
    // parent keeps.
    let other = SharedId { pid: std::os::unix::process::parent_id(), fd: read(&block, 1).into() };
    let other = storage().open_shared(SharedHandle::of(other).unwrap(), Tag::default()).unwrap();
    write(&other, 0, read(&block, 2));
}

/// S12: the process that made a block may free it before other processes do. A block can be found by its process and the
/// number of its descriptor.
#[test]
fn s12_a_child_outlives_its_parent_s_block() {
    let _turn = Turn::take();
    let storage = storage();
    let (block, other) = (allocate(&storage, 100), allocate(&storage, 100));
    let id = other.shared_id().unwrap();
    assert_eq!(id.pid, std::process::id());
    write(&block, 1, id.fd.try_into().unwrap());
    write(&block, 2, 99);
    let mut child = start("processes::child_keeps", &block);
    wait_for("the child", || read(&block, 0) == 2 || child.try_wait().unwrap().is_some());
    drop(block);
    assert!(child.wait().unwrap().success());
    assert_eq!((read(&other, 0), other.shared_mappings()), (99, Some(1)));
}

#[test]
#[ignore = "the second process of s12_a_killed_child_takes_its_mapping_along"]
fn child_waits() {
    let Some(block) = given() else { return };
    write(&block, 0, 3);
    wait_for("the end of this process", || false);
}

/// S12: a killed child cannot decrease the count of mappings; the parent's free still frees the memory, because no
/// descriptor and no mapping is left.
#[test]
fn s12_a_killed_child_takes_its_mapping_along() {
    let _turn = Turn::take();
    let block = allocate(&storage(), 4 << 20);
    let mut child = start("processes::child_waits", &block);
    wait_for("the child", || read(&block, 0) == 3 || child.try_wait().unwrap().is_some());
    assert_eq!(block.shared_mappings(), Some(2));
    // Sends SIGKILL.
    child.kill().unwrap();
    assert!(!child.wait().unwrap().success());
    assert_eq!(block.shared_mappings(), Some(2), "the count stays too high, as documented");
    assert!(!std::path::Path::new(&format!("/proc/{}", child.id())).exists());
    drop(block);
}

/// A child that was forked without `exec` has copies of the parent's blocks; dropping them changes no count.
#[test]
fn s12_copies_in_a_forked_child_do_not_count() {
    let _turn = Turn::take();
    let storage = storage();
    let block = allocate(&storage, 100);
    let flag = allocate(&storage, 1);
    // SAFETY: the child uses only its mapping and its descriptors, does not allocate, and ends without running
    // destructors or other code of the parent.
    let child = unsafe { libc::fork() };
    assert!(child >= 0);
    if child == 0 {
        write(&flag, 0, 1);
        drop(block);
        // SAFETY: ends the child immediately, without destructors or other code of the parent.
        unsafe { libc::_exit(0) };
    }
    let mut status = -1;
    // SAFETY: `child` is a child of this process, and `status` is valid for writes.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!((status, read(&flag, 0), block.shared_mappings()), (0, 1, Some(1)));
    drop(again_after_fork(&storage, &block));
}

/// Opens another mapping of `block` in the forked child.
fn again_after_fork(storage: &mxrs_storage::Storage, block: &Block) -> Block {
    let second = crate::again(storage, block);
    assert_eq!(block.shared_mappings(), Some(2));
    second
}
