//! One pushed task: a single block of memory with its head, its entries in the variables' queues, and its body.
//!
//! ```text
//! | Op: 64 bytes | Access 0 | Access 1 | … | body: the closure |
//! ```
//!
//! A [`Task`] owns such a block. While a task waits for grants it has no owner: its accesses are in the variables'
//! queues, and the thread that gives the last grant becomes the owner.

mod access;
mod body;
mod spare;
mod trace;
mod waiter;
mod words;

pub(crate) use access::{Access, Use, Uses, add, first_failure, give_back_uses, live_failure, normalize};
pub(crate) use body::{Asynchronous, Body, Bulk, Synchronous};
pub(crate) use spare::{give_back, widen};
pub(crate) use trace::stack_trace;
pub(crate) use waiter::{Place, Waiter};
pub use words::{OpName, Property};

use crate::completion::Completion;
use crate::context::RunContext;
use crate::failure::Failure;
use crate::parker::Parker;
use crate::pool::PoolId;
use crate::slab;
use crate::var::TaskList;
use body::{BodyTable, TableOf};
use mxrs_sync::atomic::{AtomicU32, Ordering};
use mxrs_types::{Device, Result};
use std::alloc::Layout;
use std::cell::{Cell, UnsafeCell};
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

/// Where a task runs once every variable is granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dispatch {
    /// Queues the task in the pool with this role, for the task's device.
    Pool(PoolRole),
    /// The pushing thread waits until the task is granted, and runs it.
    Pusher,
    /// Runs on the thread that completed the last task for which this one had to wait.
    Completer,
}

/// The role of a pool of workers: a [`PoolId`] without the device id, which the task already stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PoolRole {
    Cpu,
    CpuPriority,
    Global,
    Copy,
    Gpu,
    GpuPriority,
    GpuCopy,
}

impl PoolRole {
    #[inline]
    pub(crate) fn of_device(self, device: Device) -> PoolId {
        match self {
            Self::Cpu => PoolId::Cpu(device.id),
            Self::CpuPriority => PoolId::CpuPriority,
            Self::Global => PoolId::Global,
            Self::Copy => PoolId::Copy,
            Self::Gpu => PoolId::Gpu(device.id),
            Self::GpuPriority => PoolId::GpuPriority(device.id),
            Self::GpuCopy => PoolId::GpuCopy(device.id),
        }
    }
}

/// Flags for what was found on a variable when it was granted. They are the upper bits of `Op::grants`; the lower bits
/// count the missing grants.
pub(crate) mod mark {
    /// A variable carries a failure.
    pub(crate) const TAINTED: u32 = 1 << 31;
    /// A variable carries events of a device's stream.
    pub(crate) const EVENTS: u32 = 1 << 30;
    /// The bits of `Op::grants` that count the missing grants.
    pub(crate) const COUNT: u32 = EVENTS - 1;
}

/// The head of a task's block.
#[repr(C)]
pub(crate) struct Op {
    /// The next task in a list; used only by the owner of the task.
    pub(crate) link: UnsafeCell<*mut Op>,
    /// The number of variables not granted yet, and the flags in [`mark`]. Set before any variable can be granted (rule E8
    /// of [`crate::var`]).
    grants: AtomicU32,
    n_accesses: u32,
    table: &'static BodyTable,
    pub(crate) priority: i32,
    pub(crate) property: Property,
    pub(crate) dispatch: Dispatch,
    class: u8,
    /// Whether the body has not been run or dropped yet.
    has_body: Cell<bool>,
    pub(crate) device: Device,
    pub(crate) name: OpName,
}

impl Op {
    /// Sets the number of missing grants. Called once, while all variables of the task are locked.
    #[inline]
    pub(crate) fn expect_grants(&self, count: u32, marks: u32) {
        self.grants.store(count | marks, Ordering::Relaxed);
    }

    /// Records one granted variable and the flags found on it; returns whether it was the last missing one.
    #[inline]
    pub(crate) fn grant(&self, marks: u32) -> bool {
        if marks != 0 {
            self.grants.fetch_or(marks, Ordering::Relaxed);
        }
        self.grants.fetch_sub(1, Ordering::AcqRel) & mark::COUNT == 1
    }

    /// The flags found on the task's variables. Only for the owner of a granted task.
    #[inline]
    pub(crate) fn marks(&self) -> u32 {
        self.grants.load(Ordering::Relaxed) & !mark::COUNT
    }

