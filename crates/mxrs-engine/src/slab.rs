//! Memory for pushed tasks: blocks of a few sizes that circulate between the threads that push and those that run.
//!
//! One thread makes a task and another ends it, so with a general allocator every block would be freed on a different
//! thread from the one that allocated it. Here each thread has a stack of free blocks per size. Surplus blocks go to a
//! common depot, 32 at a time, and threads that have no free block take a batch from the depot. If the stacks are
//! filled, a push does not allocate and takes a lock once in 32 times. Blocks are never returned to the system: memory
//! stays at the largest amount that was needed at one time.

use mxrs_sync::fork::{self, ForkGuard, Kept, Registration};
use mxrs_sync::{Rank, RankedMutex};
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::UnsafeCell;
use std::ptr::NonNull;
use std::sync::{Arc, OnceLock};

/// The alignment of blocks: a cache line.
pub(crate) const ALIGN: usize = 64;
/// Sizes of blocks in bytes; larger tasks are allocated individually.
const SIZES: [usize; 7] = [128, 192, 256, 384, 512, 1024, 2048];
/// The number of blocks that move together between a thread's [`Shelves`] and the [`Depot`], which all threads share.
const BATCH: usize = 32;
/// Stands in place of a size class, an index of [`SIZES`], for memory that was allocated individually.
const OWN: u8 = u8::MAX;

/// A free block; these words are stored at its start.
struct Free {
    next: *mut Free,
    /// In the first block of a batch in the [`Depot`]: the next batch.
    next_batch: *mut Free,
}

/// A stack of free blocks.
#[derive(Clone, Copy)]
struct Stack {
    top: *mut Free,
    len: usize,
}

impl Stack {
    const EMPTY: Self = Self { top: std::ptr::null_mut(), len: 0 };

    fn pop(&mut self) -> Option<NonNull<Free>> {
        let block = NonNull::new(self.top)?;
        // SAFETY: blocks on a stack are free memory of at least 128 bytes that starts with an initialized `Free`.
        self.top = unsafe { block.as_ref().next };
        self.len -= 1;
        Some(block)
    }

    /// # Safety
    /// `block` is at least 16 bytes of memory, aligned to [`ALIGN`], that no other code uses.
    unsafe fn push(&mut self, block: NonNull<Free>) {
        // SAFETY: the caller guarantees that the block is large enough, aligned and unused.
        unsafe { block.as_ptr().write(Free { next: self.top, next_batch: std::ptr::null_mut() }) };
        self.top = block.as_ptr();
        self.len += 1;
    }
}

/// A thread's free blocks of one size: the stack that it uses, and a spare stack that is empty or holds one batch.
#[derive(Clone, Copy)]
struct Shelf {
    open: Stack,
    spare: Stack,
}

/// A thread's free blocks: one [`Shelf`] per size. When the thread ends, the blocks go to the [`Depot`].
struct Shelves(UnsafeCell<[Shelf; SIZES.len()]>);

impl Drop for Shelves {
    fn drop(&mut self) {
        for (class, shelf) in self.0.get_mut().iter().enumerate() {
            depot().put(class, shelf.open);
            depot().put(class, shelf.spare);
        }
    }
}

std::thread_local! {
    static SHELVES: Shelves =
        const { Shelves(UnsafeCell::new([Shelf { open: Stack::EMPTY, spare: Stack::EMPTY }; SIZES.len()])) };
}

/// Batches of free blocks that belong to no thread, one list of batches per size.
struct Depot([RankedMutex<Batches>; SIZES.len()]);

struct Batches(*mut Free);

// SAFETY: the batches are free memory that belongs to the holder of the lock.
unsafe impl Send for Batches {}

fn depot() -> &'static Depot {
    static DEPOT: OnceLock<Depot> = OnceLock::new();
    DEPOT.get_or_init(|| {
        Depot(std::array::from_fn(|_| RankedMutex::new(Rank::EngineSlab, Batches(std::ptr::null_mut()))))
    })
}

/// Registers the [`Depot`] for forks of the process, so that the child finds its locks free.
pub(crate) fn take_part_in_forks() {
    static PART: OnceLock<(Arc<dyn ForkGuard>, Registration)> = OnceLock::new();
    PART.get_or_init(|| {
        let guard: Arc<dyn ForkGuard> = Arc::new(Whole);
        let registration = fork::register(Rank::EngineSlab, &guard);
        (guard, registration)
    });
}

/// Holds the locks of the [`Depot`] while the process forks. Free blocks in the [`Shelves`] of other threads are lost
/// to the child.
struct Whole;

impl ForkGuard for Whole {
    fn prepare(&self) {}

    fn hold<'a>(&'a self, kept: &mut Kept<'a>) {
        for (class, batches) in depot().0.iter().enumerate() {
            kept.keep(batches.lock_in_order(class as u64));
        }
    }

    fn parent(&self) {}

    fn child(&self) {}
}

impl Depot {
    fn take(&self, class: usize) -> Stack {
        let mut batches = self.0[class].lock();
        let Some(first) = NonNull::new(batches.0) else { return Stack::EMPTY };
        // SAFETY: a batch in the `Depot` starts with an initialized `Free`, and only the holder of this lock uses it.
        batches.0 = unsafe { first.as_ref().next_batch };
        drop(batches);
        let mut len = 0;
        let mut at = first.as_ptr();
        while !at.is_null() {
            len += 1;
            // SAFETY: this thread has taken the whole batch; each block of it starts with an initialized `Free`.
            at = unsafe { (*at).next };
        }
        Stack { top: first.as_ptr(), len }
    }

