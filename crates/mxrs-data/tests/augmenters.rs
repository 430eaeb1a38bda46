//! Tests of augmenters against MXNet: pixels of deterministic augmentations, and distributions of random ones.
//! `tests/mxnet/make_augment.py` wrote the expected values.

mod golden;

use golden::{Difference, distance, image, named, statistic};
use mxrs_data::{DataIter, ImageRecordIterBuilder};
use mxrs_format::recordio::{ImageRecord, RecordWriter};
use std::collections::BTreeMap;
use std::path::Path;

/// Number of copies of the photograph in the record file for random images; one batch contains a whole epoch.
const N_RECORDS: usize = 500;

/// The two-sample statistic of Kolmogorov and Smirnov exceeds this value times `sqrt(1/n + 1/m)` with probability 1/10,000
/// if the distributions are equal: `sqrt(ln(2 / 1e-4) / 2)`.
const ONCE_IN_TEN_THOUSAND: f32 = 2.2253;

/// Writes a record file with `n` copies of the photograph.
fn write(path: &Path, n: usize) {
    let photo = image("augment.png");
    let mut writer = RecordWriter::create(path).unwrap();
    for id in 0..n as u64 {
        writer.write(&ImageRecord { id, image: &photo, ..Default::default() }.pack()).unwrap();
    }
    writer.finish().unwrap();
}

/// A builder of batches of `n` images with these settings, given as `key=value;...`.
fn builder(rec: &Path, shape: &str, n: usize, settings: &str, dtype: &str) -> ImageRecordIterBuilder {
    let n = n.to_string();
    let mut params =
        vec![("path_imgrec", rec.to_str().unwrap()), ("data_shape", shape), ("batch_size", &n), ("dtype", dtype)];
    params.extend(settings.split(';').filter(|s| !s.is_empty()).map(|setting| setting.split_once('=').unwrap()));
    ImageRecordIterBuilder::from_params(&params).unwrap()
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
        let builder = builder(&rec, &format!("{},{size}", want.shape()[0]), 1, settings, "uint8");
        let batch = builder.build().unwrap().next_batch().unwrap().unwrap();
        let difference = Difference::of(batch.data[0].bytes(), want.bytes());
        if difference.most > 1 {
            failures.push(format!("{name}: {difference:?}"));
        }
    }
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), cases.len(), failures.join("\n"));
}

/// Statistics of `n` images of 3 x 24 x 32 values with these settings: one sorted sample for each kind.
fn samples(rec: &Path, settings: &str, kinds: &[&str], n: usize) -> Vec<Vec<f32>> {
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let builder = builder(rec, "3,24,32", N_RECORDS, &format!("{settings};seed_aug=5"), "float32");
    let mut iter = builder.preprocess_threads(threads).prefetch_buffer(1).build_prefetching().unwrap();
    let mut samples = vec![Vec::new(); kinds.len()];
    for epoch in 0..n / N_RECORDS {
        // Every epoch has its own random numbers.
        if epoch > 0 {
            iter.reset().unwrap();
        }
        let batch = iter.next_batch().unwrap().unwrap();
        for row in batch.data[0].as_slice::<f32>().unwrap().chunks_exact(3 * 24 * 32) {
            for (sample, kind) in samples.iter_mut().zip(kinds) {
                sample.push(statistic(kind, row));
            }
        }
    }
    samples.iter_mut().for_each(|sample| sample.sort_by(f32::total_cmp));
    samples
}

/// Largest accepted distance between two samples of `n` values each from the same distribution. Of one sample only `n_kept`
/// values are known, at equal steps of rank.
fn bound(n: usize, n_kept: usize) -> f32 {
    let between_steps = 1.0 / n_kept as f32 - 1.0 / n as f32;
    ONCE_IN_TEN_THOUSAND * (2.0 / n as f32).sqrt() + between_steps
}

/// Makes the same number of images for each setting as MXNet did.
#[test]
fn what_is_random_is_distributed_as_in_mxnet() {
    let folder = tempfile::tempdir().unwrap();
    let rec = folder.path().join("many.rec");
    write(&rec, N_RECORDS);
    let cases = named("augment.params", "statistic:");
    assert!(cases.len() > 40, "{}", cases.len());
    // The expected file contains only some of the `n` values.
    let n = named("augment.params", "draws")[""].as_slice::<f32>().unwrap()[0] as usize;
    assert_eq!(n % N_RECORDS, 0, "whole epochs");
    let mut by_settings: BTreeMap<&str, Vec<(&str, &[f32])>> = BTreeMap::new();
    for (name, want) in &cases {
        let (kind, settings) = name.split_once(':').unwrap();
        by_settings.entry(settings).or_default().push((kind, want.as_slice().unwrap()));
    }
    let mut failures = Vec::new();
    for (settings, wants) in &by_settings {
        let kinds: Vec<&str> = wants.iter().map(|(kind, _)| *kind).collect();
        for ((kind, want), got) in wants.iter().zip(samples(&rec, settings, &kinds, n)) {
            let (far, most) = (distance(&got, want, 0.02), bound(n, want.len()));
            if far > most {
                let medians = (got[n / 2], want[want.len() / 2]);
                failures.push(format!("{kind} of {settings}: {far} apart, bound {most}, medians {medians:?}"));
            }
        }
    }
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), cases.len(), failures.join("\n"));
    // Checks that the comparison detects distributions that differ.
    let want = cases["mean:brightness=0.4"].as_slice::<f32>().unwrap();
    let far = distance(&samples(&rec, "brightness=0.8", &["mean"], n)[0], want, 0.02);
    assert!(far > bound(n, want.len()), "{far}");
}
