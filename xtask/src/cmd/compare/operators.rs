//! `cargo xtask compare operators`: single operators in mxrs, MXNet 1.9.1 and PyTorch, which it installs from PyPI.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::ValueEnum;

use super::score::packages::{self, Packages};
use super::venv::{Install, Venv, said};
use super::{Format, Isa, word};
use crate::session::Session;

/// Arguments of `compare operators`.
#[derive(clap::Args)]
pub struct Args {
    /// Only calls of the list in benches/src/operators/list.txt whose family, name or operator contains one of these words
    /// [default: all]
    #[arg(long, value_name = "WORD,…")]
    filter: Option<String>,
    /// Libraries that take part [default: all]
    #[arg(long, value_enum, value_delimiter = ',')]
    peer: Vec<Peer>,
    /// Threads of each library [default: 2]
    #[arg(long)]
    threads: Option<NonZeroUsize>,
    /// Number of measured rounds; one if a call takes more than half a second [default: 5]
    #[arg(long)]
    rounds: Option<NonZeroUsize>,
    /// Seconds that each library calls the operator in a round; it calls it at least once [default: 0.04]
    #[arg(long, value_parser = super::seconds)]
    round_seconds: Option<f64>,
    /// Seconds after which a library that does not answer is killed [default: 30]
    #[arg(long, value_parser = super::seconds)]
    timeout: Option<f64>,
    /// The widest instructions that libraries may use
    #[arg(long, value_enum)]
    isa: Option<Isa>,
    /// A Python with mxnet 1.9.1 [default: one that this command installs]
    #[arg(long, value_name = "PATH")]
    mxnet_python: Option<PathBuf>,
    /// A Python with torch and torchvision [default: one that this command installs]
    #[arg(long, value_name = "PATH")]
    torch_python: Option<PathBuf>,
    #[command(flatten)]
    install: Install,
    /// How the report is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// A library whose operators are called.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Peer {
    /// mxrs, this library
    Mxrs,
    /// MXNet 1.9.1
    Mxnet,
    /// PyTorch, in eager mode
    Torch,
}

/// Runs the command.
///
/// # Errors
/// Fails if the program does not build or fails. A library that cannot be installed is only named in the report.
pub fn run(args: &Args) -> Result<()> {
    let session = Session::rust_only()?;
    let run = super::built(&session, "compare_operators", &[])?;
    let here = std::env::current_dir()?;
    let mut run = run.args(args.flags());
    for (flag, path) in args.pythons(&here, &args.install.folder(&session)?) {
        run = run.arg(flag).arg(path);
    }
    run.stream()
}

impl Args {
    fn wants(&self, peer: Peer) -> bool {
        self.peer.is_empty() || self.peer.contains(&peer)
    }

    /// The flags with the Pythons of the libraries that take part: those that the user gave, or those of environments in the
    /// folder `cache`, in which the libraries are installed.
    fn pythons(&self, here: &Path, cache: &Path) -> Vec<(&'static str, PathBuf)> {
        let peers: [(Peer, &str, &Option<PathBuf>, Packages, &str); 2] = [
            (Peer::Mxnet, "--mxnet-python", &self.mxnet_python, packages::MXNET, "mxnet"),
            (Peer::Torch, "--torch-python", &self.torch_python, packages::TORCH, "python"),
        ];
        let wanted = peers.into_iter().filter(|(peer, ..)| self.wants(*peer));
        let found = wanted.filter_map(|(_, flag, given, packages, folder)| {
            if let Some(path) = given {
                // A name without a folder is that of a program in PATH.
                let path = if path.components().count() > 1 { here.join(path) } else { path.clone() };
                return Some((flag, path));
            }
            let venv = Venv::new(&self.install, cache.join(folder));
            said(packages.name, venv.with(packages)).then(|| (flag, venv.python()))
        });
        found.collect()
    }

    /// The flags that were given on the command line, for the program.
    fn flags(&self) -> Vec<String> {
        let peers = self.peer.iter().map(word).collect::<Vec<_>>().join(",");
        let flags = [
            ("--filter", self.filter.clone()),
            ("--peer", (!peers.is_empty()).then_some(peers)),
            ("--threads", self.threads.map(|n| n.to_string())),
            ("--rounds", self.rounds.map(|n| n.to_string())),
            ("--round-seconds", self.round_seconds.map(|seconds| seconds.to_string())),
            ("--timeout", self.timeout.map(|seconds| seconds.to_string())),
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

    fn parsed(words: &[&str]) -> Result<Args, clap::Error> {
        Ok(<Line as clap::Parser>::try_parse_from([&["operators"], words].concat())?.args)
    }

    fn args(words: &[&str]) -> Args {
        parsed(words).unwrap()
    }

    #[test]
    fn only_what_was_asked_for_is_passed_on() {
        assert_eq!(args(&["--offline", "--torch-python", "a"]).flags(), [""; 0]);
        let words = ["--filter", "unary,dot", "--peer", "mxrs,torch", "--threads", "1", "--rounds", "3"];
        assert_eq!(args(&words).flags(), words);
        let words = ["--round-seconds", "0.1", "--timeout", "9", "--isa", "avx2", "--format", "json"];
        assert_eq!(args(&words).flags(), words);
    }

    #[test]
    fn wrong_values_are_bad_usage() {
        for words in [["--rounds", "0"], ["--threads", "0"], ["--peer", "tract"], ["--round-seconds", "x"]] {
            let error = parsed(&words).err().unwrap();
            assert_eq!(error.exit_code(), 2, "{words:?}");
        }
    }

    #[test]
    fn only_libraries_that_take_part_are_installed() {
        let cache = tempfile::tempdir().unwrap();
        let found = |words: &[&str]| args(words).pythons(Path::new("/here"), cache.path());
        assert!(found(&["--offline"]).is_empty());
        let given = ["--offline", "--mxnet-python", "a/python", "--torch-python", "python3"];
        let path = PathBuf::from;
        let expected = [("--mxnet-python", path("/here/a/python")), ("--torch-python", path("python3"))];
        assert_eq!(found(&given), expected);
        assert_eq!(found(&[&given[..], &["--peer", "mxrs,torch"]].concat()), expected[1..]);
    }
}
