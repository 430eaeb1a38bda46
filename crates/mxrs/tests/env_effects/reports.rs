//! Rows D56 and M2 to M5 of `docs/env.md`: what an engine reports about failures and stalls, and how long its shutdown
//! waits.

use crate::door::Door;
use crate::log_lines::{await_line_of_others, line_of_others, log_lines};
use crate::{Vars, runtime};
use mxrs::engine::Var;
use mxrs::{Error, Runtime};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

const STALL: &str = "MXRS_ENGINE_STALL_SECS";
const EXIT: &str = "MXRS_EXIT_TIMEOUT_MS";

/// Pushes a task that writes `var` and fails. A backtrace contains the name of this function.
#[inline(never)]
fn push_one_that_fails(runtime: &Runtime, var: &Var) {
    runtime.engine().task("bad").write(var).push(|_| Err(Error::invalid("x", "1", "2"))).unwrap();
}

#[test]
fn m2_errors_say_where_their_operator_was_pushed() {
    for (vars, is_said) in [
        (&[] as Vars<'_>, false),
        (&[("MXRS_ENGINE_BACKTRACE", "0")], false),
        (&[("MXRS_ENGINE_BACKTRACE", "1")], true),
    ] {
        let runtime = runtime(vars);
        let var = runtime.engine().new_var();
        push_one_that_fails(&runtime, &var);
        let text = runtime.engine().wait_to_read(&var).unwrap_err().to_string();
        assert_eq!(text.contains("push_one_that_fails"), is_said, "{vars:?}: {text}");
    }
}

#[test]
fn d56_errors_carry_so_many_frames() {
    let frames = |vars: Vars<'_>| {
        let runtime = runtime(vars);
        let var = runtime.engine().new_var();
        push_one_that_fails(&runtime, &var);
        let text = runtime.engine().wait_to_read(&var).unwrap_err().to_string();
        let (_, trace) = text.split_once("Stack trace:")?;
        Some(trace.lines().filter(|line| line.starts_with("  [")).map(str::to_owned).collect::<Vec<_>>())
    };
    const DEPTH: &str = "DMLC_LOG_STACK_TRACE_DEPTH";
    assert_eq!((frames(&[]), frames(&[(DEPTH, "0")])), (None, None));
    let three = frames(&[(DEPTH, "3")]).expect("a trace");
    assert_eq!(three.len(), 3, "{three:?}");
    assert!(three.iter().any(|frame| frame.contains("push_one_that_fails")), "{three:?}");
    assert!(!three[0].contains("mxrs_engine"), "the first frame is the caller's: {three:?}");
    assert_eq!(frames(&[(DEPTH, "1")]).expect("a trace"), three[..1]);
}

#[test]
fn m3_a_failure_is_told_once_or_until_the_next_write() {
    for (vars, is_told_again) in [
        (&[] as Vars<'_>, false),
        (&[("MXRS_ENGINE_STICKY_ERRORS", "0")], false),
        (&[("MXRS_ENGINE_STICKY_ERRORS", "1")], true),
    ] {
        let runtime = runtime(vars);
        let (engine, var) = (runtime.engine(), runtime.engine().new_var());
        push_one_that_fails(&runtime, &var);
        assert!(engine.wait_to_read(&var).is_err());
        for _ in 0..2 {
            assert_eq!(engine.wait_to_read(&var).is_err(), is_told_again, "{vars:?}");
        }
        engine.task("good").write(&var).push(|_| Ok(())).unwrap();
        engine.wait_to_read(&var).unwrap();
    }
}

/// Three stalled runtimes: the one with a limit of one second reports the stall, and the others have not reported it by
/// then.
#[test]
fn m4_a_stall_is_said_after_so_many_seconds() {
    let door = Door::default();
    let stalled = |name: &'static str, vars: Vars<'_>| {
        let runtime = runtime(vars);
        runtime.engine().task(name).push(door.body()).unwrap();
        runtime
    };
    let _late = stalled("late", &[(STALL, "1000")]);
    let _silent = stalled("silent", &[]);
    let early = stalled("early", &[(STALL, "1")]);
    let line = await_line_of_others("`early` has been running on cpu(0)");
    let of_others = ["`late`", "`silent`"].map(line_of_others);
    door.open();
    early.engine().wait_for_all().unwrap();
    let line = line.expect("it says so");
    assert!(line.starts_with("WARN no task has ended for 1."), "{line}");
    assert!(line.contains("1 are pending"), "{line}");
    assert_eq!(of_others, [None, None]);
}

#[test]
fn m5_the_end_waits_so_long_for_what_is_pending() {
    for (value, seconds) in [("30", "0.03"), ("0", "0")] {
        let (runtime, door) = (runtime(&[(EXIT, value)]), Door::default());
        runtime.engine().task("stuck").push(door.body()).unwrap();
        assert_eq!(door.wait_for(1), 1);
        let (_, lines) = log_lines(|| drop(runtime));
        let expected = format!("ERROR 1 tasks were abandoned: they did not end within {seconds} s");
        assert!(lines.contains(&expected), "{lines:?}");
    }
}

#[test]
fn m5_without_it_the_end_waits_as_long_as_it_takes() {
    for vars in [&[] as Vars<'_>, &[(EXIT, "")], &[(EXIT, "100000")]] {
        let (runtime, is_done) = (runtime(vars), Arc::new(AtomicBool::new(false)));
        let done = Arc::clone(&is_done);
        let pushed = runtime.engine().task("slow").push(move |_| {
            thread::sleep(Duration::from_millis(100));
            done.store(true, Ordering::SeqCst);
            Ok(())
        });
        pushed.unwrap();
        let (_, lines) = log_lines(|| drop(runtime));
        assert!(is_done.load(Ordering::SeqCst), "{vars:?}");
        assert!(lines.iter().all(|line| !line.contains("left behind")), "{lines:?}");
    }
}
