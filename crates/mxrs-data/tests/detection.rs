//! Tests of images with objects against MXNet: values of deterministic augmentations, and distributions of random ones.
//! `tests/mxnet/make_detection.py` wrote the expected values.

mod golden;

use golden::{distance, image, named, statistic};
use mxrs_data::{DataBatch, DataIter, DetectAugment, ImageRecordIter, ImageRecordIterBuilder, create};
use mxrs_format::recordio::{ImageRecord, RecordWriter};
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

/// A label: the header has four values, of which two are extra; then each of the three objects has six. The last object has
/// no area.
const LABEL: [f32; 22] =
    [4.0, 6.0, 57.0, 48.0, 1.0, 0.1, 0.2, 0.45, 0.7, 0.5, 3.0, 0.5, 0.3, 0.95, 0.9, 0.25, 2.0, 0.3, 0.3, 0.3, 0.6, 1.0];

/// Writes a record file with one copy of the photograph for each label.
fn write(folder: &Path, labels: &[&[f32]]) -> PathBuf {
    let (photo, path) = (image("augment.png"), folder.join("objects.rec"));
    let mut writer = RecordWriter::create(&path).unwrap();
    for (id, labels) in labels.iter().enumerate() {
        let record = ImageRecord { id: id as u64, labels: labels.to_vec(), image: &photo, ..Default::default() };
        writer.write(&record.pack()).unwrap();
    }
    writer.finish().unwrap();
    path
}

/// One batch with these settings, given as `channels,height,width;key=value;...`.
fn batch(rec: &Path, n: usize, settings: &str) -> mxrs_types::Result<DataBatch> {
    let (shape, settings) = settings.split_once(';').unwrap_or((settings, ""));
    let n = n.to_string();
    let mut params = vec![("path_imgrec", rec.to_str().unwrap()), ("data_shape", shape), ("batch_size", &n)];
    params.extend(settings.split(';').filter(|s| !s.is_empty()).map(|setting| setting.split_once('=').unwrap()));
    let mut iter = ImageRecordIterBuilder::from_detection_params(&params)?.preprocess_threads(2).build()?;
    Ok(iter.next_batch()?.expect("a batch"))
}

#[test]
fn what_is_not_random_is_equal_to_mxnet() {
    let folder = tempfile::tempdir().unwrap();
    let rec = write(folder.path(), &[&LABEL]);
    let images = named("detection.params", "data:");
    assert_eq!(images.len(), 10);
    for (settings, want) in &images {
        let got = batch(&rec, 1, settings).unwrap();
        let labels = named("detection.params", "label:");
        let labels = labels[settings].as_slice::<f32>().unwrap();
        let own = got.labels[0].as_slice::<f32>().unwrap();
        assert_eq!(&got.labels[0].shape()[..], [1, labels.len()], "{settings}");
        assert!(own.iter().zip(labels).all(|(a, b)| (a - b).abs() < 1e-6), "{settings}: {own:?} {labels:?}");
        let [_, c, rows, columns] = got.data[0].shape()[..] else { panic!() };
        let want = want.as_dense().unwrap();
        let [height, width] = want.shape()[1..] else { panic!() };
        let data = got.data[0].as_slice::<f32>().unwrap();
        for (i, number) in data.iter().enumerate() {
            let (ch, y, x) = (i / rows / columns, i / columns % rows, i % columns);
            if y < height && x < width {
                let want = want.as_slice::<f32>().unwrap()[(ch * height + y) * width + x];
                assert!((number - want).abs() <= 1.0, "{settings}: {number} {want}");
            } else {
                assert_eq!(*number, 127.0, "{settings}: the border");
            }
        }
        assert_eq!(want.shape()[0], c);
    }
}

