//! Tests of iterators over MNIST, CSV and LibSVM files, created by builders and by MXNet's names and parameters.

use flate2::{Compression, write::GzEncoder};
use mxrs_data::{CsvIter, DataBatch, DataIter, LastBatch, LibSvmSettings, MnistIter, create};
use std::io::Write;
use std::path::{Path, PathBuf};

fn epoch_of(iter: &mut dyn DataIter) -> Vec<DataBatch> {
    std::iter::from_fn(|| iter.next_batch().unwrap()).collect()
}

fn floats(batches: &[DataBatch], labels: bool) -> Vec<f32> {
    let tensor = |b: &DataBatch| if labels { b.labels[0].to_f32_vec() } else { b.data[0].to_f32_vec() };
    batches.iter().flat_map(tensor).collect()
}

/// Writes `n` images of 2 x 3 pixels, gzipped, and labels `i % 10`. The first pixel of image `i` is `i`.
fn mnist(folder: &Path, n: u8) -> (PathBuf, PathBuf) {
    let (image, label) = (folder.join("images.gz"), folder.join("labels"));
    let mut bytes = vec![0, 0, 8, 3, 0, 0, 0, n, 0, 0, 0, 2, 0, 0, 0, 3];
    (0..n).for_each(|i| bytes.extend([i, 64, 128, 192, 255, 0]));
    let mut gz = GzEncoder::new(std::fs::File::create(&image).unwrap(), Compression::default());
    gz.write_all(&bytes).unwrap();
    gz.finish().unwrap();
    let mut bytes = vec![0, 0, 8, 1, 0, 0, 0, n];
    bytes.extend((0..n).map(|i| i % 10));
    std::fs::write(&label, bytes).unwrap();
    (image, label)
}

#[test]
fn mnist_files() {
    let folder = tempfile::tempdir().unwrap();
    let (image, label) = mnist(folder.path(), 23);
    let plain = MnistIter { batch_size: 5, shuffle: false, ..MnistIter::new(&image, &label) };
    let mut iter = plain.build().unwrap();
    assert_eq!(iter.provide_data()[0].shape[..], [5, 1, 2, 3]);
    assert_eq!(
        (iter.provide_label()[0].name.as_str(), &iter.provide_label()[0].shape[..]),
        ("softmax_label", &[5][..])
    );
    let batches = epoch_of(&mut iter);
    assert_eq!(batches.len(), 4, "the last three are left out");
    assert_eq!(floats(&batches, false)[..6], [0.0, 0.25, 0.5, 0.75, 255.0 / 256.0, 0.0]);
    assert_eq!(floats(&batches, true), (0..20_u8).map(|i| f32::from(i % 10)).collect::<Vec<_>>());
    let bright = MnistIter { white: 255, ..plain.clone() }.build();
    assert_eq!(floats(&epoch_of(&mut bright.unwrap()), false)[4], 1.0);
    let error = MnistIter { white: 0, ..plain.clone() }.build().map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("white"), "{error}");
    let mut all = MnistIter { last_batch: LastBatch::Pad, flat: true, ..plain.clone() }.build().unwrap();
    assert_eq!(all.provide_data()[0].shape[..], [5, 6]);
    assert_eq!(epoch_of(&mut all)[4].pad, 2);
    let (image, label) = (image.to_str().unwrap(), label.to_str().unwrap());
    let params = [("image", image), ("label", label), ("batch_size", "23"), ("seed", "3")];
    let mut shuffled = create("MNISTIter", &params).unwrap();
    let first = floats(&epoch_of(&mut shuffled), true);
    shuffled.reset().unwrap();
    assert_ne!(floats(&epoch_of(&mut shuffled), true), first);
    let mut shares = Vec::new();
    for part_index in 0..4 {
        let mut share = MnistIter { batch_size: 1, num_parts: 4, part_index, ..plain.clone() }.build().unwrap();
        shares.extend(epoch_of(&mut share).iter().map(|b| b.data[0].to_f32_vec()[0] * 256.0));
    }
    assert_eq!(shares, (0..23_u8).map(f32::from).collect::<Vec<_>>());
    let bad = MnistIter { part_index: 4, num_parts: 4, ..plain.clone() };
    assert!(bad.build().unwrap_err().to_string().contains("part_index"));
    let mixed = MnistIter { image: plain.label.clone(), ..plain.clone() };
    assert!(mixed.build().unwrap_err().to_string().contains("labels: got 1, expected 3"));
    std::fs::write(&plain.label, [0, 0, 8, 1, 0, 0, 0, 2, 1, 2]).unwrap();
    assert!(plain.build().unwrap_err().to_string().contains("one for each image"));
    assert!(MnistIter { image: "no/such".into(), ..plain }.build().unwrap_err().to_string().contains("no/such"));
}

