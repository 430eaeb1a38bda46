//! One pushed task: a single block of memory with its words, its places in the variables' queues, and its body.
//!
//! ```text
//! | Op: 64 bytes | Access 0 | Access 1 | … | body: the closure |
//! ```
//!
//! A [`Task`] owns such a block. While a task waits for grants nobody owns it: the accesses stand in the variables'
//! queues, and the thread that gives the last grant becomes the owner.

mod access;
mod body;
mod spare;
mod waiter;
mod words;

pub(crate) use access::{Access, Use, Uses, add, first_failure, give_back_uses, live_failure, normalize};
pub(crate) use body::{Body, Bulk, Starts, Sync};
pub(crate) use spare::{give_back, widen};
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

/// What happens once every variable is granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dispatch {
    /// Into the queue of the pool of this kind, for the task's device.
    Pool(PoolKind),
    /// The pushing thread waits for it, and runs it.
    Pusher,
    /// The thread that completed the last obstacle runs it.
    Completer,
}

/// A [`PoolId`] without the device id, which the task has anyway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PoolKind {
    Cpu,
    CpuPriority,
    Global,
    Copy,
    Gpu,
    GpuPriority,
    GpuCopy,
}

impl PoolKind {
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

/// Something found on a variable when it was granted: the low bits of `Op::grants` count, these are above.
pub(crate) mod mark {
    /// A variable carries a failure.
    pub(crate) const TAINTED: u32 = 1 << 31;
    /// A variable carries events of a device's stream.
    pub(crate) const EVENTS: u32 = 1 << 30;
    /// What is left for counting.
    pub(crate) const COUNT: u32 = EVENTS - 1;
}

/// Head of a task's block.
#[repr(C)]
pub(crate) struct Op {
    /// For whoever owns the task: the next in a list.
    pub(crate) link: UnsafeCell<*mut Op>,
    /// Variables not granted yet (E8: set before any of them can be), and marks.
    grants: AtomicU32,
    n_accesses: u32,
    table: &'static BodyTable,
    pub(crate) priority: i32,
    pub(crate) property: Property,
    pub(crate) dispatch: Dispatch,
    class: u8,
    /// Whether the body is still there.
    has_body: Cell<bool>,
    pub(crate) device: Device,
    pub(crate) name: OpName,
}

impl Op {
    /// Called once, while every variable is locked: `count` of them are still to be granted.
    #[inline]
    pub(crate) fn expect_grants(&self, count: u32, marks: u32) {
        self.grants.store(count | marks, Ordering::Relaxed);
    }

    /// Notes one granted variable and what was found on it; true for the last.
    #[inline]
    pub(crate) fn grant(&self, marks: u32) -> bool {
        if marks != 0 {
            self.grants.fetch_or(marks, Ordering::Relaxed);
        }
        self.grants.fetch_sub(1, Ordering::AcqRel) & mark::COUNT == 1
    }

    /// What was found on its variables. For the owner of a granted task.
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

    /// Whether an inherited failure means that the body must not run.
    #[inline]
    pub(crate) fn skips_on_failure(&self) -> bool {
        !matches!(self.property, Property::NoSkip | Property::DeleteVar)
    }

    /// Whether its body only starts the work.
    #[inline]
    pub(crate) fn starts_only(&self) -> bool {
        self.table.starts_only
    }

    /// Whether it stands for tasks that were collected.
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

/// Layout of a block, and where the body lies in it.
#[inline]
fn layout(n_accesses: usize, body: Layout) -> (Layout, usize) {
    let head = size_of::<Op>() + n_accesses * size_of::<Access>();
    let at = head.next_multiple_of(body.align());
    // SAFETY: alignments are powers of two. A task has fewer than 2^24 accesses and its body lies on a stack, so the sum
    // is far from overflow.
    let whole = unsafe { Layout::from_size_align_unchecked(at + body.size(), body.align().max(slab::ALIGN)) };
    (whole, at)
}

/// The accesses of a task's block.
///
/// # Safety
/// `op` is the head of a block made by [`Task::new`], with a pointer to the whole of it, that is not freed within `'a`.
#[inline]
pub(crate) unsafe fn accesses_of<'a>(op: NonNull<Op>) -> &'a [Access] {
    // SAFETY: promised by the caller; `Task::new` wrote `n_accesses` accesses right behind the head.
    unsafe { std::slice::from_raw_parts(op.add(1).cast::<Access>().as_ptr(), op.as_ref().n_accesses as usize) }
}

/// A task, owned: described and not yet appended, or granted on all its variables.
pub(crate) struct Task(NonNull<Op>);

// SAFETY: a task owns its block alone; body and name are `Send`, and the variables behind the accesses are shared cells
// whose changing parts lie under locks.
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
        // SAFETY: the block is `layout` large and aligned, and nobody else's: head, accesses and body fit one behind the
        // other as `layout` counted.
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

