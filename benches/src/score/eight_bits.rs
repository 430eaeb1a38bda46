//! Networks in 8-bit integers: each library quantizes the same network after training, with ranges from the same random
//! images.
//!
//! Quantization runs once for each network and batch size, before anything is measured, in separate programs: `mxrs
//! quantize` for mxrs, NNCF for OpenVINO (`quantize_openvino.py`), and ONNX Runtime's own package
//! (`quantize_onnxruntime.py`). In mxrs and ONNX Runtime the range of an activation spans the smallest and the largest value
//! over all images; NNCF averages the smallest and the largest value of each batch, which is its default. Weights have one
//! range per channel.

use super::files::Files;
use super::peers::{Peer, Tools};
use super::process::finish;
use super::serve::Load;
use super::{Case, Failure};
use crate::memory::Mode;
use anyhow::{Result, bail};
use mxrs::data::{Encoding, Image, encode};
use mxrs::format::recordio::{ImageRecord, RecordWriter};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Minimum number of images that ranges come from. It is rounded up to whole batches.
const N_IMAGES: usize = 32;
/// Seed of these images. It differs from the seed of the images for which outputs are compared.
const SEED: u64 = 1;
/// Pixels from 0 to 255 become network inputs from -1 to 1: this value is subtracted from each pixel, and the difference is
/// divided by it.
const MIDDLE: f32 = 127.5;

/// The order that makes a peer load its quantized files of the network. Makes these files unless they exist; a program that
/// takes longer than `limit` to make them is killed.
///
/// # Errors
/// Fails with the reason if the peer has no int8 network in this comparison, or if its network cannot be made.
pub fn load(peer: Peer, case: &Case, files: &Files, tools: Tools<'_>, limit: Duration) -> Result<Load, Failure> {
    let none = |why: &str| Err(Failure::new("no int8", why));
    if case.mode != Mode::Inference {
        return none("networks are not trained in 8-bit integers");
    }
    let load = files.load(case);
    match peer {
        Peer::Mxrs => ours(load, files, tools, limit),
        Peer::Openvino => by_script(peer, "quantize_openvino.py", "8-bits.xml", load, files, tools, limit),
        Peer::Onnxruntime => by_script(peer, "quantize_onnxruntime.py", "8-bits.onnx", load, files, tools, limit),
        _ => none("this comparison makes no int8 network for it"),
    }
}

fn failed(error: anyhow::Error) -> Failure {
    Failure::new("failed", format!("{error:#}"))
}

fn ours(load: Load, files: &Files, tools: Tools<'_>, limit: Duration) -> Result<Load, Failure> {
    files.once(Peer::Mxrs, || {
        let images = Images::of(&load.shape, files).map_err(failed)?;
        let mut command = Command::new(tools.mxrs);
        command.args(["quantize", "--calib-mode", "naive", "--image-shape", &images.shape]);
        let (middle, scale) = (MIDDLE.to_string(), (1.0 / MIDDLE).to_string());
        command.args(["--rgb-mean", &[middle.as_str(); 3].join(","), "--scale", &scale]);
        command.arg("--symbol").arg(&load.symbol).arg("--params").arg(&load.params);
        command.arg("--data-val").arg(&images.records).arg("--output").arg(files.beside("8-bits"));
        finish(command, "mxrs quantize", limit)
    })?;
    let (symbol, params) = ("8-bits-quantized-symbol.json", "8-bits-quantized-0000.params");
    Ok(Load { symbol: files.beside(symbol), params: files.beside(params), ..load })
}

/// Like [`load`], for a library that is quantized by a Python script. The script's arguments are the ONNX file, the
/// file of images, and the name of the file to write.
fn by_script(
    peer: Peer,
    script: &str,
    name: &str,
    load: Load,
    files: &Files,
    tools: Tools<'_>,
    limit: Duration,
) -> Result<Load, Failure> {
    let python = tools.places.python.as_ref().ok_or_else(|| Failure::new("not found", "give --python PATH"))?;
    let made = files.beside(name);
    files.once(peer, || {
        let images = Images::of(&load.shape, files).map_err(failed)?;
        let mut command = Command::new(python);
        command.arg(tools.scripts.join(script)).arg(&load.onnx).arg(&images.floats).arg(&made);
        finish(command, script, limit)
    })?;
    Ok(Load { onnx: made, ..load })
}

/// The images that ranges come from.
struct Images {
    /// Record file with the images as PNG.
    records: PathBuf,
    /// File with the same images as float32 network inputs, row-major.
    floats: PathBuf,
    /// Shape of one image: channels, rows, columns.
    shape: String,
}

impl Images {
    /// The image files next to `files`, for batches of this shape; written if they do not exist yet.
    fn of(shape: &[usize], files: &Files) -> Result<Self> {
        let &[batch, channels, height, width] = shape else { bail!("a batch of images has four axes, not {shape:?}") };
        let (records, floats) = (files.beside("calibration.rec"), files.beside("calibration.f32"));
        // The record file gets its final name last, so if it exists, both files are complete.
        if !records.is_file() {
            write_images(N_IMAGES.div_ceil(batch.max(1)) * batch, [channels, height, width], &records, &floats)?;
        }
        Ok(Self { records, floats, shape: format!("{channels},{height},{width}") })
    }
}

