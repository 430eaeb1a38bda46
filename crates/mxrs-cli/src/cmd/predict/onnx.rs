//! `mxrs predict --model FILE.onnx`: runs an ONNX model on arrays from files.

use super::contents::Contents;
use super::file_names::file_names;
use crate::args::{Compute, Format};
use crate::exit::{Failure, Outcome, expect_writable, written};
use crate::{interrupt, start, terminal};
use mxrs::OnnxModel;
use mxrs::format::{ArrayFile, Arrays, Options, Tensor, npy, write_atomically};
use mxrs::types::{Error, ResultExt, Shape};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The arguments that are for images and checkpoints, not for ONNX models.
const FOR_IMAGES: [&str; 13] = [
    "epoch",
    "data",
    "images",
    "data_shape",
    "batch_size",
    "resize",
    "scale",
    "mean_rgb",
    "std_rgb",
    "top",
    "synset",
    "output",
    "draw",
];

/// Arguments for ONNX models.
#[derive(clap::Args)]
pub struct OnnxArgs {
    /// Array for an input of the ONNX model, as numpy.save writes it; once for each input. Other element types are converted
    /// to that of the input if all values are kept, but floats may be rounded
    #[arg(long, value_name = "NAME=FILE.npy", value_parser = named_file, help_heading = "ONNX models")]
    #[arg(conflicts_with_all = FOR_IMAGES)]
    pub input: Vec<(String, PathBuf)>,
    /// Folder into which each output of the ONNX model is written as an .npy file; created if it does not exist
    #[arg(long, value_name = "DIR", help_heading = "ONNX models", conflicts_with_all = FOR_IMAGES)]
    pub output_dir: Option<PathBuf>,
}

/// Parses `NAME=FILE`.
fn named_file(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, file)) if !name.is_empty() && !file.is_empty() => Ok((name.into(), file.into())),
        _ => Err("expected NAME=FILE.npy, such as data=batch.npy".into()),
    }
}

/// The array of an input or an output.
#[derive(Serialize)]
struct Described {
    name: String,
    shape: Vec<usize>,
    dtype: &'static str,
    /// The file that the array was read from or written to.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// The elements of an output.
    #[serde(flatten)]
    contents: Option<Contents>,
}

/// The JSON report.
#[derive(Serialize)]
struct Report {
    model: String,
    inputs: Vec<Described>,
    outputs: Vec<Described>,
    /// How long the run took, without reading and writing files.
    seconds: f64,
}

/// Whether the model is an ONNX model and not the prefix of a checkpoint.
pub fn is_onnx(model: &Path) -> bool {
    model.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("onnx"))
}

/// Runs the command for an ONNX model.
///
/// # Errors
/// Fails if the model or an array cannot be read, if the arrays do not fit the inputs, if mxrs cannot express a node of the
/// model, if a kernel fails, or if an output cannot be written.
pub fn run(path: &Path, args: &OnnxArgs, compute: &Compute, format: Format) -> Outcome {
    let runtime = start::runtime(Some(compute))?;
    let model = OnnxModel::open(&runtime, path).map_err(Failure::input)?;
    let names = args.input.iter().map(|(name, _)| name.as_str());
    model.expect_inputs(names).map_err(|error| Failure::Usage(format!("--input: {error}")))?;
    args.output_dir.as_deref().map_or(Ok(()), expect_folder)?;
    let mut arrays = Vec::new();
    for (name, file) in &args.input {
        interrupt::check()?;
        let array = read(file).and_then(|tensor| model.accept(name, tensor));
        let array = array.context(|| format!("reading {} for the input `{}`", file.display(), name.escape_debug()));
        arrays.push((name.as_str(), array.map_err(Failure::input)?));
    }
    let shape = |array: &Tensor| array.shape().cloned().unwrap_or_default();
    let shapes: Vec<(&str, Shape)> = arrays.iter().map(|(name, array)| (*name, shape(array))).collect();
    let doing = || format!("preparing {} for these inputs", path.display());
    let bound = model.bind(&shapes).map_err(|error| error.with_path(path)).context(doing).map_err(Failure::input)?;
    drop(model);
    interrupt::check()?;
    let given: Vec<(&str, &Tensor)> = arrays.iter().map(|(name, array)| (*name, array)).collect();
    let start = Instant::now();
    let outputs = bound.forward(&given)?;
    let seconds = start.elapsed().as_secs_f64();
    let files = match &args.output_dir {
        Some(folder) => write(folder, &outputs)?,
        None => vec![None; outputs.len()],
    };
    let inputs = args
        .input
        .iter()
        .zip(&arrays)
        .map(|((name, file), (_, array))| describe(name, array, Some(file.display().to_string()), None));
    let outputs = outputs
        .iter()
        .zip(files)
        .map(|((name, array), file)| describe(name, array, file, Some(Contents::of(array.as_dense()?)?)));
    let report = Report {
        model: path.display().to_string(),
        inputs: inputs.collect::<mxrs::Result<_>>()?,
        outputs: outputs.collect::<mxrs::Result<_>>()?,
        seconds,
    };
    match format {
        Format::Json => terminal::print_json(&report),
        Format::Table => terminal::print(&report.text()),
    }
}

