//! Runs commands: prints a header line, the output as it arrives, a heartbeat during the run, and an error if the command
//! fails.

use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, IsTerminal};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, Result, bail};

use crate::heartbeat::Heartbeat;

/// A command to run, built up argument by argument.
#[derive(Clone)]
pub struct Run {
    program: OsString,
    args: Vec<OsString>,
    /// Environment variables to set (`Some`) or to remove (`None`).
    envs: Vec<(OsString, Option<OsString>)>,
    dir: PathBuf,
    target_dir: Option<PathBuf>,
}

impl Run {
    /// A command that runs `program` in the folder `dir`.
    pub fn new(program: impl Into<OsString>, dir: impl Into<PathBuf>) -> Self {
        Run { program: program.into(), args: Vec::new(), envs: Vec::new(), dir: dir.into(), target_dir: None }
    }

    /// Appends one argument.
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// Appends arguments.
    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Sets one environment variable of the child.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.envs.push((name.as_ref().to_owned(), Some(value.as_ref().to_owned())));
        self
    }

    /// Removes one environment variable from the child's environment.
    pub fn without_env(mut self, name: impl AsRef<OsStr>) -> Self {
        self.envs.push((name.as_ref().to_owned(), None));
        self
    }

    /// Lets the heartbeat watch this cargo target folder for oneDNN's build.
    pub fn watching(mut self, target_dir: impl Into<PathBuf>) -> Self {
        self.target_dir = Some(target_dir.into());
        self
    }

    /// The command as a user would type it, without its environment.
    pub fn line(&self) -> String {
        let program = PathBuf::from(&self.program);
        let mut line = program.file_name().unwrap_or(&self.program).to_string_lossy().into_owned();
        for arg in &self.args {
            let arg = arg.to_string_lossy();
            line.push(' ');
            if arg.is_empty() || arg.contains(' ') {
                line.push_str(&format!("'{arg}'"));
            } else {
                line.push_str(&arg);
            }
        }
        line
    }

    /// Runs the command. Its output goes directly to our own.
    ///
    /// # Errors
    /// Fails if the command cannot be started or ends with a non-zero status.
    pub fn stream(&self) -> Result<()> {
        self.header();
        let heartbeat = self.heartbeat();
        let status = self.command().status().with_context(|| self.cannot_start())?;
        drop(heartbeat);
        self.judge(status)
    }

    /// Runs the command. Each line of its standard output is printed and passed to `on_line`.
    ///
    /// # Errors
    /// Fails if the command cannot be started, its output cannot be read, or it ends with a non-zero status.
    pub fn stream_lines(&self, mut on_line: impl FnMut(&str)) -> Result<()> {
        self.header();
        let heartbeat = self.heartbeat();
        let mut child = self.command().stdout(Stdio::piped()).spawn().with_context(|| self.cannot_start())?;
        if let Some(stdout) = child.stdout.take() {
            let mut reader = BufReader::new(stdout);
            let mut bytes = Vec::new();
            while reader.read_until(b'\n', &mut bytes).with_context(|| format!("reading from `{}`", self.line()))? > 0 {
                let line = String::from_utf8_lossy(&bytes);
                let line = line.trim_end_matches(['\n', '\r']);
                println!("{line}");
                on_line(line);
                bytes.clear();
            }
        }
        let status = child.wait().with_context(|| format!("waiting for `{}`", self.line()))?;
        drop(heartbeat);
        self.judge(status)
    }

    /// Runs the command without showing it and returns its standard output. If it fails, the error contains its error
    /// output.
    ///
    /// # Errors
    /// Fails if the command cannot be started or ends with a non-zero status.
    pub fn capture(&self) -> Result<String> {
        let output = self.command().output().with_context(|| self.cannot_start())?;
        if !output.status.success() {
            let stderr = String::from_utf8_lossy(&output.stderr);
            bail!("`{}` ended with {}\n{}", self.line(), ending(output.status), stderr.trim_end());
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Whether the command starts and succeeds; its output is not shown.
    pub fn succeeds(&self) -> bool {
        self.command().output().is_ok_and(|output| output.status.success())
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args).current_dir(&self.dir).stdin(Stdio::null());
        for (name, value) in &self.envs {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
    }

    fn header(&self) {
        let line = self.line();
        if std::io::stderr().is_terminal() {
            eprintln!("\x1b[2m$ {line}\x1b[0m");
        } else {
            eprintln!("$ {line}");
        }
    }

    fn heartbeat(&self) -> Heartbeat {
        Heartbeat::start(self.line(), self.target_dir.clone())
    }

    fn cannot_start(&self) -> String {
        format!("cannot start `{}`", PathBuf::from(&self.program).display())
    }

    fn judge(&self, status: ExitStatus) -> Result<()> {
        if !status.success() {
            bail!("`{}` ended with {}", self.line(), ending(status));
        }
        Ok(())
    }
}

fn ending(status: ExitStatus) -> String {
    status.code().map_or_else(|| status.to_string(), |code| format!("exit code {code}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Run {
        Run::new("sh", ".").args(["-c", script])
    }

    #[test]
    fn lines_arrive_whole_and_in_order() {
        let mut lines = Vec::new();
        shell("printf 'a\\nb c\\nlast'").stream_lines(|line| lines.push(line.to_owned())).unwrap();
        assert_eq!(lines, ["a", "b c", "last"]);
    }

    #[test]
    fn a_failure_names_command_and_code() {
        let error = shell("exit 3").stream().unwrap_err().to_string();
        assert_eq!(error, "`sh -c 'exit 3'` ended with exit code 3");
        let error = Run::new("no-such-program", ".").stream().unwrap_err().to_string();
        assert_eq!(error, "cannot start `no-such-program`");
    }

    #[test]
    fn a_captured_failure_carries_what_the_command_said() {
        let error = shell("echo why >&2; exit 1").capture().unwrap_err().to_string();
        assert!(error.ends_with("why"), "{error}");
    }

    #[test]
    fn variables_are_set_and_taken_away() {
        let run = shell("printf %s-%s \"$A_SET\" \"${HOME-gone}\"").env("A_SET", "1").without_env("HOME");
        assert_eq!(run.capture().unwrap(), "1-gone");
    }
}
