//! The peers: their names, the programs that they need, and how their processes are started.

use super::limits::Limit;
use super::{Case, Failure};
use anyhow::{Context, Result};
use clap::ValueEnum;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A library whose speed is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Peer {
    /// mxrs, this library.
    Mxrs,
    /// MXNet 1.9.1, on the symbol and parameter file.
    Mxnet,
    /// OpenVINO. It loads the ONNX file, like all peers that follow.
    Openvino,
    /// ONNX Runtime.
    Onnxruntime,
    /// MNN, on the file that its converter makes.
    Mnn,
    /// ncnn, on the files that its converter pnnx makes.
    Ncnn,
    /// PyTorch in eager mode, operator by operator.
    Torch,
    /// PyTorch in eager mode with channels last.
    TorchChannelsLast,
    /// PyTorch compiled for the network, with frozen weights.
    TorchCompile,
    /// tract.
    Tract,
    /// Candle.
    Candle,
}

/// Paths of the peers' programs; `None` if a program was not found.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Places {
    /// A Python with mxnet 1.9.1
    #[arg(long, value_name = "PATH")]
    pub mxnet_python: Option<PathBuf>,
    /// A Python with openvino, onnxruntime, MNN, ncnn, pnnx, torch and onnx2torch; for int8 also nncf and onnx
    #[arg(long, value_name = "PATH")]
    pub python: Option<PathBuf>,
    /// A Python with torch and torchvision, which writes the networks of --onnx [default: that of --python]
    #[arg(long, value_name = "PATH")]
    pub torch_python: Option<PathBuf>,
    /// Folder in which the files of --onnx are kept for later runs [default: they are deleted]
    #[arg(long, value_name = "FOLDER")]
    pub keep: Option<PathBuf>,
    /// The program that runs tract
    #[arg(long, value_name = "FILE")]
    pub tract: Option<PathBuf>,
    /// The program that runs Candle
    #[arg(long, value_name = "FILE")]
    pub candle: Option<PathBuf>,
    /// An environment variable for mxrs, such as MXNET_ONEDNN_ENABLED=0; its environment is empty otherwise
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
}

/// Programs and files that cases are run with.
#[derive(Clone, Copy)]
pub struct Tools<'a> {
    /// The program mxrs, which writes the networks' files.
    pub mxrs: &'a Path,
    /// Paths of the peers' programs.
    pub places: &'a Places,
    /// The folder with the scripts that peers in Python run.
    pub scripts: &'a Path,
    /// The widest instructions that libraries may use; `None` for no limit.
    pub isa: Option<Limit>,
}

/// Libraries that are not measured, and why.
pub const NO_PEERS: [(&str, &str); 1] = [(
    "burn",
    "it runs no ONNX file: burn-onnx (formerly burn-import) makes Rust source of one at build time, so that each \
     network would be a program of its own",
)];

const SCRIPTS: [(&str, &str); 12] = [
    ("serve.py", include_str!("serve.py")),
    ("peer_mxnet.py", include_str!("peer_mxnet.py")),
    ("peer_openvino.py", include_str!("peer_openvino.py")),
    ("peer_onnxruntime.py", include_str!("peer_onnxruntime.py")),
    ("peer_mnn.py", include_str!("peer_mnn.py")),
    ("peer_ncnn.py", include_str!("peer_ncnn.py")),
    ("peer_torch.py", include_str!("peer_torch.py")),
    ("convert_mnn.py", include_str!("convert_mnn.py")),
    ("convert_ncnn.py", include_str!("convert_ncnn.py")),
    ("export_torch.py", include_str!("../../peers/export_torch.py")),
    ("quantize_openvino.py", include_str!("quantize_openvino.py")),
    ("quantize_onnxruntime.py", include_str!("quantize_onnxruntime.py")),
];

/// Writes the scripts that peers in Python run.
///
/// # Errors
/// Fails if the folder cannot be written to.
pub fn write_scripts(folder: &Path) -> Result<()> {
    for (name, text) in SCRIPTS {
        let path = folder.join(name);
        std::fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
    }
    Ok(())
}

