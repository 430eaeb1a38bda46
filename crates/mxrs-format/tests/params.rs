//! Tests of parameter lists with files of MXNet 1.9.1 and with broken files.

mod support;

use half::f16;
use mxrs_format::params::{self, read_bytes};
use mxrs_format::{ArrayFile, Arrays, Checkpoint, Loaded, Options, Tensor};
use mxrs_types::{DType, FormatErrorKind as K};
use support::{data, fixture, golden, kind};

fn named(bytes: &[u8]) -> indexmap::IndexMap<String, Tensor> {
    read_bytes(bytes, &Options::strict()).unwrap().value.arrays.into_named().unwrap()
}

#[test]
fn files_of_mxnet_come_back_byte_for_byte() {
    let files = [
        data("lenet-0010.params"),
        data("resnet8-0010.params"),
        fixture("dtypes.params"),
        fixture("unnamed.params"),
        fixture("sparse.params"),
        golden("empty.params"),
        golden("sparse-empty.params"),
        golden("np.params"),
    ];
    for path in files {
        let bytes = std::fs::read(&path).unwrap();
        let loaded = ArrayFile::open(&path, &Options::strict()).unwrap();
        assert!(loaded.warnings.is_empty(), "{path:?}: {:?}", loaded.warnings);
        assert!(loaded.value.to_params_bytes().unwrap() == bytes, "{path:?} changed");
        let from_stream = params::read_stream(&bytes[..], &Options::strict()).unwrap();
        assert_eq!(from_stream, loaded);
    }
}

#[test]
fn checkpoints_come_back_byte_for_byte() {
    let dir = tempfile::tempdir().unwrap();
    for (name, n_arg, n_aux) in [("lenet", 8, 0), ("resnet8", 27, 16)] {
        let path = data(&format!("{name}-0010.params"));
        let checkpoint = Checkpoint::open(&path, &Options::strict()).unwrap().value;
        assert_eq!((checkpoint.arg.len(), checkpoint.aux.len()), (n_arg, n_aux), "{name}");
        let copy = params::checkpoint_path(dir.path().join(name), 10);
        checkpoint.save(&copy).unwrap();
        assert!(std::fs::read(copy).unwrap() == std::fs::read(path).unwrap());
    }
}

/// The expected values come from NumPy: `r = np.random.RandomState(3)`, then `r.randint(0, 100, (2, 3))` for each type in
/// the order float32, float64, float16, uint8, int8, int32, int64.
#[test]
fn values_of_every_type() {
    let arrays = named(&std::fs::read(fixture("dtypes.params")).unwrap());
    let order: Vec<&str> = arrays.keys().map(String::as_str).collect();
    assert_eq!(order, ["float32", "float64", "float16", "uint8", "int8", "int32", "int64"]);
    let a = |name: &str| &arrays[name];
    assert!(arrays.values().all(|t| t.shape().unwrap()[..] == [2, 3]));
    assert_eq!(a("float32").as_slice::<f32>().unwrap(), [24., 3., 56., 72., 0., 21.]);
    assert_eq!(a("float64").as_slice::<f64>().unwrap(), [19., 74., 41., 10., 21., 38.]);
    assert_eq!(a("float16").as_slice::<f16>().unwrap(), [96., 20., 44., 93., 39., 14.].map(f16::from_f32));
    assert_eq!(a("uint8").as_slice::<u8>().unwrap(), [26, 81, 90, 22, 66, 2]);
    assert_eq!(a("int8").as_slice::<i8>().unwrap(), [63, 60, 1, 51, 90, 69]);
    assert_eq!(a("int32").as_slice::<i32>().unwrap(), [97, 29, 24, 62, 7, 43]);
    assert_eq!(a("int64").as_slice::<i64>().unwrap(), [33, 79, 48, 37, 20, 94]);
}

#[test]
fn lists_without_names() {
    let list = ArrayFile::open(fixture("unnamed.params"), &Options::strict()).unwrap().value;
    let Arrays::Unnamed(list) = list.arrays else { panic!("it has no names") };
    // The arrays are `mx.nd.arange(5)` and `mx.nd.ones((2, 2))`.
    assert_eq!(list[0].as_slice::<f32>().unwrap(), [0., 1., 2., 3., 4.]);
    assert_eq!(list[1].as_slice::<f32>().unwrap(), [1.; 4]);
    let empty = ArrayFile::open(golden("empty.params"), &Options::strict()).unwrap().value;
    assert_eq!(empty.arrays, Arrays::Unnamed(vec![]));
}