    fn put(&self, class: usize, stack: Stack) {
        let Some(first) = NonNull::new(stack.top) else { return };
        let mut batches = self.0[class].lock();
        // SAFETY: the blocks of the stack are free memory that the thread has given to the `Depot`.
        unsafe { (*first.as_ptr()).next_batch = batches.0 };
        batches.0 = first.as_ptr();
    }
}

fn class_of(layout: Layout) -> u8 {
    if layout.align() > ALIGN || cfg!(loom) || cfg!(miri) {
        return OWN;
    }
    SIZES.iter().position(|&size| layout.size() <= size).map_or(OWN, |class| class as u8)
}

/// Allocates memory for `layout`. Also returns its size class (or [`OWN`]), which must be passed to [`free`].
pub(crate) fn allocate(layout: Layout) -> (NonNull<u8>, u8) {
    let class = class_of(layout);
    if class == OWN {
        return (from_system(layout), class);
    }
    let block = SHELVES.try_with(|shelves| {
        // SAFETY: only this thread can access its `Shelves`, and nothing below calls back into this module.
        let shelf = unsafe { &mut (&mut *shelves.0.get())[class as usize] };
        shelf.open.pop().or_else(|| refill(shelf, class as usize))
    });
    let block = block.ok().flatten().map_or_else(|| from_system(layout_of(class as usize)), NonNull::cast);
    (block, class)
}

#[cold]
fn refill(shelf: &mut Shelf, class: usize) -> Option<NonNull<Free>> {
    shelf.open = std::mem::replace(&mut shelf.spare, Stack::EMPTY);
    if shelf.open.len == 0 {
        shelf.open = depot().take(class);
    }
    shelf.open.pop()
}

/// Frees memory from [`allocate`].
///
/// # Safety
/// `ptr` and `class` came from [`allocate`] with this layout, and no other code uses the memory.
pub(crate) unsafe fn free(ptr: NonNull<u8>, class: u8, layout: Layout) {
    if class == OWN {
        // SAFETY: memory of class `OWN` came from the system with this layout.
        return unsafe { dealloc(ptr.as_ptr(), layout) };
    }
    let class = class as usize;
    let kept = SHELVES.try_with(|shelves| {
        // SAFETY: only this thread can access its `Shelves`, and nothing below calls back into this module.
        let shelf = unsafe { &mut (&mut *shelves.0.get())[class] };
        if shelf.open.len == BATCH {
            let full = std::mem::replace(&mut shelf.open, Stack::EMPTY);
            let old = std::mem::replace(&mut shelf.spare, full);
            depot().put(class, old);
        }
        // SAFETY: the caller gives the block up, and it has the size of its class.
        unsafe { shelf.open.push(ptr.cast()) };
    });
    if kept.is_err() {
        // The thread is ending and its `Shelves` have been destroyed, so the block goes to the `Depot`.
        let mut one = Stack::EMPTY;
        // SAFETY: the caller gives the block up, and it has the size of its class.
        unsafe { one.push(ptr.cast()) };
        depot().put(class, one);
    }
}

fn layout_of(class: usize) -> Layout {
    // SAFETY: `ALIGN` is a power of two, and no size exceeds 2048.
    unsafe { Layout::from_size_align_unchecked(SIZES[class], ALIGN) }
}

#[cold]
fn from_system(layout: Layout) -> NonNull<u8> {
    // SAFETY: the size is not 0, because a task has a head and no class has size 0.
    let ptr = unsafe { alloc(layout) };
    NonNull::new(ptr).unwrap_or_else(|| handle_alloc_error(layout))
}

#[cfg(all(test, not(loom), not(miri)))]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn layout(size: usize) -> Layout {
        Layout::from_size_align(size, ALIGN).unwrap()
    }

    /// Blocks that one thread allocates and another frees are reused, so memory does not grow.
    #[test]
    fn blocks_go_round_between_threads() {
        let (send, receive) = std::sync::mpsc::sync_channel::<usize>(64);
        let ender = std::thread::spawn(move || {
            for address in receive {
                let ptr = NonNull::new(std::ptr::with_exposed_provenance_mut(address)).unwrap();
                // SAFETY: the other thread allocated it with this layout and gave it up.
                unsafe { free(ptr, class_of(layout(2000)), layout(2000)) };
            }
        });
        let mut seen = HashSet::new();
        for _ in 0..10_000 {
            let (ptr, _) = allocate(layout(2000));
            let address = ptr.as_ptr().expose_provenance();
            seen.insert(address);
            send.send(address).unwrap();
        }
        drop(send);
        ender.join().unwrap();
        assert!(seen.len() <= 64 + 8 * BATCH, "{} blocks for at most 65 at a time", seen.len());
    }

    #[test]
    fn large_and_overaligned_tasks_have_memory_of_their_own() {
        for layout in [layout(2049), Layout::from_size_align(64, 256).unwrap()] {
            let (ptr, class) = allocate(layout);
            assert_eq!(class, OWN);
            assert!(ptr.addr().get().is_multiple_of(layout.align()));
            // SAFETY: allocated above with this layout and class.
            unsafe { free(ptr, class, layout) };
        }
    }
}
