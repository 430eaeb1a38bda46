//! Tests of a record iterator's epochs: order, augmentation, resuming, shares, mean images, types and parameters.

mod golden;

use golden::{epoch_of, epochs, file, ids, image, write_records};
use mxrs_data::{Augment, DataBatch, DataIter, ImageRecordIter, ImageRecordIterBuilder, InterMethod, PixelType};
use mxrs_format::recordio::{ImageRecord, RecordWriter};
use mxrs_format::{ArrayFile, Options};
use std::collections::BTreeSet;

fn digits(batch_size: usize) -> ImageRecordIterBuilder {
    ImageRecordIter::builder(file("data/digits/digits_val.rec"), [1, 28, 28], batch_size).preprocess_threads(2)
}

/// All random changes together, with sizes small enough for many images.
fn everything() -> Augment {
    Augment {
        rand_crop: true,
        max_rotate_angle: 20,
        max_shear_ratio: 0.1,
        max_aspect_ratio: 0.2,
        max_random_scale: 1.2,
        min_random_scale: 0.9,
        pad: 2,
        brightness: 0.3,
        contrast: 0.3,
        saturation: 0.3,
        rand_mirror: true,
        max_random_contrast: 0.2,
        max_random_illumination: 5.0,
        inter_method: InterMethod::Random,
        ..Augment::default()
    }
}

#[test]
fn every_epoch_is_another_order_of_all_records() {
    let plain = ids(&epochs(digits(50), 1)[0]);
    assert_eq!(plain.iter().collect::<BTreeSet<_>>().len(), 297);
    for with_idx in [false, true] {
        let builder = || if with_idx { digits(50).path_imgidx(file("data/digits/digits_val.idx")) } else { digits(50) };
        let shuffled: Vec<Vec<u64>> = epochs(builder().shuffle(3), 3).iter().map(|e| ids(e)).collect();
        for (i, order) in shuffled.iter().enumerate() {
            assert!(order != &plain && shuffled[..i].iter().all(|other| other != order));
            let (mut sorted, mut want) = (order.clone(), plain.clone());
            sorted.sort_unstable();
            want.sort_unstable();
            assert_eq!(sorted, want);
            // In a true shuffle, few records follow their predecessor in the file.
            let neighbors = order.windows(2).filter(|two| two[1] == two[0] + 1).count();
            assert!(neighbors < 10, "{neighbors}");
        }
        let again: Vec<Vec<u64>> = epochs(builder().shuffle(3), 3).iter().map(|e| ids(e)).collect();
        assert_eq!(again, shuffled);
        let other: Vec<u64> = ids(&epochs(builder().shuffle(4), 1)[0]);
        assert_ne!(other, shuffled[0]);
    }
}

#[test]
fn chunks_change_places_and_stay_together() {
    let folder = tempfile::tempdir().unwrap();
    let rec = folder.path().join("large.rec");
    let mut writer = RecordWriter::create(&rec).unwrap();
    // Records of 300 KB: a chunk of 1 MB contains three or four.
    let mut png = image("L.png");
    png.resize(300 << 10, 0);
    for id in 0..40 {
        writer.write(&ImageRecord { id, image: &png, ..Default::default() }.pack()).unwrap();
    }
    writer.finish().unwrap();
    let builder = || ImageRecordIter::builder(&rec, [1, 13, 17], 40).preprocess_threads(2);
    let order = |builder: ImageRecordIterBuilder| ids(&epochs(builder, 1)[0]);
    let chunk = |id: u64| id * (300 << 10) / (1 << 20);
    for builder in [builder().shuffle_chunks(1, 7), builder().shuffle_chunks(1, 7).shuffle(1)] {
        let shuffled = order(builder);
        assert_eq!(shuffled.iter().collect::<BTreeSet<_>>().len(), 40);
        let changes = shuffled.windows(2).filter(|two| chunk(two[0]).abs_diff(chunk(two[1])) > 1).count();
        assert!((3..=14).contains(&changes), "{changes}: {shuffled:?}");
    }
    assert_ne!(order(builder().shuffle_chunks(1, 7)), order(builder().shuffle_chunks(1, 8)));
}

