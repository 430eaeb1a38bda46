//! Memory for pushed tasks: blocks of a few sizes that go round between the threads that push and those that run.
//!
//! A task is made by one thread and ended by another, so a general allocator would carry each block across threads by
//! itself. Here every thread has, per size, a stack of free blocks; what a thread has too many of goes, 32 blocks at a
//! time, to a common depot, from which threads that run dry take them. A push that finds the stacks filled asks no
//! allocator and takes one lock in 32. Blocks are never returned to the system: the depot holds at most what was once
//! needed at the same time.

use mxrs_sync::fork::{self, ForkGuard, Kept, Registration};
use mxrs_sync::{Rank, RankedMutex};
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::UnsafeCell;
use std::ptr::NonNull;
use std::sync::{Arc, OnceLock};

/// Blocks start at a multiple of this: a cache line.
pub(crate) const ALIGN: usize = 64;
/// Sizes of blocks in bytes; larger tasks get memory of their own.
const SIZES: [usize; 7] = [128, 192, 256, 384, 512, 1024, 2048];
/// Blocks that move between a thread and the depot at once.
const BATCH: usize = 32;
/// Class of memory that is no block of the slab.
const OWN: u8 = u8::MAX;

/// A free block: the first words of its memory.
struct Free {
    next: *mut Free,
    /// In the first block of a batch in the depot: the next batch.
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
    /// `block` is at least 16 bytes of memory, aligned to [`ALIGN`], that nobody else uses any more.
    unsafe fn push(&mut self, block: NonNull<Free>) {
        // SAFETY: promised by the caller.
        unsafe { block.as_ptr().write(Free { next: self.top, next_batch: std::ptr::null_mut() }) };
        self.top = block.as_ptr();
        self.len += 1;
    }
}

/// One thread's stacks of one size: one in use, and one batch, full or empty, in reserve.
#[derive(Clone, Copy)]
struct Shelf {
    open: Stack,
    spare: Stack,
}

/// All shelves of a thread; gives them to the depot when the thread ends.
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

/// Batches that no thread has, by size.
struct Depot([RankedMutex<Batches>; SIZES.len()]);

struct Batches(*mut Free);

// SAFETY: the batches are free memory that belongs to whoever holds the lock.
unsafe impl Send for Batches {}

fn depot() -> &'static Depot {
    static DEPOT: OnceLock<Depot> = OnceLock::new();
    DEPOT.get_or_init(|| {
        Depot(std::array::from_fn(|_| RankedMutex::new(Rank::EngineSlab, Batches(std::ptr::null_mut()))))
    })
}

/// Keeps the depot whole across forks of the process.
pub(crate) fn take_part_in_forks() {
    static PART: OnceLock<(Arc<dyn ForkGuard>, Registration)> = OnceLock::new();
    PART.get_or_init(|| {
        let guard: Arc<dyn ForkGuard> = Arc::new(Whole);
        let registration = fork::register(Rank::EngineSlab, &guard);
        (guard, registration)
    });
}

/// Holds the depot's locks while the process forks. What the shelves of other threads held is lost to the child.
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
        // SAFETY: a batch in the depot starts with an initialized `Free`, and belongs to the depot.
        batches.0 = unsafe { first.as_ref().next_batch };
        drop(batches);
        let mut len = 0;
        let mut at = first.as_ptr();
        while !at.is_null() {
            len += 1;
            // SAFETY: as above; this thread owns the whole batch now.
            at = unsafe { (*at).next };
        }
        Stack { top: first.as_ptr(), len }
    }

    fn put(&self, class: usize, stack: Stack) {
        let Some(first) = NonNull::new(stack.top) else { return };
        let mut batches = self.0[class].lock();
        // SAFETY: the stack's blocks are free memory that now belongs to the depot.
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

/// Memory for `layout`, and its class, to be handed to [`free`].
pub(crate) fn allocate(layout: Layout) -> (NonNull<u8>, u8) {
    let class = class_of(layout);
    if class == OWN {
        return (from_system(layout), class);
    }
    let block = SHELVES.try_with(|shelves| {
        // SAFETY: the shelves are this thread's own, and nothing below calls back into this module.
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

/// Takes memory back.
///
/// # Safety
/// `ptr` and `class` came from [`allocate`] of this layout, and nobody uses the memory any more.
pub(crate) unsafe fn free(ptr: NonNull<u8>, class: u8, layout: Layout) {
    if class == OWN {
        // SAFETY: memory of its own came from the system with this layout.
        return unsafe { dealloc(ptr.as_ptr(), layout) };
    }
    let class = class as usize;
    let kept = SHELVES.try_with(|shelves| {
        // SAFETY: as in `allocate`.
        let shelf = unsafe { &mut (&mut *shelves.0.get())[class] };
        if shelf.open.len == BATCH {
            let full = std::mem::replace(&mut shelf.open, Stack::EMPTY);
            let old = std::mem::replace(&mut shelf.spare, full);
            depot().put(class, old);
        }
        // SAFETY: the caller gives the block up; it has the size of its class.
        unsafe { shelf.open.push(ptr.cast()) };
    });
    if kept.is_err() {
        // The thread is ending and its shelves are gone.
        let mut one = Stack::EMPTY;
        // SAFETY: as above.
        unsafe { one.push(ptr.cast()) };
        depot().put(class, one);
    }
}

fn layout_of(class: usize) -> Layout {
    // SAFETY: the alignment is a power of two and the sizes are small.
    unsafe { Layout::from_size_align_unchecked(SIZES[class], ALIGN) }
}

#[cold]
fn from_system(layout: Layout) -> NonNull<u8> {
    // SAFETY: the layout is not of size 0: tasks have a head, and classes a size.
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

    /// Blocks made here and freed there come back: no growth when one thread only allocates and the other only frees.
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
            // SAFETY: allocated above.
            unsafe { free(ptr, class, layout) };
        }
    }
}
