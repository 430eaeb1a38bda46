//! Loading and freezing in one call gives the same network as in two calls, with less memory. These tests have their own
//! program, because resident bytes are those of the whole process.
#![cfg(target_os = "linux")]

use mxrs::env::MapSource;
use mxrs::format::{ArrayFile, Tensor};
use mxrs::graph::{NameManager, Symbol, SymbolCall};
use mxrs::symbol::graph_to_file;
use mxrs::types::Shape;
use mxrs::{BoundModel, Model, Runtime, Weights};
use mxrs_sync::{Mutex, MutexGuard};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const CHANNELS: usize = 1024;
const LAYERS: usize = 16;
/// Lock for measuring memory, so that only one test at a time does.
static ALONE: Mutex<()> = Mutex::new(());

fn runtime() -> Runtime {
    let two = MapSource::new([("OMP_NUM_THREADS", "2")]);
    // Packed weights have half the size of those in the file, if kernels support bfloat16 weights.
    Runtime::builder().env(&two).weights(Weights::Bfloat16).build().expect("a runtime")
}

/// Peak of this process's resident bytes since the last [`forget_peak`].
fn peak() -> usize {
    let text = std::fs::read_to_string("/proc/self/status").expect("Linux reports it");
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a field of every process");
    line.trim().trim_end_matches(" kB").parse::<usize>().expect("a number") << 10
}

fn forget_peak() {
    std::fs::write("/proc/self/clear_refs", "5").expect("Linux forgets");
}

/// Writes the files of a network of fully-connected layers, with 4 MiB of weights per layer and small biases.
fn files(runtime: &Runtime, folder: &Path) -> (PathBuf, PathBuf) {
    let mut names = NameManager::new();
    let op = runtime.ops().get("FullyConnected").expect("a built operator");
    let mut x = Symbol::variable("data");
    let mut arrays = Vec::new();
    for layer in 0..LAYERS {
        let call = SymbolCall::new(op).input(&x).attr("num_hidden", CHANNELS);
        x = call.name(format!("c{layer}")).build(&mut names).expect("a right call");
        let number = |i: usize| ((i * 7919 + layer * 104_729) % 1009) as f32 / 1009.0 / 512.0 - 0.001;
        let numbers = |n: usize| (0..n).map(number).collect::<Vec<f32>>();
        let weight = Tensor::from_slice([CHANNELS, CHANNELS], &numbers(CHANNELS * CHANNELS)).expect("a weight");
        arrays.push((format!("arg:c{layer}_weight"), weight));
        arrays
            .push((format!("arg:c{layer}_bias"), Tensor::from_slice([CHANNELS], &numbers(CHANNELS)).expect("a bias")));
    }
    let (symbol, params) = (folder.join("net-symbol.json"), folder.join("net-0000.params"));
    graph_to_file(&x.graph().expect("a graph")).save(&symbol).expect("room for a file");
    ArrayFile::named(arrays).save_params(&params).expect("room for a file");
    (symbol, params)
}

fn shape(batch: usize) -> Shape {
    [batch, CHANNELS].into()
}

fn answer(bound: &BoundModel, batch: usize) -> Vec<f32> {
    let data: Vec<f32> = (0..shape(batch).n_elements()).map(|i| (i % 13) as f32 / 13.0).collect();
    bound.forward(&[("data", &data)]).expect("it runs")[0].to_vec().expect("it has run")
}

/// The files of a network, and the lock under which one test at a time runs.
struct Turn {
    runtime: Runtime,
    folder: TempDir,
    symbol: PathBuf,
    params: PathBuf,
    _alone: MutexGuard<'static, ()>,
}

impl Turn {
    fn take() -> Self {
        let _alone = ALONE.lock();
        let (runtime, folder) = (runtime(), tempfile::tempdir().expect("a folder"));
        let (symbol, params) = files(&runtime, folder.path());
        Self { runtime, folder, symbol, params, _alone }
    }
}

#[test]
fn it_is_the_same_network_and_needs_less_memory() {
    let turn = Turn::take();
    let Turn { runtime, symbol, params, .. } = &turn;
    let shapes: &[&[(&str, Shape)]] = &[&[("data", shape(1))], &[("data", shape(2))]];
    let raw = LAYERS * CHANNELS * CHANNELS * 4;

    forget_peak();
    let before = peak();
    let frozen = Model::load_frozen(runtime, symbol, params, &shapes[..1]).expect("it loads");
    let grown = peak() - before;
    let packed = frozen[0].executor().report().expect("a report").packed_bytes;
    if packed < raw / 8 * 5 {
        assert!(grown < raw / 8 * 7, "{grown} bytes for {raw}, of which {packed} are packed");
    }
    let first = answer(&frozen[0], 1);
    drop(frozen);

    let late = Model::load_frozen(runtime, symbol, params, shapes).expect("it loads");
    let model = Model::load_files(runtime, symbol, params).expect("it loads");
    let early = model.freeze(shapes).expect("it binds");
    assert!(first.iter().any(|y| *y != 0.0) && first == answer(&early[0], 1));
    for (at, batch) in [(0, 1), (1, 2), (0, 1)] {
        assert!(answer(&late[at], batch) == answer(&early[at], batch), "batch {batch}");
    }
}

#[test]
fn faults_of_the_file_are_errors() {
    let turn = Turn::take();
    let Turn { runtime, folder, symbol, params, .. } = &turn;
    let shapes: &[&[(&str, Shape)]] = &[&[("data", shape(1))]];
    let load = |params: &Path| match Model::load_frozen(runtime, symbol, params, shapes) {
        Ok(_) => panic!("it loads"),
        Err(error) => error.to_string(),
    };
    let bytes = std::fs::read(params).expect("it is there");
    for len in [0, 10, 1 << 20, bytes.len() - (1 << 22), bytes.len() - 1] {
        std::fs::write(params, &bytes[..len]).expect("room for a file");
        let error = load(params);
        assert!(error.contains("net-0000.params"), "{error}");
    }
    assert!(load(&folder.path().join("none.params")).contains("none.params"));
}