/// Both arrays are `zeros((6, 4))` with row 1 set to 1 and row 4 to 2.
#[test]
fn sparse_values() {
    let arrays = named(&std::fs::read(fixture("sparse.params")).unwrap());
    let mut dense = [0.0f32; 24];
    dense[4..8].fill(1.0);
    dense[16..20].fill(2.0);
    // The csr array of this file has the storage shape (0) although it has 8 elements, because MXNet wrote it like this.
    for name in ["rsp", "csr"] {
        assert_eq!(arrays[name].to_dense().unwrap().as_slice::<f32>().unwrap(), dense, "{name}");
    }
    let empty = named(&std::fs::read(golden("sparse-empty.params")).unwrap());
    assert!(empty.values().all(|t| t.to_dense().unwrap().as_slice::<f32>().unwrap() == [0.0; 12]));
}

#[test]
fn numpy_shapes() {
    let loaded = ArrayFile::open(golden("np.params"), &Options::strict()).unwrap().value;
    assert!(loaded.np_shape);
    let arrays = loaded.arrays.into_named().unwrap();
    assert_eq!((&arrays["scalar"].shape().unwrap()[..], arrays["scalar"].to_f32_vec().unwrap()), (&[][..], vec![2.5]));
    assert_eq!(arrays["empty"].shape().unwrap()[..], [0, 3]);
    assert_eq!((arrays["bool"].dtype(), arrays["bool"].stored_bytes()), (Some(DType::Bool), &[1, 0, 1][..]));
}

/// The example dump in the specification of the format: `{'arg:w': [[1,2],[3,4]] f32, 'aux:m': [7] i64}`.
#[test]
fn worked_dump() {
    let mut dump = Vec::new();
    let mut words = |w: &[u32]| dump.extend(w.iter().flat_map(|w| w.to_le_bytes()));
    words(&[0x112, 0, 0, 0, 2, 0]);
    words(&[0xF993_FAC9, 0, 2, 2, 0, 2, 0, 1, 0, 0, 0x3f80_0000, 0x4000_0000, 0x4040_0000, 0x4080_0000]);
    words(&[0xF993_FAC9, 0, 1, 1, 0, 1, 0, 6, 7, 0]);
    words(&[2, 0, 5, 0]);
    dump.extend(b"arg:w");
    dump.extend(5u64.to_le_bytes());
    dump.extend(b"aux:m");
    assert_eq!(dump.len(), 154);
    let file = ArrayFile::named([
        ("arg:w".into(), Tensor::from_slice([2, 2], &[1.0f32, 2.0, 3.0, 4.0]).unwrap()),
        ("aux:m".into(), Tensor::from_slice([1], &[7i64]).unwrap()),
    ]);
    assert_eq!(file.to_params_bytes().unwrap(), dump);
    assert_eq!(read_bytes(&dump, &Options::strict()).unwrap().value, file);
}

/// A list that contains one array, `record`, without names.
fn list(record: &[u8]) -> Vec<u8> {
    [&0x112u64.to_le_bytes()[..], &[0; 8], &1u64.to_le_bytes(), record, &[0; 8]].concat()
}

