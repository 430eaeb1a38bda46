//! `mxrs kill`: ends the jobs that `mxrs launch` has started.

use super::launch::job::{CHECKPOINT, Process, all};
use crate::exit::{Failure, Outcome};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::time::{Duration, Instant};

/// How long the launcher may take to end its workers: the time that it gives them, and some more to end what is left.
const GRACE: Duration = CHECKPOINT.saturating_add(Duration::from_secs(5));

/// Arguments of `kill`.
#[derive(clap::Args)]
pub struct Args {
    /// Names of the jobs, as `mxrs launch` logs them; without a name, the running jobs are listed
    #[arg(value_name = "JOB")]
    jobs: Vec<String>,
    /// End all jobs of this user
    #[arg(long, conflicts_with = "jobs")]
    all: bool,
}

/// Runs the command. A job ends as after Ctrl-C: workers write a checkpoint first. Processes that have not ended after 65
/// seconds are killed.
///
/// # Errors
/// [`Failure::Usage`] if a job is not running; the message lists the running jobs.
pub fn run(args: &Args) -> Outcome {
    let running = all();
    let named = |name: &String| running.iter().find(|(other, ..)| other == name);
    if let Some(unknown) = args.jobs.iter().find(|name| named(name).is_none()) {
        let names: Vec<&str> = running.iter().map(|(name, ..)| name.as_str()).collect();
        let there = if names.is_empty() { "no other is".to_owned() } else { format!("running: {}", names.join(", ")) };
        return Err(Failure::Usage(format!("JOB: no job `{unknown}` is running; {there}")));
    }
    if args.jobs.is_empty() && !args.all {
        for (name, _, record) in &running {
            println!("{name}  {} processes  {}", record.workers.len(), record.command);
        }
        return Ok(());
    }
    for (name, folder, record) in running.iter().filter(|(name, ..)| args.all || args.jobs.contains(name)) {
        signal(record.launcher, |pid| kill_process(pid, Signal::TERM));
        let since = Instant::now();
        while record.launcher.is_running() && since.elapsed() < GRACE {
            std::thread::sleep(Duration::from_millis(20));
        }
        for process in record.workers.iter().chain([&record.launcher]) {
            signal(*process, |pid| kill_process_group(pid, Signal::KILL).or(kill_process(pid, Signal::KILL)));
        }
        // The launcher removes the folder when it ends by itself, but not if it was killed.
        let _ = std::fs::remove_dir_all(folder);
        tracing::info!("job {name} has ended");
    }
    Ok(())
}

/// Sends a signal to a process, unless it has ended. A new process with the same number gets no signal.
fn signal(process: Process, send: impl FnOnce(Pid) -> rustix::io::Result<()>) {
    let pid = i32::try_from(process.pid).ok().and_then(Pid::from_raw);
    if let Some(pid) = pid.filter(|_| process.is_running()) {
        // An error is ignored, because the process may have ended since the check.
        let _ = send(pid);
    }
}
