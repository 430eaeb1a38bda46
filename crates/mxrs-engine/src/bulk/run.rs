//! Runs the bodies of a bulk, each as if it were a task of its own.

use crate::context::{Inside, RunContext, Worker};
use crate::engine::Inner;
use crate::failure::Failure;
use crate::op::{Access, Task, first_failure};
use crate::var::{self, Freed, TaskList, VarCell};
use mxrs_sync::atomic::Ordering;
use mxrs_trace::SpanKind;
use smallvec::SmallVec;
use std::ptr::NonNull;
use std::sync::Arc;

impl Inner {
    /// Runs the bodies of a bulk in order, and then releases its variables.
    #[cold]
    pub(crate) fn run_bulk(
        self: &Arc<Self>,
        task: Task,
        mut list: TaskList,
        worker: Option<Worker>,
        home: Option<Worker>,
    ) -> Option<Task> {
        let _inside = worker.is_none().then(|| Inside::enter(self.id));
        let running = self.task_span(SpanKind::Run, &task);
        let mut carried = Carried::of(&task);
        let context = RunContext::new(task.device, worker, None);
        match self.order_if_needed(&task, context, worker) {
            Ok(context) => {
                while let Some(body) = list.pop() {
                    self.run_in_bulk(&body, &context, &mut carried);
                }
                if let Some(streams) = context.streams()
                    && let Err(error) = self.watched(&task, || self.end_on_device(&task, streams, Ok(())))
                {
                    carried.taint_all(&task, &self.keep_failure(error, &task));
                }
            }
            Err(error) => {
                let failure = self.keep_failure(error, &task);
                carried.taint_all(&task, &failure);
                while let Some(body) = list.pop() {
                    self.skip(&body, &failure);
                }
            }
        }
        drop(running);
        let _completing = self.task_span(SpanKind::Complete, &task);
        self.log_if_asked(&task, "completion");
        let mut freed = Freed::default();
        var::release(&task, |access| carried.get(access.var_ptr()), &mut freed);
        drop(task);
        self.dispatch(freed, home)
    }

    fn run_in_bulk(&self, body: &Task, context: &RunContext, carried: &mut Carried) {
        let failure = match carried.inherited(body) {
            Some(failure) => {
                self.skip(body, &failure);
                failure
            }
            None => match self.watched(body, || self.run_body(body, context)) {
                Ok(()) => return carried.forget(body),
                Err(error) => {
                    self.tally.failed.fetch_add(1, Ordering::Relaxed);
                    self.keep_failure(error, body)
                }
            },
        };
        for access in body.accesses().iter().filter(|a| a.write) {
            carried.set(access.var_ptr(), &failure);
        }
    }
}

/// Which variables of a bulk carry a failure while its bodies run.
struct Carried(SmallVec<[(NonNull<VarCell>, Arc<Failure>); 4]>);

impl Carried {
    fn of(task: &Task) -> Self {
        if !task.is_tainted() {
            return Self(SmallVec::new());
        }
        let failed = |a: &Access| Some((a.var_ptr(), a.var().live_failure()?));
        Self(task.accesses().iter().filter_map(failed).collect())
    }

    fn get(&self, var: NonNull<VarCell>) -> Option<&Arc<Failure>> {
        self.0.iter().find(|(v, _)| *v == var).map(|(_, failure)| failure)
    }

    fn set(&mut self, var: NonNull<VarCell>, failure: &Arc<Failure>) {
        match self.0.iter_mut().find(|(v, _)| *v == var) {
            Some((_, slot)) => *slot = Arc::clone(failure),
            None => self.0.push((var, Arc::clone(failure))),
        }
    }

    /// Removes the failures of the variables that a body has written.
    fn forget(&mut self, body: &Task) {
        if !self.0.is_empty() {
            self.0.retain(|(var, _)| !body.accesses().iter().any(|a| a.write && a.var_ptr() == *var));
        }
    }

    fn taint_all(&mut self, task: &Task, failure: &Arc<Failure>) {
        for access in task.accesses().iter().filter(|a| a.write) {
            self.set(access.var_ptr(), failure);
        }
    }

    /// Like [`crate::op::live_failure`], but for the failures that the bulk's variables carry at this point.
    fn inherited(&self, body: &Task) -> Option<Arc<Failure>> {
        if self.0.is_empty() {
            return None;
        }
        first_failure(body.accesses(), |access| {
            self.get(access.var_ptr()).filter(|failure| failure.concerns(access.write)).cloned()
        })
    }
}
