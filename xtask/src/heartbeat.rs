//! A line now and then while a child process is silent, so that a long step never looks hung.
//!
//! While oneDNN compiles it says how many of its files are done; otherwise, and only where no terminal shows cargo's own
//! progress bar, it says how long the step has been running.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::elapsed;
use crate::native_build::NativeBuilds;

const EVERY: Duration = Duration::from_secs(20);
/// How many beats without a count pass before a plain "still running" line.
const PLAIN_EVERY: u32 = 3;

/// Beats from its creation until it is dropped.
pub struct Heartbeat {
    stop: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Heartbeat {
    /// Starts beating for the command called `label`; `target_dir` is where cargo builds, if it is cargo.
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
            // A panic in the beat has been reported by its thread; the command's own result matters more.
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
        // Cargo may have left its bar on this line of the terminal.
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
