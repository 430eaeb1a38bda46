//! The peers of `compare score`: Python packages in environments of our own, and programs in Rust built from `benches/peers`.
//!
//! What cannot be installed is said on standard error, and is missing in the report; the comparison goes on.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use super::{Args, Peer, protoc};
use crate::process::Run;
use crate::session::Session;
use crate::tools::pypi;

/// PyTorch's own index of wheels without CUDA; PyPI's are several gigabytes larger and run as fast on a CPU.
const TORCH_CPU: &str = "https://download.pytorch.org/whl/cpu";

/// Where the peers are; what is not there was not asked for, or could not be installed.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Installed {
    /// A Python with MXNet.
    pub mxnet_python: Option<PathBuf>,
    /// A Python with the others.
    pub python: Option<PathBuf>,
    /// The program that runs tract.
    pub tract: Option<PathBuf>,
    /// The program that runs Candle.
    pub candle: Option<PathBuf>,
}

/// Installs below `cache` whom the arguments ask for.
pub fn peers(session: &Session, args: &Args, cache: &Path) -> Installed {
    let mut installed = Installed::default();
    if args.wants(&[Peer::Mxnet]) {
        installed.mxnet_python = args.python.clone().or_else(|| {
            let venv = Venv::new(args, cache.join("mxnet"));
            said("MXNet", venv.with("mxnet", &[&["mxnet==1.9.1", "numpy==1.23.5"]])).then(|| venv.python())
        });
    }
    let venv = Venv::new(args, cache.join("python"));
    let mut is_any = false;
    if args.wants(&[Peer::Openvino]) {
        is_any |= said("OpenVINO", venv.with("openvino", &[&["openvino", "numpy"]]));
    }
    if args.wants(&[Peer::Onnxruntime]) {
        is_any |= said("ONNX Runtime", venv.with("onnxruntime", &[&["onnxruntime", "numpy"]]));
    }
    if args.wants(&[Peer::Torch, Peer::TorchChannelsLast, Peer::TorchCompile]) {
        let cpu = ["--index-url", TORCH_CPU, "--retries", "0", "--timeout", "20", "torch", "torchvision"];
        let torch = venv.with("torch", &[&cpu, &["torch", "torchvision"]]);
        is_any |= said("PyTorch", torch.and_then(|()| venv.with("onnx2torch", &[&["onnx2torch", "numpy"]])));
    }
    installed.python = is_any.then(|| venv.python());
    for (peer, name, place) in
        [(Peer::Tract, "tract", &mut installed.tract), (Peer::Candle, "candle", &mut installed.candle)]
    {
        if args.wants(&[peer]) {
            let program = cache.join("peers/release").join(format!("peer_{name}{}", std::env::consts::EXE_SUFFIX));
            let built = built(session, args, name, &cache.join("peers"), &program);
            *place = said(name, built).then_some(program);
        }
    }
    installed
}

/// A virtual environment of ours.
struct Venv<'a> {
    args: &'a Args,
    folder: PathBuf,
}

impl<'a> Venv<'a> {
    fn new(args: &'a Args, folder: PathBuf) -> Self {
        Self { args, folder }
    }

    fn python(&self) -> PathBuf {
        self.folder.join("bin/python")
    }

    /// Sees to it that `module` is there: installs it by the first way of `ways`, each pip's arguments, that works.
    fn with(&self, module: &str, ways: &[&[&str]]) -> Result<()> {
        let ask = format!("import importlib.util as u, sys; sys.exit(u.find_spec('{module}') is None)");
        let is_there = || Run::new(self.python(), ".").args(["-c", &ask]).succeeds();
        if is_there() {
            return Ok(());
        }
        ensure!(!self.args.offline, "it is not in {}, and --offline installs nothing", self.folder.display());
        let mut result = Ok(());
        for way in ways {
            result = pypi::packages_into(&self.args.base_python, &self.folder, way);
            if result.is_ok() {
                break;
            }
        }
        result?;
        ensure!(is_there(), "installing brought no module `{module}`");
        Ok(())
    }
}

/// Builds a peer in Rust.
fn built(session: &Session, args: &Args, name: &str, target: &Path, program: &Path) -> Result<()> {
    if args.offline {
        ensure!(program.is_file(), "there is no {}, and --offline builds no peer", program.display());
        return Ok(());
    }
    let build =
        session.cargo("build").args(["--release", "--manifest-path", "benches/peers/Cargo.toml", "--target-dir"]);
    let build = build.arg(target).args(["--features", name, "--bin", &format!("peer_{name}")]);
    let protoc = if name == "candle" { protoc::find_or_install(args, target)? } else { None };
    match protoc {
        Some(program) => build.env(protoc::VARIABLE, program).stream(),
        None => build.stream(),
    }
}

/// Whether it went well; if not, why is said.
fn said(peer: &str, result: Result<()>) -> bool {
    if let Err(error) = &result {
        eprintln!("compare score: going on without {peer}: {error:#}");
    }
    result.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    #[test]
    fn offline_installs_nothing_and_goes_on_with_what_is_there() {
        let cache = tempfile::tempdir().unwrap();
        let session = Session::rust_only().unwrap();
        let words = ["score", "--offline", "--python", "/a/python"];
        let args = <Line as clap::Parser>::try_parse_from(words).unwrap().args;
        let expected = Installed { mxnet_python: Some("/a/python".into()), ..Installed::default() };
        assert_eq!(peers(&session, &args, cache.path()), expected);
        let program = cache.path().join("peers/release/peer_tract");
        std::fs::create_dir_all(program.parent().unwrap()).unwrap();
        std::fs::write(&program, "").unwrap();
        assert_eq!(peers(&session, &args, cache.path()), Installed { tract: Some(program), ..expected });
    }
}
