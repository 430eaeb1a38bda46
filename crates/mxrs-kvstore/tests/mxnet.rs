//! Sums that MXNet 1.9.1 computed over CPU contexts, recorded by `tests/mxnet/make_kvstore.py`.

mod common;

use common::{context, outs, store, values};
use mxrs_kvstore::{Compression, Key, RowSparse, Value};
use mxrs_ndarray::{ArrayContext, NdArray};
use mxrs_types::{DType, Device};
use serde_json::Value as Json;

fn record() -> Json {
    serde_json::from_str(include_str!("golden/kvstore.json")).unwrap()
}

fn unhex(text: &Json) -> Vec<u8> {
    let digits = text.as_str().unwrap().as_bytes();
    let digit = |d: u8| (d as char).to_digit(16).unwrap() as u8;
    digits.chunks(2).map(|pair| digit(pair[0]) * 16 + digit(pair[1])).collect()
}

fn on(context: &ArrayContext, id: usize, shape: &[usize], dtype: DType, bytes: &[u8]) -> NdArray {
    let array = NdArray::empty(context, shape, dtype, Device::cpu(id as _), "test").unwrap();
    array.copy_from_bytes(bytes).unwrap();
    array
}

#[test]
fn sums_of_all_types_are_those_of_mxnet() {
    let (context, record) = (context(), record());
    let n = record["n"].as_u64().unwrap() as usize;
    let mut n_sums = 0;
    for name in ["local", "device"] {
        for (dtype_name, sums) in record["sums"][name].as_object().unwrap() {
            let dtype: DType = dtype_name.parse().unwrap();
            let arrays: Vec<NdArray> = record["inputs"][dtype_name]
                .as_array()
                .unwrap()
                .iter()
                .enumerate()
                .map(|(i, hex)| on(&context, i, &[n], dtype, &unhex(hex)))
                .collect();
            let store = store(&context, name);
            store.init(&[("w".into(), NdArray::zeros(&context, [n], dtype).unwrap())]).unwrap();
            for (m, expected) in sums.as_array().unwrap().iter().enumerate() {
                store.push(&values("w", &arrays[..=m]), 0).unwrap();
                let out = NdArray::zeros(&context, [n], dtype).unwrap();
                store.pull(&outs("w", std::slice::from_ref(&out)), 0).unwrap();
                let got = out.read_bytes(<[u8]>::to_vec).unwrap();
                assert_eq!(got, unhex(expected), "{name}, {dtype}, {} values", m + 1);
                n_sums += 1;
            }
        }
    }
    assert_eq!(n_sums, 2 * 7 * 9);
}

#[test]
fn compressed_sums_are_those_of_mxnet() {
    let (context, record) = (context(), record());
    let n = record["n"].as_u64().unwrap() as usize;
    for case in record["compressed"].as_array().unwrap() {
        let store = store(&context, "device");
        let threshold = case["threshold"].as_f64().unwrap();
        store.set_gradient_compression(Compression::new("2bit", threshold).unwrap()).unwrap();
        store.init(&[(0.into(), NdArray::zeros(&context, [n], DType::F32).unwrap())]).unwrap();
        let n_devices = case["devices"].as_u64().unwrap() as usize;
        let arrays: Vec<NdArray> = (0..n_devices)
            .map(|i| on(&context, i, &[n], DType::F32, &unhex(&record["inputs"]["float32"][i])))
            .collect();
        for expected in case["sums"].as_array().unwrap() {
            store.push(&values(0, &arrays), 0).unwrap();
            let out = NdArray::zeros(&context, [n], DType::F32).unwrap();
            store.pull(&outs(0, std::slice::from_ref(&out)), 0).unwrap();
            let expected: Vec<f32> = bytemuck::pod_collect_to_vec(&unhex(expected));
            assert_eq!(out.to_vec::<f32>().unwrap(), expected, "threshold {threshold}, {n_devices} devices");
        }
    }
}

#[test]
fn row_sparse_sums_are_those_of_mxnet() {
    let (context, record) = (context(), record());
    for name in ["local", "device"] {
        let case = &record["row_sparse"][name];
        let ids: Vec<Vec<i64>> = serde_json::from_value(case["ids"].clone()).unwrap();
        let pushed: Vec<(Key, Value)> = ids
            .iter()
            .enumerate()
            .map(|(i, ids)| {
                let bytes = unhex(&record["inputs"]["float32"][i]);
                let rows = on(&context, i, &[ids.len(), 4], DType::F32, &bytes[..ids.len() * 16]);
                (Key::from("w"), RowSparse::new(ids.as_slice(), rows).unwrap().into())
            })
            .collect();
        let store = store(&context, name);
        store.init(&[("w".into(), NdArray::zeros(&context, [6, 4], DType::F32).unwrap())]).unwrap();
        store.push(&pushed, 0).unwrap();
        let out = NdArray::zeros(&context, [6, 4], DType::F32).unwrap();
        store.pull(&outs("w", std::slice::from_ref(&out)), 0).unwrap();
        assert_eq!(out.read_bytes(<[u8]>::to_vec).unwrap(), unhex(&case["sum"]), "{name}");
    }
}
