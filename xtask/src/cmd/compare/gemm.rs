//! `cargo xtask compare gemm`: products of matrices in mxrs, OpenBLAS and oneDNN, which it installs from PyPI.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::ValueEnum;

use super::score::packages::{self, Packages};
use super::venv::{Install, Venv, said};
use super::{Format, Isa, word};
use crate::process::Run;
use crate::session::Session;

/// Arguments of `compare gemm`.
#[derive(clap::Args)]
pub struct Args {
    /// Products from the list in benches/src/gemm/shapes.txt, by name or by a part of the name [default: all]
    #[arg(long, value_name = "NAME,…")]
    shape: Option<String>,
    /// Type of the numbers [default: float32]
    #[arg(long, value_enum)]
    dtype: Option<Dtype>,
    /// Threads of each library [default: 2]
    #[arg(long)]
    threads: Option<NonZeroUsize>,
    /// Number of measured rounds [default: 5]
    #[arg(long)]
    rounds: Option<NonZeroUsize>,
    /// Seconds that each library runs in a round; it computes at least one product [default: 0.05]
    #[arg(long, value_parser = super::seconds)]
    round_seconds: Option<f64>,
    /// The widest instructions that libraries may use
    #[arg(long, value_enum)]
    isa: Option<Isa>,
    /// Shared library of OpenBLAS with 32-bit sizes [default: that of PyPI's scipy-openblas32]
    #[arg(long, value_name = "FILE")]
    openblas: Option<PathBuf>,
    /// Shared library of oneDNN 3 [default: that of PyPI's onednn-cpu-gomp]
    #[arg(long, value_name = "FILE")]
    onednn: Option<PathBuf>,
    #[command(flatten)]
    install: Install,
    /// How the report is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Type of the numbers that are multiplied.
#[derive(Clone, Copy, ValueEnum)]
enum Dtype {
    /// 32 bits
    Float32,
    /// 16 bits: the upper half of a float32; right matrices are packed once
    Bfloat16,
}

/// Runs the command.
///
/// # Errors
/// Fails if the program does not build or fails. A library that cannot be installed is only named in the report.
pub fn run(args: &Args) -> Result<()> {
    let session = Session::rust_only()?;
    let run = super::built(&session, "compare_gemm", &[])?;
    let venv = Venv::new(&args.install, args.install.folder(&session)?.join("products"));
    let here = std::env::current_dir()?;
    let mut run = run.args(args.flags());
    for (flag, given, packages, code) in [
        ("--openblas", &args.openblas, packages::OPENBLAS, OPENBLAS),
        ("--onednn", &args.onednn, packages::ONEDNN, ONEDNN),
    ] {
        let path = match given {
            Some(path) => Some(here.join(path)),
            None => installed(&venv, packages, code),
        };
        if let Some(path) = path {
            run = run.arg(flag).arg(path);
        }
    }
    run.stream()
}

/// Python code that prints the path of OpenBLAS's shared library.
const OPENBLAS: &str = "import os, scipy_openblas32 as s; print(os.path.join(s.get_lib_dir(), s.get_library(True)))";
/// Python code that prints the path of oneDNN's shared library, which its package installs next to Python's own.
const ONEDNN: &str = "import os, sys; print(os.path.join(sys.prefix, 'lib', 'libdnnl.so.3'))";

/// Installs packages and returns the path of their shared library, which `code` prints. If that fails, prints the reason.
fn installed(venv: &Venv<'_>, packages: Packages, code: &str) -> Option<PathBuf> {
    let found = venv.with(packages).and_then(|()| {
        let printed = Run::new(venv.python(), ".").args(["-c", code]).capture()?;
        let path = PathBuf::from(printed.trim());
        ensure!(path.is_file(), "there is no {}", path.display());
        Ok(path)
    });
    let path = found.as_ref().ok().cloned();
    said(packages.name, found.map(drop));
    path
}

impl Args {
    /// The flags that were given on the command line, for the program.
    fn flags(&self) -> Vec<String> {
        let flags = [
            ("--shape", self.shape.clone()),
            ("--threads", self.threads.map(|n| n.to_string())),
            ("--rounds", self.rounds.map(|n| n.to_string())),
            ("--round-seconds", self.round_seconds.map(|seconds| seconds.to_string())),
            ("--dtype", self.dtype.as_ref().map(word)),
            ("--isa", self.isa.as_ref().map(word)),
        ];
        super::given(flags).chain(self.format.flags()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    fn args(words: &[&str]) -> Args {
        <Line as clap::Parser>::try_parse_from([&["gemm"], words].concat()).unwrap().args
    }

    #[test]
    fn only_what_was_asked_for_is_passed_on() {
        assert_eq!(args(&["--offline", "--openblas", "a.so"]).flags(), [""; 0]);
        let words = ["--shape", "square,odd", "--threads", "1", "--rounds", "3", "--isa", "avx2", "--format", "json"];
        assert_eq!(args(&words).flags(), words);
        let words = ["--dtype", "bfloat16", "--isa", "portable"];
        assert_eq!(args(&words).flags(), words);
    }

    #[test]
    fn a_library_that_is_not_installed_is_left_out() {
        let cache = tempfile::tempdir().unwrap();
        let args = args(&["--offline"]);
        let venv = Venv::new(&args.install, cache.path().join("products"));
        assert_eq!(installed(&venv, packages::OPENBLAS, OPENBLAS), None);
    }
}
