//! What the tests of the stores share.
#![allow(dead_code)]

use mxrs_engine::{Engine, EngineConfig, EngineKind};
use mxrs_kvstore::{Key, KvStore, KvStoreOptions, StoreRegistry, Value};
use mxrs_ndarray::{ArrayContext, Element, NdArray};
use mxrs_storage::{Storage, StorageConfig};
use mxrs_types::Device;
use std::sync::Arc;

pub const KINDS: [EngineKind; 3] = [EngineKind::Naive, EngineKind::Threaded, EngineKind::ThreadedPerDevice];

pub fn context_of(kind: EngineKind) -> ArrayContext {
    let engine = Engine::new(EngineConfig::of_kind(kind)).unwrap();
    ArrayContext::new(engine, Storage::new(StorageConfig::default()).unwrap())
}

pub fn context() -> ArrayContext {
    context_of(EngineKind::default())
}

pub fn store(context: &ArrayContext, name: &str) -> Arc<dyn KvStore> {
    store_with(context, name, &KvStoreOptions::default())
}

pub fn store_with(context: &ArrayContext, name: &str, options: &KvStoreOptions) -> Arc<dyn KvStore> {
    StoreRegistry::new().create(name, context, options).unwrap()
}

/// An array on `cpu(id)`.
pub fn on<T: Element>(context: &ArrayContext, id: i32, shape: &[usize], elements: &[T]) -> NdArray {
    let array = NdArray::empty(context, shape, T::DTYPE, Device::cpu(id as _), "test").unwrap();
    array.copy_from(elements).unwrap();
    array
}

/// The same key for each of these arrays.
pub fn values(key: impl Into<Key>, arrays: &[NdArray]) -> Vec<(Key, Value)> {
    let key = key.into();
    arrays.iter().map(|array| (key.clone(), array.into())).collect()
}

/// [`values`], for a pull.
pub fn outs(key: impl Into<Key>, arrays: &[NdArray]) -> Vec<(Key, NdArray)> {
    let key = key.into();
    arrays.iter().map(|array| (key.clone(), array.clone())).collect()
}

/// Pulls one float32 value of this shape.
pub fn pull(context: &ArrayContext, store: &dyn KvStore, key: impl Into<Key>, shape: &[usize]) -> Vec<f32> {
    let out = on(context, 0, shape, &vec![f32::NAN; shape.iter().product()]);
    store.pull(&[(key.into(), out.clone())], 0).unwrap();
    out.to_vec().unwrap()
}

/// Numbers of different magnitudes, so that the order of additions shows.
pub fn numbers(seed: u64, n: usize) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    (0..n)
        .map(|_| {
            let bits = next();
            (bits as u32 as f32 / 4e9 - 0.5) * 2f32.powi((bits >> 40 & 15) as i32 - 8)
        })
        .collect()
}

pub fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|v| v.to_bits()).collect()
}