    /// Whether every variable is granted.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn is_granted(&self) -> bool {
        self.grants.load(Ordering::Acquire) & mark::COUNT == 0
    }

    /// Whether a variable carried a failure when it was granted.
    #[inline]
    pub(crate) fn is_tainted(&self) -> bool {
        self.marks() & mark::TAINTED != 0
    }

    /// Whether an inherited failure skips the body.
    #[inline]
    pub(crate) fn skips_on_failure(&self) -> bool {
        !matches!(self.property, Property::NoSkip | Property::DeleteVar)
    }

    /// Whether the task's body only starts the work.
    #[inline]
    pub(crate) fn is_asynchronous(&self) -> bool {
        self.table.is_asynchronous
    }

    /// Whether the task is a bulk.
    pub(crate) fn is_bulk(&self) -> bool {
        self.table.is_bulk
    }

    fn layout(&self) -> (Layout, usize) {
        layout(self.n_accesses as usize, self.table.layout)
    }
}

impl fmt::Debug for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Op").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The layout of a block, and the offset of the body in it.
#[inline]
fn layout(n_accesses: usize, body: Layout) -> (Layout, usize) {
    let head = size_of::<Op>() + n_accesses * size_of::<Access>();
    let at = head.next_multiple_of(body.align());
    // SAFETY: alignments are powers of two. The accesses are for different variables (`normalize`), each of which has a
    // `VarCell` of at least 64 bytes, so all accesses of 32 bytes take at most half as much memory as these cells. The
    // body was on a stack. So the sum is below `isize::MAX`.
    let whole = unsafe { Layout::from_size_align_unchecked(at + body.size(), body.align().max(slab::ALIGN)) };
    (whole, at)
}

/// The accesses of a task's block.
///
/// # Safety
/// `op` points to the whole of a block made by [`Task::new`], which is not freed within `'a`.
#[inline]
pub(crate) unsafe fn accesses_of<'a>(op: NonNull<Op>) -> &'a [Access] {
    // SAFETY: promised by the caller; `Task::new` wrote `n_accesses` accesses right behind the head.
    unsafe { std::slice::from_raw_parts(op.add(1).cast::<Access>().as_ptr(), op.as_ref().n_accesses as usize) }
}

/// A task with an owner: described and not yet appended, or granted on all its variables.
pub(crate) struct Task(NonNull<Op>);

// SAFETY: a task is the only owner of its block. The body and the name are `Send`; the variables behind the accesses
// are shared `VarCell`s, whose mutable parts are protected by locks.
unsafe impl Send for Task {}

