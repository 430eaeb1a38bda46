//! Augmenters against MXNet's: pixels where nothing is random, distributions where something is.
//! `tests/mxnet/make_augment.py` wrote what is expected.

mod golden;

use golden::{Difference, distance, image, named, statistic};
use mxrs_data::{DataIter, ImageRecordIterBuilder};
use mxrs_format::recordio::{ImageRecord, RecordWriter};
use std::collections::BTreeMap;
use std::path::Path;

/// The photograph `n` times.
fn write(path: &Path, n: u64) {
    let photo = image("augment.png");
    let mut writer = RecordWriter::create(path).unwrap();
    for id in 0..n {
        writer.write(&ImageRecord { id, image: &photo, ..Default::default() }.pack()).unwrap();
    }
    writer.finish().unwrap();
}

/// One batch with these settings, as `key=value;...`.
fn batch(rec: &Path, shape: &str, n: usize, settings: &str, dtype: &str) -> mxrs_format::Dense {
    let n = n.to_string();
    let mut params =
        vec![("path_imgrec", rec.to_str().unwrap()), ("data_shape", shape), ("batch_size", &n), ("dtype", dtype)];
    params.extend(settings.split(';').filter(|s| !s.is_empty()).map(|setting| setting.split_once('=').unwrap()));
    let mut iter = ImageRecordIterBuilder::from_params(&params).unwrap().preprocess_threads(2).build().unwrap();
    iter.next_batch().unwrap().unwrap().data.remove(0)
}

#[test]
fn what_is_not_random_is_equal_to_mxnet_within_one_level() {
    let folder = tempfile::tempdir().unwrap();
    let rec = folder.path().join("one.rec");
    write(&rec, 1);
    let cases = named("augment.params", "pixels:");
    assert!(cases.len() > 50, "{}", cases.len());
    let mut failures = Vec::new();
    for (name, want) in &cases {
        let want = want.as_dense().unwrap();
        let (size, settings) = name.split_once(';').unwrap();
        let got = batch(&rec, &format!("{},{size}", want.shape()[0]), 1, settings, "uint8");
        let difference = Difference::of(got.bytes(), want.bytes());
        if difference.most > 1 {
            failures.push(format!("{name}: {difference:?}"));
        }
    }
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), cases.len(), failures.join("\n"));
}

/// 500 images of each: beyond 0.123 lies one in a thousand pairs of samples from one distribution; of some 50 pairs none may.
#[test]
fn what_is_random_is_distributed_as_in_mxnet() {
    let folder = tempfile::tempdir().unwrap();
    let rec = folder.path().join("many.rec");
    write(&rec, 500);
    let cases = named("augment.params", "statistic:");
    assert!(cases.len() > 40, "{}", cases.len());
    let mut batches: BTreeMap<String, mxrs_format::Dense> = BTreeMap::new();
    let mut failures = Vec::new();
    for (name, want) in &cases {
        let (kind, settings) = name.split_once(':').unwrap();
        let data = batches
            .entry(settings.to_owned())
            .or_insert_with(|| batch(&rec, "3,24,32", 500, &format!("{settings};seed_aug=5"), "float32"));
        let rows = data.as_slice::<f32>().unwrap().chunks_exact(3 * 24 * 32);
        let mut got: Vec<f32> = rows.map(|row| statistic(kind, row)).collect();
        got.sort_by(f32::total_cmp);
        let want = want.as_slice::<f32>().unwrap();
        let far = distance(&got, want, 0.02);
        if far > 0.123 {
            failures.push(format!("{name}: {far}, medians {} {}", got[250], want[250]));
        }
    }
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), cases.len(), failures.join("\n"));
}
