//! A contestant's process: it runs only while it executes a round and is stopped at all other times.

use super::{Answer, Contestant, Kind, Order};
use anyhow::{Context, Result, ensure};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The running process of a contestant, seen from outside.
pub struct Seat {
    kind: Kind,
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Seat {
    /// Starts `program` with the flags that make it call [`serve`], and stops it after a first round.
    ///
    /// # Errors
    /// Fails if the program cannot be started or does not answer a first round.
    pub fn start(program: &Path, kind: Kind, openmp: Option<&Path>, pin: bool) -> Result<Self> {
        let mut command = Command::new(program);
        command.args(["--serve", kind.word()]).stdin(Stdio::piped()).stdout(Stdio::piped());
        if let Some(library) = openmp.filter(|_| kind.is_openmp()) {
            command.arg("--openmp-library").arg(library);
        }
        if pin {
            command.arg("--pin");
        }
        let mut child =
            command.envs(kind.variables(pin)).spawn().with_context(|| format!("starting {}", kind.word()))?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let (stdin, stdout) = stdin.zip(stdout).context("the pipes of a process just started")?;
        let mut seat = Self { kind, child, stdin, stdout: BufReader::new(stdout) };
        seat.round(Order { steps: 1, n_loops: 1, gap_ns: 0 })?;
        Ok(seat)
    }

    /// The contestant that runs in the process.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Lets the process run one round and stops it afterwards.
    ///
    /// # Errors
    /// Fails if the process has ended or its answer cannot be read.
    pub fn round(&mut self, order: Order) -> Result<Answer> {
        self.signal(libc::SIGCONT);
        let answer = self.ask(order);
        self.signal(libc::SIGSTOP);
        answer.with_context(|| self.kind.word())
    }

    fn ask(&mut self, order: Order) -> Result<Answer> {
        writeln!(self.stdin, "{order}").and_then(|()| self.stdin.flush()).context("its process has ended")?;
        let mut line = String::new();
        ensure!(self.stdout.read_line(&mut line)? > 0, "its process has ended");
        line.parse().with_context(|| format!("its answer `{}`", line.trim()))
    }

    fn signal(&self, signal: libc::c_int) {
        // SAFETY: `kill` accesses no memory. The process is our child and has not been waited for, so its id still belongs
        // to it.
        unsafe { libc::kill(self.child.id() as libc::pid_t, signal) };
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        // Both calls fail only if the process has already ended, so nothing is left to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The main loop of a contestant's process: reads orders from standard input until it is closed, and runs one round for
/// each.
///
/// # Errors
/// Fails if the contestant cannot be started or an order cannot be read.
pub fn serve(kind: Kind, openmp: Option<&Path>, pin: bool) -> Result<()> {
    end_with_parent();
    let contestant = Contestant::start(kind, openmp, pin)?;
    let (stdin, mut stdout) = (std::io::stdin().lock(), std::io::stdout().lock());
    for line in stdin.lines() {
        let answer = contestant.run(line?.parse()?);
        writeln!(stdout, "{answer}")?;
        stdout.flush()?;
    }
    Ok(())
}

/// Makes this process end with its parent, because a stopped process would not notice that its parent has ended.
fn end_with_parent() {
    #[cfg(target_os = "linux")]
    // SAFETY: `PR_SET_PDEATHSIG` takes a signal number and accesses no memory.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
    }
}
