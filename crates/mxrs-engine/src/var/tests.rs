//! Tests the state machine of one variable, rule by rule.

use super::*;
use crate::context::RunContext;
use crate::op::{Dispatch, Op, OpName, Property, Synchronous, Task, Use, Uses, Waiter, normalize};
use crate::parker::Parker;
use mxrs_types::Device;
use std::cell::RefCell;
use std::sync::Arc;

/// A task of a test: first owned by the test; while it waits for grants it has no owner.
struct Case {
    op: NonNull<Op>,
    owned: RefCell<Option<Task>>,
}

fn op(accesses: &[(&Var, bool)]) -> Case {
    let mut uses: Uses<'_> = accesses.iter().map(|(var, write)| Use::new(var, *write)).collect();
    normalize(&mut uses);
    let body = Synchronous(|_: &RunContext| Ok(()));
    let task = Task::new(OpName::from("op"), &uses, Device::cpu(0), 0, Property::Normal, Dispatch::Completer, body);
    Case { op: task.as_ptr(), owned: RefCell::new(Some(task)) }
}

impl Case {
    fn is_granted(&self) -> bool {
        // SAFETY: these tests free a task only in `end`.
        unsafe { self.op.as_ref() }.is_granted()
    }
}

/// Appends the task; true if it was granted immediately.
fn append(case: &Case, deletes: bool) -> Result<bool> {
    let granted = super::append(case.owned.take().unwrap(), deletes).map_err(|(refused, _)| match refused {
        Refused::Deleted(error) => error,
        Refused::Collected => panic!("nothing is collected here"),
    })?;
    let is_granted = granted.is_some();
    *case.owned.borrow_mut() = granted;
    Ok(is_granted)
}

/// Returns `readers`, whether there is a writer, and the length of the queue.
fn look(var: &Var) -> (i32, bool, usize) {
    var.cell().look()
}

/// Completes a granted task and returns the number of other tasks that this released.
fn end(case: &Case) -> usize {
    // An earlier `end` forgot the tasks that it released; such a task has no owner, so its ownership is taken back.
    // SAFETY: it has all its grants, and no other code has taken it.
    let task = case.owned.take().unwrap_or_else(|| unsafe { Task::from_raw(case.op) });
    assert!(task.is_granted());
    let mut freed = Freed::default();
    release(&task, |_| None, &mut freed);
    drop(task);
    freed.wake_threads();
    let tasks = std::iter::from_fn(|| freed.tasks.pop());
    tasks.map(Task::into_raw).count()
}

#[test]
fn e1_e2_states_of_the_table() {
    let v = Var::new(1);
    let (r1, r2, w1, r3, w2) =
        (op(&[(&v, false)]), op(&[(&v, false)]), op(&[(&v, true)]), op(&[(&v, false)]), op(&[(&v, true)]));
    assert_eq!(look(&v), (0, false, 0), "free");
    assert!(append(&r1, false).unwrap() && append(&r2, false).unwrap());
    assert_eq!(look(&v), (2, false, 0), "read");
    assert!(!append(&w1, false).unwrap());
    assert_eq!(look(&v), (2, true, 0), "claimed");
    assert!(!append(&r3, false).unwrap(), "a read does not pass a claim");
    assert!(!append(&w2, false).unwrap());
    assert_eq!(look(&v), (2, true, 2));
    assert_eq!(end(&r1), 0);
    assert_eq!(end(&r2), 1, "the last reader grants the writer");
    assert_eq!(look(&v), (-1, true, 2), "written");
    assert_eq!(end(&w1), 1, "the read is admitted, the next write claims");
    assert_eq!(look(&v), (1, true, 0));
    assert_eq!(end(&r3), 1);
    assert_eq!(end(&w2), 0);
    assert_eq!(look(&v), (0, false, 0));
    assert_eq!(v.version(), 2, "E5: two writes, three reads");
}

#[test]
fn e8_granted_once_on_the_last_of_several_variables() {
    let (a, b) = (Var::new(1), Var::new(1));
    let (wa, wb, both) = (op(&[(&a, true)]), op(&[(&b, true)]), op(&[(&a, false), (&b, true)]));
    assert!(append(&wa, false).unwrap() && append(&wb, false).unwrap());
    assert!(!append(&both, false).unwrap());
    assert_eq!(end(&wb), 0, "one grant is still missing");
    assert!(!both.is_granted());
    assert_eq!(end(&wa), 1);
    assert!(both.is_granted());
    assert_eq!(end(&both), 0);
}

#[test]
fn e9_normalized_sorted_unique_write_wins() {
    let vars: Vec<Var> = (0..20).map(|_| Var::new(1)).collect();
    let mut list = Uses::new();
    for (i, var) in vars.iter().enumerate().rev() {
        list.push(Use::new(var, false));
        list.push(Use::new(var, i % 3 == 0));
        list.push(Use::new(var, false));
    }
    normalize(&mut list);
    let got: Vec<(usize, bool)> = list.iter().map(|u| (u.cell().addr().get(), u.write())).collect();
    let mut expected: Vec<(usize, bool)> =
        vars.iter().enumerate().map(|(i, v)| (v.cell_ptr().addr().get(), i % 3 == 0)).collect();
    expected.sort_unstable();
    assert_eq!(got, expected);
}

#[test]
fn e11_refused_push_appends_to_no_variable() {
    let (a, b) = (Var::new(1), Var::new(1));
    let gone = op(&[(&b, true)]);
    assert!(append(&gone, true).unwrap());
    let late = op(&[(&a, true), (&b, false)]);
    assert!(append(&late, false).unwrap_err().to_string().contains("has been deleted"));
    assert_eq!(look(&a), (0, false, 0));
    assert_eq!(end(&gone), 0);
}

#[test]
fn a_waiting_thread_takes_its_turn_and_passes_it_on() {
    let v = Var::new(1);
    let (w1, w2) = (op(&[(&v, true)]), op(&[(&v, true)]));
    assert!(append(&w1, false).unwrap());
    let (first, second) = (Parker::unshared(), Parker::unshared());
    let reader = Waiter::new(v.cell_ptr(), false, Arc::clone(&first));
    let writer = Waiter::new(v.cell_ptr(), true, Arc::clone(&second));
    assert!(matches!(v.cell().attach(WaitFor::Writes, &reader), Ok(Attached::Waiting)), "a write is running");
    assert!(matches!(v.cell().attach(WaitFor::Everything, &writer), Ok(Attached::Waiting)));
    assert!(!append(&w2, false).unwrap());
    assert_eq!(end(&w1), 1, "both threads are woken and the next write runs");
    assert!(first.wait().is_none() && second.wait().is_none());
    assert_eq!(look(&v), (-1, true, 0));
    assert_eq!(end(&w2), 0);
}

/// 2^32 forgotten clones would wrap the count, and the next drop would free a `VarCell` that is in use.
#[test]
fn handles_of_a_variable_are_bounded() {
    let var = Var::new(1);
    let forgotten = (1 << 31) - 1;
    var.cell().handles.fetch_add(forgotten, Ordering::Relaxed);
    let clone = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| var.clone()));
    let message = *clone.expect_err("one handle too many").downcast::<String>().unwrap();
    assert!(message.contains("2147483648 handles"), "{message}");
    var.cell().handles.fetch_sub(forgotten, Ordering::Relaxed);
    drop(var.clone());
}
