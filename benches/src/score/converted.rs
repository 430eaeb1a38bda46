//! The files for libraries that do not read ONNX files. MNN and ncnn have their own formats, and the converters of these
//! libraries make them from the ONNX file. The conversion happens before anything is measured, and its time is not reported.

use super::files::Files;
use super::peers::{Peer, Tools};
use super::process::finish;
use super::serve::Load;
use super::{Case, Dtype, Failure};
use crate::memory::Mode;
use std::process::Command;
use std::time::Duration;

/// In the table of results, the cell of a library that does not run the network shows this word.
pub const NOT_RUN: &str = "not run";

/// The order that makes a peer load the network in the format it reads. Makes the files of that format unless they exist;
/// a program that takes longer than `limit` is killed.
///
/// # Errors
/// Fails with the reason if the library does not run the case, or cannot convert the network.
pub fn load(peer: Peer, case: &Case, files: &Files, tools: Tools<'_>, limit: Duration) -> Result<Load, Failure> {
    let load = files.load(case);
    match peer {
        Peer::Mxrs | Peer::Mxnet => files.has_symbol().map(|()| load),
        Peer::Mnn | Peer::Ncnn if case.mode != Mode::Inference || case.dtype != Dtype::Float32 => {
            Err(Failure::new(NOT_RUN, "this comparison runs it for inference in float32 only"))
        }
        Peer::Mnn | Peer::Ncnn => {
            let (script, name) = match peer {
                Peer::Mnn => ("convert_mnn.py", "net.mnn"),
                _ => ("convert_ncnn.py", "net.ncnn.param"),
            };
            let python = tools.places.python.as_ref().ok_or_else(|| Failure::new("not found", "give --python PATH"))?;
            let made = files.beside(name);
            files.once(peer, || {
                if files.has(&made) {
                    return Ok(());
                }
                // ncnn's arrays have no axis for a batch: it runs one image after the other.
                let onnx = if peer == Peer::Ncnn { files.onnx_of_one_image(tools, limit)? } else { files.onnx() };
                let mut command = Command::new(python);
                let size = load.shape[1..].iter().map(usize::to_string).collect::<Vec<_>>().join(",");
                command.arg(tools.scripts.join(script)).arg(onnx).arg(&made).arg(size);
                finish(command, script, limit).map_err(|failure| Failure::new(NOT_RUN, failure.why))
            })?;
            Ok(Load { onnx: made, ..load })
        }
        _ => Ok(load),
    }
}

#[cfg(test)]
mod tests {
    use super::super::files::tests::{LONG, empty};
    use super::super::peers::Places;
    use super::super::scripts::script;
    use super::*;
    use std::path::Path;

    fn case(dtype: Dtype, batch: usize) -> Case {
        Case { network: "alexnet".into(), batch, dtype, threads: 1, mode: Mode::Inference }
    }

    #[test]
    fn converters_get_the_file_and_what_they_say_is_the_reason() {
        let folder = tempfile::tempdir().unwrap();
        let python =
            script(folder.path(), "python", "case $1 in *ncnn*) echo 'no layer' >&2; exit 3;; esac; echo > $3");
        let places = Places { python: Some(python), ..Places::default() };
        let exporter = script(folder.path(), "exporter", "touch ${12}-symbol.json ${12}-0000.params ${13}");
        let tools = Tools { mxrs: &exporter, places: &places, scripts: folder.path(), isa: None };
        let files = empty("alexnet", 2, folder.path());
        let mnn = load(Peer::Mnn, &case(Dtype::Float32, 2), &files, tools, LONG).unwrap();
        assert!(mnn.onnx.ends_with("net.mnn") && mnn.onnx.is_file(), "{mnn:?}");
        let failure = load(Peer::Ncnn, &case(Dtype::Float32, 2), &files, tools, LONG).unwrap_err();
        assert!(failure.word == NOT_RUN && failure.why.ends_with("exit status: 3: no layer"), "{failure}");
        let failure = load(Peer::Mnn, &case(Dtype::Bfloat16, 2), &files, tools, LONG).unwrap_err();
        assert!(failure.word == NOT_RUN && failure.why.contains("float32 only"), "{failure}");
        let onnx = load(Peer::Onnxruntime, &case(Dtype::Float32, 2), &files, tools, LONG).unwrap().onnx;
        assert_eq!(onnx, files.onnx());
    }

    #[test]
    fn without_python_the_flag_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let files = empty("alexnet", 1, folder.path());
        let tools = Tools { mxrs: Path::new("/m"), places: &Places::default(), scripts: folder.path(), isa: None };
        let failure = load(Peer::Mnn, &case(Dtype::Float32, 1), &files, tools, LONG).unwrap_err();
        assert!(failure.word == "not found" && failure.why.contains("--python"), "{failure}");
    }
}
