//! mxrs as a peer: loads a symbol file and a parameter file and binds the network for inference.

use super::serve::{Load, Network, serve};
use super::shared::{self, Shared};
use super::training::Trained;
use anyhow::{Context, Result, ensure};
use mxrs::env::MapSource;
use mxrs::format::{Checkpoint, Options};
use mxrs::graph::{Graph, infer_dtypes};
use mxrs::models::{ModelOptions, model};
use mxrs::ndarray::NdArray;
use mxrs::types::{DType, Shape};
use mxrs::{BoundModel, Model, Runtime};

pub(super) const DATA: &str = "data";

/// Serves orders until standard input is closed, with these environment variables (`NAME=VALUE`).
///
/// # Errors
/// Fails if a text is not `NAME=VALUE`, or if standard input or output fails.
pub fn run(set: &[String]) -> Result<()> {
    let set = variables(set)?;
    serve(&format!("mxrs {}", env!("CARGO_PKG_VERSION")), |load| loaded(load, &set))
}

fn loaded(load: &Load, set: &[(String, String)]) -> Result<Box<dyn Network>> {
    let threads = ("OMP_NUM_THREADS".to_owned(), load.threads.to_string());
    let (name, value) = shared::WORKERS;
    let workers = (load.mode == shared::MODE).then(|| (name.to_owned(), value.to_owned()));
    // The variables of `set` come after the number of workers, so they can replace it: the last value of a name counts.
    let variables = workers.into_iter().chain(set.iter().cloned()).chain([threads]);
    let runtime = Runtime::builder().env(&MapSource::new(variables)).build()?;
    Ok(match load.mode.as_str() {
        shared::MODE => Box::new(Shared::new(&runtime, load)?),
        "training" => Box::new(Trained::new(&runtime, load)?),
        _ => Box::new(Bound::new(&runtime, load)?),
    })
}

/// Splits each `NAME=VALUE` into name and value.
fn variables(set: &[String]) -> Result<Vec<(String, String)>> {
    let pair = |text: &String| {
        let (name, value) = text.split_once('=').with_context(|| format!("`{text}` is not NAME=VALUE"))?;
        Ok((name.to_owned(), value.to_owned()))
    };
    set.iter().map(pair).collect()
}

/// Names of the backends that mxrs runs with on this machine and with these environment variables.
///
/// # Errors
/// Fails if a text is not `NAME=VALUE`, or if a backend cannot be loaded.
pub fn backends(set: &[String]) -> Result<String> {
    let threads = ("OMP_NUM_THREADS".to_owned(), "1".to_owned());
    let set = variables(set)?.into_iter().chain([threads]);
    let runtime = Runtime::builder().env(&MapSource::new(set)).build()?;
    let names: Vec<String> = runtime.backends().list().iter().map(|backend| backend.name().to_string()).collect();
    Ok(names.join(", "))
}

struct Bound(BoundModel);

impl Bound {
    fn new(runtime: &Runtime, load: &Load) -> Result<Self> {
        let shape: Shape = load.shape.iter().copied().collect();
        let shapes: &[&[(&str, Shape)]] = &[&[(DATA, shape)]];
        let bound = match load.dtype.as_str() {
            // Quantized networks are loaded from files like any other network.
            "float32" | "int8" => Model::load_frozen(runtime, &load.symbol, &load.params, shapes)?,
            "bfloat16" => in_16_bits(runtime, load)?.freeze(shapes)?,
            other => anyhow::bail!("no networks of {other}"),
        };
        Ok(Self(bound.into_iter().next().context("nothing was bound")?))
    }
}

/// Waits for all outputs and returns the first.
///
/// # Errors
/// Fails if the run failed or there is no output.
pub(super) fn first_output(outputs: &[NdArray]) -> Result<&NdArray> {
    outputs.iter().try_for_each(NdArray::wait_to_read)?;
    outputs.first().context("the network has no output")
}

impl Network for Bound {
    fn run(&mut self) -> Result<()> {
        first_output(self.0.forward(&[])?).map(drop)
    }

    fn answer(&mut self, batch: &[f32]) -> Result<Vec<f32>> {
        Ok(first_output(self.0.forward(&[(DATA, batch)])?)?.to_vec::<f32>()?)
    }
}

/// The network that `load` names, built for bfloat16. The parameters in the file are rounded to the types that this network
/// requires.
fn in_16_bits(runtime: &Runtime, load: &Load) -> Result<Model> {
    let built = model(&load.network, &ModelOptions { dtype: DType::BF16, ..ModelOptions::default() })?;
    let graph: Graph = built.symbol.graph()?;
    let dtypes = infer_dtypes(&graph, [(DATA, DType::F32)], Some(DType::F32))?.complete(&graph)?;
    let file = Checkpoint::open(&load.params, &Options::default())?.value;
    let mut params = Vec::new();
    for (name, tensor) in file.arg.into_iter().chain(file.aux) {
        let Some(id) = graph.find(&name) else { continue };
        params.push((name, tensor.cast(dtypes[graph.output_id(id, 0).index()])));
    }
    ensure!(!params.is_empty(), "no parameter of {} belongs to {}", load.params.display(), load.network);
    Ok(Model::from_parts(runtime, graph, params)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mxrs::quantize::{CalibMode, CalibrationTable, QuantizeOptions, Quantizer};
    use mxrs::symbol::graph_to_file;

    #[test]
    fn probabilities_come_out() {
        let load = super::super::serve::lenet("inference");
        let runtime = Runtime::builder().build().unwrap();
        let mut bound = Bound::new(&runtime, &load).unwrap();
        let outputs = bound.answer(&super::super::serve::uniform(load.n_elements())).unwrap();
        assert_eq!(outputs.len(), 2 * 10);
        for image in outputs.chunks(10) {
            assert!((image.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{image:?}");
        }
        bound.run().unwrap();
        for dtype in ["bfloat16", "float16"] {
            // The models contain no LeNet in 16 bits.
            assert!(Bound::new(&runtime, &Load { dtype: dtype.into(), ..load.clone() }).is_err(), "{dtype}");
        }
    }

    #[test]
    fn quantized_files_run() {
        let load = super::super::serve::lenet("inference");
        let runtime = Runtime::builder().build().unwrap();
        let graph = Model::load_graph(&runtime, &load.symbol).unwrap();
        let file = Checkpoint::open(&load.params, &Options::default()).unwrap().value;
        let params = file.arg.into_iter().chain(file.aux).collect();
        let options = QuantizeOptions { calib_mode: CalibMode::None, ..QuantizeOptions::default() };
        let quantizer = Quantizer::new(&graph, &params, runtime.ops(), &options).unwrap();
        let quantized = quantizer.finish(&CalibrationTable::empty()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let (symbol, params) = (folder.path().join("net-symbol.json"), folder.path().join("net-0000.params"));
        graph_to_file(&quantized.graph).save(&symbol).unwrap();
        quantized.checkpoint.clone().save(&params).unwrap();
        let batch = super::super::serve::uniform(load.n_elements());
        let in_float = Bound::new(&runtime, &load).unwrap().answer(&batch).unwrap();
        let load = Load { symbol, params, dtype: "int8".into(), ..load };
        let in_8_bits = Bound::new(&runtime, &load).unwrap().answer(&batch).unwrap();
        let far = in_float.iter().zip(&in_8_bits).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(far > 0.0 && far < 0.5, "{in_float:?} {in_8_bits:?}");
    }
}
