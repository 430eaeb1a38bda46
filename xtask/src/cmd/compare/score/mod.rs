//! `cargo xtask compare score`: speed of networks at inference or in training, in mxrs and in other libraries, which it
//! installs.

mod install;
pub mod packages;
mod protoc;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::ValueEnum;
use clap::builder::PossibleValuesParser;

use super::venv::Install;
use super::{Format, word};
use crate::process::Run;
use crate::session::Session;
use install::Installed;

/// Networks that PyTorch exports, with the sizes of their images. The program `compare_score` reads the same list.
const NETWORKS_ONNX: &str = include_str!("../../../../../benches/src/score/networks_onnx.txt");

/// Names of all networks. The program `compare_score` reads the same list, and its tests compare the list with the models.
const NETWORKS: &str = include_str!("../../../../../benches/src/score/networks.txt");

/// Arguments of `compare score`.
#[derive(clap::Args)]
pub struct Args {
    /// Networks [default: alexnet,vgg-16,inception-bn,inception-v3,resnet-50,resnet-152; all with --onnx]
    #[arg(long, value_delimiter = ',', value_name = "NAME,…", hide_possible_values = true)]
    #[arg(value_parser = PossibleValuesParser::new(names()))]
    network: Vec<String>,
    /// Networks as PyTorch exports them to ONNX (mobilenet-v1, mobilenet-v2, mobilenet-v3-large, efficientnet-b0,
    /// efficientnet-b3, resnext-50, densenet-121, googlenet, squeezenet, resnet-18), with outputs compared with PyTorch's
    #[arg(long)]
    onnx: bool,
    /// Build mxrs with oneDNN, too
    #[arg(long)]
    onednn: bool,
    /// The widest instructions that libraries may use; the report says which libraries have a switch for it
    #[arg(long, value_enum)]
    isa: Option<super::Isa>,
    /// Batch sizes [default: 1,32; 1,8 with --onnx]
    #[arg(long, visible_alias = "batch-size", value_delimiter = ',', value_name = "N,…")]
    batch: Vec<NonZeroUsize>,
    /// Element types [default: float32]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "TYPE,…")]
    dtype: Vec<Dtype>,
    /// Inference, or training steps with momentum [default: inference]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "MODE,…")]
    mode: Vec<Mode>,
    /// Threads of each library; several values add a table of how speed depends on them [default: 2]
    #[arg(long, value_delimiter = ',', value_name = "N,…")]
    threads: Vec<NonZeroUsize>,
    /// An environment variable for mxrs, such as MXNET_ONEDNN_ENABLED=0
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Libraries that take part [default: all; with --onnx mxrs, OpenVINO, ONNX Runtime, MNN and ncnn]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "PEER,…")]
    peer: Vec<Peer>,
    /// Number of measured rounds [default: 5]
    #[arg(long)]
    rounds: Option<NonZeroUsize>,
    /// Seconds that each library runs in a round; it runs at least one batch [default: 1]
    #[arg(long, value_parser = super::seconds)]
    round_seconds: Option<f64>,
    /// Number of images for which the outputs of each library are compared with ours [default: 4]
    #[arg(long, value_name = "N")]
    check: Option<usize>,
    /// Also run two instances at the same time, with batch 1 and one core each: two processes, and two threads of one mxrs
    /// process
    #[arg(long)]
    concurrent: bool,
    /// Seconds after which a library that does not answer, or a program that writes its files, is killed [default: 600]
    #[arg(long, value_parser = super::seconds)]
    timeout: Option<f64>,
    /// A Python 3.8 to 3.11 with mxnet==1.9.1 and numpy==1.23.5 [default: an environment made from PyPI]
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// A Python with torch and torchvision, which writes the networks of --onnx [default: an environment made from PyPI]
    #[arg(long, value_name = "PATH")]
    torch_python: Option<PathBuf>,
    /// Folder in which the files of --onnx are kept for later runs [default: they are deleted]
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
    #[command(flatten)]
    install: Install,
    /// Measure nothing; report the results that were saved in this file
    #[arg(long, value_name = "FILE.json")]
    #[arg(conflicts_with_all = ["network", "batch", "dtype", "mode", "threads", "peer", "rounds", "concurrent"])]
    #[arg(conflicts_with_all = ["round_seconds", "check", "timeout", "set", "python", "upgrade_peers", "onnx", "isa"])]
    from: Option<PathBuf>,
    /// Write the report as text and Markdown, every round as JSON, and bars as SVG: to PATH.txt and so on, or into the
    /// folder PATH
    #[arg(long, value_name = "PATH")]
    save: Option<PathBuf>,
    /// Write a bar chart as SVG
    #[arg(long, value_name = "FILE.svg", value_parser = svg)]
    plot: Option<PathBuf>,
    /// How the report is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Element type that networks compute with.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Dtype {
    /// 32 bits
    Float32,
    /// 16 bits: the upper half of a float32
    Bfloat16,
    /// 8-bit integers, quantized after training: inference only
    Int8,
}

