//! Cargo set up to build with one of the compiler's sanitizers, in a target folder of its own.
//!
//! The flag is unstable, the sanitizers are not new: `RUSTC_BOOTSTRAP` lets the pinned toolchain use it, so that what is
//! checked is what is shipped. An explicit `--target` keeps the flags away from build scripts and procedural macros.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::process::Run;
use crate::session::Session;

/// Which sanitizer, and what it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sanitizer {
    /// Data races. Follows only what was compiled with it, so the standard library is compiled too.
    Thread,
    /// Memory that nothing points to at the end of the process.
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
            // The tests fork, and start threads in the child.
            Sanitizer::Thread => ("TSAN_OPTIONS", "exitcode=66:die_after_fork=0"),
            Sanitizer::Leak => ("LSAN_OPTIONS", "exitcode=23"),
        }
    }
}

/// A session whose cargo builds and runs with a sanitizer.
pub struct Sanitized<'a> {
    session: &'a Session,
    sanitizer: Sanitizer,
    host: String,
    target_dir: PathBuf,
}

impl<'a> Sanitized<'a> {
    /// Finds or installs what the sanitizer needs.
    ///
    /// # Errors
    /// The sanitizer does not exist for this machine, or needs the standard library's sources and rustup cannot fetch
    /// them.
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

    /// An example program that [`Sanitized::cargo`] has built.
    pub fn example(&self, name: &str) -> Run {
        self.program(&self.target_dir.join(&self.host).join("debug/examples").join(name))
    }

    /// A program built with the sanitizer.
    pub fn program(&self, program: &Path) -> Run {
        self.prepared(self.session.program(program))
    }

    /// rustc with the sanitizer, for a single file to be compiled to `program`.
    pub fn rustc(&self, source: &Path, program: &Path) -> Run {
        let flag = format!("-Zsanitizer={}", self.sanitizer.name());
        self.prepared(self.session.program("rustc")).args(["--edition", "2024", &flag, "-o"]).arg(program).arg(source)
    }

    /// Where everything is built.
    pub fn target_dir(&self) -> &Path {
        &self.target_dir
    }

    fn prepared(&self, run: Run) -> Run {
        let (name, value) = self.sanitizer.options();
        // The test harness reads the terminal's description and never frees it.
        run.env("RUSTC_BOOTSTRAP", "1").env(name, value).without_env("TERM")
    }
}

/// Lets rustup fetch the component where it is missing.
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

/// Whether `run` fails and says `what`: a sanitizer must find what was planted.
///
/// # Errors
/// It succeeds, or fails for another reason.
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
