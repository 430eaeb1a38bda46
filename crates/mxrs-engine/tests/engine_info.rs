//! B25 (`MXNET_ENGINE_INFO` in `docs/env.md`): the engine logs waits, and pushes and completions of tasks that use the
//! variable waited for.
#![cfg(not(loom))]

use mxrs_engine::{Engine, EngineConfig};
use std::io::Write;
use std::sync::{Arc, Mutex};

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn b25_waits_and_their_operators_are_logged() {
    let log = Log::default();
    let writer = log.clone();
    // Workers log completions, so the subscriber must be global.
    tracing_subscriber::fmt().with_writer(move || writer.clone()).with_ansi(false).without_time().init();
    let text = |info: bool| {
        log.0.lock().unwrap().clear();
        let engine = Engine::new(EngineConfig { info, ..EngineConfig::default() }).unwrap();
        let (x, other) = (engine.new_var(), engine.new_var());
        engine.wait_to_read(&x).unwrap();
        engine.task("watched").write(&x).push(|_| Ok(())).unwrap();
        engine.task("unrelated").write(&other).push(|_| Ok(())).unwrap();
        engine.wait_to_read(&x).unwrap();
        engine.wait_for_all().unwrap();
        (x.id(), String::from_utf8(log.0.lock().unwrap().clone()).unwrap())
    };
    let (id, lines) = text(true);
    for part in [
        format!("wait_to_read: variable {id} at version 0"),
        format!("push of `watched`, which writes variable {id}"),
        format!("completion of `watched`, which writes variable {id}"),
        format!("wait_to_read: variable {id} is ready at version 1"),
    ] {
        assert!(lines.contains(&part), "`{part}` is not in:\n{lines}");
    }
    assert!(!lines.contains("unrelated"));
    assert!(text(false).1.is_empty());
}
