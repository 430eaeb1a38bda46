//! Binds a graph and runs it, forward and backward, within limits of memory and work.

use crate::{GRAPH_BYTES, MULTIPLY_ADDS, RESERVED_BYTES, TENSOR_BYTES};
use arbitrary::{Result, Unstructured};
use indexmap::IndexMap;
use mxrs_backend_cpu::CpuBackend;
use mxrs_backend_nnpack::{Nnpack, NnpackOptions};
use mxrs_engine::{Engine, EngineConfig, EngineKind};
use mxrs_exec::{BindOptions, Executor, GradReq, GradRequests, plan_graph};
use mxrs_format::Options;
use mxrs_symbol::{Registry, graph_from_bytes, graph_to_file};
use mxrs_graph::{Graph, infer_dtypes, infer_shapes};
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_op::{OpCall, OpSet, ReferenceBackend, TensorDesc};
use mxrs_ops::{Fusions, patterns};
use mxrs_storage::{PoolConfig, PoolKind, Storage, StorageConfig};
use mxrs_sync::Team;
use mxrs_types::{DType, Device, Shape};
use std::sync::{Arc, LazyLock};

/// The operators of the catalog.
pub static OPS: LazyLock<OpSet> = LazyLock::new(mxrs_ops::catalog);

/// Creates arrays. Every block is a separate allocation of the exact size, so that the address sanitizer detects accesses
/// beyond its end.
static CONTEXT: LazyLock<ArrayContext> = LazyLock::new(|| {
    let engine = Engine::new(EngineConfig::of_kind(EngineKind::Naive)).expect("an engine without threads");
    let cpu = PoolConfig::of_kind(PoolKind::Unpooled);
    let storage = Storage::new(StorageConfig { cpu, ..StorageConfig::default() }).expect("pools with valid settings");
    ArrayContext::new(engine, storage)
});

static OPTIONS: LazyLock<BindOptions> = LazyLock::new(|| {
    let team = Team::serial();
    let nnpack = Nnpack::new(&team, NnpackOptions::default());
    let mut options = BindOptions::new(vec![nnpack, CpuBackend::new(&team), Arc::new(ReferenceBackend)]);
    options.ops = OPS.clone();
    options.patterns = patterns(&Fusions::default()).into();
    options
});

/// A graph to bind, with the known shapes and types of its variables.
pub struct Case {
    /// The graph.
    pub graph: Graph,
    /// Shape and element type of variables, by name; those of missing variables are inferred.
    pub variables: Vec<(String, Shape, DType)>,
}

/// Writes a graph as a symbol file and reads it again.
pub fn through_symbol_file(graph: &Graph) -> Option<Graph> {
    let text = graph_to_file(graph).to_json();
    let registry = Registry { ops: &OPS, legacy: mxrs_ops::legacy_name };
    graph_from_bytes(text.as_bytes(), &registry, &Options::default()).ok().map(|loaded| loaded.value)
}

