//! Tests with two networks that MXNet trained on digits: calibration gives MXNet's ranges, and the 8-bit networks are as
//! accurate as the float32 ones.
//!
//! Reference kernels are slow in debug builds, so debug builds test the quantized networks with only the first images, and
//! release builds with all images.

mod accuracy;
mod files;
mod mxnet;
mod thresholds;

use indexmap::IndexMap;
use mxrs_backend_nnpack::{Nnpack, NnpackOptions};
use mxrs_data::ImageRecordIter;
use mxrs_engine::{Engine, EngineConfig};
use mxrs_exec::BindOptions;
use mxrs_format::{Checkpoint, Options, Tensor};
use mxrs_graph::Graph;
use mxrs_ndarray::ArrayContext;
use mxrs_op::{OpSet, ReferenceBackend};
use mxrs_quantize::{CalibMode, CalibrationTable, QuantizeOptions, QuantizedNetwork, Quantizer};
use mxrs_storage::{Storage, StorageConfig};
use mxrs_symbol::{Registry, open_graph};
use mxrs_types::{Result, Shape};
use std::path::PathBuf;
use std::sync::Arc;

/// A network of the digits data set, trained by MXNet.
struct Net {
    graph: Graph,
    params: IndexMap<String, Tensor>,
    ops: OpSet,
}

/// Images with labels, preprocessed for the networks.
struct Images {
    rows: Vec<f32>,
    labels: Vec<f32>,
}

fn digits(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/digits")).join(name)
}

fn load(name: &str) -> Net {
    let ops = mxrs_ops::catalog();
    let symbol = digits(&format!("{name}-symbol.json"));
    let graph = open_graph(symbol, &Registry::new(&ops), &Options::default()).unwrap().value;
    let file = Checkpoint::open(digits(&format!("{name}-0010.params")), &Options::default()).unwrap().value;
    Net { graph, params: file.arg.into_iter().chain(file.aux).collect(), ops }
}

/// The first `n` validation images.
fn images(n: usize) -> Images {
    let records = ImageRecordIter::builder(digits("digits_val.rec"), [1, 28, 28], 27).scale(1.0 / 255.0);
    let mut all = Images { rows: Vec::new(), labels: Vec::new() };
    for batch in records.build().unwrap() {
        let batch = batch.unwrap();
        all.rows.extend_from_slice(&batch.data[..batch.n_valid() * 784]);
        all.labels.extend_from_slice(&batch.labels[..batch.n_valid()]);
    }
    all.rows.truncate(n * 784);
    all.labels.truncate(n);
    all
}

/// Backends and context for running networks: float32 convolutions run on mxrs's NNPACK backend, all other calls on
/// reference kernels.
fn machine() -> (ArrayContext, BindOptions) {
    let engine = Engine::new(EngineConfig::default()).unwrap();
    let context = ArrayContext::new(engine, Storage::new(StorageConfig::default()).unwrap());
    let nnpack = Nnpack::new(&mxrs_sync::Team::serial(), NnpackOptions::default());
    let mut options = BindOptions::new(vec![nnpack, Arc::new(ReferenceBackend)]);
    options.ops = mxrs_ops::catalog();
    (context, options)
}

/// Feeds a calibrator with images, 27 at a time.
fn feed(calibrator: &mut mxrs_quantize::Calibrator, images: &Images) -> Result<()> {
    for rows in images.rows.chunks(27 * 784) {
        let shape: Shape = [rows.len() / 784, 1, 28, 28].into();
        calibrator.feed(&[("data", shape, rows)])?;
    }
    Ok(())
}

/// Calibrates and quantizes a network.
fn quantize(net: &Net, options: &QuantizeOptions, images: &Images) -> (QuantizedNetwork, CalibrationTable) {
    let quantizer = Quantizer::new(&net.graph, &net.params, &net.ops, options).unwrap();
    let (context, bind) = machine();
    let table = match quantizer.calibrator(&context, &bind).unwrap() {
        None => CalibrationTable::empty(),
        Some(mut calibrator) => {
            feed(&mut calibrator, images).unwrap();
            calibrator.finish().unwrap()
        }
    };
    assert_eq!(table.ranges.is_empty(), options.calib_mode == CalibMode::None);
    (quantizer.finish(&table).unwrap(), table)
}
