//! A process of a job that runs, and that may be started again.

use super::output::{To, forward};
use mxrs::{Error, Result};
use rustix::process::{Pid, Signal, kill_process_group};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;

/// Which process of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    /// A worker, with its number.
    Worker(u32),
    /// A server, with its number.
    Server(u32),
    /// A program that starts all workers.
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
    pub ended: Option<ExitStatus>,
}

impl Running {
    /// Starts a process in a process group of its own.
    ///
    /// # Errors
    /// Fails if the program cannot be started.
    pub fn start(name: Name, mut command: Command) -> Result<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let child = spawn(&mut command)?;
        let mut running = Self { name, command, child, output: Vec::new(), ended: None };
        running.forward();
        Ok(running)
    }

    /// Starts the program of a process that has ended again.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn start_again(&mut self) -> Result<()> {
        self.child = spawn(&mut self.command)?;
        self.ended = None;
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

    /// Sends a signal to the process and to those that it has started, unless it has ended.
    pub fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let (None, Some(pid)) = (self.ended, pid) {
            // The process may have ended in this moment.
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
