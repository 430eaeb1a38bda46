//! What a task does: the three kinds of bodies, and how one is used once its type is forgotten.

use crate::completion::Completion;
use crate::context::RunContext;
use crate::var::TaskList;
use mxrs_types::Result;
use std::alloc::Layout;

/// What a task does.
pub(crate) trait Body: Send + 'static {
    /// Whether `run` only starts the work, which ends by the completion.
    const STARTS_ONLY: bool = false;
    /// Whether it is a [`Bulk`].
    const IS_BULK: bool = false;

    /// Runs the body. The completion is there if it starts only.
    fn run(self, context: &RunContext, completion: Option<Completion>) -> Result<()>;
}

/// A body that has done its work when it returns.
pub(crate) struct Sync<F>(pub(crate) F);

impl<F: FnOnce(&RunContext) -> Result<()> + Send + 'static> Body for Sync<F> {
    #[inline]
    fn run(self, context: &RunContext, _: Option<Completion>) -> Result<()> {
        (self.0)(context)
    }
}

/// A body that starts work and says later how it ended.
pub(crate) struct Starts<F>(pub(crate) F);

impl<F: FnOnce(&RunContext, Completion) + Send + 'static> Body for Starts<F> {
    const STARTS_ONLY: bool = true;

    fn run(self, context: &RunContext, completion: Option<Completion>) -> Result<()> {
        if let Some(completion) = completion {
            (self.0)(context, completion);
        }
        Ok(())
    }
}

/// The bodies of a bulk, each with its own words and variables, which are among the bulk's.
pub(crate) struct Bulk(pub(crate) TaskList);

impl Body for Bulk {
    const IS_BULK: bool = true;

    fn run(self, _: &RunContext, _: Option<Completion>) -> Result<()> {
        debug_assert!(false, "a bulk is taken apart by `Task::take_bulk`");
        Ok(())
    }
}

/// How to use a body whose type is forgotten.
pub(super) struct BodyTable {
    pub(super) layout: Layout,
    pub(super) starts_only: bool,
    pub(super) is_bulk: bool,
    pub(super) run: unsafe fn(*mut u8, &RunContext, Option<Completion>) -> Result<()>,
    pub(super) discard: unsafe fn(*mut u8),
}

pub(super) struct TableOf<B>(std::marker::PhantomData<B>);

impl<B: Body> TableOf<B> {
    pub(super) const TABLE: BodyTable = BodyTable {
        layout: Layout::new::<B>(),
        starts_only: B::STARTS_ONLY,
        is_bulk: B::IS_BULK,
        // SAFETY (of the caller): the pointer is to an initialized `B`, which is moved out.
        run: |body, context, completion| {
            // SAFETY: see above.
            let body = unsafe { body.cast::<B>().read() };
            body.run(context, completion)
        },
        // SAFETY (of the caller): as above.
        discard: |body| {
            // SAFETY: see above.
            unsafe { body.cast::<B>().drop_in_place() }
        },
    };
}
