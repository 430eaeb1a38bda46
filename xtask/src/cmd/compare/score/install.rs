//! Installs the libraries that `compare score` measures next to mxrs (the peers): Python packages into virtual
//! environments, and Rust programs built from `benches/peers`.
//!
//! If a peer cannot be installed, the reason is printed on standard error and the peer is missing in the report; the
//! comparison continues.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::super::venv::{Venv, said};
use super::packages;
use super::{Args, Dtype, Peer, protoc};
use crate::process::Run;
use crate::session::Session;

/// Paths of the installed peers; `None` if a peer was not requested or could not be installed.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Installed {
    /// A Python with MXNet.
    pub mxnet_python: Option<PathBuf>,
    /// A Python with the other Python peers.
    pub python: Option<PathBuf>,
    /// The program that runs tract.
    pub tract: Option<PathBuf>,
    /// The program that runs Candle.
    pub candle: Option<PathBuf>,
}

/// Checks that a user's Python has the version of MXNet that is compared.
///
/// # Errors
/// Fails if it has another version, or none that can be imported.
pub fn expect_mxnet(python: &Path) -> Result<()> {
    const VERSION: &str = "1.9.1";
    let ask = || format!("--python {}: expected a Python with MXNet {VERSION}", python.display());
    let said = Run::new(python, ".").args(["-c", "import mxnet; print(mxnet.__version__)"]).capture();
    let said = said.with_context(ask)?;
    let version = said.lines().last().unwrap_or_default().trim();
    ensure!(version == VERSION, "{}, not {version}", ask());
    Ok(())
}

/// Installs the peers that the arguments request, in folders below `cache`.
pub fn peers(session: &Session, args: &Args, cache: &Path) -> Installed {
    let mut installed = Installed::default();
    if args.wants(&[Peer::Mxnet]) {
        installed.mxnet_python = args.python.clone().or_else(|| {
            let venv = Venv::new(&args.install, cache.join("mxnet"));
            said(packages::MXNET.name, venv.with(packages::MXNET)).then(|| venv.python())
        });
    }
    let venv = Venv::new(&args.install, cache.join("python"));
    let mut is_any = false;
    for (peers, its) in [
        (&[Peer::Openvino][..], &[packages::OPENVINO][..]),
        (&[Peer::Onnxruntime], &[packages::ONNXRUNTIME]),
        (&[Peer::Mnn], &[packages::MNN]),
        (&[Peer::Ncnn], &[packages::NCNN, packages::PNNX]),
        (&[Peer::Torch, Peer::TorchChannelsLast, Peer::TorchCompile], &[packages::TORCH, packages::ONNX2TORCH]),
    ] {
        is_any |= args.wants(peers) && its.iter().all(|packages| said(packages.name, venv.with(*packages)));
    }
    if args.dtype.contains(&Dtype::Int8) {
        for (peer, its) in [(Peer::Openvino, packages::NNCF), (Peer::Onnxruntime, packages::ONNX)] {
            if args.wants(&[peer]) {
                said(its.name, venv.with(its));
            }
        }
    }
    // The networks of --onnx need PyTorch even if it is not measured.
    if args.onnx && args.torch_python.is_none() {
        is_any |= said(packages::TORCH.name, venv.with(packages::TORCH));
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

/// Builds a peer that is a Rust program.
fn built(session: &Session, args: &Args, name: &str, target: &Path, program: &Path) -> Result<()> {
    if args.install.offline {
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

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    use super::super::super::venv::tests::python;
    use super::*;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    fn args(words: &[&str]) -> Args {
        <Line as clap::Parser>::try_parse_from([&["score"], words].concat()).unwrap().args
    }

    #[test]
    fn offline_installs_nothing_and_goes_on_with_what_is_there() {
        let cache = tempfile::tempdir().unwrap();
        let session = Session::rust_only().unwrap();
        let args = args(&["--offline", "--python", "/a/python", "--dtype", "int8"]);
        let expected = Installed { mxnet_python: Some("/a/python".into()), ..Installed::default() };
        assert_eq!(peers(&session, &args, cache.path()), expected);
        let program = cache.path().join("peers/release/peer_tract");
        std::fs::create_dir_all(program.parent().unwrap()).unwrap();
        std::fs::write(&program, "").unwrap();
        assert_eq!(peers(&session, &args, cache.path()), Installed { tract: Some(program), ..expected });
    }

    #[cfg(unix)]
    #[test]
    fn another_mxnet_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("python");
        python(&path, "echo a warning; echo 1.9.1");
        expect_mxnet(&path).unwrap();
        let path = folder.path().join("older");
        python(&path, "echo 1.8.0");
        let error = expect_mxnet(&path).unwrap_err().to_string();
        assert!(error.ends_with("expected a Python with MXNet 1.9.1, not 1.8.0"), "{error}");
        let path = folder.path().join("without");
        python(&path, "echo 'No module named mxnet' >&2; exit 1");
        let error = format!("{:#}", expect_mxnet(&path).unwrap_err());
        assert!(error.contains("--python ") && error.ends_with("No module named mxnet"), "{error}");
    }
}
