//! The state machine of one variable, rule by rule.

use super::*;
use crate::context::RunContext;
use crate::op::{Access, Accesses, Dispatch, Op, OpName, Property, normalise};
use mxrs_types::Device;

fn op(accesses: &[(&Var, bool)]) -> Arc<Op> {
    let mut list: Accesses =
        accesses.iter().map(|(var, write)| Access { var: (*var).clone(), write: *write }).collect();
    normalise(&mut list);
    let body = |_: &RunContext| Ok(());
    let name = OpName::from("op");
    Arc::new(Op::new(name, list, Device::cpu(0), 0, Property::Normal, Dispatch::Completer, body))
}

/// `readers`, whether there is a writer, length of the queue.
fn look(var: &Var) -> (i32, bool, usize) {
    let state = var.cell().state.lock();
    (state.readers, !matches!(state.writer, Writer::None), state.queue.len())
}

fn end(op: &Arc<Op>) -> usize {
    let mut freed = Freed::default();
    release(op, None, &mut freed);
    freed.wake_threads();
    freed.tasks.len()
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
fn e9_normalised_sorted_unique_write_wins() {
    let vars: Vec<Var> = (0..20).map(|_| Var::new(1)).collect();
    let mut list: Accesses = SmallVec::new();
    for (i, var) in vars.iter().enumerate().rev() {
        list.push(Access { var: var.clone(), write: false });
        list.push(Access { var: var.clone(), write: i % 3 == 0 });
        list.push(Access { var: var.clone(), write: false });
    }
    normalise(&mut list);
    let got: Vec<(u64, bool)> = list.iter().map(|a| (a.var.id(), a.write)).collect();
    let expected: Vec<(u64, bool)> = vars.iter().enumerate().map(|(i, v)| (v.id(), i % 3 == 0)).collect();
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
    let Attached::Waiting(first) = v.cell().attach(WaitFor::Writes).unwrap() else { panic!("a write is running") };
    let Attached::Waiting(second) = v.cell().attach(WaitFor::Everything).unwrap() else { panic!("a write is running") };
    assert!(!append(&w2, false).unwrap());
    assert_eq!(end(&w1), 1, "both threads are woken and the next write runs");
    assert!(first.wait().is_none() && second.wait().is_none());
    assert_eq!(look(&v), (-1, true, 0));
    assert_eq!(end(&w2), 0);
}
