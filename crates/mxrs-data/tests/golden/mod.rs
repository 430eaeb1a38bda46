//! Access to MXNet's results in `expected.params`, which `make.py` wrote, and helpers of several tests.

#![allow(dead_code, reason = "each test file uses its part")]

use mxrs_data::{DataBatch, DataIter, ImageRecordIterBuilder};
use mxrs_format::recordio::{ImageRecord, RecordWriter};
use mxrs_format::{ArrayFile, Element, Options, Tensor};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// Path of a file of the repository, given relative to its root.
pub fn file(path: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(path)
}

/// The bytes of a file of the repository.
pub fn bytes(path: &str) -> Vec<u8> {
    std::fs::read(file(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// The bytes of an image in this folder.
pub fn image(name: &str) -> Vec<u8> {
    bytes(&format!("crates/mxrs-data/tests/golden/{name}"))
}

/// MXNet's results, as arrays by name.
pub struct Expected(HashMap<String, Tensor>);

impl Expected {
    pub fn load() -> Self {
        let path = file("crates/mxrs-data/tests/golden/expected.params");
        let arrays = ArrayFile::open(path, &Options::strict()).unwrap().value.arrays;
        Self(arrays.into_named().unwrap().into_iter().collect())
    }

    pub fn get<T: Element>(&self, name: &str) -> &[T] {
        self.0.get(name).unwrap_or_else(|| panic!("no array {name}")).as_slice().unwrap()
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

/// Writes a record file of these images, with labels 0, 1, 2, ... and ids from 100; returns the offsets.
pub fn write_records(path: &Path, images: &[Vec<u8>]) -> Vec<u64> {
    let mut writer = RecordWriter::create(path).unwrap();
    let mut offsets = Vec::new();
    for (i, image) in images.iter().enumerate() {
        let record = ImageRecord { label: i as f32, id: 100 + i as u64, image, ..Default::default() };
        offsets.push(writer.write(&record.pack()).unwrap());
    }
    writer.finish().unwrap();
    offsets
}

/// The remaining batches of an epoch.
pub fn epoch_of(iter: &mut impl DataIter) -> Vec<DataBatch> {
    std::iter::from_fn(|| iter.next_batch().unwrap()).collect()
}

/// The batches of the first `n` epochs of a new iterator.
pub fn epochs(builder: ImageRecordIterBuilder, n: usize) -> Vec<Vec<DataBatch>> {
    let mut iter = builder.build().unwrap();
    (0..n)
        .map(|_| {
            let epoch = epoch_of(&mut iter);
            DataIter::reset(&mut iter).unwrap();
            epoch
        })
        .collect()
}

/// The record ids of an epoch, without padding.
pub fn ids(epoch: &[DataBatch]) -> Vec<u64> {
    epoch.iter().flat_map(|b| b.index[..b.n_valid()].to_vec()).collect()
}

/// Difference of two images.
#[derive(Debug)]
pub struct Difference {
    /// Largest difference of two bytes.
    pub most: u8,
    /// Mean difference.
    pub mean: f64,
    /// Fraction of bytes that differ by more than 2.
    pub beyond_two: f64,
}

impl Difference {
    pub fn of(got: &[u8], expected: &[u8]) -> Self {
        assert_eq!(got.len(), expected.len());
        let each = || got.iter().zip(expected).map(|(a, b)| a.abs_diff(*b));
        let n = got.len() as f64;
        Self {
            most: each().max().unwrap_or(0),
            mean: each().map(f64::from).sum::<f64>() / n,
            beyond_two: each().filter(|d| *d > 2).count() as f64 / n,
        }
    }

    /// Whether the largest difference is at most two gray levels, or four if the file stores its colors at half size:
    /// enlarging them has one more rounding here than in libjpeg. Differences above two must be rare, and the mean small.
    pub fn is_small(&self, half_size_colors: bool) -> bool {
        let most = if half_size_colors { 4 } else { 2 };
        self.most <= most && self.mean < 0.25 && self.beyond_two < 0.003
    }
}

/// Reads MXNet's arrays whose names begin with `kind` from a file in this folder. The keys are the rest of the names.
pub fn named(file_name: &str, kind: &str) -> BTreeMap<String, Tensor> {
    let path = file(&format!("crates/mxrs-data/tests/golden/{file_name}"));
    let arrays = ArrayFile::open(path, &Options::strict()).unwrap().value.arrays.into_named().unwrap();
    arrays.into_iter().filter_map(|(name, array)| Some((name.strip_prefix(kind)?.to_owned(), array))).collect()
}

fn mean(values: impl Iterator<Item = f32>) -> f32 {
    let (n, sum) = values.fold((0.0, 0.0), |(n, sum), v| (n + 1.0, sum + f64::from(v)));
    (sum / n) as f32
}

/// The statistic `kind` of one image of 3 x 24 x 32 values.
pub fn statistic(kind: &str, x: &[f32]) -> f32 {
    let half = |left: usize| mean(x.chunks_exact(32).flat_map(|row| &row[left..left + 16]).copied());
    match kind {
        "mean" => mean(x.iter().copied()),
        "red" => mean(x[..768].iter().copied()),
        "blue" => mean(x[1536..].iter().copied()),
        "spread" => {
            let center = mean(x.iter().copied());
            mean(x.iter().map(|v| (v - center).powi(2))).sqrt()
        }
        "colors" => mean(x[..768].iter().zip(&x[1536..]).map(|(r, b)| (r - b).abs())),
        "corner" => x[0],
        "sides" => half(0) - half(16),
        "near" => x[768 + 12 * 32 + 16],
        other => panic!("{other}"),
    }
}

/// Largest distance between the distribution functions of two sorted samples (Kolmogorov and Smirnov); values that differ by
/// at most `near` count as equal.
pub fn distance(a: &[f32], b: &[f32], near: f32) -> f32 {
    let below = |sample: &[f32], t: f32| sample.partition_point(|v| *v <= t) as f32 / sample.len() as f32;
    let far = |t: &f32| {
        let (a_low, a_high) = (below(a, t - near), below(a, t + near));
        let (b_low, b_high) = (below(b, t - near), below(b, t + near));
        (a_low - b_high).max(b_low - a_high).max(0.0)
    };
    a.iter().chain(b).map(far).fold(0.0, f32::max)
}
