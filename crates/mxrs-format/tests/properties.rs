//! Properties for arbitrary content: writing then reading is the identity, and damage never causes a panic.

mod support;

use indexmap::IndexMap;
use mxrs_format::recordio::{ImageList, ImageRecord, Index, ListEntry, MAGIC, RecordReader, RecordWriter};
use mxrs_format::{AlignedBytes, ArrayFile, Arrays, Csr, Options, RowSparse, Tensor, npy, npz};
use mxrs_types::{DType, Shape};
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use std::fs;
use support::{data, fixture, golden};

/// Number of cases per property.
const CASES: u32 = 64;

fn dense() -> impl Strategy<Value = Tensor> {
    (0..DType::ALL.len(), vec(0usize..4, 0..4), any::<u64>()).prop_map(|(dtype, shape, seed)| {
        let (dtype, shape) = (DType::ALL[dtype], Shape::from(&shape[..]));
        let len = shape.checked_size_bytes(dtype).unwrap();
        let mask = if dtype == DType::Bool { 1 } else { 0xff };
        let bytes: Vec<u8> = (0..len).map(|i| (seed >> (i % 57)) as u8 & mask).collect();
        Tensor::dense(dtype, shape, AlignedBytes::copy_of(&bytes)).unwrap()
    })
}

fn row_sparse() -> impl Strategy<Value = Tensor> {
    (btree_set(0i64..9, 0..6), 0usize..3).prop_map(|(rows, width)| {
        let indices: Vec<i64> = rows.into_iter().collect();
        let bytes = AlignedBytes::copy_of(&vec![3; indices.len() * width * 4]);
        Tensor::RowSparse(Box::new(RowSparse::new(DType::I32, [9, width].into(), indices, bytes).unwrap()))
    })
}

fn csr() -> impl Strategy<Value = Tensor> {
    vec(btree_set(0i64..7, 0..5), 0..5).prop_map(|rows| {
        let mut indptr = vec![0];
        let mut indices = Vec::new();
        for row in &rows {
            indices.extend(row);
            indptr.push(indices.len() as i64);
        }
        let bytes = AlignedBytes::copy_of(&vec![5; indices.len() * 2]);
        Tensor::Csr(Box::new(Csr::new(DType::F16, [rows.len(), 7].into(), indptr, indices, bytes).unwrap()))
    })
}

fn tensor() -> impl Strategy<Value = Tensor> {
    prop_oneof![4 => dense(), 1 => row_sparse(), 1 => csr()]
}

