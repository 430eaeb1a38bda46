//! Runs cargo with one of the compiler's sanitizers, in a separate target folder.
//!
//! The flag for sanitizers is unstable. `RUSTC_BOOTSTRAP` lets the pinned toolchain accept it, so that the checked code is
//! compiled by the same compiler as the shipped code. An explicit `--target` keeps the flags away from build scripts and
//! procedural macros.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::process::Run;
use crate::session::Session;

/// The sanitizers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sanitizer {
    /// Finds data races. It understands only code that was compiled with it, so the standard library is compiled too.
    Thread,
    /// Finds memory that no pointer refers to at the end of the process.
    Leak,
}

impl Sanitizer {
    fn name(self) -> &'static str {
        match self {
            Sanitizer::Thread => "thread",
            Sanitizer::Leak => "leak",
        }
    }

    /// The environment variable that sets the sanitizer's options, and its value.
    fn options(self) -> (&'static str, &'static str) {
        match self {
            // `die_after_fork=0` is needed because some tests fork and start threads in the child process.
            Sanitizer::Thread => ("TSAN_OPTIONS", "exitcode=66:die_after_fork=0"),
            Sanitizer::Leak => ("LSAN_OPTIONS", "exitcode=23"),
        }
    }
}

/// A session in which cargo builds and runs with a sanitizer.
pub struct Sanitized<'a> {
    session: &'a Session,
    sanitizer: Sanitizer,
    host: String,
    target_dir: PathBuf,
}

impl<'a> Sanitized<'a> {
    /// Finds or installs the components that the sanitizer needs.
    ///
    /// # Errors
    /// Fails if the sanitizer is not available on this machine, or if it needs the standard library's sources and rustup
    /// cannot fetch them.
    pub fn new(session: &'a Session, sanitizer: Sanitizer) -> Result<Self> {
        let host = session.host()?;
        if !host.ends_with("-linux-gnu") {
            bail!("the {} sanitizer is used on Linux with glibc; this is {host}", sanitizer.name());
        }
        if sanitizer == Sanitizer::Thread {
            need_library_sources(session)?;
        }
        let target_dir = session.target_dir().join(format!("sanitize-{}", sanitizer.name()));
        Ok(Sanitized { session, sanitizer, host, target_dir })
    }

    /// A cargo command that builds with the sanitizer.
    pub fn cargo(&self, subcommand: &str) -> Run {
        let run = self.prepared(self.session.cargo(subcommand)).args(["--target", &self.host]);
        let run = if self.sanitizer == Sanitizer::Thread { run.arg("-Zbuild-std") } else { run };
        run.env("RUSTFLAGS", format!("-Zsanitizer={}", self.sanitizer.name())).env("CARGO_TARGET_DIR", &self.target_dir)
    }

    /// A run of an example program that [`Sanitized::cargo`] has built.
    pub fn example(&self, name: &str) -> Run {
        self.program(&self.target_dir.join(&self.host).join("debug/examples").join(name))
    }

    /// A run of a program that was built with the sanitizer.
    pub fn program(&self, program: &Path) -> Run {
        self.prepared(self.session.program(program))
    }

    /// A rustc command that compiles a single file to `program` with the sanitizer.
    pub fn rustc(&self, source: &Path, program: &Path) -> Run {
        let flag = format!("-Zsanitizer={}", self.sanitizer.name());
        self.prepared(self.session.program("rustc")).args(["--edition", "2024", &flag, "-o"]).arg(program).arg(source)
    }

    /// Cargo's target folder for this sanitizer.
    pub fn target_dir(&self) -> &Path {
        &self.target_dir
    }

    fn prepared(&self, run: Run) -> Run {
        let (name, value) = self.sanitizer.options();
        // Without `TERM`, the test harness does not load the terminal's description, which it never frees.
        run.env("RUSTC_BOOTSTRAP", "1").env(name, value).without_env("TERM")
    }
}

/// Lets rustup fetch the standard library's sources if the toolchain lacks them.
fn need_library_sources(session: &Session) -> Result<()> {
    let sysroot = session.program("rustc").args(["--print", "sysroot"]).capture().context("asking rustc")?;
    if Path::new(sysroot.trim()).join("lib/rustlib/src/rust/library").is_dir() {
        return Ok(());
    }
    eprintln!(
        "the toolchain lacks the component rust-src, from which the standard library is built; rustup fetches it"
    );
    let install = session.program("rustup").args(["component", "add", "rust-src"]).stream();
    install.context("the standard library's sources cannot be fetched (this needs rustup and the network)")
}

/// Runs a program with a planted error and checks that it fails with a sanitizer report that contains `what`.
///
/// # Errors
/// Fails if the run succeeds or fails with another message.
pub fn must_report(run: &Run, what: &str) -> Result<()> {
    match run.capture() {
        Ok(_) => bail!("`{}` ended well, though it was made to show: {what}", run.line()),
        Err(error) if error.to_string().contains(what) => Ok(()),
        Err(error) => Err(error.context(format!("`{}` failed, but not with: {what}", run.line()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_expected_report_satisfies() {
        let shell = |script: &str| Run::new("sh", ".").args(["-c", script]);
        assert!(must_report(&shell("echo 'data race' >&2; exit 66"), "data race").is_ok());
        assert!(must_report(&shell("exit 66"), "data race").is_err());
        assert!(must_report(&shell("echo 'data race' >&2"), "data race").is_err());
    }
}
