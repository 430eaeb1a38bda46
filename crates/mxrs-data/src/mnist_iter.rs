//! An iterator over the files of MNIST.

use crate::idx_ubyte;
use crate::nd_array_iter::{LastBatch, NdArrayIter};
use crate::param_map::ParamMap;
use mxrs_format::{AlignedBytes, Dense};
use mxrs_types::{DType, Error, Result, Shape};
use std::path::{Path, PathBuf};

/// Settings of MXNet's `MNISTIter`: batches of images and labels from idx-ubyte files, gzipped or not, held in memory.
///
/// Pixels are divided by 256, as in MXNet, or by another number. Every epoch has its own order; MXNet shuffles only once.
/// Examples that do not fill the last batch are left out, as in MXNet, unless [`Self::last_batch`] specifies otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MnistIter {
    /// File of the images.
    pub image: PathBuf,
    /// File of the labels.
    pub label: PathBuf,
    /// Divisor of the pixels; default 256.
    pub white: u16,
    /// Number of rows per batch; default 128.
    pub batch_size: usize,
    /// Whether epochs are shuffled; default yes.
    pub shuffle: bool,
    /// Whether images are rows of pixels instead of (1, height, width); default no.
    pub flat: bool,
    /// Seed of the orders; default 0.
    pub seed: u64,
    /// Index of the share of the examples that is read; default 0.
    pub part_index: usize,
    /// Number of shares into which the examples are divided; default 1.
    pub num_parts: usize,
    /// What happens to examples that do not fill the last batch; default [`LastBatch::Discard`].
    pub last_batch: LastBatch,
    /// Name of the images; default `data`.
    pub data_name: String,
    /// Name of the labels; default `softmax_label`.
    pub label_name: String,
}

const NAMES: &[&str] = &[
    "image",
    "label",
    "batch_size",
    "shuffle",
    "flat",
    "seed",
    "silent",
    "num_parts",
    "part_index",
    "last_batch_handle",
    "prefetch_buffer",
    "ctx",
    "dtype",
    "input_shape",
    "data_name",
    "label_name",
];

impl MnistIter {
    /// Settings with MXNet's defaults.
    pub fn new(image: impl Into<PathBuf>, label: impl Into<PathBuf>) -> Self {
        Self {
            image: image.into(),
            label: label.into(),
            white: 256,
            batch_size: 128,
            shuffle: true,
            flat: false,
            seed: 0,
            part_index: 0,
            num_parts: 1,
            last_batch: LastBatch::Discard,
            data_name: "data".into(),
            label_name: "softmax_label".into(),
        }
    }

    /// Reads the settings from MXNet's parameters, as text. `silent`, `prefetch_buffer`, `ctx` and `input_shape` have no
    /// effect. `last_batch_handle` is accepted in addition to MXNet's parameters.
    ///
    /// # Errors
    /// Returns [`mxrs_types::ErrorKind::Attribute`] with the name of a bad parameter.
    pub fn from_params(params: &[(&str, &str)]) -> Result<Self> {
        let map = ParamMap::new("MNISTIter", params, &[NAMES])?;
        let image = map.text("image").unwrap_or("./train-images-idx3-ubyte");
        let mut iter = Self::new(image, map.text("label").unwrap_or("./train-labels-idx1-ubyte"));
        iter.batch_size = map.number("batch_size")?.unwrap_or(iter.batch_size);
        iter.shuffle = map.flag("shuffle", true)?;
        iter.flat = map.flag("flat", false)?;
        iter.seed = map.number::<i64>("seed")?.unwrap_or(0) as u64;
        iter.num_parts = map.number("num_parts")?.unwrap_or(1);
        iter.part_index = map.number("part_index")?.unwrap_or(0);
        map.flag("silent", false)?;
        iter.data_name = map.text("data_name").unwrap_or(&iter.data_name).into();
        iter.label_name = map.text("label_name").unwrap_or(&iter.label_name).into();
        if map.text("dtype").is_some_and(|dtype| dtype != "float32") {
            return Err(map.wrong("dtype", "float32"));
        }
        if let Some(name) = map.text("last_batch_handle") {
            iter.last_batch =
                LastBatch::from_name(name).map_err(|_| map.wrong("last_batch_handle", "pad, discard or roll_over"))?;
        }
        Ok(iter)
    }

    /// Reads both files and builds the iterator.
    ///
    /// # Errors
    /// Returns the errors of reading the files, with the path; [`mxrs_types::ErrorKind::InvalidValue`] if images and labels
    /// differ in number or the share of the examples that is read is empty; and the errors of
    /// [`crate::NdArrayIterBuilder::build`].
    pub fn build(&self) -> Result<NdArrayIter> {
        let images = idx_ubyte::open(&self.image)?;
        let labels = idx_ubyte::open(&self.label)?;
        let [n, height, width] = images.sizes[..] else {
            return Err(axes(&self.image, &images.sizes, "3 (images, rows, columns)"));
        };
        let [n_labels] = labels.sizes[..] else {
            return Err(axes(&self.label, &labels.sizes, "1"));
        };
        if n != n_labels {
            let what = format!("labels in {}", self.label.display());
            return Err(Error::invalid(what, n_labels, format!("{n}, one for each image")));
        }
        if self.white == 0 {
            return Err(Error::invalid("white", 0, "1 or more: pixels are divided by it"));
        }
        if self.num_parts == 0 || self.part_index >= self.num_parts {
            let expected = format!("below num_parts ({})", self.num_parts);
            return Err(Error::invalid("part_index", self.part_index, expected));
        }
        let bound = |part: usize| (n as f64 / self.num_parts as f64 * part as f64) as usize;
        let share = bound(self.part_index)..bound(self.part_index + 1).min(n);
        let row = height.saturating_mul(width);
        let shape = if self.flat { vec![share.len(), row] } else { vec![share.len(), 1, height, width] };
        let pixels = &images.bytes[share.start * row..share.end * row];
        let data = floats(Shape::new(shape), pixels, f32::from(self.white))?;
        let labels = floats(Shape::from([share.len()]), &labels.bytes[share], 1.0)?;
        let mut builder =
            NdArrayIter::builder(self.batch_size).data(&self.data_name, data).label(&self.label_name, labels);
        if self.shuffle {
            builder = builder.shuffle(self.seed);
        }
        builder.last_batch(self.last_batch).build()
    }
}

fn axes(path: &Path, sizes: &[usize], expected: &str) -> Error {
    Error::invalid(format!("axes of {}", path.display()), sizes.len(), expected)
}

/// Converts bytes to floats and divides them by `divisor`.
fn floats(shape: Shape, bytes: &[u8], divisor: f32) -> Result<Dense> {
    let mut out = AlignedBytes::zeroed(shape.checked_size_bytes(DType::F32)?);
    for (out, byte) in out.chunks_exact_mut(4).zip(bytes) {
        out.copy_from_slice(&(f32::from(*byte) / divisor).to_ne_bytes());
    }
    Dense::new(DType::F32, shape, out)
}
