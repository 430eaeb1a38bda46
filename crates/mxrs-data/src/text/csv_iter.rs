//! An iterator over the rows of CSV files.

use super::{csv, read_file};
use crate::nd_array_iter::{LastBatch, NdArrayIter};
use crate::param_map::ParamMap;
use mxrs_format::{Dense, Tensor};
use mxrs_types::{Error, ErrorKind, Result, Shape};
use std::path::{Path, PathBuf};

/// Settings of MXNet's `CSVIter`: one example per line of a file. The whole file is read into memory as `float32`.
///
/// The last batch is filled up with rows from the start, or with zeros without `round_batch`; [`crate::DataBatch::pad`]
/// counts them. Instead of zeros, MXNet uses rows of the previous batch. Every epoch starts at the first row and has all
/// rows. In MXNet with `round_batch`, the rows that filled up the last batch are missing from the next epoch.
#[derive(Clone, Debug, PartialEq)]
pub struct CsvIter {
    /// File of the data.
    pub data_csv: PathBuf,
    /// Shape of one example.
    pub data_shape: Shape,
    /// File of the labels; if it is not set, all labels are 0.
    pub label_csv: Option<PathBuf>,
    /// Shape of one label; default (1,).
    pub label_shape: Shape,
    /// Number of rows per batch.
    pub batch_size: usize,
    /// Whether the last batch is filled up with rows from the start, instead of rows of zeros whose index is 0; default
    /// true.
    pub round_batch: bool,
    /// Name of the data; default `data`.
    pub data_name: String,
    /// Name of the labels; default `softmax_label`.
    pub label_name: String,
}

const NAMES: &[&str] = &[
    "data_csv",
    "data_shape",
    "label_csv",
    "label_shape",
    "batch_size",
    "round_batch",
    "prefetch_buffer",
    "ctx",
    "dtype",
    "data_name",
    "label_name",
];

impl CsvIter {
    /// Settings without a label file.
    pub fn new(data_csv: impl Into<PathBuf>, data_shape: impl Into<Shape>, batch_size: usize) -> Self {
        Self {
            data_csv: data_csv.into(),
            data_shape: data_shape.into(),
            label_csv: None,
            label_shape: Shape::from([1]),
            batch_size,
            round_batch: true,
            data_name: "data".into(),
            label_name: "softmax_label".into(),
        }
    }

    /// Reads the settings from MXNet's parameters, as text. `prefetch_buffer` and `ctx` have no effect; `dtype` must be
    /// `float32`.
    ///
    /// # Errors
    /// Returns [`ErrorKind::Attribute`] with the name of a bad parameter.
    pub fn from_params(params: &[(&str, &str)]) -> Result<Self> {
        let map = ParamMap::new("CSVIter", params, &[NAMES])?;
        map.required("data_shape")?;
        map.required("batch_size")?;
        let shape = Shape::new(map.sizes("data_shape")?.unwrap_or_default());
        let mut iter = Self::new(map.required("data_csv")?, shape, map.number("batch_size")?.unwrap_or(0));
        iter.label_csv = map.text("label_csv").filter(|path| *path != "NULL").map(Into::into);
        iter.label_shape = map.sizes("label_shape")?.map_or(iter.label_shape, Shape::new);
        iter.round_batch = map.flag("round_batch", true)?;
        iter.data_name = map.text("data_name").unwrap_or(&iter.data_name).into();
        iter.label_name = map.text("label_name").unwrap_or(&iter.label_name).into();
        if map.text("dtype").is_some_and(|dtype| dtype != "float32") {
            return Err(map.wrong("dtype", "float32"));
        }
        Ok(iter)
    }

    /// Reads the files and builds the iterator.
    ///
    /// # Errors
    /// Returns the errors of reading the files, with file and line; [`ErrorKind::InvalidValue`] if the number of labels
    /// differs from that of the examples; and the errors of [`crate::NdArrayIterBuilder::build`].
    pub fn build(&self) -> Result<NdArrayIter> {
        let data = rows(&self.data_csv, &self.data_shape)?;
        let n = data.shape()[0];
        let labels = match &self.label_csv {
            Some(path) => {
                let labels = rows(path, &self.label_shape)?;
                if labels.shape()[0] != n {
                    let what = format!("labels in {}", path.display());
                    return Err(Error::invalid(what, labels.shape()[0], format!("{n}, one for each example")));
                }
                labels
            }
            None => Tensor::from_slice([n], &vec![0.0_f32; n])?.into_dense()?,
        };
        let builder = NdArrayIter::builder(self.batch_size).data(&self.data_name, data).label(&self.label_name, labels);
        builder.last_batch(if self.round_batch { LastBatch::Pad } else { LastBatch::Zeros }).build()
    }
}

/// Reads the rows of a file as an array. For an example of the shape (1,) the array has only the row axis.
fn rows(path: &Path, shape: &Shape) -> Result<Dense> {
    let width = shape.iter().try_fold(1_usize, |n, size| n.checked_mul(*size));
    let width = width.ok_or_else(|| Error::new(ErrorKind::Overflow { what: format!("shape {shape}") }))?;
    if width == 0 {
        return Err(Error::invalid("shape of an example", shape, "no size of 0"));
    }
    let values = csv::parse(&read_file(path)?, width).map_err(|e| e.with_path(path))?;
    let n = values.len() / width;
    let inner = shape.iter().copied().filter(|_| width > 1 || shape.ndim() > 1);
    Tensor::from_slice(Shape::new(std::iter::once(n).chain(inner)), &values)?.into_dense()
}
