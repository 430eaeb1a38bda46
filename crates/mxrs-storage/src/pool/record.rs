//! What a pool knows about one piece of memory, live or cached: the record that travels with it.
//!
//! A hit moves one pointer, and whoever holds all locks of a pool can list what is live, for whom.

use super::Pool;
use super::best_fit::Leaving;
use crate::Tag;
use mxrs_sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use mxrs_sync::{Arc, BriefLock, Rank};
use mxrs_types::{Device, DeviceEvent};
use std::cell::UnsafeCell;
use std::ops::Deref;
use std::ptr::NonNull;

/// Events that must be finished before the memory is touched by another stream, by the host, or by its device.
pub(crate) type Events = Vec<Arc<dyn DeviceEvent>>;

/// From this many events on, finished ones are sifted out when more arrive.
const MANY_EVENTS: usize = 16;

/// What a block is made for.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) device: Device,
    /// Bytes asked for.
    pub(crate) size: usize,
    pub(crate) tag: Tag,
}

/// The owner's part of a record.
struct Owner {
    is_live: bool,
    /// Of the last owner if there is none now; then the tag is a static one.
    request: Request,
}

/// One block. Aligned to a cache line, so that records of two threads never share one.
#[repr(align(64))]
pub(crate) struct Record {
    ptr: NonNull<u8>,
    block_bytes: usize,
    /// The class it was made for; a block is cached under it.
    key: usize,
    /// The pool, out of its `Arc` but not counted; null for an empty block, which no pool knows.
    pool: *const Pool,
    /// Written only by whoever moves the record between an owner and a list, under the lock of that list; read by the
    /// owner, and under all locks of the pool.
    owner: UnsafeCell<Owner>,
    /// Whether `events` may hold something; it spares a hit the lock.
    marked: AtomicBool,
    events: BriefLock<Events>,
    /// Place in the pool's roster; read and written under the lock of the books only.
    pub(super) roster_at: AtomicUsize,
}

/// A pointer to a record. Copies lie in two places: with the holder (a `Block`, a list, a cache) and in the roster.
/// The holder alone destroys it, after it has left the roster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordRef(NonNull<Record>);

// SAFETY: the record is reached from several threads only as the rules of its fields say: fixed fields are never
// written, atomics and the events' lock take care of themselves, and `owner` is guarded by the pool's locks. The pool is
// `Send + Sync`.
unsafe impl Send for RecordRef {}
// SAFETY: as for `Send`; a shared `RecordRef` allows nothing that a copy of it does not.
unsafe impl Sync for RecordRef {}

impl Deref for RecordRef {
    type Target = Record;

    #[inline]
    fn deref(&self) -> &Record {
        // SAFETY: holder and roster give their copies up before the record is destroyed, so it exists.
        unsafe { self.0.as_ref() }
    }
}

impl RecordRef {
    /// A record with its first owner. `pool` is null or came from an `Arc`.
    pub(crate) fn new(ptr: NonNull<u8>, block_bytes: usize, key: usize, pool: *const Pool, request: Request) -> Self {
        Self::made(ptr, block_bytes, key, pool, Owner { is_live: true, request })
    }

    /// A record without an owner, for [`revive`](Record::revive). `pool` came from an `Arc`.
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