/// Bytes that often contain the magic number of records.
fn payload() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![Just(MAGIC.to_le_bytes().to_vec()), vec(any::<u8>(), 0..6), Just(vec![0; 4])];
    vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn lists(tensors in vec(prop_oneof![9 => tensor(), 1 => Just(Tensor::None)], 0..5), np_shape: bool) {
        let file = ArrayFile { arrays: Arrays::Unnamed(tensors), np_shape };
        let bytes = file.to_params_bytes().unwrap();
        let back = ArrayFile::from_bytes(&bytes, &Options::strict()).unwrap().value;
        prop_assert_eq!(&back.arrays, &file.arrays);
        prop_assert_eq!(back.to_params_bytes().unwrap(), bytes);
    }

    #[test]
    fn named_lists_and_archives(arrays in vec(("[a-z]{2}[a-z:.]{0,7}", tensor()), 1..5)) {
        let named: IndexMap<String, Tensor> = arrays.into_iter().collect();
        let file = ArrayFile::named(named);
        let back = ArrayFile::from_bytes(&file.to_params_bytes().unwrap(), &Options::strict()).unwrap().value;
        prop_assert_eq!(&back.arrays, &file.arrays);
        let mut archive = Vec::new();
        npz::write(&mut archive, &file.arrays).unwrap();
        prop_assert_eq!(&npz::read_bytes(&archive, &Options::strict()).unwrap().value.arrays, &file.arrays);
    }

    #[test]
    fn npy_arrays(tensor in dense()) {
        let mut bytes = Vec::new();
        npy::write(&mut bytes, tensor.as_dense().unwrap()).unwrap();
        prop_assert_eq!(npy::read_bytes(&bytes, &Options::strict()).unwrap().value, tensor);
    }

    #[test]
    fn records(payloads in vec(payload(), 0..8)) {
        let mut writer = RecordWriter::new(Vec::new());
        let offsets: Vec<u64> = payloads.iter().map(|p| writer.write(p).unwrap()).collect();
        let bytes = writer.into_inner();
        for options in [Options::strict(), Options::lenient()] {
            let mut reader = RecordReader::from_slice(&bytes, &options);
            let mut record = Vec::new();
            for (payload, offset) in payloads.iter().zip(&offsets) {
                prop_assert_eq!(reader.read_into(&mut record).unwrap(), Some(*offset));
                prop_assert_eq!(&record, payload);
            }
            prop_assert_eq!(reader.next_record().unwrap(), None);
            prop_assert_eq!(reader.skipped_bytes(), 0);
        }
    }

    #[test]
    fn image_records(label: f32, labels in vec(-9.0f32..9.0, 0..5), id: u64, image in vec(any::<u8>(), 1..9)) {
        prop_assume!(!label.is_nan());
        let record = ImageRecord { label, labels, id, id2: 0, image: &image };
        let payload = record.pack();
        prop_assert_eq!(ImageRecord::unpack(&payload).unwrap(), record);
    }

    #[test]
    fn indices_and_image_lists(entries in vec((any::<u64>(), 0u64..1 << 40), 0..9)) {
        let map: IndexMap<u64, u64> = entries.iter().map(|&(key, offset)| (key, offset * 4)).collect();
        let index = Index::from_entries(map.iter().map(|(k, o)| (*k, *o)).collect()).unwrap();
        let back = Index::from_bytes(index.to_text().as_bytes(), None).unwrap();
        prop_assert_eq!(&back, &index);
        prop_assert!(map.iter().all(|(key, offset)| back.offset(*key) == Some(*offset)));
        // The labels are multiples of 1/64, which have at most six decimals, as many as image lists store.
        let entry = |(&key, &offset): (&u64, &u64)| ListEntry {
            index: key,
            labels: vec![(offset % 4096) as f32 / 64.0; 1 + (offset % 3) as usize],
            path: format!("a b/{offset}.jpg"),
        };
        let list = ImageList { entries: map.iter().map(entry).collect(), n_skipped: 0 };
        let text = list.to_text().unwrap();
        prop_assert_eq!(ImageList::from_bytes(text.as_bytes(), &Options::strict()).unwrap().value, list);
    }
}

/// A name, the bytes of a small file, and its reader.
type Sample = (&'static str, Vec<u8>, fn(&[u8], &Options));

/// Small files, at least one of every format.
fn samples() -> Vec<Sample> {
    fn arrays(bytes: &[u8], options: &Options) {
        if let Ok(loaded) = ArrayFile::from_bytes(bytes, options) {
            let again = loaded.value.to_params_bytes().unwrap();
            let back = ArrayFile::from_bytes(&again, &Options::lenient()).unwrap().value;
            // Bytes are compared, because NaN is not equal to itself.
            assert_eq!(back.to_params_bytes().unwrap(), again);
        }
    }
    fn records(bytes: &[u8], options: &Options) {
        let mut reader = RecordReader::from_slice(bytes, options);
        let mut record = Vec::new();
        while let Ok(Some(_)) = reader.read_into(&mut record) {
            let _ = ImageRecord::unpack(&record);
        }
    }
    fn index(bytes: &[u8], _: &Options) {
        if let Ok(index) = Index::from_bytes(bytes, None) {
            assert_eq!(Index::from_bytes(index.to_text().as_bytes(), None).unwrap(), index);
        }
    }
    let file = |path: std::path::PathBuf| fs::read(path).unwrap();
    vec![
        ("params", file(fixture("dtypes.params")), arrays),
        ("sparse", file(fixture("sparse.params")), arrays),
        ("np", file(golden("np.params")), arrays),
        ("npy", file(golden("v2.npy")), arrays),
        ("npz", file(golden("list.npz")), arrays),
        ("rec", file(golden("escape.rec")), records),
        ("idx", file(data("digits_val.idx"))[..200].to_vec(), index),
    ]
}

#[test]
fn files_cut_at_any_byte() {
    for (_, bytes, read) in samples() {
        for len in 0..=bytes.len() {
            read(&bytes[..len], &Options::strict());
            read(&bytes[..len], &Options::lenient());
        }
    }
}

#[test]
fn files_with_any_byte_changed() {
    for (_, bytes, read) in samples() {
        let mut bytes = bytes;
        for at in 0..bytes.len() {
            let was = bytes[at];
            for flip in [1, 0x80, 0xff] {
                bytes[at] = was ^ flip;
                read(&bytes, &Options::strict());
                read(&bytes, &Options::lenient());
            }
            bytes[at] = was;
        }
    }
}