impl Task {
    #[inline]
    pub(crate) fn new<B: Body>(
        name: OpName,
        uses: &[Use<'_>],
        device: Device,
        priority: i32,
        property: Property,
        dispatch: Dispatch,
        body: B,
    ) -> Self {
        let table = &TableOf::<B>::TABLE;
        let (layout, at) = layout(uses.len(), table.layout);
        let (block, class) = slab::allocate(layout);
        let op = block.cast::<Op>();
        let head = Op {
            link: UnsafeCell::new(std::ptr::null_mut()),
            grants: AtomicU32::new(0),
            n_accesses: uses.len() as u32,
            table,
            priority,
            property,
            dispatch,
            class,
            has_body: Cell::new(true),
            device,
            name,
        };
        // SAFETY: the new block belongs to this thread only. It has the size and alignment of `layout`, which counts
        // the head, the accesses directly behind it, and the body at offset `at`.
        unsafe {
            op.write(head);
            let accesses = op.add(1).cast::<Access>();
            for (i, u) in uses.iter().enumerate() {
                accesses.add(i).write(Access::new(u.cell(), op.as_ptr(), u.write()));
            }
            block.add(at).cast::<B>().write(body);
        }
        Self(op)
    }

    /// Gives up ownership, for a queue or a list.
    #[inline]
    pub(crate) fn into_raw(self) -> NonNull<Op> {
        let op = self.0;
        std::mem::forget(self);
        op
    }

    /// Stores the parker of the pushing thread, which waits for the task; for [`Dispatch::Pusher`].
    pub(crate) fn set_parker(&self, parker: &Arc<Parker>) {
        let raw = Arc::into_raw(Arc::clone(parker)).cast_mut().cast();
        // SAFETY: this thread owns the task, and the task is in no list.
        unsafe { *self.link.get() = raw };
    }

    /// Takes the parker of the thread that waits for the task; `None` if it was already taken.
    pub(crate) fn take_parker(&self) -> Option<Arc<Parker>> {
        // SAFETY: this thread owns the task. With [`Dispatch::Pusher`] the link is a parker or null until the task
        // enters a list, which only its owner can do.
        let raw = unsafe { std::ptr::replace(self.link.get(), std::ptr::null_mut()) };
        // SAFETY: the pointer came from `Arc::into_raw`, and the null written above ensures that it is taken once.
        (!raw.is_null()).then(|| unsafe { Arc::from_raw(raw.cast_const().cast()) })
    }

    /// Takes ownership back.
    ///
    /// # Safety
    /// `op` came from [`Task::into_raw`], and the caller is entitled to own it: it gave the last grant, or took the
    /// task out of a list.
    #[inline]
    pub(crate) unsafe fn from_raw(op: NonNull<Op>) -> Self {
        Self(op)
    }

    /// The task's block, for [`accesses_of`] and the queues.
    pub(crate) fn as_ptr(&self) -> NonNull<Op> {
        self.0
    }

    #[inline]
    pub(crate) fn accesses(&self) -> &[Access] {
        // SAFETY: this task owns the block, at least for as long as it is borrowed.
        unsafe { accesses_of(self.0) }
    }

    /// The first live failure on the variables that the task reads, then on those that it writes, each in ascending
    /// order of ids.
    ///
    /// A variable's failure changes only when a task that writes it completes, so a granted task sees the same failure
    /// from grant to completion. (If it is reported meanwhile, it has no effect any more.)
    #[inline]
    pub(crate) fn inherited_failure(&self) -> Option<Arc<Failure>> {
        if !self.is_tainted() {
            return None;
        }
        live_failure(self.accesses())
    }

    fn body(&self) -> *mut u8 {
        let (_, at) = self.layout();
        // SAFETY: `layout` says that the body lies at this offset of the block.
        unsafe { self.0.cast::<u8>().add(at).as_ptr() }
    }

    /// Runs the body. Does nothing if it was already run or dropped.
    #[inline]
    pub(crate) fn run(&self, context: &RunContext) -> Result<()> {
        if !self.has_body.replace(false) {
            return Ok(());
        }
        // SAFETY: the body is initialized, because `has_body` was set. It is now false, so the body is not used again.
        unsafe { (self.table.run)(self.body(), context, None) }
    }

    /// Runs an asynchronous body. The task moves into the completion, and may be freed before this returns.
    pub(crate) fn start(self, context: &RunContext, complete: impl FnOnce(Task) -> Completion) -> Result<()> {
        let (run, body) = (self.table.run, self.body());
        debug_assert!(self.has_body.get() && self.is_asynchronous(), "E6: a task runs once");
        self.has_body.set(false);
        // The block still exists when the body is moved out of it: only the completion can free the block, and the
        // completion is used only by the body's code, which runs afterwards.
        // SAFETY: the body is initialized, and `has_body` is now false, so the body is not used again.
        unsafe { run(body, context, Some(complete(self))) }
    }

    /// The bodies, if this is a bulk.
    #[inline]
    pub(crate) fn take_bulk(&self) -> Option<TaskList> {
        if !self.table.is_bulk || !self.has_body.replace(false) {
            return None;
        }
        // SAFETY: only `Bulk` sets `is_bulk`, so the body is a `Bulk`. It is initialized, because `has_body` was set;
        // `has_body` is now false.
        Some(unsafe { self.body().cast::<Bulk>().read() }.0)
    }

    /// Drops the body without running it.
    pub(crate) fn discard(&self) {
        if self.has_body.replace(false) {
            // SAFETY: the body is initialized, because `has_body` was set. It is now false, so the body is not used
            // again.
            unsafe { (self.table.discard)(self.body()) };
        }
    }
}

impl std::ops::Deref for Task {
    type Target = Op;

    #[inline]
    fn deref(&self) -> &Op {
        // SAFETY: this task owns the block, so it is not freed while the task is borrowed.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for Task {
    #[inline]
    fn drop(&mut self) {
        let (layout, _) = self.layout();
        // Frees the block even if dropping the body panics.
        let _block = Block { op: self.0, layout };
        self.discard();
    }
}

/// A task's block without its body, freed when dropped.
struct Block {
    op: NonNull<Op>,
    layout: Layout,
}

impl Drop for Block {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: `slab::allocate` made the block with this layout, and its size class is stored in `Op::class`. The
        // owner gives the block up. Accesses have no destructor.
        unsafe {
            let class = self.op.as_ref().class;
            self.op.drop_in_place();
            slab::free(self.op.cast(), class, self.layout);
        }
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}
