//! `mxrs convert onnx import`: converts an ONNX model to a symbol file and a parameter file.

use super::comparison;
use crate::exit::{Failure, Outcome};
use crate::{start, terminal};
use mxrs::format::onnx::{DimensionValue, ModelProto};
use mxrs::format::params::{checkpoint_path, symbol_path};
use mxrs::format::{Checkpoint, onnx};
use mxrs::onnx::{ImportOptions, Imported, import_with};
use mxrs::symbol::graph_to_file;
use mxrs::types::{DType, Error, ErrorKind, Shape};
use mxrs::{Model, Runtime};
use std::path::PathBuf;

/// Arguments of `convert onnx import`.
#[derive(clap::Args)]
pub struct Args {
    /// ONNX model
    model: PathBuf,
    /// Prefix of the checkpoint, which is written as PREFIX-symbol.json and PREFIX-0000.params
    prefix: PathBuf,
    /// A size that the model leaves open, by the name that the model gives it, such as `batch=8`; can be given several times.
    /// The checkpoint may then be for this size only
    #[arg(long, value_name = "NAME=N", value_parser = named_size)]
    size: Vec<(String, usize)>,
    /// Do not check the written checkpoint by reading it and comparing outputs
    #[arg(long)]
    no_check: bool,
}

/// Parses `NAME=N`. The name may contain `=`.
fn named_size(text: &str) -> Result<(String, usize), String> {
    match text.rsplit_once('=').map(|(name, size)| (name, size.parse::<usize>())) {
        Some((name, Ok(size))) if !name.is_empty() && size > 0 => Ok((name.into(), size)),
        _ => Err("expected NAME=N with an N of at least 1, such as batch=8".into()),
    }
}

/// Runs the command.
///
/// # Errors
/// Fails if the model cannot be imported (the error names all unsupported nodes), if it does not have a size that is given, or
/// if the written checkpoint computes other outputs.
pub fn run(args: &Args) -> Outcome {
    let runtime = start::runtime(None)?;
    let options = import_options(args)?;
    let read = onnx::open(&args.model, &options.format).map_err(Failure::input)?;
    for warning in &read.warnings {
        tracing::warn!("{}: {warning}", args.model.display());
    }
    let imported = import_with(&read.value, &options).map_err(|error| refused(error, args, &read.value))?;
    let graph = &imported.graph;
    let mut checkpoint = Checkpoint::default();
    for (name, tensor) in &imported.params {
        let is_aux = graph.find(name).is_some_and(|id| graph.is_aux_state(id));
        let half = if is_aux { &mut checkpoint.aux } else { &mut checkpoint.arg };
        half.insert(name.clone(), tensor.clone());
    }
    graph_to_file(graph).save(symbol_path(&args.prefix))?;
    checkpoint.save(checkpoint_path(&args.prefix, 0))?;
    let n_nodes = graph.n_nodes();
    let n_arrays = imported.params.len();
    if !args.no_check {
        check(&runtime, imported, args)?;
    }
    terminal::print(&format!("{} written: {n_nodes} nodes, {n_arrays} arrays\n", symbol_path(&args.prefix).display()))
}

/// The options of the import: its limits, and the sizes of the flags.
fn import_options(args: &Args) -> Outcome<ImportOptions> {
    let mut options = ImportOptions::default();
    for (name, size) in &args.size {
        if options.sizes.contains_key(name) {
            let name = name.escape_debug();
            return Err(Failure::Usage(format!("--size: got `{name}` twice, expected each size once")));
        }
        options = options.size(name, *size);
    }
    Ok(options)
}

/// Converts an error of the import, and adds what it was about. A size that the model does not have is bad usage.
fn refused(error: Error, args: &Args, model: &ModelProto) -> Failure {
    let is_unknown = args.size.iter().any(|(name, _)| !has_size(model, name));
    if is_unknown && matches!(error.kind(), ErrorKind::InvalidValue { .. }) {
        return Failure::Usage(format!("--size: {error}"));
    }
    // The error of the library names the function that gives a size.
    let remedy = match error.to_string().contains("`ImportOptions::size(") {
        true => "; `--size NAME=N` gives such a size",
        false => "",
    };
    Failure::input(error.with_path(&args.model).context(format!("importing {}{remedy}", args.model.display())))
}

/// Whether an input of the model has a size with this name.
fn has_size(model: &ModelProto, name: &str) -> bool {
    let inputs = model.graph.iter().flat_map(|graph| &graph.input);
    let shapes = inputs.filter_map(|input| input.tensor_type()?.shape.as_ref());
    let mut sizes = shapes.flat_map(|shape| &shape.dim);
    sizes.any(|size| matches!(&size.value, Some(DimensionValue::Param(param)) if param == name))
}

/// Checks that the written checkpoint computes the same outputs as the model. Sizes that the model leaves open are taken as
/// 1.
fn check(runtime: &Runtime, imported: Imported, args: &Args) -> Outcome {
    if imported.inputs.iter().any(|input| input.dtype != DType::F32 || input.shape.dims().is_none()) {
        tracing::warn!("not compared: an input is not float32, or of unknown shape");
        return Ok(());
    }
    let inputs: Vec<(String, Shape)> = imported
        .inputs
        .iter()
        .filter(|input| imported.graph.find(&input.name).is_some())
        .map(|input| {
            let dims = input.shape.dims().unwrap_or_default();
            (input.name.clone(), dims.iter().map(|size| size.unwrap_or(1)).collect())
        })
        .collect();
    let expected = comparison::outputs(&comparison::model(runtime, imported)?, &inputs)?;
    let written = Model::load(runtime, &args.prefix, 0)?;
    let difference = comparison::compare(&expected, &comparison::outputs(&written, &inputs)?)?;
    tracing::info!("largest difference after reading the checkpoint again: {difference:e}");
    Ok(())
}