/// Batches are bit-identical for any number of threads, with or without prefetching, and after seeking to any position.
#[test]
fn batches_do_not_depend_on_threads_and_can_be_gone_to() {
    let builder = |threads| digits(40).shuffle(5).seed_aug(9).augment(everything()).preprocess_threads(threads);
    let reference = epochs(builder(1), 3);
    assert_ne!(reference[0][0].data, reference[1][0].data);
    for threads in [2, 8] {
        assert_eq!(epochs(builder(threads), 3), reference, "{threads} threads");
    }
    let mut ahead = builder(2).prefetch_buffer(3).build_prefetching().unwrap();
    assert_eq!((ahead.n_examples(), ahead.n_batches()), (Some(297), Some(8)));
    let mut fresh = builder(2).build().unwrap();
    for (epoch, batch) in [(2, 3), (0, 7), (1, 0), (2, 8), (0, 99), (1, 5)] {
        let want = &reference[epoch][batch.min(8)..];
        for iter in [&mut fresh as &mut dyn DataIter, &mut ahead] {
            iter.seek(epoch as u64, batch as u64).unwrap();
            assert_eq!(iter.epoch(), epoch as u64);
            let got: Vec<DataBatch> = std::iter::from_fn(|| iter.next_batch().unwrap()).collect();
            assert_eq!(got, want, "epoch {epoch} batch {batch}");
        }
    }
    // Also tests seeking without shuffling. Without a seek, an iterator that does not shuffle only reads the file
    // sequentially.
    let reference = epochs(digits(40), 1);
    let mut fresh = digits(40).build().unwrap();
    for batch in [6, 0, 7, 3] {
        DataIter::seek(&mut fresh, 0, batch).unwrap();
        assert_eq!(epoch_of(&mut fresh), reference[0][batch as usize..]);
    }
}

/// The augmentation of a record depends on seed, epoch and record, but not on its position in the order.
#[test]
fn augmentation_belongs_to_the_record() {
    let by_id = |builder: ImageRecordIterBuilder| -> Vec<(u64, Vec<u8>)> {
        let mut rows = Vec::new();
        for batch in &epochs(builder.augment(everything()), 1)[0] {
            let bytes = batch.data[0].bytes();
            let len = bytes.len() / batch.index.len();
            rows.extend((0..batch.n_valid()).map(|i| (batch.index[i], bytes[i * len..(i + 1) * len].to_vec())));
        }
        rows.sort();
        rows
    };
    let reference = by_id(digits(27));
    assert_eq!(by_id(digits(32).shuffle(1)), reference);
    let mut parts = Vec::new();
    for part in 0..3 {
        parts.extend(by_id(digits(10).shuffle(2).part(part, 3)));
    }
    parts.sort();
    assert_eq!(parts, reference);
    assert_ne!(by_id(digits(27).seed_aug(1)), reference);
}

#[test]
fn no_augmentation_is_plain_preparation() {
    let plain: Vec<f32> = digits(30).scale(0.5).build().unwrap().flat_map(|b| b.unwrap().data).collect();
    let tensors = epochs(digits(30).scale(0.5), 1);
    let values: Vec<f32> = tensors[0].iter().flat_map(|b| b.data[0].as_slice::<f32>().unwrap().to_vec()).collect();
    assert_eq!(values, plain);
}