    /// Ends the record and hands out what it still carries.
    ///
    /// # Safety
    /// The caller is the holder, and the record is in no roster.
    pub(crate) unsafe fn destroy(self) -> Segment {
        // SAFETY: made by `Box::leak` in `new`; the holder's copy is the last one.
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

    /// The pool, `None` for an empty block. It is alive while the block is live.
    #[inline]
    pub(crate) fn pool(&self) -> Option<NonNull<Pool>> {
        NonNull::new(self.pool.cast_mut())
    }

    /// What the live block was made for, `None` while it is cached.
    ///
    /// # Safety
    /// The caller is the owner of the live block, or holds every lock of the pool.
    #[inline]
    pub(crate) unsafe fn request(&self) -> Option<&Request> {
        // SAFETY: the caller's position excludes writers: they are the owner giving up, or hold a lock of the pool.
        let owner = unsafe { &*self.owner.get() };
        owner.is_live.then_some(&owner.request)
    }

    /// A cached record gets an owner. `request` is moved out of.
    ///
    /// # Safety
    /// The caller holds the lock of the list it has just taken the record from.
    #[inline]
    pub(crate) unsafe fn revive(&self, request: Request) {
        // SAFETY: the record is with the caller alone, and who reads under all locks waits for the caller's.
        let owner = unsafe { &mut *self.owner.get() };
        debug_assert!(!owner.is_live, "block {:p} was handed out, but is live as {}", self.ptr, owner.request.tag);
        // SAFETY: the place is valid; what it held has a static tag and nothing else to drop.
        unsafe { std::ptr::write(&raw mut owner.request, request) };
        owner.is_live = true;
    }

    /// The owner gives the block up. Answers the bytes it had asked for, and its tag if that has to be dropped.
    ///
    /// # Safety
    /// The caller has the owner's right, and holds the lock of the list it is about to put the record into.
    #[inline]
    pub(crate) unsafe fn retire(&self) -> (usize, Option<Tag>) {
        // SAFETY: the owner is the caller, and who reads under all locks waits for the caller's.
        let owner = unsafe { &mut *self.owner.get() };
        debug_assert!(owner.is_live, "block {:p} was given up twice, last by {}", self.ptr, owner.request.tag);
        owner.is_live = false;
        let tag = &mut owner.request.tag;
        (owner.request.size, if tag.is_static() { None } else { Some(std::mem::take(tag)) })
    }

    /// Whether there may be events to wait for.
    #[inline]
    pub(crate) fn is_marked(&self) -> bool {
        // Relaxed: the record changes hands through locks, which order this flag as they order everything else.
        self.marked.load(Ordering::Relaxed)
    }

    /// More events to wait for. Finished ones are dropped now and then, so that the list stays short.
    pub(crate) fn mark(&self, new: impl IntoIterator<Item = Arc<dyn DeviceEvent>>) {
        // Gathered and sifted first: nothing foreign runs under the lock.
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

    /// Drops events that are finished; the caller is the owner and holds no lock.
    pub(crate) fn sift(&self) {
        let mut events = self.take_events();
        events.retain(|event| !event.is_finished());
        self.mark(events);
    }

    /// Copies of all events; nobody adds any meanwhile.
    pub(crate) fn copy_events(&self) -> Events {
        self.events.lock().clone()
    }

    /// Takes these events away, if they are here; the caller has the record to itself. Whether none is left.
    pub(crate) fn forget(&self, finished: &[Arc<dyn DeviceEvent>], gone: &mut Events) -> bool {
        let known = |event: &Arc<dyn DeviceEvent>| finished.iter().any(|other| Arc::ptr_eq(event, other));
        let mut events = self.events.lock();
        gone.extend(events.extract_if(.., |event| known(event)));
        self.marked.store(!events.is_empty(), Ordering::Relaxed);
        events.is_empty()
    }

    /// Takes all events away; the caller is the owner.
    pub(crate) fn take_events(&self) -> Events {
        self.marked.store(false, Ordering::Relaxed);
        std::mem::take(&mut *self.events.lock())
    }
}

/// Memory on its way back to the device, with the events that must be finished first.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) ptr: NonNull<u8>,
    pub(crate) bytes: usize,
    pub(crate) events: Events,
    /// Its place in a container that joins blocks, which is to be told when the device has it.
    pub(crate) leaving: Option<Leaving>,
}

// SAFETY: a segment is the sole owner of a piece of device memory, which `DeviceMemory` promises is tied to no thread.
unsafe impl Send for Segment {}
