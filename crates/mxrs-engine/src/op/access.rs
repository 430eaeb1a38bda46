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

    /// Makes a use for another task: of the same variable, and a read or a write like `access`.
    ///
    /// # Safety
    /// The variable is kept alive until the other task is appended to its variables' queues.
    pub(crate) unsafe fn of_access(access: &Access) -> Self {
        let tagged = access.var.map_addr(|address| address | usize::from(access.write));
        Self { tagged, _borrowed: PhantomData }
    }

    #[inline]
    pub(crate) fn cell(self) -> NonNull<VarCell> {
        // A `VarCell` is aligned to 64 bytes, so clearing the lowest bit of its address does not give 0.
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

/// Adds a use of a variable to the list. A list that is too long to be stored inline moves to a vector that the thread keeps
/// for that purpose.
#[inline]
pub(crate) fn add<'v>(uses: &mut Uses<'v>, var: &'v Var, write: bool) {
    if uses.len() == uses.inline_size() && !uses.spilled() {
        widen(uses, 0, &SPARE);
    }
    uses.push(Use::new(var, write));
}

/// Drops the list. If it is not stored inline, the thread keeps its memory for the next long list.
#[inline]
pub(crate) fn give_back_uses(uses: Uses<'_>) {
    give_back(uses, &SPARE);
}

/// Sorts uses into the order of locking and removes duplicates; a variable that is both read and written counts as written
/// (rule E9 of [`crate::var`]).
#[inline]
pub(crate) fn normalize(uses: &mut Uses<'_>) {
    if uses.len() < 2 {
        return;
    }
    uses.sort_unstable_by_key(|u| u.order());
    uses.dedup_by_key(|u| u.cell());
}

/// One variable of a pushed task, or of a waiting thread: an element of the variable's queue while the task or thread
/// waits for the variable.
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
        // SAFETY: a `VarCell` lives as long as it has a handle, or a task or thread that holds a grant on it or is
        // queued for it. An access exists only from the push, which borrows a handle, to the completion, which ends the
        // grant.
        unsafe { self.var.as_ref() }
    }

    pub(crate) fn var_ptr(&self) -> NonNull<VarCell> {
        self.var
    }

    /// The task that the access belongs to; `None` if it belongs to a waiting thread.
    #[inline]
    pub(crate) fn task(&self) -> Option<NonNull<Op>> {
        NonNull::new(self.op)
    }
}

/// The first failure that a variable of these accesses carries and that still has an effect; the order is that of
/// [`first_failure`].
pub(crate) fn live_failure(accesses: &[Access]) -> Option<Arc<Failure>> {
    first_failure(accesses, |access| access.var().failure_for(access.write))
}

/// The first failure that `of` finds. It looks at reads before writes, each in ascending order of variable ids, so that
/// the choice does not depend on addresses.
pub(crate) fn first_failure(accesses: &[Access], of: impl Fn(&Access) -> Option<Arc<Failure>>) -> Option<Arc<Failure>> {
    let mut order: SmallVec<[&Access; 8]> = accesses.iter().collect();
    order.sort_unstable_by_key(|a| (a.write, a.var().id()));
    order.into_iter().find_map(of)
}