/// What a library does with a batch.
#[derive(Clone, Copy, ValueEnum)]
enum Mode {
    /// The forward part only
    Inference,
    /// A step of training with momentum
    Training,
}

/// A library whose speed is measured.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Peer {
    /// mxrs, this library
    Mxrs,
    /// MXNet 1.9.1
    Mxnet,
    /// OpenVINO
    Openvino,
    /// ONNX Runtime
    Onnxruntime,
    /// MNN
    Mnn,
    /// ncnn
    Ncnn,
    /// PyTorch in eager mode, operator by operator
    Torch,
    /// PyTorch in eager mode with channels last
    TorchChannelsLast,
    /// PyTorch, compiled
    TorchCompile,
    /// tract
    Tract,
    /// Candle
    Candle,
}

/// Names of all networks. A network that is in both lists is named only once.
fn names() -> impl Iterator<Item = &'static str> {
    NETWORKS.lines().chain(exported().filter(|name| !NETWORKS.lines().any(|other| other == *name)))
}

/// Names of the networks that PyTorch exports.
fn exported() -> impl Iterator<Item = &'static str> {
    NETWORKS_ONNX.lines().filter_map(|line| line.split(' ').next())
}

fn svg(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let is_svg = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("svg"));
    is_svg.then_some(path).ok_or_else(|| "expected a name that ends in .svg".to_owned())
}

/// Runs the command.
///
/// # Errors
/// Fails if the given Python has no MXNet 1.9.1, or if a program of this project does not build or fails. A peer that cannot
/// be installed is only named in the report.
pub fn run(args: &Args) -> Result<()> {
    if let Some(python) = args.python.as_ref().filter(|_| args.wants(&[Peer::Mxnet])) {
        install::expect_mxnet(python)?;
    }
    let session = if args.onednn { Session::native()? } else { Session::rust_only()? };
    let run = super::built(&session, "compare_score", session.kernels.feature_flags())?;
    let run = if args.from.is_some() { run } else { prepared(&session, args, run)? };
    // Relative paths are resolved here, because the program runs in the root of the workspace.
    let here = std::env::current_dir()?;
    args.flags(&here).into_iter().fold(run, Run::arg).stream()
}

/// Builds mxrs and builds or installs its peers, and adds their paths to the run.
fn prepared(session: &Session, args: &Args, run: Run) -> Result<Run> {
    let cache = args.install.folder(session)?;
    session.cargo("build").arg("--release").args(["-p", "mxrs-cli"]).args(session.kernels.feature_flags()).stream()?;
    let installed = install::peers(session, args, &cache);
    let mxrs = session.target_dir().join("release").join(format!("mxrs{}", std::env::consts::EXE_SUFFIX));
    Ok(args.places(run, &installed).arg("--mxrs").arg(mxrs))
}

/// The values as one argument, separated by commas; `None` for no values, so that the program uses its default.
fn joined<T>(values: &[T], word: impl Fn(&T) -> String) -> Option<String> {
    (!values.is_empty()).then(|| values.iter().map(word).collect::<Vec<_>>().join(","))
}

impl Args {
    /// Whether one of these peers takes part.
    fn wants(&self, peers: &[Peer]) -> bool {
        const WITH_ONNX: [Peer; 5] = [Peer::Mxrs, Peer::Openvino, Peer::Onnxruntime, Peer::Mnn, Peer::Ncnn];
        if self.peer.is_empty() && self.onnx {
            return peers.iter().any(|peer| WITH_ONNX.contains(peer));
        }
        self.peer.is_empty() || self.peer.iter().any(|peer| peers.contains(peer))
    }