#[test]
fn shapes_and_types() {
    let pixels = epochs(digits(9).pixel_type(PixelType::U8), 1);
    let floats = epochs(digits(9), 1);
    let signed = epochs(digits(9).pixel_type(PixelType::I8).mean([100.4, 0.0, 0.0, 0.0]), 1);
    for ((u, f), i) in pixels[0].iter().zip(&floats[0]).zip(&signed[0]) {
        let (u, f, i): (&[u8], &[f32], &[i8]) =
            (u.data[0].as_slice().unwrap(), f.data[0].as_slice().unwrap(), i.data[0].as_slice().unwrap());
        assert!(u.iter().zip(f).all(|(u, f)| f32::from(*u) == *f));
        assert!(u.iter().zip(i).all(|(u, i)| (i32::from(*u) - 100).clamp(-128, 127) == i32::from(*i)));
    }
    let iter = digits(9).pixel_type(PixelType::U8).names("x", "y").build().unwrap();
    assert_eq!(iter.provide_data()[0].shape[..], [9, 1, 28, 28]);
    assert_eq!((iter.provide_data()[0].name.as_str(), iter.provide_label()[0].name.as_str()), ("x", "y"));
    assert_eq!(iter.provide_label()[0].shape[..], [9]);
    assert!(digits(9).pixel_type(PixelType::U8).build().unwrap().next().unwrap().is_err(), "plain batches are f32");
}

/// Memory that the test lends to an iterator. By this type the test recognizes the memory in the batches.
struct Page(Vec<u64>);

impl mxrs_format::Lent for Page {
    fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }
    fn bytes_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
}

#[test]
fn batches_lie_in_memory_that_was_lent() {
    let lender = mxrs_format::Lender::new(|len| Ok(Box::new(Page(vec![u64::MAX; len / 8]))));
    for round_batch in [true, false] {
        let builder = digits(40).round_batch(round_batch);
        let lent = epochs(builder.clone().lender(lender.clone()), 1).remove(0);
        assert_eq!(lent, epochs(builder, 1)[0]);
        for batch in lent {
            let (_, _, bytes) = batch.data.into_iter().next().unwrap().into_parts();
            assert!(bytes.into_lent::<Page>().is_ok());
        }
    }
}

