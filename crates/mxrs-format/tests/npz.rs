//! Tests of npy and npz with files of NumPy, with another zip library, and with hostile archives.

mod support;

use mxrs_format::{ArrayFile, Arrays, Csr, Options, RowSparse, Tensor, npz};
use mxrs_types::{DType, FormatErrorKind as K};
use std::io::{Cursor, Read, Write};
use support::{data, golden, kind};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

fn strict(bytes: &[u8]) -> mxrs_types::Result<ArrayFile> {
    ArrayFile::from_bytes(bytes, &Options::strict()).map(|l| l.value)
}

/// Every array in the file is `np.arange(6).reshape(2, 3).astype(type)`.
#[test]
fn every_type_of_numpy() {
    let arrays = ArrayFile::open(golden("types.npz"), &Options::strict()).unwrap().value.arrays.into_named().unwrap();
    assert_eq!(arrays.len(), 21);
    for (name, tensor) in &arrays {
        let expected = if name == "n_b1" { [0., 1., 1., 1., 1., 1.] } else { [0., 1., 2., 3., 4., 5.] };
        assert_eq!(tensor.to_f32_vec().unwrap(), expected, "{name}");
        assert_eq!(tensor.shape().unwrap()[..], [2, 3]);
    }
    assert_eq!(arrays["be_u8"].dtype(), Some(DType::U64));
    assert_eq!(arrays["le_f2"].dtype(), Some(DType::F16));
}

/// The file is `np.savez_compressed` of a Fortran-order array, `np.float64(1.5)` and `np.zeros((0, 2), 'i4')`.
#[test]
fn compressed_list_of_numpy() {
    let loaded = ArrayFile::open(golden("list.npz"), &Options::strict()).unwrap().value;
    let Arrays::Unnamed(list) = &loaded.arrays else { panic!("its members are arr_0, arr_1, arr_2") };
    assert_eq!(list[0].as_slice::<f32>().unwrap(), [0., 1., 2., 3., 4., 5.]);
    assert_eq!((list[1].shape().unwrap().ndim(), list[1].to_f32_vec().unwrap()), (0, vec![1.5]));
    assert_eq!((list[2].dtype(), &list[2].shape().unwrap()[..]), (Some(DType::I32), &[0, 2][..]));
    // The arrays also survive conversion to a 1.x list and back.
    assert_eq!(strict(&loaded.to_params_bytes().unwrap()).unwrap().arrays, loaded.arrays);
}

#[test]
fn versions_of_npy() {
    for version in 1..=3 {
        let file = ArrayFile::open(golden(&format!("v{version}.npy")), &Options::strict()).unwrap().value;
        let expected = Arrays::Unnamed(vec![Tensor::from_slice([2, 3], &[0i32, 1, 2, 3, 4, 5]).unwrap()]);
        assert_eq!(file.arrays, expected);
    }
}

#[test]
fn probabilities_of_the_digit_networks() {
    for net in ["lenet", "resnet8"] {
        let path = data(&format!("{net}-val-prob.npz"));
        let arrays = ArrayFile::open(path, &Options::strict()).unwrap().value.arrays.into_named().unwrap();
        let prob = arrays["prob"].as_slice::<f32>().unwrap();
        assert_eq!(arrays["prob"].shape().unwrap()[..], [297, 10]);
        // Rows of a softmax sum to one.
        assert!(prob.chunks(10).all(|row| (row.iter().sum::<f32>() - 1.0).abs() < 1e-5));
        assert!(arrays["label"].as_slice::<f32>().unwrap().iter().all(|l| (0.0..10.0).contains(l)));
    }
}

fn sample() -> ArrayFile {
    let bytes = |v: &[f32]| bytemuck::cast_slice::<f32, u8>(v).into();
    let rows = RowSparse::new(DType::F32, [5, 2].into(), vec![1, 4], bytes(&[1., 2., 3., 4.])).unwrap();
    let csr = Csr::new(DType::F32, [2, 3].into(), vec![0, 2, 3], vec![0, 2, 1], bytes(&[1., 2., 3.])).unwrap();
    ArrayFile::named([
        ("arg:w/x".to_string(), Tensor::from_slice([2, 2], &[1i64, 2, 3, 4]).unwrap()),
        ("rows".to_string(), Tensor::RowSparse(Box::new(rows))),
        ("é".to_string(), Tensor::from_slice([], &[half::bf16::from_f32(2.0)]).unwrap()),
        ("csr".to_string(), Tensor::Csr(Box::new(csr))),
    ])
}

