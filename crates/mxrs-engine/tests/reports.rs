//! The reports of an engine about failures and stalls: sticky errors, backtraces of pushes, the stall watch, and the time
//! limit for the engine's end.
#![cfg(not(loom))]

use mxrs_engine::{Engine, EngineConfig};
use mxrs_types::Error;
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tracing_subscriber::fmt::MakeWriter;

/// Collects what is logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap()).into_owned()
    }

    /// Waits until the log contains `wanted`, at most 20 seconds; returns the log.
    fn await_text(&self, wanted: &str) -> String {
        let until = Instant::now() + Duration::from_secs(20);
        while !self.text().contains(wanted) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.text()
    }
}

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

fn failing(engine: &Engine, var: &mxrs_engine::Var) {
    engine.task("bad").write(var).push(|_| Err(Error::invalid("x", "1", "2"))).unwrap();
}

/// Rules E12 and E13 of `mxrs_engine::var`: without `sticky_errors` a failure is reported once; with it every reader gets
/// the failure until a write succeeds.
#[test]
fn e13_sticky_errors_are_told_until_rewritten() {
    for sticky in [false, true] {
        let engine = Engine::new(EngineConfig { sticky_errors: sticky, ..EngineConfig::default() }).unwrap();
        let (x, y) = (engine.new_var(), engine.new_var());
        failing(&engine, &x);
        assert!(engine.wait_to_read(&x).is_err());
        assert_eq!(engine.wait_to_read(&x).is_err(), sticky);
        engine.task("copy").read(&x).write(&y).push(|_| Ok(())).unwrap();
        assert_eq!(engine.wait_to_read(&y).is_err(), sticky, "what is computed from it fails too");
        engine.task("rewrite").write(&x).push(|_| Ok(())).unwrap();
        engine.wait_to_read(&x).unwrap();
        engine.task("copy").read(&x).write(&y).push(|_| Ok(())).unwrap();
        engine.wait_to_read(&y).unwrap();
    }
}

#[test]
fn errors_say_where_their_task_was_pushed() {
    for backtrace in [false, true] {
        let engine = Engine::new(EngineConfig { backtrace, ..EngineConfig::default() }).unwrap();
        let x = engine.new_var();
        failing(&engine, &x);
        let text = engine.wait_to_read(&x).unwrap_err().to_string();
        assert_eq!(text.contains("failing"), backtrace, "{text}");
        assert!(text.contains("running `bad` on cpu(0)"), "{text}");
    }
}

#[test]
fn a_stalled_engine_says_what_it_waits_for_and_its_end_does_not_wait_for_ever() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt().with_writer(log.clone()).with_ansi(false).finish();
    tracing::subscriber::set_global_default(subscriber).unwrap();
    let limit = Duration::from_millis(100);
    let config = EngineConfig { stall_after: Some(limit), exit_timeout: Some(limit), ..EngineConfig::default() };
    let engine = Engine::new(config).unwrap();
    let x = engine.new_var();
    let (open, closed) = mpsc::channel::<()>();
    let stuck = move |_: &mxrs_engine::RunContext| {
        let _ = closed.recv();
        Ok(())
    };
    engine.task("stuck").write(&x).push(stuck).unwrap();
    {
        let _scope = engine.bulk(15);
        let y = engine.new_var();
        let (opened, closed) = mpsc::channel::<()>();
        let waits = move |_: &mxrs_engine::RunContext| {
            let _ = closed.recv();
            Ok(())
        };
        engine.task("in a bulk").write(&y).device(mxrs_types::Device::cpu(1)).push(waits).unwrap();
        engine.flush();
        let text = log.await_text("`in a bulk` has been running on cpu(1)");
        assert!(text.contains("`in a bulk` has been running on cpu(1)"), "{text}");
        drop(opened);
        engine.wait_to_read(&y).unwrap();
    }
    for name in ["second", "third"] {
        engine.task(name).read(&x).push(|_| Ok(())).unwrap();
    }
    let text = log.await_text("which these wait for: `second`, `third`");
    assert!(text.contains("`stuck` has been running"), "{text}");
    assert!(text.contains("3 are pending"), "{text}");
    assert!(text.contains("which these wait for: `second`, `third`"), "{text}");

    let begin = Instant::now();
    drop(engine);
    assert!(begin.elapsed() < Duration::from_secs(10));
    assert!(log.text().contains("3 tasks were abandoned"), "{}", log.text());
    drop(open);
}
