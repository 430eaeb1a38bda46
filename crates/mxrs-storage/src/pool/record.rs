//! The record of one piece of memory, live or cached. A block is passed on by passing a pointer to its record.
//!
//! So a hit moves one pointer. A thread that holds all locks of a pool can list all live blocks with their tags.

use super::Pool;
use super::best_fit::Leaving;
use crate::Tag;
use mxrs_sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use mxrs_sync::{Arc, BriefLock, Rank};
use mxrs_types::{Device, DeviceEvent};
use std::cell::UnsafeCell;
use std::ops::Deref;
use std::ptr::NonNull;

/// Events that must be finished before another stream, the host or the device uses the memory.
pub(crate) type Events = Vec<Arc<dyn DeviceEvent>>;

/// If there are at least this many events, finished ones are removed when more are added.
const MANY_EVENTS: usize = 16;

/// What the owner of a block requested: device, size and tag.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) device: Device,
    /// The number of bytes that were requested.
    pub(crate) size: usize,
    pub(crate) tag: Tag,
}

/// The part of a record that belongs to the owner of the block.
struct Owner {
    is_live: bool,
    /// The request of the owner. If there is no owner, the request of the last owner, with a static tag.
    request: Request,
}

/// One block. Aligned to a cache line, so that records of two threads never share one.
#[repr(align(64))]
pub(crate) struct Record {
    ptr: NonNull<u8>,
    block_bytes: usize,
    /// The key of the size class that the block was made for. The block is cached under this key.
    key: usize,
    /// The pool, from an `Arc` but not counted; null for an empty block, which has no pool.
    pool: *const Pool,
    /// Written only by the thread that moves the record between an owner and the container or a thread's cache, under
    /// the lock of that container or cache. Read by the owner, or under all locks of the pool.
    owner: UnsafeCell<Owner>,
    /// Whether `events` may be non-empty, so that a hit need not take the lock.
    marked: AtomicBool,
    events: BriefLock<Events>,
    /// The index of the record in the pool's roster; used only under the lock of the pool's shared data.
    pub(super) roster_at: AtomicUsize,
}

/// A pointer to a record. There are up to two copies: one with the holder (a `Block`, the container or a thread's
/// cache), and one in the pool's *roster*, the list of blocks outside the container. Only the holder destroys the
/// record, after the record has left the roster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordRef(NonNull<Record>);

// SAFETY: several threads may use a record only as its fields allow: fixed fields are never written, atomics and the
// lock of the events synchronize themselves, and the locks of the pool guard `owner`. The pool is `Send + Sync`.
unsafe impl Send for RecordRef {}
// SAFETY: a shared `RecordRef` allows nothing that a copy of it does not allow.
unsafe impl Sync for RecordRef {}

impl Deref for RecordRef {
    type Target = Record;

    #[inline]
    fn deref(&self) -> &Record {
        // SAFETY: a record is destroyed only through the last copy of its `RecordRef`, so it exists.
        unsafe { self.0.as_ref() }
    }
}

impl RecordRef {
    /// Makes a record with its first owner. `pool` is null or came from an `Arc`.
    pub(crate) fn new(ptr: NonNull<u8>, block_bytes: usize, key: usize, pool: *const Pool, request: Request) -> Self {
        Self::made(ptr, block_bytes, key, pool, Owner { is_live: true, request })
    }

    /// Makes a record without an owner, for [`revive`](Record::revive). `pool` came from an `Arc`.
    pub(crate) fn idle(ptr: NonNull<u8>, block_bytes: usize, key: usize, pool: *const Pool) -> Self {
        let request = Request { device: Device::cpu(0), size: 0, tag: Tag::default() };
        Self::made(ptr, block_bytes, key, pool, Owner { is_live: false, request })
    }

    fn made(ptr: NonNull<u8>, block_bytes: usize, key: usize, pool: *const Pool, owner: Owner) -> Self {
        let record = Record {
            ptr,
            block_bytes,
            key,
            pool,
            owner: UnsafeCell::new(owner),
            marked: AtomicBool::new(false),
            events: BriefLock::new(Rank::Leaf, 0, Vec::new()),
            roster_at: AtomicUsize::new(usize::MAX),
        };
        Self(NonNull::from(Box::leak(Box::new(record))))
    }

    /// Destroys the record and returns its memory and its unfinished events.
    ///
    /// # Safety
    /// The caller has the last pointer to the record: the record is not in its pool's list of blocks.
    pub(crate) unsafe fn destroy(self) -> Segment {
        // SAFETY: `new` made it with `Box::leak`, and the caller has the last pointer to it.
        let record = unsafe { Box::from_raw(self.0.as_ptr()) };
        let Record { ptr, block_bytes, events, .. } = *record;
        Segment { ptr, bytes: block_bytes, events: events.into_inner(), leaving: None }
    }
}

impl Record {
    #[inline]
    pub(crate) fn ptr(&self) -> NonNull<u8> {
        self.ptr
    }

    #[inline]
    pub(crate) fn block_bytes(&self) -> usize {
        self.block_bytes
    }

