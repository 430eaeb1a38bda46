//! `mxrs convert onnx export`: converts a symbol file with parameters, or a network by name, to an ONNX model.
//!
//! A network by name gets random parameters, which depend only on the seed. `--save-params` also writes them as a
//! checkpoint, so that other programs can load the same network.

use super::comparison;
use crate::args::{float_dtype, shape};
use crate::exit::{Failure, Outcome};
use crate::networks::{Network, Parts};
use crate::{start, terminal};
use mxrs::format::params::{checkpoint_path, symbol_path};
use mxrs::format::{Checkpoint, Options, Tensor, onnx};
use mxrs::graph::{Graph, NodeId};
use mxrs::onnx::{ExportOptions, OPSETS};
use mxrs::symbol::graph_to_file;
use mxrs::types::{DType, Error, ErrorKind, Shape};
use mxrs::{Model, Runtime};
use std::path::{Path, PathBuf};

/// Arguments of `convert onnx export`.
#[derive(clap::Args)]
pub struct Args {
    /// Symbol file, parameter file, and the ONNX model to write; with --network only the ONNX model
    #[arg(value_name = "[SYMBOL PARAMS] OUT", required = true, num_args = 1..=3)]
    files: Vec<PathBuf>,
    /// Shape of an input, such as `1,3,224,224` or `data=1,3,224,224`; can be given several times
    #[arg(long, value_name = "[NAME=]SIZES", value_parser = input_shape)]
    shape: Vec<(Option<String>, Shape)>,
    /// Data type of the input: float32, float16, bfloat16
    #[arg(long, value_name = "TYPE", default_value = "float32", value_parser = float_dtype)]
    dtype: DType,
    /// Version of the ONNX operator set
    #[arg(long, value_name = "N", default_value_t = 13, value_parser = clap::value_parser!(i64).range(OPSETS))]
    opset: i64,
    /// Leave the batch size of the inputs open
    #[arg(long)]
    dynamic_batch: bool,
    /// Do not check the written model by reading it and comparing outputs
    #[arg(long)]
    no_check: bool,
    /// Export this network, such as `resnet-50`, with random parameters
    #[arg(long, value_name = "NAME", help_heading = "Networks")]
    network: Option<String>,
    /// Batch size of the network
    #[arg(long, value_name = "N", requires = "network", help_heading = "Networks")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    batch_size: Option<u32>,
    /// Seed of the network's random parameters
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Networks")]
    seed: u64,
    /// Also write the network as PREFIX-symbol.json and PREFIX-0000.params
    #[arg(long, value_name = "PREFIX", requires = "network", help_heading = "Networks")]
    save_params: Option<PathBuf>,
}

/// Graph, parameters and options of an export.
struct Source {
    graph: Graph,
    params: Vec<(String, Tensor)>,
    options: ExportOptions,
}

/// Parses a shape with or without the name of an input.
fn input_shape(text: &str) -> Result<(Option<String>, Shape), String> {
    match text.split_once('=') {
        Some(("", _)) => Err("expected name=sizes, such as data=1,3,224,224".into()),
        Some((name, sizes)) => Ok((Some(name.into()), shape(sizes)?)),
        None => Ok((None, shape(text)?)),
    }
}

/// Runs the command.
///
/// # Errors
/// Fails if a file cannot be read, if shapes do not fit the network, if ONNX cannot express a node, or if the written model
/// computes other outputs.
pub fn run(args: &Args) -> Outcome {
    let runtime = start::runtime(None)?;
    let (source, out) = match (&args.network, args.files.as_slice()) {
        (Some(name), [out]) => (network(args, name)?, out),
        (None, [symbol, params, out]) => (files(args, &runtime, symbol, params)?, out),
        (Some(_), _) => return Err(Failure::Usage("with --network, give one file: the model to write".into())),
        (None, _) => {
            let message = "give three files: a symbol file, a parameter file and the model to write; or --network";
            return Err(Failure::Usage(message.into()));
        }
    };
    if let Some(prefix) = &args.save_params {
        save_checkpoint(&source, prefix)?;
    }
    let compared = compared_inputs(args, &source.options);
    let expected = if args.no_check { None } else { expected(&runtime, &source, &compared)? };
    let Source { graph, params, options } = source;
    let model = mxrs::onnx::export(&graph, params, &options).map_err(refused)?;
    onnx::save(out, &model)?;
    let summary = summary(&model);
    drop(model);
    if let Some(expected) = expected {
        check(&runtime, out, compared, &expected)?;
    }
    terminal::print(&format!("{} written: {summary}\n", out.display()))
}

/// Converts an error of the export: a node that ONNX cannot express is an input error, like an unsupported node of an
/// imported model.
fn refused(error: Error) -> Failure {
    match error.kind() {
        ErrorKind::NotBuilt { .. } => Failure::Input(error),
        _ => Failure::binding(error),
    }
}

/// Shapes of the inputs for the comparison. The batch size of a network by name is reduced to 2, which is enough to compare
/// outputs.
fn compared_inputs(args: &Args, options: &ExportOptions) -> Vec<(String, Shape)> {
    let mut inputs = options.inputs.clone();
    if args.network.is_some() {
        let batches = inputs.iter_mut().filter_map(|(_, shape)| shape.dims_mut().first_mut());
        batches.for_each(|batch| *batch = (*batch).min(2));
    }
    inputs
}

