//! `cargo xtask compare score`: speed of networks at inference or in training here and in other libraries, which it installs.

mod install;
mod protoc;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::ValueEnum;

use super::Format;
use crate::process::Run;
use crate::session::{Kernels, Session};
use install::Installed;

/// Arguments of `compare score`.
#[derive(clap::Args)]
pub struct Args {
    /// Networks [default: alexnet,vgg-16,inception-bn,inception-v3,resnet-50,resnet-152]
    #[arg(long, value_name = "NAME,…")]
    network: Option<String>,
    /// Batch sizes [default: 1,32]
    #[arg(long, value_name = "N,…")]
    batch: Option<String>,
    /// Element types: float32, bfloat16 [default: float32]
    #[arg(long, value_name = "TYPE,…")]
    dtype: Option<String>,
    /// What is done with a batch: inference, training [default: inference]
    #[arg(long, value_name = "MODE,…")]
    mode: Option<String>,
    /// Threads of each library; several numbers make a table of how it scales [default: 2]
    #[arg(long, value_name = "N,…")]
    threads: Option<String>,
    /// A variable of ours, such as MXNET_ONEDNN_ENABLED=0
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Who takes part [default: all]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "PEER,…")]
    peer: Vec<Peer>,
    /// Rounds that count [default: 5]
    #[arg(long)]
    rounds: Option<NonZeroUsize>,
    /// Seconds of each library in a round; a batch is run in any case [default: 1]
    #[arg(long, value_parser = super::seconds)]
    round_seconds: Option<f64>,
    /// Images whose answers are compared with ours [default: 4]
    #[arg(long, value_name = "N")]
    check: Option<usize>,
    /// Also two processes at once, with batch 1 and a core each
    #[arg(long)]
    concurrent: bool,
    /// Seconds after which a library that does not answer is killed [default: 600]
    #[arg(long, value_parser = super::seconds)]
    timeout: Option<f64>,
    /// A Python 3.8 to 3.11 with mxnet==1.9.1 and numpy==1.23.5 [default: one is made from PyPI]
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// The Python that environments are made with; MXNet's wheel wants one before 3.12
    #[arg(long, value_name = "PATH", default_value = "python3")]
    base_python: PathBuf,
    /// Folder for what is installed [default: compare-score in cargo's target folder]
    #[arg(long, value_name = "FOLDER")]
    cache: Option<PathBuf>,
    /// Install nothing; run with what is there
    #[arg(long)]
    offline: bool,
    /// Write every round as JSON
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Draw bars as SVG
    #[arg(long, value_name = "FILE.svg", value_parser = svg)]
    plot: Option<PathBuf>,
    /// How the report is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Somebody whose speed is measured.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Peer {
    /// Ours
    Mxrs,
    /// MXNet 1.9.1
    Mxnet,
    /// OpenVINO
    Openvino,
    /// ONNX Runtime
    Onnxruntime,
    /// PyTorch, operator by operator
    Torch,
    /// PyTorch with channels last
    TorchChannelsLast,
    /// PyTorch, compiled
    TorchCompile,
    /// tract
    Tract,
    /// Candle
    Candle,
}

fn svg(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let is_svg = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("svg"));
    is_svg.then_some(path).ok_or_else(|| "expected a name that ends in .svg".to_owned())
}

/// Runs the command.
///
/// # Errors
/// A program of ours does not build, or fails. A peer that cannot be installed is named in the report.
pub fn run(args: &Args) -> Result<()> {
    let session = Session::native()?;
    let flags: &[&str] = match session.kernels {
        Kernels::OneDnn => &["--features", "onednn"],
        Kernels::Reference => &[],
    };
    let cache = args.cache.clone().unwrap_or_else(|| session.target_dir().join("compare-score"));
    std::fs::create_dir_all(&cache)?;
    let cache = cache.canonicalize()?;
    session.cargo("build").arg("--release").args(session.kernels.package_flags("mxrs-cli")).stream()?;
    let run = super::built(&session, "compare_score", flags)?;
    let installed = install::peers(&session, args, &cache);
    let mxrs = session.target_dir().join("release").join(format!("mxrs{}", std::env::consts::EXE_SUFFIX));
    // Files are written where this was called from; the program runs at the root.
    let here = std::env::current_dir()?;
    args.flags(&here).into_iter().fold(args.places(run, &installed).arg("--mxrs").arg(mxrs), Run::arg).stream()
}

