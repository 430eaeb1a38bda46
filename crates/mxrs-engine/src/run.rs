//! From a pushed task to a completed one.

use crate::config::EngineKind;
use crate::context::{Inside, RunContext, Worker, is_inside};
use crate::engine::Inner;
use crate::failure::Failure;
use crate::op::{Accesses, Dispatch, Op, OpName, Property, normalise};
use crate::parker::Parker;
use crate::pool::PoolId;
use crate::var::{self, Freed};
use mxrs_sync::atomic::{Ordering, fence};
use mxrs_types::{Device, DeviceKind, Error, ErrorKind, Result};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

impl Inner {
    /// Checks a task, appends it to its variables, and dispatches it if nothing is in the way.
    #[inline]
    pub(crate) fn push(
        self: &Arc<Self>,
        name: OpName,
        mut accesses: Accesses,
        device: Device,
        priority: i32,
        property: Property,
        body: impl FnOnce(&RunContext) -> Result<()> + Send + 'static,
    ) -> Result<()> {
        for access in &accesses {
            access.var.check_engine(self.id)?;
        }
        normalise(&mut accesses);
        let dispatch = self.choose(device, property)?;
        let op: Arc<Op> = Arc::new(Op::new(name, accesses, device, priority, property, dispatch, body));
        self.push_op(op)
    }

    fn push_op(self: &Arc<Self>, op: Arc<Op>) -> Result<()> {
        self.tally.pushed.fetch_add(1, Ordering::Relaxed);
        // Between announcing the push and looking for a stop; the stopper does the reverse, so one sees the other.
        fence(Ordering::SeqCst);
        let deletes = op.property == Property::DeleteVar;
        if self.is_stopped() && !deletes && !is_inside(self.id) {
            self.refuse();
            let message = format!("{}: the engine is stopped; start it before pushing", op.name);
            return Err(Error::new(ErrorKind::Engine { message }));
        }
        let granted = match var::append(&op, deletes) {
            Ok(granted) => granted,
            Err(error) => {
                self.refuse();
                return Err(error);
            }
        };
        if self.config.info {
            self.log_if_waited_for(&op, "push");
        }
        match &op.dispatch {
            Dispatch::Pusher(parker) => {
                if !granted {
                    parker.wait();
                }
                self.run_on_pusher(&op)
            }
            Dispatch::Completer if granted => self.run_on_pusher(&op),
            Dispatch::Completer => Ok(()),
            Dispatch::Pool(_) if granted => {
                let runs_here = matches!(op.property, Property::Async | Property::DeleteVar);
                if runs_here {
                    self.run_deferred(&op, None, None);
                } else {
                    self.enqueue(op);
                }
                Ok(())
            }
            Dispatch::Pool(_) => Ok(()),
        }
    }

    fn refuse(&self) {
        self.tally.refused.fetch_add(1, Ordering::Relaxed);
        self.note_completed();
    }

    /// The way a task meets a thread; starts that thread's pool.
    fn choose(self: &Arc<Self>, device: Device, property: Property) -> Result<Dispatch> {
        if device.kind == DeviceKind::Gpu {
            return Err(Error::not_built(
                format!("engine: device {device}"),
                "no GPU support in this build; use cpu(0)",
            ));
        }
        let id = match (self.config.kind, property) {
            (EngineKind::Naive, _) if is_inside(self.id) => return Ok(Dispatch::Completer),
            (EngineKind::Naive, _) => return Ok(Dispatch::Pusher(Parker::new())),
            (EngineKind::Threaded, Property::CopyFromGpu | Property::CopyToGpu) => PoolId::Copy,
            (EngineKind::Threaded, _) => PoolId::Global,
            (EngineKind::ThreadedPerDevice, Property::CpuPrioritized) => PoolId::CpuPriority,
            (EngineKind::ThreadedPerDevice, _) => PoolId::Cpu(device.id),
        };
        if property == Property::DeleteVar && self.is_stopped() {
            // Workers may be gone, or on their way out.
            return Ok(Dispatch::Completer);
        }
        self.pools.with(
            id,
            &self.config,
            |pool| if pool.is_started() { Ok(()) } else { pool.start(&|| self.runner(id)) },
        )?;
        Ok(Dispatch::Pool(id))
    }

    /// What the workers of a pool do.
    pub(crate) fn runner(self: &Arc<Self>, id: PoolId) -> crate::pool::Runner<Arc<Op>> {
        let inner = Arc::clone(self);
        Arc::new(move |op: Arc<Op>, index| inner.run_deferred(&op, Some(Worker { pool: id, index }), Some(id)))
    }

    /// Puts a granted task into its pool's queue.
    fn enqueue(&self, op: Arc<Op>) {
        if let Dispatch::Pool(id) = op.dispatch {
            let (front, priority) = (op.property == Property::DeleteVar, op.priority);
            self.pools.with(id, &self.config, |pool| pool.push(op, front, priority));
        }
    }

