//! Augmenters against MXNet's: pixels where nothing is random, distributions where something is.
//! `tests/mxnet/make_augment.py` wrote what is expected.

mod golden;

use golden::{Difference, file, image};
use mxrs_data::{DataIter, ImageRecordIterBuilder};
use mxrs_format::recordio::{ImageRecord, RecordWriter};
use mxrs_format::{ArrayFile, Options};
use std::collections::BTreeMap;
use std::path::Path;

/// What MXNet made, by name.
fn expected(kind: &str) -> BTreeMap<String, mxrs_format::Tensor> {
    let path = file("crates/mxrs-data/tests/golden/augment.params");
    let arrays = ArrayFile::open(path, &Options::strict()).unwrap().value.arrays.into_named().unwrap();
    arrays.into_iter().filter_map(|(name, array)| Some((name.strip_prefix(kind)?.to_owned(), array))).collect()
}

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
    let cases = expected("pixels:");
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

/// The statistic of one image of 3 x 24 x 32 numbers.
fn statistic(kind: &str, x: &[f32]) -> f32 {
    let mean = |values: &mut dyn Iterator<Item = f32>| {
        let (n, sum) = values.fold((0.0, 0.0), |(n, sum), v| (n + 1.0, sum + f64::from(v)));
        (sum / n) as f32
    };
    let half = |right: bool| mean(&mut x.iter().enumerate().filter(|(i, _)| (i % 32 >= 16) == right).map(|(_, v)| *v));
    match kind {
        "mean" => mean(&mut x.iter().copied()),
        "red" => mean(&mut x[..768].iter().copied()),
        "blue" => mean(&mut x[1536..].iter().copied()),
        "spread" => {
            let centre = mean(&mut x.iter().copied());
            mean(&mut x.iter().map(|v| (v - centre).powi(2))).sqrt()
        }
        "colours" => mean(&mut x[..768].iter().zip(&x[1536..]).map(|(r, b)| (r - b).abs())),
        "corner" => x[0],
        "sides" => half(false) - half(true),
        "near" => x[768 + 12 * 32 + 16],
        other => panic!("{other}"),
    }
}

/// Largest distance of two sorted samples' distribution functions (Kolmogorov and Smirnov), where values within `near` of
/// each other count as equal.
fn distance(a: &[f32], b: &[f32], near: f32) -> f32 {
    let below = |sample: &[f32], t: f32| sample.partition_point(|v| *v <= t) as f32 / sample.len() as f32;
    let far = |t: &f32| {
        let (a_low, a_high) = (below(a, t - near), below(a, t + near));
        let (b_low, b_high) = (below(b, t - near), below(b, t + near));
        (a_low - b_high).max(b_low - a_high).max(0.0)
    };
    a.iter().chain(b).map(far).fold(0.0, f32::max)
}

/// 500 images of each: beyond 0.123 lies one in a thousand pairs of samples from one distribution; of some 50 pairs none may.
#[test]
fn what_is_random_is_distributed_as_in_mxnet() {
    let folder = tempfile::tempdir().unwrap();
    let rec = folder.path().join("many.rec");
    write(&rec, 500);
    let cases = expected("statistic:");
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
