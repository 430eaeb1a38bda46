//! Collecting tasks, and pushing what is collected.

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

/// A bulk that was refused, to be handed to [`Inner::discard_bulk`] once the buffer's lock is released: its bodies are the
/// user's, and may do anything when they are dropped.
#[must_use]
struct Dropped(Option<Task>);

impl Inner {
    /// Collects a task, or gives it back to be pushed on its own, after what must come before it.
    ///
    /// # Errors
    /// A variable is deleted (E11).
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
                task.property == Property::Normal && task.priority == 0 && !task.starts_only() && content.limit > 1;
            if !fits || content.device != task.device {
                let dropped = self.push_content(buffer.number, &mut content);
                if !fits || dropped.0.is_some() {
                    drop(content);
                    self.discard_bulk(dropped);
                    self.flush_users(&task, buffer.number);
                    return Ok(Some(task));
                }
            }
            // Whoever stops the engine says so first and then pushes what is here; so a stop overlooked here waits for it.
            if self.is_stopped() {
                return Ok(Some(task));
            }
            match mark(&task, buffer.number, &content.tasks) {
                Ok(()) => {}
                Err(NotMarked::Deleted(error)) => return Err(error),
                Err(NotMarked::Other(number)) => {
                    // Not with two buffers locked: the other thread may be here too.
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

    /// Pushes what all threads have collected.
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

    /// Pushes what the buffers have collected that the task's variables are marked with, but for this one.
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

    /// Under the buffer's lock, so that what its thread pushes next comes after.
    fn push_content(self: &Arc<Self>, number: u16, content: &mut Content) -> Dropped {
        let len = std::mem::take(&mut content.len);
        if len == 0 {
            return Dropped(None);
        }
        let list = std::mem::take(&mut content.tasks);
        let mut uses = Uses::new();
        // What kept the variables until now, given up once the bulk's own accesses do.
        let mut kept: SmallVec<[Var; 16]> = SmallVec::new();
        for task in list.iter() {
            for access in task {
                // SAFETY: counted when the task was collected, and taken once, as its list is.
                kept.push(unsafe { Var::from_counted(access.var_ptr()) });
                // SAFETY: the handle above keeps the variable until the bulk is appended.
                uses.push(unsafe { Use::of_access(access) });
            }
        }
        normalize(&mut uses);
        let name = OpName::from("ImperativeBulk");
        let task = Task::new(name, &uses, content.device, 0, Property::NoSkip, content.dispatch, Bulk(list));
        self.tally.bulked.fetch_add(len as u64, Ordering::Relaxed);
        let pushed = self.push_task(task);
        // Only now: a deletion in between would come before tasks that were accepted before it.
        kept.iter().for_each(|var| var.cell().unmark_buffered(number));
        let Err(refused) = pushed else { return Dropped(None) };
        // The system has no thread for the pool.
        tracing::error!(target: "mxrs_engine", "{len} collected tasks are dropped: {}", refused.error);
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

/// Marks all variables of a task with its thread's buffer, and counts a handle of each; all or none. `collected` is what
/// the buffer holds already.
fn mark(task: &Task, number: u16, collected: &TaskList) -> Result<(), NotMarked> {
    let accesses = task.accesses();
    for (at, access) in accesses.iter().enumerate() {
        let Err(why) = access.var().mark_buffered(number) else { continue };
        for marked in &accesses[..at] {
            // SAFETY: counted just now.
            let var = unsafe { Var::from_counted(marked.var_ptr()) };
            if !collected.iter().flatten().any(|other| other.var_ptr() == var.cell_ptr()) {
                var.cell().unmark_buffered(number);
            }
        }
        return Err(why);
    }
    // The handles are the task's while it is collected; `push_content` takes them back.
    Ok(())
}