/// With 400 images each, the distance of two samples from one distribution exceeds 0.138 with probability 1/1000. None of
/// the about 25 pairs may exceed it.
#[test]
fn what_is_random_is_distributed_as_in_mxnet() {
    let folder = tempfile::tempdir().unwrap();
    let rec = write(folder.path(), &[&LABEL[..]; 400]);
    let cases = named("detection.params", "statistic:");
    assert!(cases.len() > 20, "{}", cases.len());
    let mut batches: BTreeMap<&str, DataBatch> = BTreeMap::new();
    let mut failures = Vec::new();
    for (name, want) in &cases {
        let (kind, settings) = name.split_once(':').unwrap();
        let batch =
            batches.entry(settings).or_insert_with(|| batch(&rec, 400, &format!("{settings};seed_aug=3")).unwrap());
        let rows = batch.data[0].as_slice::<f32>().unwrap().chunks_exact(3 * 24 * 32);
        let width = batch.labels[0].shape()[1];
        let labels = batch.labels[0].as_slice::<f32>().unwrap().chunks_exact(width);
        let number = |place: usize| labels.clone().map(|label| label[place]).collect();
        let (mut got, near): (Vec<f32>, f32) = match kind {
            "numbers" => (number(3), 0.1),
            "left" => (number(9), 1e-4),
            "bottom" => (number(12), 1e-4),
            _ => (rows.map(|row| statistic(kind, row)).collect(), 0.05),
        };
        got.sort_by(f32::total_cmp);
        let want = want.as_slice::<f32>().unwrap();
        let far = distance(&got, want, near);
        if far > 0.138 {
            failures.push(format!("{name}: {far}, medians {} {}", got[200], want[200]));
        }
    }
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), cases.len(), failures.join("\n"));
}

/// Rows have the width of the longest label in the whole file, for every share; shorter labels are padded.
#[test]
fn labels_are_padded_to_the_longest() {
    let folder = tempfile::tempdir().unwrap();
    let rec = write(folder.path(), &[&LABEL[..10], &LABEL[..16], &LABEL]);
    let both = batch(&rec, 3, "3,24,32").unwrap();
    assert_eq!(&both.labels[0].shape()[..], [3, 26]);
    let labels = both.labels[0].as_slice::<f32>().unwrap();
    assert_eq!(labels[..4], [3.0, 24.0, 32.0, 10.0]);
    assert!(labels[14..26].iter().all(|v| *v == -1.0));
    assert_eq!(labels[26 + 3], 16.0);
    assert_eq!(both.index, [0, 1, 2]);
    let share = batch(&rec, 1, "3,24,32;num_parts=3;part_index=0").unwrap();
    assert_eq!(&share.labels[0].shape()[..], [1, 26]);
    let list = folder.path().join("objects.lst");
    std::fs::write(
        &list,
        "0\t2\t5\t7\t0\t0\t1\t1\ta.png\n1\t2\t5\t8\t0\t0\t1\t1\tb.png\n2\t2\t5\t9\t0\t0\t.5\t1\tc.png\n",
    )
    .unwrap();
    let listed = batch(&rec, 3, &format!("3,24,32;path_imglist={}", list.display())).unwrap();
    assert_eq!(&listed.labels[0].shape()[..], [3, 11]);
    let classes: Vec<f32> = listed.labels[0].as_slice::<f32>().unwrap().chunks(11).map(|row| row[6]).collect();
    assert_eq!(classes, [7.0, 8.0, 9.0]);
}

/// For any random numbers, objects have an area and lie inside the image. The random numbers depend on seed, epoch and
/// record.
#[test]
fn objects_stay_inside_and_draws_are_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let rec = write(folder.path(), &[&LABEL[..]; 200]);
    let settings = "3,24,32;rand_crop_prob=.7;rand_pad_prob=.7;max_pad_scale=2;rand_mirror_prob=.5;min_crop_scales=.3;\
                    inter_method=10;num_crop_sampler=3;min_crop_overlaps=(0,.1,.3)";
    let first = batch(&rec, 200, settings).unwrap();
    assert_eq!(first.data[0].bytes(), batch(&rec, 200, settings).unwrap().data[0].bytes());
    let mut seen = HashSet::new();
    for label in first.labels[0].as_slice::<f32>().unwrap().chunks(26) {
        let n = label[3] as usize;
        assert!(n == 10 || n == 16, "one object or two");
        seen.insert(label[9].to_bits());
        for object in label[8..4 + n].chunks(6) {
            let [_, left, top, right, bottom, _] = *object else { panic!() };
            assert!(0.0 <= left && left < right && right <= 1.0 && 0.0 <= top && top < bottom && bottom <= 1.0);
        }
    }
    assert!(seen.len() > 100, "{}", seen.len());
}