/// Outputs of the graph for random input; `None` if they are not compared.
fn expected(runtime: &Runtime, source: &Source, inputs: &[(String, Shape)]) -> Outcome<Option<Vec<Vec<f32>>>> {
    if source.options.dtype != DType::F32 {
        tracing::warn!("not compared: the input is {}", source.options.dtype);
        return Ok(None);
    }
    let model = Model::from_parts(runtime, source.graph.clone(), source.params.clone())?;
    Ok(Some(comparison::outputs(&model, inputs).map_err(Failure::binding)?))
}

/// Checks that the written model, read again and imported, computes the same outputs as the graph.
fn check(runtime: &Runtime, out: &Path, mut inputs: Vec<(String, Shape)>, expected: &[Vec<f32>]) -> Outcome {
    let read = onnx::open(out, &Options::default())?.value;
    let imported = match mxrs::onnx::import(&read, &Options::default()) {
        Ok(imported) => imported,
        Err(error) if matches!(error.kind(), ErrorKind::NotBuilt { .. }) => {
            tracing::warn!("not compared, since the model cannot be read as a graph: {error}");
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    drop(read);
    // The imported graph does not have inputs that no node reads.
    inputs.retain(|(name, _)| imported.graph.find(name).is_some());
    let got = comparison::outputs(&comparison::model(runtime, imported)?, &inputs)?;
    let difference = comparison::compare(expected, &got)?;
    tracing::info!("largest difference after reading the model again: {difference:e}");
    Ok(())
}

fn summary(model: &onnx::ModelProto) -> String {
    let graph = model.graph.as_ref();
    let n_nodes = graph.map_or(0, |graph| graph.node.len());
    let n_arrays = graph.map_or(0, |graph| graph.initializer.len());
    format!("{n_nodes} nodes, {n_arrays} arrays, operators of version {}", model.opset().unwrap_or_default())
}

fn options(args: &Args, name: &str, dtype: DType, inputs: Vec<(String, Shape)>) -> ExportOptions {
    ExportOptions {
        dtype,
        opset: args.opset,
        has_dynamic_batch: args.dynamic_batch,
        name: name.to_owned(),
        ..ExportOptions::new(inputs)
    }
}

fn network(args: &Args, name: &str) -> Outcome<Source> {
    if !args.shape.is_empty() {
        return Err(Failure::Usage("--shape is for files; a network has its own, and --batch-size".into()));
    }
    let Parts { graph, params, input } =
        Network::seeded(name, args.dtype, args.seed).map_err(Failure::binding)?.into_parts();
    let shape = input.shape(args.batch_size.unwrap_or(1) as usize);
    // The input is float32 for every dtype: a 16-bit network converts it itself.
    let options = options(args, name, DType::F32, vec![(input.name, shape)]);
    Ok(Source { graph, params, options })
}

fn files(args: &Args, runtime: &Runtime, symbol: &Path, params: &Path) -> Outcome<Source> {
    let graph = Model::load_graph(runtime, symbol).map_err(Failure::input)?;
    let loaded = Checkpoint::open(params, &Options::default()).map_err(Failure::input)?;
    for warning in &loaded.warnings {
        tracing::warn!("{}: {warning}", params.display());
    }
    let params: Vec<(String, Tensor)> = loaded.value.arg.into_iter().chain(loaded.value.aux).collect();
    let name = symbol.file_name().unwrap_or_default().to_string_lossy();
    let name = name.trim_end_matches(".json").trim_end_matches("-symbol").to_owned();
    let inputs = named_inputs(args, &graph, &params)?;
    Ok(Source { options: options(args, &name, args.dtype, inputs), graph, params })
}

/// Adds names to the shapes: a shape without a name is that of the only input.
fn named_inputs(args: &Args, graph: &Graph, params: &[(String, Tensor)]) -> Outcome<Vec<(String, Shape)>> {
    let is_fed = |id: &NodeId| !params.iter().any(|(name, _)| *name == graph.node(*id).name) && !graph.is_label(*id);
    let fed: Vec<&str> = graph.arguments().filter(is_fed).map(|id| graph.node(id).name.as_str()).collect();
    let mut inputs = Vec::new();
    for (name, shape) in &args.shape {
        let name = match (name, fed.as_slice()) {
            (Some(name), _) => name.clone(),
            (None, [only]) => (*only).to_owned(),
            (None, _) => {
                let message = format!("name the input of --shape {shape}: the network has {}", fed.join(", "));
                return Err(Failure::Usage(message));
            }
        };
        inputs.push((name, shape.clone()));
    }
    let without: Vec<&str> = fed.into_iter().filter(|fed| !inputs.iter().any(|(name, _)| name == fed)).collect();
    match without.as_slice() {
        [] => Ok(inputs),
        [first, ..] => Err(Failure::Usage(format!(
            "no parameter and no shape for {}: give --shape, such as --shape {first}=1,3,224,224",
            without.join(", ")
        ))),
    }
}

fn save_checkpoint(source: &Source, prefix: &Path) -> Outcome {
    let graph = &source.graph;
    let mut checkpoint = Checkpoint::default();
    for (name, tensor) in &source.params {
        let is_aux = graph.find(name).is_some_and(|id| graph.is_aux_state(id));
        let half = if is_aux { &mut checkpoint.aux } else { &mut checkpoint.arg };
        half.insert(name.clone(), tensor.clone());
    }
    graph_to_file(graph).save(symbol_path(prefix))?;
    checkpoint.save(checkpoint_path(prefix, 0))?;
    Ok(())
}