    /// Runs a granted task whose error waits for someone to ask. A worker of pool `home` may get a task to run next.
    fn run_deferred(&self, op: &Arc<Op>, worker: Option<Worker>, home: Option<PoolId>) -> Option<Arc<Op>> {
        let failure = match self.execute(op, worker) {
            Outcome::Done(None) => None,
            Outcome::Done(inherited) | Outcome::Skipped(inherited) => inherited,
            Outcome::Failed(error) => {
                let failure = Failure::new(error, op.name.as_str(), op.device);
                self.failures.add(Arc::clone(&failure));
                Some(failure)
            }
        };
        self.complete(op, failure.as_ref(), home)
    }

    /// Runs a granted task under [`EngineKind::Naive`], where the push returns its error.
    fn run_on_pusher(&self, op: &Arc<Op>) -> Result<()> {
        let (result, failure) = match self.execute(op, None) {
            Outcome::Done(inherited) => (Ok(()), inherited),
            Outcome::Skipped(inherited) => (inherited.and_then(|f| f.take()).map_or(Ok(()), Err), None),
            Outcome::Failed(error) => (Err(error.context(format!("running `{}` on {}", op.name, op.device))), None),
        };
        self.complete(op, failure.as_ref(), None);
        result
    }

    /// Runs or skips the body.
    fn execute(&self, op: &Arc<Op>, worker: Option<Worker>) -> Outcome {
        let inherited = op.inherited_failure();
        let _inside = Inside::enter(self.id);
        let Some(body) = op.open_body() else {
            debug_assert!(false, "E6: a task runs once");
            return Outcome::Done(None);
        };
        if let Some(failure) = &inherited
            && op.skips_on_failure()
        {
            failure.note_skipped(op.name.as_str());
            self.tally.skipped.fetch_add(1, Ordering::Relaxed);
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| body.discard())) {
                tracing::error!(target: "mxrs_engine", "dropping skipped `{}` panicked: {}", op.name, text_of(&*panic));
            }
            return Outcome::Skipped(inherited);
        }
        let context = RunContext::new(op.device, worker, inherited.clone());
        let result = catch_unwind(AssertUnwindSafe(|| body.run(&context))).unwrap_or_else(|panic| {
            Err(Error::new(ErrorKind::Panicked { what: format!("`{}`", op.name), message: text_of(&*panic) }))
        });
        match result {
            Ok(()) => Outcome::Done(inherited),
            Err(error) => {
                self.tally.failed.fetch_add(1, Ordering::Relaxed);
                Outcome::Failed(error)
            }
        }
    }

    /// Gives the task's variables on and dispatches what that sets free.
    fn complete(&self, op: &Arc<Op>, failure: Option<&Arc<Failure>>, home: Option<PoolId>) -> Option<Arc<Op>> {
        let mut next = None;
        let mut freed = Freed::default();
        var::release(op, failure, &mut freed);
        if self.config.info {
            self.log_if_waited_for(op, "completion");
        }
        freed.wake_threads();
        for task in freed.tasks {
            match &task.dispatch {
                Dispatch::Pusher(parker) => parker.signal(None),
                Dispatch::Completer => {
                    let _ = self.run_deferred(&task, None, None);
                }
                Dispatch::Pool(id) => {
                    if next.is_none() && home == Some(*id) && self.may_run_next(*id, &task) {
                        next = Some(task);
                    } else {
                        self.enqueue(task);
                    }
                }
            }
        }
        self.note_completed();
        next
    }

    /// Whether a task may jump the queue of the worker that set it free: it finds its inputs in that core's cache. A
    /// single worker keeps first in, first out; a prioritised pool keeps its priorities.
    fn may_run_next(&self, id: PoolId, task: &Op) -> bool {
        if id == PoolId::CpuPriority || task.property == Property::DeleteVar {
            return false;
        }
        self.pools.with(id, &self.config, |pool| pool.size() > 1 || pool.is_empty())
    }

    fn note_completed(&self) {
        let completed = self.tally.completed.fetch_add(1, Ordering::AcqRel) + 1;
        fence(Ordering::SeqCst);
        if self.idle.has_waiters() && completed == self.tally.pushed.load(Ordering::Relaxed) {
            self.idle.notify();
        }
    }
}

enum Outcome {
    /// The body succeeded, in spite of this failure.
    Done(Option<Arc<Failure>>),
    /// The body did not run because of this failure.
    Skipped(Option<Arc<Failure>>),
    /// The body failed.
    Failed(Error),
}

fn text_of(panic: &(dyn Any + Send)) -> String {
    let literal = panic.downcast_ref::<&str>().map(ToString::to_string);
    literal.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".into())
}
