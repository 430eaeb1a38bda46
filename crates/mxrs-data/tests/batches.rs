//! Tests of batches against MXNet's `ImageRecordIter`: pixels, labels, padding, shares of a file; and errors for damaged
//! files.

mod golden;

use golden::{Expected, bytes, file, image, write_records};
use mxrs_data::{Batch, ImageRecordIter, ImageRecordIterBuilder, ImageThreads};
use mxrs_format::recordio::{ImageRecord, RecordWriter};
use mxrs_sync::{Team, TeamConfig};
use mxrs_types::{ErrorKind, FormatErrorKind};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::thread;

fn digits(batch_size: usize) -> ImageRecordIterBuilder {
    ImageRecordIter::builder(file("data/digits/digits_val.rec"), [1, 28, 28], batch_size).preprocess_threads(2)
}

fn all(builder: ImageRecordIterBuilder) -> Vec<Batch> {
    builder.build().unwrap().map(|b| b.unwrap()).collect()
}

/// Labels of the rows that are not padding.
fn labels(batches: &[Batch]) -> Vec<f32> {
    batches.iter().flat_map(|b| b.labels[..b.n_valid() * b.label_width].to_vec()).collect()
}

#[test]
fn digits_are_mxnets_digits() {
    let expected = Expected::load();
    let batches = all(digits(32));
    assert_eq!(batches.len(), 10);
    let pads: Vec<i32> = batches.iter().map(|b| b.pad as i32).collect();
    assert_eq!(pads, expected.get::<i32>("digits.pad"));
    assert_eq!(pads[9], 23);
    let all_labels: Vec<f32> = batches.iter().flat_map(|b| b.labels.clone()).collect();
    assert_eq!(all_labels, expected.get::<f32>("digits.label"));
    for (i, batch) in batches.iter().enumerate() {
        for row in 0..batch.n {
            let pixels = batch.row(row);
            let sum: f64 = pixels.iter().map(|p| f64::from(*p)).sum();
            let weighted: f64 = pixels.iter().zip(1..).map(|(p, place)| f64::from(*p) * f64::from(place)).sum();
            assert_eq!(sum, expected.get::<f64>("digits.sum")[i * 32 + row], "{i} {row}");
            assert_eq!(weighted, expected.get::<f64>("digits.weighted")[i * 32 + row], "{i} {row}");
        }
    }
    let scaled = all(digits(32).scale(1.0 / 255.0));
    assert_eq!(scaled[0].row(0), expected.get::<f32>("digits.scaled.first"));
    assert_eq!(scaled[9].row(31), expected.get::<f32>("digits.scaled.last"));
}

#[test]
fn labels_are_those_of_the_network_file() {
    use mxrs_format::{ArrayFile, Options};
    let answers = ArrayFile::open(file("data/digits/lenet-val-prob.npz"), &Options::strict()).unwrap().value;
    let answers = answers.arrays.into_named().unwrap();
    let batches = all(digits(32));
    assert_eq!(labels(&batches), answers["label"].as_slice::<f32>().unwrap());
    assert_eq!(labels(&batches).len(), 297);
}

#[test]
fn photographs_normalized() {
    let expected = Expected::load();
    let folder = tempfile::tempdir().unwrap();
    let rec = folder.path().join("photos.rec");
    write_records(&rec, &[bytes("tests/fixtures/china.jpg"), bytes("tests/fixtures/flower.jpg")]);
    let builder = ImageRecordIter::builder(&rec, [3, 24, 32], 2)
        .resize(30)
        .mean([123.68, 116.28, 103.53, 0.0])
        .std([58.395, 57.12, 57.375, 1.0])
        .scale(1.7)
        .keep_images(true);
    let batches = all(builder);
    assert_eq!(batches.len(), 1);
    let Batch { data, labels, index, pad, n, images, .. } = &batches[0];
    assert_eq!((*pad, *n, &labels[..], &index[..]), (0, 2, &[0.0, 1.0][..], &[100, 101][..]));
    assert_eq!(images.iter().map(|i| (i.height(), i.width())).collect::<Vec<_>>(), [(427, 640); 2]);
    // The decoders of MXNet and of this crate may differ by two gray levels; this is that difference after
    // normalization.
    let most = 2.0 * 1.7 / 57.12 + 1e-5;
    let want = expected.get::<f32>("photos.normalized");
    assert_eq!(data.len(), want.len());
    for (i, (got, want)) in data.iter().zip(want).enumerate() {
        assert!((got - want).abs() <= most, "{i}: {got} {want}");
    }
}

