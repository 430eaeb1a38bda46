//! Arrays and operators for tests of optimizers.

use mxrs_engine::{Engine, EngineConfig};
use mxrs_exec::{BindOptions, Imperative};
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_op::{Backend, ReferenceBackend};
use mxrs_storage::{Storage, StorageConfig};
use mxrs_types::DType;
use std::sync::Arc;

/// Returns an [`Imperative`] that runs calls on these backends, with the reference backend as the last choice.
pub fn imperative(backends: Vec<Arc<dyn Backend>>) -> Imperative {
    let engine = Engine::new(EngineConfig::default()).expect("an engine");
    let storage = Storage::new(StorageConfig::default()).expect("storage");
    let context = ArrayContext::new(engine, storage);
    let backends = backends.into_iter().chain([Arc::new(ReferenceBackend) as Arc<dyn Backend>]).collect();
    let mut options = BindOptions::new(backends);
    options.ops = mxrs_ops::catalog();
    Imperative::new(&context, &options).expect("calls")
}

/// Returns an [`Imperative`] that runs calls on the reference kernels.
#[allow(dead_code, reason = "not every test needs it")]
pub fn reference() -> Imperative {
    imperative(Vec::new())
}

/// An array with these values.
#[allow(dead_code, reason = "not every test needs it")]
pub fn array(nd: &Imperative, shape: &[usize], values: &[f32], dtype: DType) -> NdArray {
    let single = NdArray::from_slice(nd.context(), shape, values).expect("an array");
    if dtype == DType::F32 { single } else { nd.cast(&single, dtype).expect("a cast") }
}

/// The elements of an array, as float32.
pub fn numbers(nd: &Imperative, array: &NdArray) -> Vec<f32> {
    let single = if array.dtype() == DType::F32 { array.clone() } else { nd.cast(array, DType::F32).expect("a cast") };
    single.to_vec().expect("numbers")
}