impl Args {
    /// Whether one of these takes part.
    fn wants(&self, peers: &[Peer]) -> bool {
        self.peer.is_empty() || self.peer.iter().any(|peer| peers.contains(peer))
    }

    /// Where the peers are.
    fn places(&self, run: Run, installed: &Installed) -> Run {
        let flags = [
            ("--mxnet-python", &installed.mxnet_python),
            ("--python", &installed.python),
            ("--tract", &installed.tract),
            ("--candle", &installed.candle),
        ];
        let found = flags.into_iter().filter_map(|(flag, path)| Some((flag, path.as_ref()?)));
        found.fold(run, |run, (flag, path)| run.arg(flag).arg(path))
    }

    /// What was asked for, and nothing else; paths seen from `here`.
    fn flags(&self, here: &Path) -> Vec<String> {
        let peers: Vec<String> =
            self.peer.iter().filter_map(Peer::to_possible_value).map(|v| v.get_name().to_owned()).collect();
        let path = |path: &Option<PathBuf>| path.as_ref().map(|path| here.join(path).display().to_string());
        let flags = [
            ("--network", self.network.clone()),
            ("--batch", self.batch.clone()),
            ("--dtype", self.dtype.clone()),
            ("--mode", self.mode.clone()),
            ("--threads", self.threads.clone()),
            ("--peer", (!peers.is_empty()).then(|| peers.join(","))),
            ("--rounds", self.rounds.map(|n| n.to_string())),
            ("--round-seconds", self.round_seconds.map(|seconds| seconds.to_string())),
            ("--check", self.check.map(|n| n.to_string())),
            ("--timeout", self.timeout.map(|seconds| seconds.to_string())),
            ("--save", path(&self.save)),
            ("--plot", path(&self.plot)),
        ];
        let given = flags.into_iter().filter_map(|(flag, value)| Some([flag.to_owned(), value?]));
        let concurrent = self.concurrent.then(|| "--concurrent".to_owned());
        let set = self.set.iter().map(|pair| format!("--set={pair}"));
        given.flatten().chain(set).chain(concurrent).chain(self.format.flags()).collect()
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

    fn args(words: &[&str]) -> Result<Args, clap::Error> {
        Ok(<Line as clap::Parser>::try_parse_from([&["score"], words].concat())?.args)
    }

    #[test]
    fn only_what_was_asked_for_is_passed_on() {
        let here = Path::new("/here");
        assert_eq!(args(&[]).unwrap().flags(here), [""; 0]);
        let words = ["--network", "alexnet", "--peer", "mxrs,torch-compile", "--rounds", "3", "--concurrent"];
        assert_eq!(args(&words).unwrap().flags(here), words);
        let words = ["--mode", "training", "--save", "a.json", "--plot", "/b.svg", "--set=A=0", "--format", "markdown"];
        let expected =
            ["--mode", "training", "--save", "/here/a.json", "--plot", "/b.svg", "--set=A=0", "--format", "markdown"];
        assert_eq!(args(&words).unwrap().flags(here), expected);
    }

    #[test]
    fn pictures_are_svg() {
        assert!(args(&["--plot", "a.png"]).is_err());
        assert!(args(&["--plot", "a.SVG"]).is_ok());
    }

    #[test]
    fn nobody_asked_for_means_everybody() {
        assert!(args(&[]).unwrap().wants(&[Peer::Tract]));
        let args = args(&["--peer", "mxrs,openvino"]).unwrap();
        assert!(args.wants(&[Peer::Openvino, Peer::Onnxruntime]) && !args.wants(&[Peer::Tract]));
    }

    #[test]
    fn places_that_are_not_there_are_not_named() {
        let installed = Installed { python: Some("/venv/python".into()), ..Installed::default() };
        let run = args(&[]).unwrap().places(Run::new("score", "."), &installed);
        assert_eq!(run.line(), "score --python /venv/python");
    }
}