fn write_images(n: usize, [channels, height, width]: [usize; 3], records: &Path, floats: &Path) -> Result<()> {
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let mut writer = RecordWriter::create(records)?;
    let mut fed = BufWriter::new(File::create(floats)?);
    for id in 0..n {
        let pixels: Vec<u8> = (0..channels * height * width).map(|_| random.random_range(0..=u8::MAX)).collect();
        for channel in 0..channels {
            for pixel in pixels.iter().skip(channel).step_by(channels) {
                fed.write_all(&((f32::from(*pixel) - MIDDLE) / MIDDLE).to_le_bytes())?;
            }
        }
        let image = encode(&Image::new(height, width, channels, pixels)?, Encoding::Png { level: 1 })?;
        writer.write(&ImageRecord { id: id as u64, image: &image, ..ImageRecord::default() }.pack())?;
    }
    fed.flush()?;
    writer.finish()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::Dtype;
    use crate::score::files::tests::{LONG, empty};
    use crate::score::peers::Places;
    use crate::score::scripts::script;
    use mxrs::data::ImageRecordIter;

    fn case(network: &str, batch: usize, mode: Mode) -> Case {
        Case { network: network.into(), batch, dtype: Dtype::Int8, threads: 1, mode }
    }

    #[test]
    fn records_are_read_as_what_the_others_are_fed() {
        let folder = tempfile::tempdir().unwrap();
        let files = empty("lenet", 5, folder.path());
        let images = Images::of(&[5, 3, 4, 6], &files).unwrap();
        assert_eq!(images.shape, "3,4,6");
        let bytes = std::fs::read(&images.floats).unwrap();
        let fed: Vec<f32> = bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        // 32 images are rounded up to seven batches of five.
        assert_eq!(fed.len(), 35 * 3 * 4 * 6);
        assert!(fed.iter().any(|x| *x < -0.9) && fed.iter().any(|x| *x > 0.9), "{fed:?}");
        let middle = [MIDDLE; 4];
        let records = ImageRecordIter::builder(&images.records, [3, 4, 6], 35).mean(middle).scale(1.0 / MIDDLE);
        let batch = records.build().unwrap().next().unwrap().unwrap();
        let far = batch.data.iter().zip(&fed).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(batch.data.len() == fed.len() && far < 1e-5, "{far}");
    }

    #[test]
    fn each_library_makes_its_files_once_and_is_told_of_them() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let tool = |name: &str| script(folder.path(), name, &format!("echo \"$@\" >> {}", log.display()));
        let (mxrs, python) = (tool("mxrs"), tool("python"));
        let places = Places { python: Some(python), ..Places::default() };
        let tools = Tools { mxrs: &mxrs, places: &places, scripts: Path::new("/scripts"), isa: None };
        let files = empty("lenet", 2, folder.path());
        let case = case("lenet", 2, Mode::Inference);
        let end = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
        for _ in 0..2 {
            let ours = load(Peer::Mxrs, &case, &files, tools, LONG).unwrap();
            let names = (end(&ours.symbol), end(&ours.params));
            assert_eq!(names, ("8-bits-quantized-symbol.json".into(), "8-bits-quantized-0000.params".into()));
            let theirs = load(Peer::Openvino, &case, &files, tools, LONG).unwrap();
            assert_eq!((end(&theirs.onnx), theirs.dtype.as_str()), ("8-bits.xml".into(), "int8"));
        }
        let said = std::fs::read_to_string(log).unwrap();
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(lines.len(), 2, "{said}");
        let start = "quantize --calib-mode naive --image-shape 1,28,28 --rgb-mean 127.5,127.5,127.5 --scale 0.007843";
        assert!(lines[0].starts_with(start) && lines[0].contains("calibration.rec --output "), "{said}");
        assert!(lines[1].starts_with("/scripts/quantize_openvino.py ") && lines[1].ends_with("8-bits.xml"), "{said}");
    }

    #[test]
    fn who_makes_none_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let failing = script(folder.path(), "mxrs", "echo 'nothing can be quantized' >&2; exit 2");
        let places = Places::default();
        let tools = Tools { mxrs: &failing, places: &places, scripts: Path::new("/scripts"), isa: None };
        let files = empty("lenet", 2, folder.path());
        let why = |peer, mode| load(peer, &case("lenet", 2, mode), &files, tools, LONG).unwrap_err();
        assert_eq!(why(Peer::Mxrs, Mode::Training).word, "no int8");
        assert_eq!(why(Peer::Tract, Mode::Inference).word, "no int8");
        assert!(why(Peer::Openvino, Mode::Inference).why.contains("--python"));
        let failure = why(Peer::Mxrs, Mode::Inference);
        assert!(failure.why.ends_with("exit status: 2: nothing can be quantized"), "{failure}");
    }

    #[test]
    fn who_does_not_come_to_an_end_has_no_answer() {
        let folder = tempfile::tempdir().unwrap();
        let hanging = script(folder.path(), "hanging", "exec sleep 100");
        let places = Places { python: Some(hanging.clone()), ..Places::default() };
        let tools = Tools { mxrs: &hanging, places: &places, scripts: Path::new("/scripts"), isa: None };
        let files = empty("lenet", 2, folder.path());
        for (peer, program) in [(Peer::Mxrs, "mxrs quantize"), (Peer::Onnxruntime, "quantize_onnxruntime.py")] {
            let case = case("lenet", 2, Mode::Inference);
            let failure = load(peer, &case, &files, tools, Duration::from_millis(50)).unwrap_err();
            assert_eq!(failure.word, "no answer");
            assert!(failure.why.starts_with(&format!("{program} did not end within 0.05 s")), "{failure}");
        }
    }
}