#[test]
fn shares_are_those_of_mxnet() {
    let expected = Expected::load();
    let idx = file("data/digits/digits_val.idx");
    for (kind, with_idx) in [("idx", true), ("bytes", false)] {
        for part in 0..3 {
            let builder = digits(16).part(part, 3);
            let builder = if with_idx { builder.path_imgidx(&idx) } else { builder };
            let got = labels(&all(builder));
            assert_eq!(got, expected.get::<f32>(&format!("digits.part.{kind}.{part}")), "{kind} {part}");
        }
    }
    assert_eq!(labels(&all(digits(16).path_imgidx(&idx))), labels(&all(digits(16))));
}

#[test]
fn every_epoch_and_any_number_of_threads_gives_the_same() {
    let reference = all(digits(50).preprocess_threads(1));
    for threads in [2, 3, 8] {
        let mut batches = digits(50).preprocess_threads(threads).build().unwrap();
        for _ in 0..2 {
            let epoch: Vec<Batch> = batches.by_ref().map(|b| b.unwrap()).collect();
            assert_eq!(epoch, reference);
            assert!(batches.next().is_none());
            batches.reset().unwrap();
        }
    }
}

/// If images are processed one after the other, the threads share the work on each image. If several images are processed at
/// the same time, one thread does all work on an image.
#[test]
fn threads_share_an_image_or_images() {
    let folder = tempfile::tempdir().unwrap();
    let rec = folder.path().join("photos.rec");
    write_records(&rec, &[bytes("tests/fixtures/china.jpg"), bytes("tests/fixtures/flower.jpg")]);
    let builder = || ImageRecordIter::builder(&rec, [3, 300, 400], 2).resize(310);
    let reference = all(builder().preprocess_threads(1));
    for (preprocess_threads, n_shares) in [(1, 3), (2, 1)] {
        let team = Team::new(TeamConfig { threads: 3.try_into().unwrap(), cpus: None }).unwrap();
        let seen = Arc::new(Mutex::new(HashMap::new()));
        let counts = Arc::clone(&seen);
        let threads = ImageThreads::team(team).watched(move || {
            *counts.lock().unwrap().entry(thread::current().id()).or_insert(0) += 1;
        });
        assert_eq!(all(builder().preprocess_threads(preprocess_threads).image_threads(threads)), reference);
        let seen = seen.lock().unwrap();
        assert_eq!(seen.values().sum::<usize>(), 2 * 2 * n_shares, "two images, each resized and prepared");
        assert!(seen.len() <= preprocess_threads.max(n_shares), "{seen:?}");
    }
}

#[test]
fn length_is_known_from_an_index_a_count_or_an_epoch() {
    let mut batches = digits(100).build().unwrap();
    assert_eq!(batches.known_len(), None);
    let first = batches.next().unwrap().unwrap();
    assert_eq!(batches.count_records().unwrap(), 297);
    assert_eq!(batches.known_len(), Some(297));
    assert_ne!(batches.next().unwrap().unwrap(), first);
    let mut batches = digits(100).build().unwrap();
    assert_eq!(batches.by_ref().count(), 3);
    assert_eq!(batches.known_len(), Some(297));
    let batches = digits(100).path_imgidx(file("data/digits/digits_val.idx")).build().unwrap();
    assert_eq!(batches.known_len(), Some(297));
}

#[test]
fn padding_wraps_or_is_zero() {
    let folder = tempfile::tempdir().unwrap();
    let rec = folder.path().join("few.rec");
    write_records(&rec, &[image("L.png"), image("RGB.png"), image("P.png")]);
    let few = |batch_size| ImageRecordIter::builder(&rec, [3, 13, 17], batch_size);
    // A batch larger than the file repeats its records several times.
    let wrapped = all(few(8));
    assert_eq!((wrapped.len(), wrapped[0].pad), (1, 5));
    assert_eq!(wrapped[0].labels, [0.0, 1.0, 2.0, 0.0, 1.0, 2.0, 0.0, 1.0]);
    assert_eq!(wrapped[0].index, [100, 101, 102, 100, 101, 102, 100, 101]);
    assert_eq!(wrapped[0].row(7), wrapped[0].row(1));
    let zeros = all(few(2).round_batch(false));
    assert_eq!((zeros.len(), zeros[0].pad, zeros[1].pad), (2, 0, 1));
    assert_eq!((&zeros[1].labels[..], &zeros[1].index[..]), (&[2.0, 0.0][..], &[102, 0][..]));
    assert!(zeros[1].row(1).iter().all(|v| *v == 0.0));
    // A file whose records fill whole batches has no padding and no empty batch at the end.
    assert_eq!(all(few(3)).iter().map(|b| b.pad).collect::<Vec<_>>(), [0]);
    write_records(&rec, &[]);
    assert!(all(few(2)).is_empty());
}