#[test]
fn what_is_written_is_read_here_and_elsewhere() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.npz");
    let file = sample();
    file.save_npz(&path).unwrap();
    assert_eq!(ArrayFile::open(&path, &Options::strict()).unwrap().value, file);
    let bytes = std::fs::read(&path).unwrap();
    let mut other = ZipArchive::new(Cursor::new(&bytes)).unwrap();
    assert_eq!(other.len(), 2 + 4 + 5);
    for i in 0..other.len() {
        let mut member = other.by_index(i).unwrap();
        assert_eq!(member.compression(), CompressionMethod::Stored);
        let mut start = [0; 6];
        // Reading to the end makes the zip library check the CRC-32.
        member.read_exact(&mut start).unwrap();
        member.read_to_end(&mut Vec::new()).unwrap();
        assert_eq!(&start, b"\x93NUMPY");
    }
    let unwritable = |name: &str, t: Tensor| ArrayFile::named([(name.to_string(), t)]).save_npz(&path).is_err();
    let t = || Tensor::from_slice([1], &[1u8]).unwrap();
    assert!(unwritable("../a", t()) && unwritable("a/format", t()) && unwritable("a", Tensor::None));
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
}

/// An archive with these members, written by another zip library.
fn archive(members: &[(&str, &[u8])], options: SimpleFileOptions) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        zip.start_file(*name, options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn npy(tensor: &Tensor) -> Vec<u8> {
    let mut bytes = Vec::new();
    mxrs_format::npy::write(&mut bytes, tensor.as_dense().unwrap()).unwrap();
    bytes
}

#[test]
fn archives_of_another_library() {
    let t = Tensor::from_slice([1000], &[7u8; 1000]).unwrap();
    let bytes = npy(&t);
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    let deflated = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for options in [stored, deflated, stored.large_file(true), deflated.large_file(true)] {
        let file = strict(&archive(&[("a.npy", &bytes), ("b/c.npy", &bytes)], options)).unwrap();
        let arrays = file.arrays.into_named().unwrap();
        assert_eq!((&arrays["a"], &arrays["b/c"]), (&t, &t));
    }
    assert!(strict(&archive(&[], stored)).unwrap().arrays.is_empty());
}

/// MXNet 2.0 writes a `format.npy` whose header is not a valid dictionary.
#[test]
fn sparse_folders_with_an_odd_format_member() {
    let ints = |v: &[i32]| npy(&Tensor::from_slice([v.len()], v).unwrap());
    let values = npy(&Tensor::from_slice([2, 2], &[1.0f32, 2.0, 3.0, 4.0]).unwrap());
    for header in [118u16, 300] {
        let mut format = b"\x93NUMPY\x01\0".to_vec();
        format.extend(header.to_le_bytes());
        format.extend(b"{'descr': [('row_sparse', '<s')], oops".iter().chain(&[b' '; 400]).take(header.into()));
        format.extend(b"row_sparse");
        let parts: [(&str, &[u8]); 4] = [
            ("w/data.npy", &values),
            ("w/indices.npy", &ints(&[1, 3])),
            ("w/shape.npy", &ints(&[4, 2])),
            ("w/format.npy", &format),
        ];
        let arrays = strict(&archive(&parts, SimpleFileOptions::default())).unwrap().arrays.into_named().unwrap();
        let dense = arrays["w"].to_dense().unwrap();
        assert_eq!(dense.as_slice::<f32>().unwrap(), [0., 0., 1., 2., 0., 0., 3., 4.]);

        let missing = archive(&parts[1..], SimpleFileOptions::default());
        assert_eq!(*kind(&strict(&missing).unwrap_err()), K::Inconsistent);
        let mut beyond = parts;
        let far = ints(&[1, 4]);
        beyond[1].1 = &far;
        assert_eq!(*kind(&strict(&archive(&beyond, SimpleFileOptions::default())).unwrap_err()), K::InvalidValue);
    }
}

/// Positions of `word` in `bytes`.
fn places(bytes: &[u8], word: &[u8]) -> Vec<usize> {
    (0..bytes.len()).filter(|&i| bytes[i..].starts_with(word)).collect()
}

#[test]
fn hostile_archives() {
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    let deflated = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    let bytes = npy(&Tensor::from_slice([64], &[5u8; 64]).unwrap());
    let good = archive(&[("ab.npy", &bytes), ("cd.npy", &bytes)], stored);
    strict(&good).unwrap();
    let central = places(&good, b"PK\x01\x02")[0];
    let replaced = |from: &[u8], to: &[u8]| {
        let mut bytes = good.clone();
        for at in places(&good, from) {
            bytes[at..at + to.len()].copy_from_slice(to);
        }
        bytes
    };
    let patched = |at: usize, to: &[u8]| [&good[..at], to, &good[at + to.len()..]].concat();

    let fail = |bytes: &[u8]| kind(&strict(bytes).unwrap_err()).clone();
    assert_eq!(fail(&patched(central + 8, &[1])), K::UnsupportedFeature, "encrypted");
    assert_eq!(fail(&patched(central + 10, &[12])), K::UnsupportedFeature, "bzip2");
    assert_eq!(fail(&replaced(b"ab.npy", b"/b.npy")), K::InvalidValue, "absolute");
    assert_eq!(fail(&replaced(b"ab.npy", b"../npy")), K::InvalidValue, "outside");
    assert_eq!(fail(&replaced(b"ab.npy", b"a\\.npy")), K::InvalidValue, "backslash");
    assert_eq!(fail(&replaced(b"ab.npy", b"ab.txt")), K::InvalidValue, "no npy");
    assert_eq!(fail(&replaced(b"cd.npy", b"ab.npy")), K::Duplicate, "same name");
    assert_eq!(fail(&patched(central + 46, b"xx")), K::Inconsistent, "other name in the directory");
    assert_eq!(fail(&replaced(&[5; 64], &[6])), K::Inconsistent, "CRC-32");
    assert_eq!(fail(&patched(central + 24, &[0xff])), K::Inconsistent, "stored size");
    assert!(
        matches!(fail(&patched(good.len() - 12, &[3])), K::Truncated { .. }),
        "more members than the directory holds"
    );
    assert_eq!(fail(&patched(good.len() - 12, &[1])), K::Inconsistent, "fewer members than the directory holds");
    assert!(matches!(fail(&good[..good.len() - 1]), K::Truncated { .. }), "no end record");

    let small = archive(&[("ab.npy", &bytes)], deflated);
    let central = places(&small, b"PK\x01\x02")[0];
    let with_size = |size: u32| [&small[..central + 24], &size.to_le_bytes(), &small[central + 28..]].concat();
    assert!(matches!(fail(&with_size(1 << 30)), K::LimitExceeded { .. }), "ratio");
    assert_eq!(fail(&with_size(bytes.len() as u32 + 1)), K::Inconsistent, "longer than promised");
    assert!(strict(&with_size(bytes.len() as u32 - 1)).is_err(), "shorter than promised");
    let start = places(&small, b"ab.npy")[0] + 6;
    let damaged = [&small[..start], &[0xff; 4], &small[start + 4..]].concat();
    assert_eq!(fail(&damaged), K::InvalidValue, "no deflate data");

    // The directory has two entries for the same bytes.
    let at = places(&good, b"PK\x01\x02");
    let mut shared = good.clone();
    shared.copy_within(at[0] + 42..at[0] + 46, at[1] + 42);
    shared[at[1] + 46..at[1] + 48].copy_from_slice(b"ab");
    assert!(matches!(fail(&shared), K::Duplicate));

    let lenient = npz::read_bytes(&replaced(b"ab.npy", b"ab.txt"), &Options::lenient()).unwrap();
    assert_eq!(lenient.warnings, ["zip member `ab.txt` is not an npy array, ignored"]);
}