#[test]
fn labels_of_a_list_by_id() {
    let folder = tempfile::tempdir().unwrap();
    let (rec, lst) = (folder.path().join("few.rec"), folder.path().join("few.lst"));
    write_records(&rec, &[image("L.png"), image("L.png"), image("L.png")]);
    let builder = || ImageRecordIter::builder(&rec, [1, 13, 17], 3).path_imglist(&lst).label_width(2);
    std::fs::write(&lst, "102\t5\t6\tc.png\n100\t1\t2\ta.png\n101\t3\t4\tb.png\n").unwrap();
    let batch = &epochs(builder(), 1)[0][0];
    assert_eq!(batch.labels[0].shape()[..], [3, 2]);
    assert_eq!(batch.labels[0].as_slice::<f32>().unwrap(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let message = |b: ImageRecordIterBuilder| match b.build() {
        Ok(mut iter) => iter.next_batch().unwrap_err().to_string(),
        Err(e) => e.to_string(),
    };
    assert!(message(builder().label_width(1)).contains("label_width 1"));
    std::fs::write(&lst, "100\t1\t2\ta.png\n102\t5\t6\tc.png\n").unwrap();
    let text = message(builder());
    assert!(text.contains("101") && text.contains("path_imglist"), "{text}");
    std::fs::write(&lst, "100\t1\t2\ta.png\n100\t5\t6\tc.png\n").unwrap();
    assert!(message(builder()).contains("each index once"));
}

#[test]
fn a_mean_image_is_computed_once_and_read_after_that() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mean.nd");
    let plain: Vec<f32> = digits(27).build().unwrap().flat_map(|b| b.unwrap().data).collect();
    let mut mean = vec![0.0_f64; 784];
    plain.chunks_exact(784).for_each(|row| mean.iter_mut().zip(row).for_each(|(m, v)| *m += f64::from(*v) / 297.0));
    let first = epochs(digits(27).mean_img(&path).scale(0.5), 1);
    let saved = ArrayFile::open(&path, &Options::strict()).unwrap().value.arrays.into_named().unwrap();
    let saved: Vec<f32> = saved["mean_img"].as_slice::<f32>().unwrap().to_vec();
    assert!(saved.iter().zip(&mean).all(|(s, m)| (f64::from(*s) - m).abs() < 1e-4));
    let got: Vec<f32> = first[0].iter().flat_map(|b| b.data[0].as_slice::<f32>().unwrap().to_vec()).collect();
    for (i, (got, pixel)) in got.iter().zip(&plain).enumerate() {
        assert_eq!(*got, (pixel - saved[i % 784]) * 0.5);
    }
    let written = std::fs::metadata(&path).unwrap().modified().unwrap();
    assert_eq!(epochs(digits(27).mean_img(&path).scale(0.5), 1), first);
    assert_eq!(std::fs::metadata(&path).unwrap().modified().unwrap(), written);
    let other = ImageRecordIter::builder(file("data/digits/digits_val.rec"), [1, 20, 20], 4).mean_img(&path);
    assert!(other.build().unwrap_err().to_string().contains("expected data_shape"));
}

#[test]
fn parameters_are_those_of_the_builder() {
    let rec = file("data/digits/digits_val.rec");
    let rec = rec.to_str().unwrap();
    let required = [("path_imgrec", rec), ("data_shape", "(1,28,28)"), ("batch_size", "40")];
    let from = |more: &[(&str, &str)]| ImageRecordIterBuilder::from_params(&[&required[..], more].concat());
    assert_eq!(epochs(from(&[]).unwrap(), 1), epochs(digits(40), 1));
    let more = [
        ("shuffle", "True"),
        ("seed", "5"),
        ("seed_aug", "9"),
        ("rand_crop", "1"),
        ("max_rotate_angle", "20"),
        ("max_shear_ratio", "0.1"),
        ("max_aspect_ratio", "0.2"),
        ("max_random_scale", "1.2"),
        ("min_random_scale", "0.9"),
        ("pad", "2"),
        ("brightness", "0.3"),
        ("contrast", "0.3"),
        ("saturation", "0.3"),
        ("rand_mirror", "true"),
        ("max_random_contrast", "0.2"),
        ("max_random_illumination", "5"),
        ("inter_method", "10"),
        ("min_aspect_ratio", "None"),
        ("resize", "-1"),
        ("rotate", "-1"),
        ("max_crop_size", "-1"),
        ("ctx", "gpu"),
        ("verbose", "0"),
    ];
    let want = epochs(digits(40).shuffle(5).seed_aug(9).augment(everything()), 2);
    assert_eq!(epochs(from(&more).unwrap(), 2), want);
    let message =
        |params: &[(&str, &str)]| ImageRecordIterBuilder::from_params(params).map(|_| ()).unwrap_err().to_string();
    for missing in 0..3 {
        let mut params = required.to_vec();
        let (name, _) = params.remove(missing);
        let text = message(&params);
        assert!(text.contains(name) && text.contains("required"), "{text}");
    }
    for (name, value, hint) in [
        ("rand_mirorr", "1", "`rand_mirror`"),
        ("data_shape", "(1,28,28)", "once"),
        ("shuffle", "maybe", "True"),
        ("inter_method", "7", "Lanczos"),
        ("dtype", "float16", "uint8"),
        ("fill_value", "300", "fill_value"),
        ("aug_seq", "aug_other", "aug_default"),
        ("shuffle_chunk_size", "2", "4096"),
        ("max_rotate_angle", "1.5", "whole"),
        ("label_width", "x", "whole"),
        ("ctx", "tpu", "cpu_pinned"),
    ] {
        let text = message(&[&required[..], &[(name, value)]].concat());
        assert!(text.contains(name) && text.contains(hint) && text.contains("ImageRecordIter"), "{text}");
    }
    let bad = [("path_imgrec", "x"), ("data_shape", "(28,28)"), ("batch_size", "1")];
    assert!(message(&bad).contains("channels, height, width"));
    let e = from(&[("random_resized_crop", "1"), ("rand_crop", "1")]).unwrap().build().unwrap_err();
    assert!(e.to_string().contains("random_resized_crop"), "{e}");
}
