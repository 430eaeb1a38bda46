//! Collects tasks in a thread's buffer, and pushes the collected tasks.

use super::{Buffer, Content, mine};
use crate::busy::Busy;
use crate::context::is_inside;
use crate::engine::Inner;
use crate::op::{Bulk, OpName, Property, Task, Use, Uses, normalize};
use crate::var::{NotMarked, TaskList, Var};
use mxrs_sync::atomic::Ordering;
use mxrs_types::Result;
use smallvec::SmallVec;
use std::sync::Arc;

/// A bulk (collected tasks in one task) whose push was refused, if any. It must go to [`Inner::discard_bulk`] after the
/// buffer's lock is released, because dropping the bodies of its tasks runs the user's code.
#[must_use]
struct Dropped(Option<Task>);

impl Inner {
    /// Adds a task to the calling thread's buffer. A task that cannot be collected is returned, and the caller pushes
    /// it alone; all buffers whose tasks must run before it have been pushed by then.
    ///
    /// # Errors
    /// Fails if a variable of the task is deleted (rule E11 of [`crate::var`]).
    #[cold]
    pub(crate) fn collect(self: &Arc<Self>, task: Task) -> Result<Option<Task>> {
        let _busy = Busy::enter();
        let Some(buffer) = (if is_inside(self.id) { None } else { mine(self.id) }) else {
            self.flush_users(&task, 0);
            return Ok(Some(task));
        };
        loop {
            let mut content = buffer.content.lock();
            let fits =
                task.property == Property::Normal && task.priority == 0 && !task.is_asynchronous() && content.limit > 1;
            if !fits || content.device != task.device {
                let dropped = self.push_content(buffer.number, &mut content);
                if !fits || dropped.0.is_some() {
                    drop(content);
                    self.discard_bulk(dropped);
                    self.flush_users(&task, buffer.number);
                    return Ok(Some(task));
                }
            }
            // A thread that stops the engine first marks it as stopped and then pushes all buffers. So if the engine is
            // not marked here, the stopping thread will find this task in the buffer and push it.
            if self.is_stopped() {
                return Ok(Some(task));
            }
            match mark(&task, buffer.number, &content.tasks) {
                Ok(()) => {}
                Err(NotMarked::Deleted(error)) => return Err(error),
                Err(NotMarked::Other(number)) => {
                    // A thread never locks two buffers together, because another thread might lock them in the opposite
                    // order.
                    drop(content);
                    self.flush_number(number);
                    continue;
                }
            }
            content.device = task.device;
            content.dispatch = task.dispatch;
            content.tasks.push(task);
            content.len += 1;
            if content.len >= content.limit {
                let dropped = self.push_content(buffer.number, &mut content);
                drop(content);
                self.discard_bulk(dropped);
            }
            return Ok(None);
        }
    }

    /// Pushes the tasks that all threads have collected.
    pub(crate) fn flush_all(self: &Arc<Self>) {
        if self.buffers.are_idle() {
            return;
        }
        let _busy = Busy::enter();
        let all = self.buffers.all.lock().clone();
        for buffer in all {
            self.flush_buffer(&buffer);
        }
    }

    pub(super) fn flush_buffer(self: &Arc<Self>, buffer: &Buffer) {
        let _busy = Busy::enter();
        let dropped = self.push_content(buffer.number, &mut buffer.content.lock());
        self.discard_bulk(dropped);
    }

    /// Pushes the tasks in the buffers of other threads that use one of this task's variables. `own` is the number of
    /// the caller's buffer.
    fn flush_users(self: &Arc<Self>, task: &Task, own: u16) {
        for access in task.accesses() {
            let number = access.var().buffered_by();
            if ![0, own].contains(&number) {
                self.flush_number(number);
            }
        }
    }

    fn flush_number(self: &Arc<Self>, number: u16) {
        let found = self.buffers.all.lock().iter().find(|buffer| buffer.number == number).cloned();
        if let Some(buffer) = found {
            self.flush_buffer(&buffer);
        }
    }

    /// Pushes the buffer's tasks as one bulk. The caller holds the buffer's lock, so later tasks of the buffer's thread
    /// come after the bulk.
    fn push_content(self: &Arc<Self>, number: u16, content: &mut Content) -> Dropped {
        let len = std::mem::take(&mut content.len);
        if len == 0 {
            return Dropped(None);
        }
        let list = std::mem::take(&mut content.tasks);
        let mut uses = Uses::new();
        // The handles that kept the variables alive so far. They are dropped after the push: from then on the pushed
        // bulk itself keeps the variables alive.
        let mut kept: SmallVec<[Var; 16]> = SmallVec::new();
        for task in list.iter() {
            for access in task {
                // SAFETY: `mark` added a reference to the variable when the task was collected. This is the only code
                // that takes the reference back, because the list of tasks is no longer in the buffer.
                kept.push(unsafe { Var::from_counted(access.var_ptr()) });
                // SAFETY: the handle in `kept` keeps the variable alive until `push_task` has queued the bulk on it.
                uses.push(unsafe { Use::of_access(access) });
            }
        }
        normalize(&mut uses);
        let name = OpName::from("ImperativeBulk");
        let task = Task::new(name, &uses, content.device, 0, Property::NoSkip, content.dispatch, Bulk(list));
        self.tally.bulked.fetch_add(len as u64, Ordering::Relaxed);
        let pushed = self.push_task(task);
        // The buffer's marks on the variables are removed only after the push. If they were removed before it, another
        // thread could delete a variable in between, and the deletion would run before the collected tasks, although
        // they were accepted earlier.
        kept.iter().for_each(|var| var.cell().unmark_buffered(number));
        let Err(refused) = pushed else { return Dropped(None) };
        // The only possible error is that the system refused a thread for the pool.
        tracing::error!(target: "mxrs_engine", "{len} collected tasks were dropped: {}", refused.error);
        Dropped(refused.task)
    }

    /// Drops the bodies of a bulk that was refused.
    fn discard_bulk(&self, dropped: Dropped) {
        let Some(mut list) = dropped.0.and_then(|task| task.take_bulk()) else { return };
        while let Some(task) = list.pop() {
            self.discard(&task);
        }
    }
}

/// Marks all variables of a task with the number of its thread's buffer, and adds a reference to each variable. On an
/// error, undoes what it did. `collected` are the tasks already in the buffer.
fn mark(task: &Task, number: u16, collected: &TaskList) -> Result<(), NotMarked> {
    let accesses = task.accesses();
    for (at, access) in accesses.iter().enumerate() {
        let Err(why) = access.var().mark_buffered(number) else { continue };
        for marked in &accesses[..at] {
            // SAFETY: `mark_buffered` added this reference to the variable in an earlier iteration of the outer loop.
            let var = unsafe { Var::from_counted(marked.var_ptr()) };
            if !collected.iter().flatten().any(|other| other.var_ptr() == var.cell_ptr()) {
                var.cell().unmark_buffered(number);
            }
        }
        return Err(why);
    }
    // The added references belong to the collected task; `push_content` takes them back.
    Ok(())
}