#[test]
fn csv_files() {
    let folder = tempfile::tempdir().unwrap();
    let (data, label) = (folder.path().join("x.csv"), folder.path().join("y.csv"));
    std::fs::write(&data, "1,2,3,4\n5,6,7,8\n9,10,11,12\n").unwrap();
    std::fs::write(&label, "7\n8\n9\n").unwrap();
    let (x, y) = (data.to_str().unwrap(), label.to_str().unwrap());
    let params = [("data_csv", x), ("data_shape", "(2, 2)"), ("label_csv", y), ("batch_size", "2")];
    let mut iter = create("CSVIter", &params).unwrap();
    assert_eq!((&iter.provide_data()[0].shape[..], &iter.provide_label()[0].shape[..]), (&[2, 2, 2][..], &[2][..]));
    let batches = epoch_of(&mut iter);
    assert_eq!((batches.len(), batches[1].pad), (2, 1));
    assert_eq!(floats(&batches, false)[..12], (1..13_u8).map(f32::from).collect::<Vec<_>>());
    assert_eq!(floats(&batches, true), [7.0, 8.0, 9.0, 7.0]);
    let settings = CsvIter::new(&data, [4], 3);
    assert_eq!(floats(&epoch_of(&mut settings.build().unwrap()), true), [0.0; 3]);
    let message = |settings: CsvIter| settings.build().unwrap_err().to_string();
    assert!(message(CsvIter::new(&data, [3], 3)).contains("x.csv"));
    assert!(message(CsvIter::new(&data, [0], 3)).contains("no size of 0"));
    assert!(message(CsvIter::new(&data, [usize::MAX, 2], 3)).contains("shape"));
    std::fs::write(&label, "7\n8\n").unwrap();
    assert!(message(CsvIter { label_csv: Some(label.clone()), ..settings }).contains("one for each example"));
    std::fs::write(&data, "1,2,3,4\n5,6,7").unwrap();
    assert!(message(CsvIter::new(&data, [4], 1)).contains("line 2: 3 numbers, expected 4"));
    std::fs::write(&data, "").unwrap();
    assert!(message(CsvIter::new(&data, [4], 1)).contains("at least one row"));
    assert!(create("CSVIter", &[("data_csv", x)]).map(|_| ()).unwrap_err().to_string().contains("data_shape"));
}

#[test]
fn libsvm_files_come_in_full() {
    let folder = tempfile::tempdir().unwrap();
    let (data, label) = (folder.path().join("x.svm"), folder.path().join("y.svm"));
    std::fs::write(&data, "1 0:1 2:3\n0 1:2\n1\n").unwrap();
    let x = data.to_str().unwrap();
    let params = [("data_libsvm", x), ("data_shape", "(3,)"), ("batch_size", "2")];
    let mut iter = create("LibSVMIter", &params).unwrap();
    let batches = epoch_of(&mut iter);
    assert_eq!(floats(&batches, false), [1.0, 0.0, 3.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 3.0]);
    assert_eq!((floats(&batches, true), batches[1].pad), (vec![1.0, 0.0, 1.0, 1.0], 1));
    iter.seek(4, 1).unwrap();
    assert_eq!(epoch_of(&mut iter), batches[1..]);
    std::fs::write(&label, "0 0:5\n0 1:6\n0\n").unwrap();
    let settings =
        LibSvmSettings { label_libsvm: Some(label.clone()), label_width: 2, ..LibSvmSettings::new(&data, 3, 3) };
    assert_eq!(floats(&epoch_of(&mut settings.build().unwrap()), true), [5.0, 0.0, 0.0, 6.0, 0.0, 0.0]);
    std::fs::write(&label, "0 0:5\n").unwrap();
    let message = |settings: LibSvmSettings| settings.build().map(|_| ()).unwrap_err().to_string();
    assert!(message(settings.clone()).contains("3 as there are examples"));
    assert!(message(LibSvmSettings { label_libsvm: None, ..settings }).contains("label_libsvm"));
    assert!(message(LibSvmSettings::new(&data, 2, 1)).contains("line 1: column 2"));
    assert!(message(LibSvmSettings::new(&data, usize::MAX, 2)).contains("size of"));
}

#[test]
fn without_round_batch_zeros_fill_up_the_last_batch() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (csv, label) = (file("x.csv", "1\n2\n3\n4\n5\n"), file("y.csv", "6\n7\n8\n9\n10\n"));
    let (svm, wide) =
        (file("x.svm", "6 0:1\n7 0:2\n8 0:3\n9 0:4\n10 0:5\n"), file("y.svm", "0 0:6\n0 0:7\n0 0:8\n0 0:9\n0 0:10\n"));
    let of_csv = [("data_csv", csv.as_str()), ("label_csv", &label), ("data_shape", "(1,)"), ("batch_size", "3")];
    let of_svm = [("data_libsvm", svm.as_str()), ("data_shape", "(1,)"), ("batch_size", "3")];
    let of_wide = [("data_libsvm", svm.as_str()), ("label_libsvm", &wide), ("data_shape", "(1,)"), ("batch_size", "3")];
    for (kind, params) in [("CSVIter", &of_csv[..]), ("LibSVMIter", &of_svm), ("LibSVMIter", &of_wide)] {
        for (round, filled, index) in [("1", [1.0, 6.0], 0), ("0", [0.0, 0.0], 0)] {
            let params: Vec<_> = params.iter().copied().chain([("round_batch", round)]).collect();
            let mut iter = create(kind, &params).unwrap();
            // Every epoch is the same, regardless of the rows that filled up the previous one.
            for _ in 0..2 {
                let batches = epoch_of(&mut iter);
                assert_eq!(batches.iter().map(|b| b.pad).collect::<Vec<_>>(), [0, 1]);
                assert_eq!(floats(&batches, false), [1.0, 2.0, 3.0, 4.0, 5.0, filled[0]], "{kind} {round}");
                assert_eq!(floats(&batches, true), [6.0, 7.0, 8.0, 9.0, 10.0, filled[1]], "{kind} {round}");
                assert_eq!(batches[1].index, [3, 4, index]);
                iter.reset().unwrap();
            }
        }
    }
    let far = [("data_csv", csv.as_str()), ("data_shape", "(1,)"), ("batch_size", "8"), ("round_batch", "False")];
    let batches = epoch_of(&mut create("CSVIter", &far).unwrap());
    assert_eq!((floats(&batches, false), batches[0].pad), (vec![1.0, 2.0, 3.0, 4.0, 5.0, 0.0, 0.0, 0.0], 3));
}
