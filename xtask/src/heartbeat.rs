//! Prints a line now and then while a child process runs, so that a long step never looks hung.
//!
//! While oneDNN compiles, the line reports how many of its files are done. Otherwise, and only if stderr is not a terminal
//! (on a terminal cargo shows its own progress bar), it reports how long the step has been running.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::elapsed;
use crate::native_build::NativeBuilds;

const EVERY: Duration = Duration::from_secs(20);
/// A "still running" line is printed every `PLAIN_EVERY` times that [`EVERY`] has passed without progress of oneDNN's
/// build.
const PLAIN_EVERY: u32 = 3;

/// A thread that prints lines until this value is dropped.
pub struct Heartbeat {
    stop: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Heartbeat {
    /// Starts a heartbeat for the command called `label`. `target_dir` is cargo's build folder, if the command is cargo.
    pub fn start(label: String, target_dir: Option<PathBuf>) -> Self {
        let (stop, stopped) = mpsc::channel();
        let thread = std::thread::spawn(move || beat(&label, target_dir, &stopped));
        Heartbeat { stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the heartbeat was already printed by its thread and must not replace the command's own result.
            let _ = thread.join();
        }
    }
}

fn beat(label: &str, target_dir: Option<PathBuf>, stopped: &mpsc::Receiver<()>) {
    let started = Instant::now();
    let terminal = std::io::stderr().is_terminal();
    let mut builds = target_dir.as_deref().map(NativeBuilds::watch);
    let mut silent = 0;
    while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(EVERY) {
        let elapsed = elapsed::show(started.elapsed());
        // Cargo may have left its progress bar on this line of the terminal.
        let clear = if terminal { "\r\x1b[K" } else { "" };
        if let Some(progress) = builds.as_mut().and_then(NativeBuilds::advanced) {
            silent = 0;
            eprintln!("{clear}    … oneDNN: {} of {} files compiled ({elapsed})", progress.done, progress.total);
        } else if !terminal {
            silent += 1;
            if silent % PLAIN_EVERY == 0 {
                eprintln!("    … `{label}` is still running ({elapsed})");
            }
        }
    }
}