    /// Gives up ownership, to the queues of the variables or to a list.
    #[inline]
    pub(crate) fn into_raw(self) -> NonNull<Op> {
        let op = self.0;
        std::mem::forget(self);
        op
    }

    /// Notes the pushing thread, which waits for the task; for [`Dispatch::Pusher`].
    pub(crate) fn set_parker(&self, parker: &Arc<Parker>) {
        let raw = Arc::into_raw(Arc::clone(parker)).cast_mut().cast();
        // SAFETY: the task is this thread's own, and in no list.
        unsafe { *self.link.get() = raw };
    }

    /// The thread that waits for the task; none if it has been taken.
    pub(crate) fn take_parker(&self) -> Option<Arc<Parker>> {
        // SAFETY: the task is this thread's own. With this dispatch its link is a parker, or null, until it gets into a
        // list, which only the caller could do.
        let raw = unsafe { std::ptr::replace(self.link.get(), std::ptr::null_mut()) };
        // SAFETY: the pointer came from `Arc::into_raw`, and is taken once.
        (!raw.is_null()).then(|| unsafe { Arc::from_raw(raw.cast_const().cast()) })
    }

    /// Takes ownership back.
    ///
    /// # Safety
    /// `op` came from [`Task::into_raw`], and the caller is the one who may own it: it gave the last grant, or took it
    /// out of a list.
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
        // SAFETY: the block is this task's own, for as long as the borrow.
        unsafe { accesses_of(self.0) }
    }

    /// The first live failure among the variables read, then among those written, each in ascending id.
    ///
    /// A variable's failure changes only when a task that writes it completes, so a granted task sees one value of it
    /// from grant to completion (it may be delivered meanwhile, and is then no failure any more).
    #[inline]
    pub(crate) fn inherited_failure(&self) -> Option<Arc<Failure>> {
        if !self.is_tainted() {
            return None;
        }
        live_failure(self.accesses())
    }

    fn body(&self) -> *mut u8 {
        let (_, at) = self.layout();
        // SAFETY: the body lies at this place of the block.
        unsafe { self.0.cast::<u8>().add(at).as_ptr() }
    }

    /// Runs the body. Nothing if there is none any more.
    #[inline]
    pub(crate) fn run(&self, context: &RunContext) -> Result<()> {
        if !self.has_body.replace(false) {
            return Ok(());
        }
        // SAFETY: the body is there, and the flag above says from now on that it is gone.
        unsafe { (self.table.run)(self.body(), context, None) }
    }

    /// Runs a body that starts only. The task goes to `completion`, and may be gone when this returns.
    pub(crate) fn start(self, context: &RunContext, complete: impl FnOnce(Task) -> Completion) -> Result<()> {
        let (run, body) = (self.table.run, self.body());
        debug_assert!(self.has_body.get() && self.starts_only(), "E6: a task runs once");
        self.has_body.set(false);
        // The body is moved out of the block before its code runs, and the block is freed only by the completion, which
        // that code gets: so the block is there when it is read.
        // SAFETY: the body is there, and the flag says from now on that it is gone.
        unsafe { run(body, context, Some(complete(self))) }
    }

    /// The bodies, if this is a bulk.
    #[inline]
    pub(crate) fn take_bulk(&self) -> Option<TaskList> {
        if !self.table.is_bulk || !self.has_body.replace(false) {
            return None;
        }
        // SAFETY: only `Bulk` says that it is one; it is there, and the flag says from now on that it is gone.
        Some(unsafe { self.body().cast::<Bulk>().read() }.0)
    }

    /// Drops the body without running it.
    pub(crate) fn discard(&self) {
        if self.has_body.replace(false) {
            // SAFETY: the body is there, and the flag above says from now on that it is gone.
            unsafe { (self.table.discard)(self.body()) };
        }
    }
}

impl std::ops::Deref for Task {
    type Target = Op;

    #[inline]
    fn deref(&self) -> &Op {
        // SAFETY: the block is this task's own.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for Task {
    #[inline]
    fn drop(&mut self) {
        let (layout, _) = self.layout();
        // Frees the block also when dropping the body panics.
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
        // SAFETY: the block was made by `slab::allocate` of this layout, its class noted in the head, and its owner gives
        // it up; accesses have nothing to drop.
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