fn words(words: &[i32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

const V1: i32 = 0xF993_FAC8_u32 as i32;
const V2: i32 = 0xF993_FAC9_u32 as i32;
const V3: i32 = 0xF993_FACA_u32 as i32;

fn one(bytes: &[u8]) -> Tensor {
    match read_bytes(&list(bytes), &Options::strict()).unwrap().value.arrays {
        Arrays::Unnamed(mut list) => list.remove(0),
        Arrays::Named(_) => panic!("it has no names"),
    }
}

#[test]
fn old_generations() {
    let expected = Tensor::from_slice([2, 1], &[5i32, 6]).unwrap();
    // The words are ndim, dims, device type, device number, type flag, data.
    assert_eq!(one(&words(&[2, 2, 1, 1, 0, 4, 5, 6])), expected);
    assert_eq!(one(&words(&[V1, 2, 2, 0, 1, 0, 2, 3, 4, 5, 6])), expected);
    assert_eq!(one(&words(&[0])), Tensor::None);
    assert_eq!(one(&words(&[V1, 0])), Tensor::None);
    assert_eq!(one(&words(&[V2, 0, 0])), Tensor::None);
    assert_eq!(one(&words(&[V3, 0, -1])), Tensor::None);
    assert_eq!(one(&words(&[V3, 0, 1, -1, -1])), Tensor::None);
    let scalar = one(&words(&[V3, 0, 0, 1, 0, 4, 9]));
    assert_eq!(scalar, Tensor::from_slice([], &[9i32]).unwrap());
    let empty = one(&words(&[V2, 0, 2, 0, 0, 3, 0, 1, 0, 0]));
    assert_eq!((empty.shape().unwrap()[..].to_vec(), empty.dtype()), (vec![0, 3], Some(DType::F32)));
    for tensor in [Tensor::None, scalar, empty] {
        let file = ArrayFile::unnamed([tensor]);
        assert_eq!(read_bytes(&file.to_params_bytes().unwrap(), &Options::strict()).unwrap().value.arrays, file.arrays);
    }
}

#[test]
fn headers_of_other_files() {
    let read = |bytes: &[u8]| read_bytes(bytes, &Options::strict()).unwrap_err();
    assert!(matches!(kind(&read(b"")), K::Truncated { need: 16, have: 0 }));
    assert!(matches!(kind(&read(&0x112u64.to_le_bytes())), K::Truncated { .. }));
    let hints: [(&[u8], &str); 8] = [
        (b"PK\x03\x04____________________", "zip"),
        (b"\x93NUMPY\x01\0v\0{'descr': '", "npy"),
        (b"<!DOCTYPE html><html>", "web page"),
        (b"\n<html lang=\"en\"><head>", "web page"),
        (b"\x1f\x8b\x08\0\0\0\0\0\0\0\0\0\0\0\0\0", "gzip"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer"),
        (b"{\"nodes\": [{\"op\": \"null\"", "JSON"),
        (b"something else of 16 bytes or more", "not an MXNet parameter list"),
    ];
    for (bytes, hint) in hints {
        let e = read(bytes);
        assert!(matches!(kind(&e), K::BadMagic { .. }), "{e}");
        assert!(e.to_string().contains(hint), "{e}");
    }
}

#[test]
fn broken_arrays() {
    let wide = |n: i64| [n as i32, (n >> 32) as i32];
    let v2 = |stype: i32, rest: &[i32]| list(&words(&[&[V2, stype][..], rest].concat()));
    let f32_of = |dims: &[i64], data: &[i32]| {
        let dims: Vec<i32> = dims.iter().flat_map(|&d| wide(d)).collect();
        v2(0, &[&[dims.len() as i32 / 2][..], &dims, &[1, 0, 0], data].concat())
    };
    let count = |n: u64| [&0x112u64.to_le_bytes()[..], &[0; 8], &n.to_le_bytes(), &[0; 64]].concat();
    type Case = (&'static str, Vec<u8>, fn(&K) -> bool);
    let cases: [Case; 16] = [
        ("n = 2^45", count(1 << 45), |k| matches!(k, K::Truncated { .. })),
        ("n = 2^62", count(1 << 62), |k| matches!(k, K::Truncated { .. })),
        ("ndim 2^28", v2(0, &[1 << 28]), |k| matches!(k, K::LimitExceeded { value: 0x1000_0000, max: 32 })),
        ("V0 ndim", list(&words(&[0x3fff_ffff])), |k| matches!(k, K::LimitExceeded { .. })),
        ("dims 2^40 x 2^40", f32_of(&[1 << 40, 1 << 40], &[]), |k| *k == K::Overflow),
        ("dim 2^33", f32_of(&[1 << 33], &[0; 4]), |k| matches!(k, K::Truncated { need: 0x8_0000_0000, .. })),
        ("dim -5", f32_of(&[-5], &[]), |k| *k == K::InvalidValue),
        ("dim -1 in V2", f32_of(&[-1], &[]), |k| *k == K::InvalidValue),
        ("ndim -2", v2(0, &[-2]), |k| *k == K::InvalidValue),
        ("ndim -2 in V3", list(&words(&[V3, 0, -2])), |k| *k == K::InvalidValue),
        ("type flag 77", v2(0, &[1, 1, 0, 1, 0, 77, 0]), |k| *k == K::InvalidValue),
        ("type flag -1", v2(0, &[1, 1, 0, 1, 0, -1, 0]), |k| *k == K::InvalidValue),
        ("stype 5", v2(5, &[1, 1, 0, 1, 0, 0, 0]), |k| *k == K::InvalidValue),
        ("sparse V3", list(&words(&[V3, 1, 1, 1, 0])), |k| *k == K::InvalidValue),
        ("bool 2", v2(0, &[1, 4, 0, 1, 0, 7, 0x0002_0100]), |k| *k == K::InvalidValue),
        ("axes missing", words(&[0x112, 0, 0, 0, 1, 0, V2, 0, 32, 1]), |k| matches!(k, K::Truncated { .. })),
    ];
    for (what, bytes, expected) in cases {
        let e = read_bytes(&bytes, &Options::strict()).unwrap_err();
        assert!(expected(kind(&e)), "{what}: {e}");
        assert!(e.to_string().contains("at offset"), "{what}: {e}");
    }
    let loaded = read_bytes(&list(&words(&[V2, 0, 1, 1, 0, 9, 0, 0, 0])), &Options::strict()).unwrap();
    assert_eq!(loaded.warnings, ["unknown device type 9 (number 0), read to the CPU"]);
}

#[test]
fn broken_sparse_arrays() {
    // A csr array of shape (3, 4) with 3 float32 elements.
    let csr = |indptr: [i32; 4], columns: [i32; 3], nnz: i32| {
        let mut w = vec![V2, 2, 1, nnz, 0, 2, 3, 0, 4, 0, 1, 0, 0, 6, 1, 4, 0, 6, 1, 3, 0];
        w.extend([1, 2, 3].map(|v: i32| (v as f32).to_bits() as i32));
        w.extend(indptr.iter().chain(&columns).flat_map(|&v| [v, v >> 31]));
        list(&words(&w))
    };
    let read = |bytes: &[u8]| read_bytes(bytes, &Options::strict());
    let good = read(&csr([0, 2, 2, 3], [0, 3, 1], 3)).unwrap().value.arrays;
    assert_eq!(good.iter().next().unwrap().1.to_dense().unwrap().to_f32_vec().unwrap()[..4], [1., 0., 0., 2.]);
    for (bytes, expected) in [
        (csr([0, 100, -1, 3], [0, 1, 2], 3), K::Inconsistent),
        (csr([0, 1, 2, 2], [0, 1, 2], 3), K::Inconsistent),
        (csr([0, 2, 2, 3], [3, 0, 1], 3), K::InvalidValue),
        (csr([0, 2, 2, 3], [0, 4, 1], 3), K::InvalidValue),
        (csr([0, 2, 2, 3], [0, -1, 1], 3), K::InvalidValue),
        (csr([0, 2, 2, 3], [0, 1, 1], 2), K::Inconsistent),
    ] {
        assert_eq!(*kind(&read(&bytes).unwrap_err()), expected);
    }
    let sorted = read_bytes(&csr([0, 2, 2, 3], [3, 0, 1], 3), &Options::lenient()).unwrap();
    assert_eq!(sorted.warnings, ["csr array with unsorted columns, sorted"]);
    let dense = sorted.value.arrays.iter().next().unwrap().1.to_dense().unwrap();
    assert_eq!(dense.to_f32_vec().unwrap()[..4], [2., 0., 0., 1.]);
}

/// Deviations in sparse arrays that strict reading refuses and lenient reading accepts with a warning.
#[test]
fn lenient_reading_of_sparse_arrays() {
    let values = [1.0f32, 2.0, 3.0].map(|v| v.to_bits() as i32);
    let strict = |bytes: &[u8]| kind(&read_bytes(bytes, &Options::strict()).unwrap_err()).clone();
    let lenient = |bytes: &[u8]| {
        let Loaded { value, warnings } = read_bytes(bytes, &Options::lenient()).unwrap();
        let dense = value.arrays.iter().next().unwrap().1.to_dense().unwrap();
        (dense.to_f32_vec().unwrap(), warnings)
    };
    // A csr array of shape (2, 2): storage type, storage shape, shape, device, type, indices with their types and lengths.
    let csr = |stored: i32, index_dtype: i32, indices: &[i32]| {
        let mut w = vec![V2, 2, 1, stored, 0, 2, 2, 0, 2, 0, 1, 0, 0];
        w.extend([index_dtype, 1, 3, 0, index_dtype, 1, 3, 0]);
        w.extend(values);
        match index_dtype {
            4 => w.extend(indices),
            _ => w.extend(indices.iter().flat_map(|&v| [v, v >> 31])),
        }
        list(&words(&w))
    };
    let dense = [1.0, 2.0, 0.0, 3.0];
    // The storage shape contradicts the indices. Only the storage shape 0 is accepted in strict reading, because MXNet
    // writes it.
    let bytes = csr(2, 6, &[0, 2, 3, 0, 1, 1]);
    assert_eq!(strict(&bytes), K::Inconsistent);
    let (values_read, warnings) = lenient(&bytes);
    assert_eq!(values_read, dense);
    assert!(
        warnings.len() == 1 && warnings[0].contains("stores shape") && warnings[0].contains("taken"),
        "{warnings:?}"
    );
    // Indices of type int32.
    let bytes = csr(3, 4, &[0, 2, 3, 0, 1, 1]);
    assert_eq!(strict(&bytes), K::InvalidValue);
    let (values_read, warnings) = lenient(&bytes);
    assert_eq!(values_read, dense);
    assert!(warnings.iter().all(|w| w.contains("int32 indices")) && warnings.len() == 2, "{warnings:?}");
    // Lenient reading still refuses broken structure: here a column that the matrix does not have.
    let bytes = csr(3, 6, &[0, 2, 3, 0, 2, 1]);
    assert_eq!(*kind(&read_bytes(&bytes, &Options::lenient()).unwrap_err()), K::InvalidValue);
}

#[test]
fn broken_names_and_ends() {
    let good = std::fs::read(fixture("dtypes.params")).unwrap();
    let strict = |bytes: &[u8]| read_bytes(bytes, &Options::strict()).unwrap_err();
    let lenient = |bytes: &[u8]| read_bytes(bytes, &Options::lenient()).unwrap();
    let names_at = good.len() - (8 + 7 * 8 + "float32float64float16uint8int8int32int64".len());
    assert_eq!(good[names_at..names_at + 8], 7u64.to_le_bytes());

    let missing = strict(&good[..names_at]);
    assert!(matches!(kind(&missing), K::Truncated { need: 8, have: 0 }));
    let short = strict(&good[..names_at - 4]);
    assert!(matches!(kind(&short), K::Truncated { need: 48, have: 44 }));
    assert!(short.to_string().contains("while reading array 6 of 7"), "{short}");

    let with = |at: usize, bytes: &[u8]| [&good[..at], bytes, &good[at + bytes.len()..]].concat();
    assert_eq!(*kind(&strict(&with(names_at, &6u64.to_le_bytes()))), K::Inconsistent);
    assert_eq!(*kind(&strict(&with(names_at, &(1u64 << 50).to_le_bytes()))), K::Inconsistent);
    let long = strict(&with(names_at + 8, &(1u64 << 50).to_le_bytes()));
    assert!(matches!(kind(&long), K::Truncated { need: 0x4_0000_0000_0000, .. }));
    assert!(long.to_string().contains("while reading the name of array 0"), "{long}");
    assert_eq!(*kind(&strict(&with(names_at + 16, b"\xff"))), K::InvalidValue);

    let twice = with(names_at + 16, b"float64");
    assert_eq!(*kind(&strict(&twice)), K::Duplicate);
    let Loaded { value, warnings } = lenient(&twice);
    assert_eq!(warnings, ["two arrays named `float64`, the last one is kept"]);
    assert_eq!(value.arrays.into_named().unwrap()["float64"].dtype(), Some(DType::F64));

    let longer = [&good[..], b"xyz"].concat();
    assert_eq!(*kind(&strict(&longer)), K::TrailingData { bytes: 3 });
    assert_eq!(lenient(&longer).warnings, ["3 bytes after the end, ignored"]);
    let reserved = read_bytes(&with(8, &[1]), &Options::strict()).unwrap();
    assert_eq!(reserved.warnings, ["reserved word of the header is 0x1, expected 0"]);
}

#[test]
fn errors_of_files_have_their_path() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cut.params");
    std::fs::write(&path, [0x12, 1]).unwrap();
    let e = Checkpoint::open(&path, &Options::strict()).unwrap_err();
    assert!(e.to_string().contains("cut.params at offset 0: truncated"), "{e}");
}