/// Plans the graph, and binds and runs it if it is small. Errors are accepted. Panics, accesses beyond an array, and memory
/// beyond the limit are failures.
///
/// # Errors
/// Fails if `from` has no more bytes.
///
/// # Panics
/// Panics if binding and running reserved more than [`RESERVED_BYTES`].
pub fn run(case: &Case, from: &mut Unstructured<'_>) -> Result<()> {
    let mut options = OPTIONS.clone();
    let is_training = from.ratio(1, 2)?;
    if is_training {
        options.gradients = Some(GradRequests::all(*from.choose(&[GradReq::Write, GradReq::Add])?));
    }
    options.autocast = *from.choose(&[None, None, None, Some(DType::BF16), Some(DType::F16)])?;
    if from.ratio(1, 8)? {
        options.backends = vec![Arc::new(ReferenceBackend)];
    }
    options.dtypes = case.variables.iter().map(|(name, _, dtype)| (name.clone(), *dtype)).collect();
    let inputs: Vec<(&str, Shape)> =
        case.variables.iter().map(|(name, shape, _)| (name.as_str(), shape.clone())).collect();
    if !is_small(case) {
        // Planning allocates memory for nodes only, so large shapes do not matter.
        let _ = plan_graph(&case.graph, &inputs, &options, is_training);
        return Ok(());
    }
    let before = CONTEXT.storage().stats(Device::cpu(0)).reserved;
    let (inputs, parameters) = inputs.split_at(from.int_in_range(0..=inputs.len())?);
    let mut params = IndexMap::new();
    for ((name, shape), (_, _, dtype)) in parameters.iter().zip(&case.variables[inputs.len()..]) {
        let Ok(array) = NdArray::zeros(&CONTEXT, shape.clone(), *dtype) else { return Ok(()) };
        params.insert((*name).to_owned(), array);
    }
    let Ok(executor) = Executor::bind(&case.graph, &CONTEXT, inputs, &params, &options) else { return Ok(()) };
    for (_, array) in executor.arrays() {
        fill(array, from)?;
    }
    let ran = if is_training { executor.forward_train() } else { executor.forward() };
    if ran.is_ok() && is_training {
        let outputs = executor.outputs().iter();
        let heads = outputs.map(|output| NdArray::zeros(&CONTEXT, output.shape().clone(), output.dtype()));
        if let Ok(heads) = heads.collect::<mxrs_types::Result<Vec<_>>>() {
            let _ = executor.backward(&heads);
        }
    } else if ran.is_ok() && from.ratio(1, 4)? {
        // In a second run, the constants are already packed.
        let _ = executor.forward();
    }
    let read = executor.outputs().iter().chain(executor.gradients().iter().map(|gradient| &gradient.array));
    for array in read {
        let _ = array.read_bytes(|bytes| bytes.iter().fold(0u8, |sum, byte| sum ^ byte));
    }
    let reserved = CONTEXT.storage().stats(Device::cpu(0)).reserved;
    assert!(reserved.saturating_sub(before) <= RESERVED_BYTES, "{reserved} bytes for a graph of {GRAPH_BYTES} at most");
    Ok(())
}

/// Fills an array with random bytes, or with small integers, which are valid indices and labels.
fn fill(array: &NdArray, from: &mut Unstructured<'_>) -> Result<()> {
    let mut bytes = vec![0u8; array.size_bytes()];
    if from.ratio(1, 4)? {
        from.fill_buffer(&mut bytes)?;
    } else {
        let seed: u8 = from.arbitrary()?;
        let size = array.dtype().size_of();
        for (i, element) in bytes.chunks_exact_mut(size).enumerate() {
            let value = (i as u8).wrapping_mul(seed | 1) % 4;
            match array.dtype() {
                DType::F32 => element.copy_from_slice(&f32::from(value).to_ne_bytes()),
                DType::F64 => element.copy_from_slice(&f64::from(value).to_ne_bytes()),
                DType::F16 => element.copy_from_slice(&[0, 0x3C + value]),
                DType::BF16 => element.copy_from_slice(&[0x80 * (value % 2), 0x3F]),
                _ => element[0] = value,
            }
        }
    }
    if array.dtype() == DType::Bool {
        bytes.iter_mut().for_each(|byte| *byte &= 1);
    }
    let _ = array.copy_from_bytes(&bytes);
    Ok(())
}

/// Whether all tensors and calls of the graph are small enough to run.
fn is_small(case: &Case) -> bool {
    let given = case.variables.iter().map(|(name, shape, _)| (name.as_str(), shape.into()));
    let Ok(shapes) = infer_shapes(&case.graph, given).and_then(|shapes| shapes.complete(&case.graph)) else {
        return false;
    };
    let given = case.variables.iter().map(|(name, _, dtype)| (name.as_str(), *dtype));
    let dtypes = infer_dtypes(&case.graph, given, Some(DType::F32)).and_then(|dtypes| dtypes.complete(&case.graph));
    let Ok(dtypes) = dtypes else { return false };
    let descs: Vec<TensorDesc> =
        shapes.into_iter().zip(dtypes).map(|(shape, dtype)| TensorDesc::dense(shape, dtype)).collect();
    let sizes = descs.iter().map(TensorDesc::size_bytes);
    if sizes.clone().any(|size| size > TENSOR_BYTES) || sizes.sum::<usize>() > GRAPH_BYTES {
        return false;
    }
    case.graph.iter().all(|(id, node)| {
        let Some((op, params)) = node.call() else { return true };
        let inputs: Vec<TensorDesc> = case.graph.input_ids(id).map(|entry| descs[entry.index()].clone()).collect();
        let outputs: Vec<TensorDesc> = case.graph.output_ids(id).map(|entry| descs[entry.index()].clone()).collect();
        let is_constant = vec![false; inputs.len()];
        let call =
            OpCall { op, params, inputs: &inputs, outputs: &outputs, is_constant: &is_constant, is_train: true };
        (op.multiply_adds)(&call) <= MULTIPLY_ADDS
    })
}
