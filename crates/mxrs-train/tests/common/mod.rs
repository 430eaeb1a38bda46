//! What the tests share: a machine on the reference kernels, small networks and data.
#![allow(dead_code)]

use mxrs_engine::{Engine, EngineConfig, EngineKind};
use mxrs_exec::BindOptions;
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_op::ReferenceBackend;
use mxrs_storage::{Storage, StorageConfig};
use mxrs_types::Shape;
use std::sync::Arc;

pub const KINDS: [EngineKind; 3] = [EngineKind::Naive, EngineKind::Threaded, EngineKind::ThreadedPerDevice];

pub fn context_of(kind: EngineKind) -> ArrayContext {
    let engine = Engine::new(EngineConfig::of_kind(kind)).expect("the engine starts");
    let context = ArrayContext::new(engine, Storage::new(StorageConfig::default()).expect("the pools start"));
    context.random().seed(17);
    context
}

pub fn context() -> ArrayContext {
    context_of(EngineKind::ThreadedPerDevice)
}

pub fn options() -> BindOptions {
    let mut options = BindOptions::new(vec![Arc::new(ReferenceBackend)]);
    options.ops = mxrs_ops::catalogue();
    options
}

pub fn array(context: &ArrayContext, shape: impl Into<Shape>, values: &[f32]) -> NdArray {
    NdArray::from_slice(context, shape, values).expect("values of the shape's size")
}

/// Numbers in [-1, 1) that follow from the seed.
pub fn numbers(seed: u64, n: usize) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    std::iter::repeat_with(next).take(n).collect()
}
