//! Runs the node tests of the ONNX project, which `tests/onnx/node_cases.py` writes: imports each model, runs it, and compares the
//! outputs with the expected ones, within ONNX's own tolerance (1e-7 plus 1e-3 of the expected number).
//!
//! `cargo run -p mxrs-tests --bin onnx_nodes -- DIR [NAME…]`. Prints a line per case that is wrong or refused, and a table by
//! operator; ends with 1 if a case is wrong.

use mxrs::format::{AlignedBytes, ArrayFile, Options, Tensor, onnx};
use mxrs::ndarray::NdArray;
use mxrs::onnx::import;
use mxrs::types::{DType, Error, ErrorKind, Result, Shape};
use mxrs::{Model, Runtime};
use std::collections::BTreeMap;
use std::path::Path;

/// The result of one case.
enum Outcome {
    Passed,
    /// mxrs does not support an operator or a type of the model. The text gives the reason.
    Refused(String),
    /// The results differ, or the run failed.
    Wrong(String),
}

fn array(path: &Path) -> Result<Tensor> {
    let file = ArrayFile::open(path, &Options::default())?.value;
    let first = file.arrays.iter().next().map(|(_, tensor)| tensor.clone());
    first.ok_or_else(|| Error::invalid("arrays", path.display(), "one array"))
}

/// The first difference from the expected tensor, as text; `None` if there is none.
fn differs(got: &NdArray, expected: &Tensor) -> Result<Option<String>> {
    let shape = expected.shape().cloned().unwrap_or_default();
    if *got.shape() != shape {
        return Ok(Some(format!("shape {}, expected {shape}", got.shape())));
    }
    if Some(got.dtype()) != expected.dtype() {
        return Ok(Some(format!("type {}, expected {:?}", got.dtype(), expected.dtype())));
    }
    let bytes = got.read_bytes(AlignedBytes::copy_of)?;
    let got = Tensor::dense(got.dtype(), got.shape().clone(), bytes)?;
    let wide = |tensor: &Tensor| -> Result<Vec<f64>> { Ok(tensor.cast(DType::F64).as_slice::<f64>()?.to_vec()) };
    let (got, want) = (wide(&got)?, wide(expected)?);
    let is_equal = |a: f64, b: f64| a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-7 + 1e-3 * b.abs();
    let first = got.iter().zip(&want).position(|(a, b)| !is_equal(*a, *b));
    Ok(first.map(|i| format!("[{i}] is {}, expected {}", got[i], want[i])))
}

/// A model that needs an unsupported operator or type is refused. Any other error counts as wrong.
fn of_error(error: &Error) -> Outcome {
    match error.kind() {
        ErrorKind::NotBuilt { .. } | ErrorKind::DType { .. } => Outcome::Refused(error.to_string()),
        _ => Outcome::Wrong(error.to_string()),
    }
}

fn run(runtime: &Runtime, dir: &Path) -> Result<Outcome> {
    let options = Options::default();
    let model = match onnx::open(dir.join("model.onnx"), &options) {
        Ok(model) => model.value,
        Err(error) => return Ok(Outcome::Refused(error.to_string())),
    };
    let imported = match import(&model, &options) {
        Ok(imported) => imported,
        Err(error) => return Ok(of_error(&error)),
    };
    let mut fed: Vec<(&str, Shape, Vec<f32>)> = Vec::new();
    for (i, input) in imported.inputs.iter().enumerate() {
        // If a model uses only the shape of an input, the imported graph does not contain this input.
        if imported.graph.find(&input.name).is_none() {
            continue;
        }
        let tensor = array(&dir.join(format!("in-{i}.npy")))?;
        fed.push((&input.name, tensor.shape().cloned().unwrap_or_default(), tensor.to_f32_vec()?));
    }
    let inputs: Vec<(&str, Shape)> = fed.iter().map(|(name, shape, _)| (*name, shape.clone())).collect();
    let values: Vec<(&str, &[f32])> = fed.iter().map(|(name, _, values)| (*name, &values[..])).collect();
    let model = Model::from_parts(runtime, imported.graph.clone(), imported.params.clone());
    let bound = match model.and_then(|model| model.bind(&inputs)) {
        Ok(bound) => bound,
        Err(error) => return Ok(of_error(&error)),
    };
    let outputs = match bound.forward(&values) {
        Ok(outputs) => outputs,
        Err(error) => return Ok(Outcome::Wrong(error.to_string())),
    };
    for (i, output) in outputs.iter().enumerate() {
        if let Some(what) = differs(output, &array(&dir.join(format!("out-{i}.npy")))?)? {
            return Ok(Outcome::Wrong(format!("output {i}: {what}")));
        }
    }
    Ok(Outcome::Passed)
}

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let dir = args.next().ok_or_else(|| Error::invalid("arguments", "none", "DIR"))?;
    let only: Vec<String> = args.collect();
    let entries = std::fs::read_dir(&dir).map_err(|e| Error::io(&dir, &e))?;
    let mut cases: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    cases.sort();
    let runtime = Runtime::from_env()?;
    let mut table: BTreeMap<String, [usize; 3]> = BTreeMap::new();
    for case in &cases {
        let name = case.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !only.is_empty() && !only.iter().any(|part| name.contains(part)) {
            continue;
        }
        let model = onnx::open(case.join("model.onnx"), &Options::default());
        let graph = model.ok().and_then(|model| model.value.graph);
        let op = graph.and_then(|graph| graph.node.into_iter().next()).map(|node| node.op_type);
        let row = table.entry(op.unwrap_or_else(|| "(unreadable)".into())).or_default();
        match run(&runtime, case) {
            Ok(Outcome::Passed) => row[0] += 1,
            Ok(Outcome::Refused(why)) => {
                row[1] += 1;
                println!("refused  {name}: {why}");
            }
            Ok(Outcome::Wrong(what)) => {
                row[2] += 1;
                println!("wrong    {name}: {what}");
            }
            Err(error) => {
                row[2] += 1;
                println!("wrong    {name}: {error}");
            }
        }
    }
    println!("{:<32} {:>7} {:>8} {:>6}", "operator", "passed", "refused", "wrong");
    for (op, [passed, refused, wrong]) in &table {
        println!("{op:<32} {passed:>7} {refused:>8} {wrong:>6}");
    }
    let sum = |i: usize| table.values().map(|row| row[i]).sum::<usize>();
    println!("{:<32} {:>7} {:>8} {:>6}", "all", sum(0), sum(1), sum(2));
    if sum(2) > 0 { std::process::exit(1) } else { Ok(()) }
}