    #[inline]
    pub(crate) fn key(&self) -> usize {
        self.key
    }

    /// The pool of the block; `None` for an empty block. The pool exists while the block is live.
    #[inline]
    pub(crate) fn pool(&self) -> Option<NonNull<Pool>> {
        NonNull::new(self.pool.cast_mut())
    }

    /// The request of the live block; `None` while the block is cached.
    ///
    /// # Safety
    /// The caller is the owner of the live block, or holds every lock of the pool.
    #[inline]
    pub(crate) unsafe fn request(&self) -> Option<&Request> {
        // SAFETY: only the owner, or a thread with a lock of the pool, writes `owner`. The caller is the owner or holds
        // all locks, so no other thread writes it now.
        let owner = unsafe { &*self.owner.get() };
        owner.is_live.then_some(&owner.request)
    }

    /// Gives an owner to a cached record.
    ///
    /// # Safety
    /// The caller holds the lock of the container or cache from which it has just taken the record.
    #[inline]
    pub(crate) unsafe fn revive(&self, request: Request) {
        // SAFETY: only the caller has the record. Any other reader needs all locks of the pool, so it waits for the lock
        // that the caller holds.
        let owner = unsafe { &mut *self.owner.get() };
        debug_assert!(!owner.is_live, "block {:p} was handed out, but is live as {}", self.ptr, owner.request.tag);
        // SAFETY: `owner.request` is valid for writes; its old value has a static tag and needs no drop.
        unsafe { std::ptr::write(&raw mut owner.request, request) };
        owner.is_live = true;
    }

    /// Removes the owner. Returns the number of bytes that the owner requested, and the owner's tag if it has to be dropped.
    ///
    /// # Safety
    /// The caller is the owner, and holds the lock of the container or cache that it is about to put the record into.
    #[inline]
    pub(crate) unsafe fn retire(&self) -> (usize, Option<Tag>) {
        // SAFETY: the caller is the owner. Any other reader needs all locks of the pool, so it waits for the lock that the
        // caller holds.
        let owner = unsafe { &mut *self.owner.get() };
        debug_assert!(owner.is_live, "block {:p} was given up twice, last by {}", self.ptr, owner.request.tag);
        owner.is_live = false;
        let tag = &mut owner.request.tag;
        (owner.request.size, if tag.is_static() { None } else { Some(std::mem::take(tag)) })
    }

    /// Whether there may be events to wait for.
    #[inline]
    pub(crate) fn is_marked(&self) -> bool {
        // Relaxed is sufficient: a record passes from one thread to another only under a lock, which also orders this flag.
        self.marked.load(Ordering::Relaxed)
    }

    /// Adds events to wait for. Finished ones are removed from time to time, to keep the list short.
    pub(crate) fn mark(&self, new: impl IntoIterator<Item = Arc<dyn DeviceEvent>>) {
        // The events are collected and filtered before the lock is taken, so that no code outside this crate runs under it.
        let mut new: Events = new.into_iter().collect();
        if new.is_empty() {
            return;
        }
        if self.events.lock().len() + new.len() > MANY_EVENTS {
            new.append(&mut std::mem::take(&mut *self.events.lock()));
            new.retain(|event| !event.is_finished());
        }
        self.events.lock().append(&mut new);
        self.marked.store(true, Ordering::Relaxed);
    }

    /// Removes finished events; the caller is the owner and holds no lock.
    pub(crate) fn sift(&self) {
        let mut events = self.take_events();
        events.retain(|event| !event.is_finished());
        self.mark(events);
    }

    /// Copies all events, under the lock that also guards adding them.
    pub(crate) fn copy_events(&self) -> Events {
        self.events.lock().clone()
    }

    /// Removes the events in `finished` from the record and adds them to `gone`. No other code uses the record meanwhile.
    /// Returns whether the record has no event left.
    pub(crate) fn forget(&self, finished: &[Arc<dyn DeviceEvent>], gone: &mut Events) -> bool {
        let known = |event: &Arc<dyn DeviceEvent>| finished.iter().any(|other| Arc::ptr_eq(event, other));
        let mut events = self.events.lock();
        gone.extend(events.extract_if(.., |event| known(event)));
        self.marked.store(!events.is_empty(), Ordering::Relaxed);
        events.is_empty()
    }

    /// Takes all events; the caller is the owner.
    pub(crate) fn take_events(&self) -> Events {
        self.marked.store(false, Ordering::Relaxed);
        std::mem::take(&mut *self.events.lock())
    }
}

/// Memory on its way back to the device, and the events that must be finished first.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) ptr: NonNull<u8>,
    pub(crate) bytes: usize,
    pub(crate) events: Events,
    /// Identifies the memory in a container that joins blocks. The container must be informed when the device has taken
    /// the memory back.
    pub(crate) leaving: Option<Leaving>,
}

// SAFETY: a segment is the only owner of device memory, which `DeviceMemory` promises is not tied to a thread.
unsafe impl Send for Segment {}