#[test]
fn label_lists() {
    let folder = tempfile::tempdir().unwrap();
    let rec = folder.path().join("labels.rec");
    let mut writer = RecordWriter::create(&rec).unwrap();
    for i in 0..2u8 {
        let labels = vec![f32::from(i), 10.0, 20.0];
        writer.write(&ImageRecord { labels, image: &image("L.png"), ..Default::default() }.pack()).unwrap();
    }
    writer.finish().unwrap();
    let builder = ImageRecordIter::builder(&rec, [1, 13, 17], 2);
    let batches = all(builder.clone().label_width(3));
    assert_eq!(batches[0].labels, [0.0, 10.0, 20.0, 1.0, 10.0, 20.0]);
    assert_eq!(batches[0].labels_of(1), [1.0, 10.0, 20.0]);
    let e = builder.build().unwrap().next().unwrap().unwrap_err().to_string();
    assert!(e.contains("labels.rec at offset 0") && e.contains("3 labels, expected label_width 1"), "{e}");
}

#[test]
fn a_bad_record_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let rec = folder.path().join("bad.rec");
    let mut short = image("s0b.jpg");
    short.truncate(900);
    let offsets = write_records(&rec, &[image("s0b.jpg"), image("s0p.jpg"), short, b"GIF89a".to_vec()]);
    for threads in [1, 3] {
        let mut batches = ImageRecordIter::builder(&rec, [3, 37, 53], 2).preprocess_threads(threads).build().unwrap();
        assert!(batches.next().unwrap().is_ok());
        let e = batches.next().unwrap().unwrap_err();
        let ErrorKind::Format { path, offset, kind, context } = e.kind() else { panic!("{e}") };
        assert_eq!((path.as_deref(), *offset), (Some(&*rec), Some(offsets[2])), "{e}");
        assert!(matches!(kind, FormatErrorKind::Truncated { .. }), "{e}");
        assert!(context.starts_with("record 2 ") && context.contains("byte 900"), "{e}");
        assert!(batches.next().is_none(), "an error ends the epoch");
        batches.reset().unwrap();
        assert!(batches.next().unwrap().is_ok());
    }
    // The record file itself is damaged.
    let mut all_bytes = std::fs::read(&rec).unwrap();
    all_bytes[offsets[1] as usize] ^= 1;
    std::fs::write(&rec, all_bytes).unwrap();
    let e = ImageRecordIter::builder(&rec, [3, 37, 53], 1).build().unwrap().nth(1).unwrap().unwrap_err();
    let ErrorKind::Format { path, offset, kind, .. } = e.kind() else { panic!("{e}") };
    assert_eq!((path.as_deref(), *offset), (Some(&*rec), Some(offsets[1])), "{e}");
    assert!(matches!(kind, FormatErrorKind::BadMagic { .. }), "{e}");
}

#[test]
fn settings_are_checked_by_name() {
    let message = |b: ImageRecordIterBuilder| b.build().unwrap_err().to_string();
    for (builder, name) in [
        (digits(0), "batch_size"),
        (digits(1).label_width(0), "label_width"),
        (digits(1).label_width((1 << 24) + 1), "label_width: got 16777217, expected at most 16777216"),
        (digits(1).label_width(usize::MAX / 8), "label_width"),
        (digits(1).part(0, 0), "num_parts"),
        (digits(1).part(2, 2), "part_index"),
        (digits(1).preprocess_threads(0), "preprocess_threads"),
        (digits(1).resize(0), "resize"),
        (digits(1).scale(f32::NAN), "scale"),
        (digits(usize::MAX / 2), "batch of"),
        (digits(1).path_imgidx("no/such.idx"), "no/such.idx"),
        (ImageRecordIter::builder("no/such.rec", [1, 1, 1], 1), "no/such.rec"),
        (ImageRecordIter::builder("x.rec", [2, 1, 1], 1), "data_shape"),
    ] {
        let text = message(builder);
        assert!(text.contains(name), "{text}");
    }
}