const PROBABILITIES: [&str; 7] = [
    "rand_crop_prob",
    "rand_pad_prob",
    "rand_mirror_prob",
    "random_hue_prob",
    "random_saturation_prob",
    "random_illumination_prob",
    "random_contrast_prob",
];

#[test]
fn what_cannot_be_used_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let rec = write(folder.path(), &[&LABEL]);
    for (settings, expected) in [
        ("3,24,32;label_pad_width=12", "label_pad_width (12)"),
        ("3,24,32;label_width=5", "label_width 5"),
        ("3,24,32;aug_seq=aug_default", "det_aug_default"),
        ("3,24,32;rand_mirror=1", "`rand_mirror_prob`"),
        ("3,24,32;crop_emit_mode=middle", "center or overlap"),
        ("3,24,32;resize_mode=grow", "force, shrink or fit"),
        ("3,24,32;num_crop_sampler=3;min_crop_scales=(0.1,0.2)", "3 as num_crop_sampler says"),
        ("3,24,32;min_crop_scales=0.8;max_crop_scales=0.2", "crop_scales"),
        ("3,24,32;min_crop_scales=x", "numbers, such as"),
        ("3,24,32;max_pad_scale=0.5", "max_pad_scale"),
        ("3,24,32;max_pad_scale=inf", "max_pad_scale"),
        ("3,24,32;rand_pad_prob=1;max_pad_scale=1e30", "max_pad_scale"),
        ("3,24,32;label_pad_width=16777217", "label_pad_width: got 16777217, expected at most 16777216"),
        ("3,24,32;label_pad_width=2000000000000", "label_pad_width"),
        ("3,24,32;label_width=16777217", "label_width: got 16777217, expected at most 16777216"),
        ("3,24,32;max_crop_trials=nan", "whole numbers"),
        ("3,24,32;max_crop_trials=1.5", "whole numbers"),
        ("3,24,32;max_crop_trials=-1", "whole numbers"),
        ("3,24,32;max_crop_trials=1000001", "max_crop_trials: got 1000001, expected at most 1000000"),
        ("3,24,32;num_crop_sampler=3;max_crop_trials=(1,2)", "3 as num_crop_sampler says"),
        ("3,24,32;inter_method=7", "4 Lanczos, 9 automatic"),
        ("3,24,32;max_random_contrast=-1", "max_random_contrast"),
    ] {
        let message = batch(&rec, 1, settings).map(|_| ()).unwrap_err().to_string();
        assert!(message.contains(expected), "{settings}: {message}");
    }
    for name in PROBABILITIES {
        for value in ["nan", "50", "1.001", "inf"] {
            let message = batch(&rec, 1, &format!("3,24,32;{name}={value}")).map(|_| ()).unwrap_err().to_string();
            assert!(message.contains(name) && message.contains("0 to 1"), "{name}={value}: {message}");
        }
    }
    let bad = write(folder.path(), &[&[2.0, 4.0, 1.0]]);
    let message = batch(&bad, 1, "3,24,32").map(|_| ()).unwrap_err().to_string();
    assert!(message.contains("objects.rec") && message.contains("object width"), "{message}");
    for name in ["ImageIter", "ImageDetIter"] {
        let message = create(name, &[]).map(|_| ()).unwrap_err().to_string();
        assert!(message.contains("ImageDetRecordIter") && message.contains("Transformed"), "{message}");
    }
}

/// MXNet documents that a negative crop probability disables crops; 0 trials disable them too.
#[test]
fn a_crop_is_off_below_zero_and_without_trials() {
    let folder = tempfile::tempdir().unwrap();
    let rec = write(folder.path(), &[&LABEL]);
    let plain = batch(&rec, 1, "3,24,32").unwrap();
    for settings in ["3,24,32;rand_crop_prob=-1", "3,24,32;rand_crop_prob=1;max_crop_scales=0.5;max_crop_trials=0"] {
        let got = batch(&rec, 1, settings).unwrap();
        assert_eq!((&got.data, &got.labels), (&plain.data, &plain.labels), "{settings}");
    }
}

