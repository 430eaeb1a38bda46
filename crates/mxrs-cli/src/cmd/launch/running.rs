//! A process of a job that runs, and that may be started again.

use super::output::{To, forward};
use mxrs::{Error, Result};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;

/// Which process of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// A worker, with its number.
    Worker(u32),
    /// A server, with its number.
    Server(u32),
    /// A program that starts all workers, such as `mpirun`.
    Program,
}

impl Name {
    /// The name before each line of output; `None` for a program that marks the lines itself.
    fn mark(self) -> Option<String> {
        match self {
            Self::Worker(rank) => Some(format!("worker {rank}")),
            Self::Server(server) => Some(format!("server {server}")),
            Self::Program => None,
        }
    }
}

/// A process of the job.
pub struct Running {
    name: Name,
    command: Command,
    pub child: Child,
    pub output: Vec<JoinHandle<()>>,
    /// How the process has ended; `None` while it runs. The system keeps its number until [`Self::reap`], so that signals
    /// can still be sent to its process group, in which other processes may still run.
    pub ended: Option<ExitStatus>,
    is_reaped: bool,
}

impl Running {
    /// Starts a process in a process group of its own.
    ///
    /// # Errors
    /// Fails if the program cannot be started.
    pub fn start(name: Name, mut command: Command) -> Result<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let child = spawn(&mut command)?;
        let mut running = Self { name, command, child, output: Vec::new(), ended: None, is_reaped: false };
        running.forward();
        Ok(running)
    }

    /// The process has ended: kills what is left of its process group, and starts its program again.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn start_again(&mut self) -> Result<()> {
        self.signal(Signal::KILL);
        self.reap();
        self.child = spawn(&mut self.command)?;
        (self.ended, self.is_reaped) = (None, false);
        self.forward();
        Ok(())
    }

    fn forward(&mut self) {
        let (out, err) = (self.child.stdout.take(), self.child.stderr.take());
        self.output.extend(out.map(|stream| forward(stream, self.name.mark(), To::Out)));
        self.output.extend(err.map(|stream| forward(stream, self.name.mark(), To::Err)));
    }

    /// The process in words.
    pub fn name(&self) -> String {
        self.name.mark().unwrap_or_else(|| "the launcher's program".to_owned())
    }

    /// Whether this is a server.
    pub fn is_server(&self) -> bool {
        matches!(self.name, Name::Server(_))
    }

    /// Checks whether the process has ended.
    ///
    /// # Errors
    /// Fails if the system does not know the process.
    pub fn look(&mut self) -> Result<()> {
        let Some(pid) = self.pid().filter(|_| self.ended.is_none()) else { return Ok(()) };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = waitid(WaitId::Pid(pid), options).map_err(|error| Error::from_io(&error.into()))?;
        // The status as `wait` returns it: the second byte is the exit code, the first byte is the signal that ended the
        // process.
        let raw = status.and_then(|status| status.exit_status().map(|code| code << 8).or(status.terminating_signal()));
        self.ended = raw.map(ExitStatus::from_raw);
        Ok(())
    }

    /// Gives the number of a process that has ended back to the system. After that, its process group gets no more signals.
    pub fn reap(&mut self) {
        if self.ended.is_some() {
            // It has ended, so this does not wait.
            let _ = self.child.wait();
            self.is_reaped = true;
        }
    }

    fn pid(&self) -> Option<Pid> {
        i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
    }

    /// Sends a signal to the process and to those that it has started, even if it has ended itself.
    pub fn signal(&self, signal: Signal) {
        if let Some(pid) = self.pid().filter(|_| !self.is_reaped) {
            // An error is ignored, because all processes of the group may have ended.
            let _ = kill_process_group(pid, signal);
        }
    }
}

fn spawn(command: &mut Command) -> Result<Child> {
    command.spawn().map_err(|error| {
        let name = command.get_program().to_string_lossy().into_owned();
        Error::io(name, &error).context("starting a process of the job")
    })
}
