//! `mxrs convert onnx import`: converts an ONNX model to a symbol file and a parameter file.

use super::comparison;
use crate::exit::{Failure, Outcome};
use crate::{start, terminal};
use mxrs::format::params::{checkpoint_path, symbol_path};
use mxrs::format::{Checkpoint, Options, onnx};
use mxrs::onnx::{Imported, import};
use mxrs::symbol::graph_to_file;
use mxrs::types::{DType, Shape};
use mxrs::{Model, Runtime};
use std::path::PathBuf;

/// Arguments of `convert onnx import`.
#[derive(clap::Args)]
pub struct Args {
    /// ONNX model
    model: PathBuf,
    /// Prefix of the checkpoint, which is written as PREFIX-symbol.json and PREFIX-0000.params
    prefix: PathBuf,
    /// Do not check the written checkpoint by reading it and comparing outputs
    #[arg(long)]
    no_check: bool,
}

/// Runs the command.
///
/// # Errors
/// Fails if the model cannot be imported (the error names all unsupported nodes), or if the written checkpoint computes
/// other outputs.
pub fn run(args: &Args) -> Outcome {
    let runtime = start::runtime(None)?;
    let options = Options::default();
    let read = onnx::open(&args.model, &options).map_err(Failure::input)?;
    for warning in &read.warnings {
        tracing::warn!("{}: {warning}", args.model.display());
    }
    let imported = import(&read.value, &options).map_err(|error| Failure::input(error.with_path(&args.model)))?;
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