/// The builder's `label_width` is that of the records, regardless of the order of calls; rows have the padded width.
#[test]
fn label_width_counts_with_objects() {
    let folder = tempfile::tempdir().unwrap();
    let rec = write(folder.path(), &[&LABEL]);
    let plain = || ImageRecordIter::builder(&rec, [3, 24, 32], 1);
    let objects = |builder: ImageRecordIterBuilder| builder.detection(DetectAugment::default(), None, -1.0);
    for builder in [objects(plain()), objects(plain().label_width(22)), objects(plain()).label_width(22)] {
        let mut iter = builder.build().unwrap();
        assert_eq!(iter.label_width(), 26);
        assert_eq!(&iter.next_batch().unwrap().unwrap().labels[0].shape()[..], [1, 26]);
    }
    for builder in [objects(plain().label_width(5)), objects(plain()).label_width(5)] {
        let message = builder.build().unwrap().next_batch().map(|_| ()).unwrap_err().to_string();
        assert!(message.contains("22 labels, expected label_width 5"), "{message}");
    }
}

#[test]
fn it_is_made_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let rec = write(folder.path(), &[&LABEL, &LABEL]);
    let params = [("path_imgrec", rec.to_str().unwrap()), ("data_shape", "(3, 24, 32)"), ("batch_size", "2")];
    let mut iter = create("ImageDetRecordIter", &params).unwrap();
    assert_eq!(&iter.provide_label()[0].shape[..], [2, 26]);
    for _ in 0..2 {
        assert_eq!(iter.next_batch().unwrap().unwrap().pad, 0);
        assert!(iter.next_batch().unwrap().is_none());
        iter.reset().unwrap();
    }
}

/// Parameters of both `ImageRecordIter` and `ImageDetRecordIter`: those in MXNet's documentation, and
/// `max_bad_records`, `data_name`, `label_name`.
const BOTH: &str = "path_imgrec path_imglist path_imgidx aug_seq label_width data_shape preprocess_threads verbose num_parts \
    part_index shuffle_chunk_size shuffle_chunk_seed seed_aug shuffle seed batch_size round_batch prefetch_buffer \
    ctx dtype resize fill_value inter_method mean_img mean_r mean_g mean_b mean_a std_r std_g std_b std_a scale \
    max_random_contrast max_random_illumination max_bad_records data_name label_name";
/// Parameters of `ImageRecordIter` only.
const PLAIN: &str = "device_id rand_crop random_resized_crop max_rotate_angle max_aspect_ratio min_aspect_ratio max_shear_ratio \
    max_crop_size min_crop_size max_random_scale min_random_scale max_random_area min_random_area max_img_size \
    min_img_size brightness contrast saturation pca_noise random_h random_s random_l rotate rotate_list pad mirror \
    rand_mirror";
/// Parameters of `ImageDetRecordIter` only.
const OBJECTS: &str = "label_pad_width label_pad_value rand_crop_prob min_crop_scales max_crop_scales min_crop_aspect_ratios \
    max_crop_aspect_ratios min_crop_overlaps max_crop_overlaps min_crop_sample_coverages max_crop_sample_coverages \
    min_crop_object_coverages max_crop_object_coverages num_crop_sampler crop_emit_mode emit_overlap_thresh \
    max_crop_trials rand_pad_prob max_pad_scale max_random_hue random_hue_prob max_random_saturation \
    random_saturation_prob random_illumination_prob random_contrast_prob rand_mirror_prob resize_mode";

#[test]
fn each_iterator_knows_its_own_parameters() {
    type Read = fn(&[(&str, &str)]) -> mxrs_types::Result<ImageRecordIterBuilder>;
    let plain: Read = ImageRecordIterBuilder::from_params;
    let objects: Read = ImageRecordIterBuilder::from_detection_params;
    // Parsing fails in any case without the required parameters; only an unknown name is reported with the nearest one.
    let knows = |read: Read, name: &str| !read(&[(name, "1")]).unwrap_err().to_string().contains("nearest");
    for name in BOTH.split(' ') {
        assert!(knows(plain, name) && knows(objects, name), "{name}");
    }
    for name in PLAIN.split(' ') {
        assert!(knows(plain, name) && !knows(objects, name), "{name}");
    }
    for name in OBJECTS.split(' ') {
        assert!(!knows(plain, name) && knows(objects, name), "{name}");
    }
}
