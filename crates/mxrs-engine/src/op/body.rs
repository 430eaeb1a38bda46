//! The three kinds of task bodies, and how to use one whose type is erased.

use crate::completion::Completion;
use crate::context::RunContext;
use crate::var::TaskList;
use mxrs_types::Result;
use std::alloc::Layout;

/// The body of a task.
pub(crate) trait Body: Send + 'static {
    /// Whether `run` only starts the work, whose end is then reported through the [`Completion`].
    const IS_ASYNCHRONOUS: bool = false;
    /// Whether the body is a [`Bulk`].
    const IS_BULK: bool = false;

    /// Runs the body. `completion` is given if and only if the body is asynchronous.
    fn run(self, context: &RunContext, completion: Option<Completion>) -> Result<()>;
}

/// A body whose work is done when it returns.
pub(crate) struct Synchronous<F>(pub(crate) F);

impl<F: FnOnce(&RunContext) -> Result<()> + Send + 'static> Body for Synchronous<F> {
    #[inline]
    fn run(self, context: &RunContext, _: Option<Completion>) -> Result<()> {
        (self.0)(context)
    }
}

/// A body that starts work and reports later how it ended.
pub(crate) struct Asynchronous<F>(pub(crate) F);

impl<F: FnOnce(&RunContext, Completion) + Send + 'static> Body for Asynchronous<F> {
    const IS_ASYNCHRONOUS: bool = true;

    fn run(self, context: &RunContext, completion: Option<Completion>) -> Result<()> {
        if let Some(completion) = completion {
            (self.0)(context, completion);
        }
        Ok(())
    }
}

/// The body of a bulk: the tasks that it consists of. Each of them keeps its own block of memory with its variables and
/// its body. The bulk itself uses the variables of all of them.
pub(crate) struct Bulk(pub(crate) TaskList);

impl Body for Bulk {
    const IS_BULK: bool = true;

    fn run(self, _: &RunContext, _: Option<Completion>) -> Result<()> {
        debug_assert!(false, "a bulk is taken apart by `Task::take_bulk`");
        Ok(())
    }
}

/// The operations of a body whose type is erased.
pub(super) struct BodyTable {
    pub(super) layout: Layout,
    pub(super) is_asynchronous: bool,
    pub(super) is_bulk: bool,
    pub(super) run: unsafe fn(*mut u8, &RunContext, Option<Completion>) -> Result<()>,
    pub(super) discard: unsafe fn(*mut u8),
}

pub(super) struct TableOf<B>(std::marker::PhantomData<B>);

impl<B: Body> TableOf<B> {
    pub(super) const TABLE: BodyTable = BodyTable {
        layout: Layout::new::<B>(),
        is_asynchronous: B::IS_ASYNCHRONOUS,
        is_bulk: B::IS_BULK,
        // SAFETY (for the caller): the pointer is to an initialized `B`, which is moved out.
        run: |body, context, completion| {
            // SAFETY: the caller passes a pointer to an initialized `B`.
            let body = unsafe { body.cast::<B>().read() };
            body.run(context, completion)
        },
        // SAFETY (for the caller): the pointer is to an initialized `B`, which is dropped.
        discard: |body| {
            // SAFETY: the caller passes a pointer to an initialized `B`.
            unsafe { body.cast::<B>().drop_in_place() }
        },
    };
}