/// Makes the folder of the outputs if it does not exist, and checks that files can be written there.
fn expect_folder(folder: &Path) -> Outcome {
    std::fs::create_dir_all(folder).map_err(written(folder))?;
    expect_writable(&folder.join("output.npy"))
}

/// Reads the only array of a file.
fn read(path: &Path) -> mxrs::Result<Tensor> {
    let loaded = ArrayFile::open(path, &Options::default())?;
    for warning in &loaded.warnings {
        tracing::warn!("{}: {warning}", path.display());
    }
    let mut arrays: Vec<Tensor> = match loaded.value.arrays {
        Arrays::Unnamed(list) => list,
        Arrays::Named(map) => map.into_values().collect(),
    };
    let n_arrays = arrays.len();
    match (arrays.pop(), n_arrays) {
        (Some(array), 1) => Ok(array),
        _ => {
            let what = format!("number of arrays in {}", path.display());
            Err(Error::invalid(what, n_arrays, "1; numpy.save writes a file with one array"))
        }
    }
}

/// Writes each output to a file of the folder, and returns the paths.
fn write(folder: &Path, outputs: &[(String, Tensor)]) -> Outcome<Vec<Option<String>>> {
    let mut files = Vec::new();
    for ((_, array), name) in outputs.iter().zip(file_names(outputs.iter().map(|(name, _)| name.as_str()))) {
        interrupt::check()?;
        let path = folder.join(name);
        write_atomically(&path, |sink| npy::write(sink, array.as_dense()?)).map_err(Failure::Run)?;
        files.push(Some(path.display().to_string()));
    }
    Ok(files)
}

fn describe(name: &str, array: &Tensor, file: Option<String>, contents: Option<Contents>) -> mxrs::Result<Described> {
    let dense = array.as_dense()?;
    Ok(Described { name: name.to_owned(), shape: dense.shape().to_vec(), dtype: dense.dtype().name(), file, contents })
}

impl Report {
    /// The text output: a table of the outputs.
    fn text(&self) -> String {
        let has_files = self.outputs.iter().any(|output| output.file.is_some());
        let mut headings = vec!["output", "shape", "dtype", "elements"];
        headings.extend(has_files.then_some("file"));
        let mut table = terminal::table(&headings);
        for output in &self.outputs {
            let shape = Shape::new(output.shape.iter().copied()).to_string();
            let elements = output.contents.as_ref().map_or_else(String::new, Contents::text);
            let mut row = vec![short(&output.name), shape, output.dtype.to_owned(), elements];
            row.extend(output.file.clone());
            table.add_row(row);
        }
        let plural = if self.outputs.len() == 1 { "" } else { "s" };
        format!("{table}\n{} output{plural} in {:.3} s\n", self.outputs.len(), self.seconds)
    }
}

/// A name from a file as the text of a cell: not too long, and without control characters.
fn short(name: &str) -> String {
    const LONGEST: usize = 100;
    name.chars().take(LONGEST).flat_map(char::escape_debug).collect()
}