impl Peer {
    /// Key of the peer in JSON.
    pub fn key(self) -> &'static str {
        match self {
            Self::Mxrs => "mxrs",
            Self::Mxnet => "mxnet",
            Self::Openvino => "openvino",
            Self::Onnxruntime => "onnxruntime",
            Self::Mnn => "mnn",
            Self::Ncnn => "ncnn",
            Self::Torch => "torch",
            Self::TorchChannelsLast => "torch_channels_last",
            Self::TorchCompile => "torch_compile",
            Self::Tract => "tract",
            Self::Candle => "candle",
        }
    }

    /// The peer with this key.
    pub fn of_key(key: &str) -> Option<Self> {
        Self::value_variants().iter().copied().find(|peer| peer.key() == key)
    }

    /// Heading of the peer's column in tables.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Mxrs => "mxrs",
            Self::Mxnet => "MXNet",
            Self::Openvino => "OpenVINO",
            Self::Onnxruntime => "ONNX Runtime",
            Self::Mnn => "MNN",
            Self::Ncnn => "ncnn",
            Self::Torch => "PyTorch",
            Self::TorchChannelsLast => "PyTorch, channels last",
            Self::TorchCompile => "PyTorch, compiled",
            Self::Tract => "tract",
            Self::Candle => "Candle",
        }
    }

    /// The command that starts the peer's process.
    ///
    /// # Errors
    /// Fails if the program of the peer was not given.
    pub fn command(self, tools: Tools<'_>, case: &Case) -> Result<Command, Failure> {
        let Tools { places, scripts, isa, .. } = tools;
        let missing = |what: &str| Failure::new("not found", what);
        let program = |path: &Option<PathBuf>, flag: &str| path.clone().ok_or_else(|| missing(flag));
        let script = |path: &Option<PathBuf>, flag: &str, name: &str| {
            let mut command = Command::new(program(path, flag)?);
            command.arg("-u").arg(scripts.join(name));
            Ok(command)
        };
        let (mxnet, python) = ("give --mxnet-python PATH", "give --python PATH");
        let mut command = match self {
            Self::Mxrs => {
                let this = std::env::current_exe().map_err(|error| missing(&error.to_string()))?;
                let mut command = Command::new(this);
                command.arg("--serve");
                command.args(places.set.iter().map(|pair| format!("--set={pair}")));
                let limit = isa.map(Limit::of_mxrs);
                command.args(limit.map(|(name, value)| format!("--set={name}={value}")));
                command
            }
            Self::Mxnet => script(&places.mxnet_python, mxnet, "peer_mxnet.py")?,
            Self::Openvino => script(&places.python, python, "peer_openvino.py")?,
            Self::Onnxruntime => script(&places.python, python, "peer_onnxruntime.py")?,
            Self::Mnn => script(&places.python, python, "peer_mnn.py")?,
            Self::Ncnn => script(&places.python, python, "peer_ncnn.py")?,
            Self::Torch | Self::TorchChannelsLast | Self::TorchCompile => {
                let mode = match self {
                    Self::Torch => "eager",
                    Self::TorchChannelsLast => "channels_last",
                    _ => "compile",
                };
                let mut command = script(&places.python, python, "peer_torch.py")?;
                command.arg(mode);
                command
            }
            Self::Tract => Command::new(program(&places.tract, "give --tract FILE")?),
            Self::Candle => Command::new(program(&places.candle, "give --candle FILE")?),
        };
        // Libraries read these variables when they are loaded. Settings that only a single library has are made in the
        // script that runs it.
        for variable in ["OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"] {
            command.env(variable, case.threads.to_string());
        }
        if let Some(isa) = isa {
            isa.set(&mut command);
        }
        command.env("TORCHINDUCTOR_COMPILE_THREADS", case.threads.to_string());
        // An empty cache makes PyTorch compile in every run; a cache from an earlier run would make loading look fast.
        command.env("TORCHINDUCTOR_CACHE_DIR", scripts.join("inductor"));
        Ok(command)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Mode;
    use crate::score::Dtype;

    fn tools(places: &Places) -> Tools<'_> {
        Tools { mxrs: Path::new("/mxrs"), places, scripts: Path::new("/scripts"), isa: None }
    }

    #[test]
    fn a_peer_that_was_not_found_names_the_flag_that_helps() {
        let case =
            Case { network: "alexnet".into(), batch: 1, dtype: Dtype::Float32, threads: 2, mode: Mode::Inference };
        for peer in Peer::value_variants() {
            let command = peer.command(tools(&Places::default()), &case);
            match command {
                Ok(_) => assert_eq!(*peer, Peer::Mxrs),
                Err(failure) => assert!(failure.word == "not found" && failure.why.contains("--"), "{failure}"),
            }
        }
        let places = Places { python: Some("py".into()), ..Places::default() };
        let command = Peer::TorchCompile.command(tools(&places), &case).unwrap();
        let args: Vec<_> = command.get_args().collect();
        assert_eq!(args, ["-u", "/scripts/peer_torch.py", "compile"]);
        assert!(command.get_envs().any(|pair| pair == ("OMP_NUM_THREADS".as_ref(), Some("2".as_ref()))));
        let limited = Tools { isa: Some(Limit::Avx2), ..tools(&places) };
        let ours = Peer::Mxrs.command(limited, &case).unwrap();
        assert_eq!(ours.get_args().collect::<Vec<_>>(), ["--serve", "--set=MXRS_ISA=avx2"]);
        let theirs = Peer::Openvino.command(limited, &case).unwrap();
        assert!(theirs.get_envs().any(|pair| pair == ("ONEDNN_MAX_CPU_ISA".as_ref(), Some("AVX2".as_ref()))));
    }

    #[test]
    fn every_script_is_written_and_used() {
        let folder = tempfile::tempdir().unwrap();
        write_scripts(folder.path()).unwrap();
        for (name, _) in SCRIPTS {
            assert!(folder.path().join(name).is_file(), "{name}");
        }
    }

    #[test]
    fn keys_are_those_of_the_command_line() {
        for peer in Peer::value_variants() {
            let word = peer.to_possible_value().unwrap().get_name().replace('-', "_");
            assert_eq!(word, peer.key());
            assert_eq!(Peer::of_key(peer.key()), Some(*peer));
        }
        assert_eq!(Peer::of_key("burn"), None);
    }
}