    /// Adds the paths of the installed peers to the run.
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

    /// The flags that were given on the command line, for the program; relative paths are based on `here`.
    fn flags(&self, here: &Path) -> Vec<String> {
        let path = |path: &Option<PathBuf>| path.as_ref().map(|path| here.join(path).display().to_string());
        let flags = [
            ("--network", joined(&self.network, String::clone)),
            ("--batch", joined(&self.batch, NonZeroUsize::to_string)),
            ("--dtype", joined(&self.dtype, word)),
            ("--mode", joined(&self.mode, word)),
            ("--threads", joined(&self.threads, NonZeroUsize::to_string)),
            ("--peer", joined(&self.peer, word)),
            ("--rounds", self.rounds.map(|n| n.to_string())),
            ("--round-seconds", self.round_seconds.map(|seconds| seconds.to_string())),
            ("--check", self.check.map(|n| n.to_string())),
            ("--timeout", self.timeout.map(|seconds| seconds.to_string())),
            ("--isa", self.isa.as_ref().map(word)),
            ("--torch-python", path(&self.torch_python)),
            ("--keep", path(&self.keep)),
            ("--from", path(&self.from)),
            ("--save", path(&self.save)),
            ("--plot", path(&self.plot)),
        ];
        let switches = [(self.onnx, "--onnx"), (self.concurrent, "--concurrent")];
        let switches = switches.into_iter().filter(|(is_on, _)| *is_on).map(|(_, flag)| flag.to_owned());
        let set = self.set.iter().map(|pair| format!("--set={pair}"));
        super::given(flags).chain(set).chain(switches).chain(self.format.flags()).collect()
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
    fn a_network_of_both_lists_is_named_once() {
        let all: Vec<&str> = names().collect();
        assert!(all.contains(&"mobilenet-v2"));
        assert_eq!(all.iter().filter(|name| **name == "resnet-18").count(), 1, "{all:?}");
    }

    #[test]
    fn only_what_was_asked_for_is_passed_on() {
        let here = Path::new("/here");
        assert_eq!(args(&[]).unwrap().flags(here), [""; 0]);
        let words = ["--network", "alexnet,lenet", "--batch", "1,8", "--peer", "mxrs,torch-compile", "--concurrent"];
        assert_eq!(args(&words).unwrap().flags(here), words);
        let words = ["--dtype", "float32,int8", "--mode", "training", "--threads", "1,2", "--rounds", "3"];
        assert_eq!(args(&words).unwrap().flags(here), words);
        let words = ["--save", "runs/", "--plot", "/b.svg", "--set=A=0", "--format", "markdown"];
        let expected = ["--save", "/here/runs/", "--plot", "/b.svg", "--set=A=0", "--format", "markdown"];
        assert_eq!(args(&words).unwrap().flags(here), expected);
        assert_eq!(args(&["--from", "a.json"]).unwrap().flags(here), ["--from", "/here/a.json"]);
        let words =
            ["--network", "mobilenet-v2", "--batch", "1", "--isa", "avx2", "--torch-python", "/python", "--onnx"];
        assert_eq!(args(&words).unwrap().flags(here), words);
    }

    #[test]
    fn a_network_that_nobody_knows_is_refused_with_those_there_are() {
        let error = args(&["--network", "lenet,resnet-7"]).err().unwrap();
        let text = error.to_string();
        assert!(error.exit_code() == 2 && text.contains("resnet-7"), "{text}");
        assert!(NETWORKS.lines().count() > 20 && NETWORKS.lines().all(|name| text.contains(name)), "{text}");
    }

    #[test]
    fn networks_of_pytorch_have_libraries_of_their_own() {
        assert_eq!(exported().count(), 10);
        let help = <Line as clap::CommandFactory>::command().render_long_help().to_string();
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(help.contains(&exported().collect::<Vec<_>>().join(", ")), "{help}");
        let args = args(&["--onnx", "--batch-size", "8"]).unwrap();
        assert!(args.wants(&[Peer::Ncnn]) && args.wants(&[Peer::Mnn]) && !args.wants(&[Peer::Torch, Peer::Mxnet]));
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
