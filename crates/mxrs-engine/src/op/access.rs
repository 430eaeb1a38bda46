//! The variables of a task: as the caller lists them, and as entries in the variables' queues.

use super::{Op, give_back, widen};
use crate::failure::Failure;
use crate::var::{Var, VarCell};
use smallvec::SmallVec;
use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::Arc;

/// One variable of a task that is being described: the variable's address, with the lowest bit set if the task writes
/// it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Use<'v> {
    tagged: NonNull<VarCell>,
    _borrowed: PhantomData<&'v Var>,
}

/// The variables of a task that is being described; the usual number fits without an allocation.
pub(crate) type Uses<'v> = SmallVec<[Use<'v>; 8]>;

impl<'v> Use<'v> {
    #[inline]
    pub(crate) fn new(var: &'v Var, write: bool) -> Self {
        let tagged = var.cell_ptr().map_addr(|address| address | usize::from(write));
        Self { tagged, _borrowed: PhantomData }
    }

    /// The same use, for another task.
    ///
    /// # Safety
    /// The variable is kept alive until that task is appended.
    pub(crate) unsafe fn of_access(access: &Access) -> Self {
        let tagged = access.var.map_addr(|address| address | usize::from(access.write));
        Self { tagged, _borrowed: PhantomData }
    }

    #[inline]
    pub(crate) fn cell(self) -> NonNull<VarCell> {
        // A cell is aligned to 64 bytes, so clearing the lowest bit of its address does not give 0.
        self.tagged.map_addr(|address| std::num::NonZero::new(address.get() & !1).unwrap_or(address))
    }

    #[inline]
    pub(crate) fn write(self) -> bool {
        self.tagged.addr().get() & 1 == 1
    }

    /// The order of locking: by variable, and a write before a read of the same variable.
    #[inline]
    fn order(self) -> (u64, bool) {
        (VarCell::order(self.cell()), !self.write())
    }
}

std::thread_local! {
    static SPARE: Cell<Vec<Use<'static>>> = const { Cell::new(Vec::new()) };
}

/// Adds a use. A long list is stored in its thread's spare memory.
#[inline]
pub(crate) fn add<'v>(uses: &mut Uses<'v>, var: &'v Var, write: bool) {
    if uses.len() == uses.inline_size() && !uses.spilled() {
        widen(uses, 0, &SPARE);
    }
    uses.push(Use::new(var, write));
}

/// Returns the memory of a long list to the thread.
#[inline]
pub(crate) fn give_back_uses(uses: Uses<'_>) {
    give_back(uses, &SPARE);
}

/// Sorts uses into the order of locking and removes duplicates; a variable that is both read and written counts as
/// written (E9).
#[inline]
pub(crate) fn normalize(uses: &mut Uses<'_>) {
    if uses.len() < 2 {
        return;
    }
    uses.sort_unstable_by_key(|u| u.order());
    uses.dedup_by_key(|u| u.cell());
}

/// One variable of a pushed task, or of a waiting thread: an element of the variable's queue while it waits there.
pub(crate) struct Access {
    var: NonNull<VarCell>,
    /// The next element in the variable's queue; used only under the variable's lock.
    pub(crate) next: Cell<*const Access>,
    /// The task; null for a waiting thread, whose access is the first field of a [`super::Waiter`].
    op: *mut Op,
    pub(crate) write: bool,
}

impl Access {
    pub(crate) fn new(var: NonNull<VarCell>, op: *mut Op, write: bool) -> Self {
        Self { var, next: Cell::new(std::ptr::null()), op, write }
    }

    #[inline]
    pub(crate) fn var(&self) -> &VarCell {
        // SAFETY: a cell lives until it has no handle and no task or thread is granted on or queued for it; an access
        // exists only from a push, which borrows the handle, to the completion that ends the grant.
        unsafe { self.var.as_ref() }
    }

    pub(crate) fn var_ptr(&self) -> NonNull<VarCell> {
        self.var
    }

    /// The task it belongs to; `None` for a waiting thread.
    #[inline]
    pub(crate) fn task(&self) -> Option<NonNull<Op>> {
        NonNull::new(self.op)
    }
}

/// The first failure among accesses that still has an effect.
pub(crate) fn live_failure(accesses: &[Access]) -> Option<Arc<Failure>> {
    first_failure(accesses, |access| access.var().failure_for(access.write))
}

/// The first failure that `of` finds: reads before writes, each in ascending id, so that the choice does not depend on
/// addresses.
pub(crate) fn first_failure(accesses: &[Access], of: impl Fn(&Access) -> Option<Arc<Failure>>) -> Option<Arc<Failure>> {
    let mut order: SmallVec<[&Access; 8]> = accesses.iter().collect();
    order.sort_unstable_by_key(|a| (a.write, a.var().id()));
    order.into_iter().find_map(of)
}
