//! An iterator over the rows of LibSVM files.

use super::libsvm::SparseRows;
use super::read_file;
use crate::nd_array_iter::{LastBatch, NdArrayIter};
use crate::param_map::ParamMap;
use crate::{DataBatch, DataDesc, DataIter};
use mxrs_format::{AlignedBytes, Dense, Tensor};
use mxrs_trace::api_call;
use mxrs_types::{DType, Error, Result, Shape};
use std::path::PathBuf;

/// Settings of MXNet's `LibSVMIter`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LibSvmSettings {
    /// File of the data. Columns are counted from 0.
    pub data_libsvm: PathBuf,
    /// Number of values per example.
    pub width: usize,
    /// File of the labels; if it is not set, the labels in the data file are used.
    pub label_libsvm: Option<PathBuf>,
    /// Number of values per label; default 1.
    pub label_width: usize,
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

/// Batches of rows of LibSVM files, **as dense arrays**. MXNet's iterator returns compressed rows (CSR). This iterator keeps
/// all rows compressed in memory and expands only those of a batch, so a batch takes `batch_size * width * 4` bytes.
///
/// The last batch is filled up with rows from the start, or with zeros without `round_batch`; [`DataBatch::pad`] counts
/// them. MXNet's iterator refuses to run without `round_batch`.
pub struct LibSvmIter {
    rows: SparseRows,
    labels: Option<SparseRows>,
    /// Iterates over the numbers of the rows.
    numbers: NdArrayIter,
    fills_with_zeros: bool,
    data: [DataDesc; 1],
    label: [DataDesc; 1],
}

const NAMES: &[&str] = &[
    "data_libsvm",
    "data_shape",
    "label_libsvm",
    "label_shape",
    "batch_size",
    "round_batch",
    "prefetch_buffer",
    "ctx",
    "dtype",
    "num_parts",
    "part_index",
    "data_name",
    "label_name",
];

impl LibSvmSettings {
    /// Settings that use the labels in the data file.
    pub fn new(data_libsvm: impl Into<PathBuf>, width: usize, batch_size: usize) -> Self {
        Self {
            data_libsvm: data_libsvm.into(),
            width,
            label_libsvm: None,
            label_width: 1,
            batch_size,
            round_batch: true,
            data_name: "data".into(),
            label_name: "softmax_label".into(),
        }
    }

    /// Reads the settings from MXNet's parameters, as text. `prefetch_buffer` and `ctx` have no effect. Only the whole file
    /// can be read, as part 0 of 1.
    ///
    /// # Errors
    /// Returns [`mxrs_types::ErrorKind::Attribute`] with the name of a bad parameter.
    pub fn from_params(params: &[(&str, &str)]) -> Result<Self> {
        let map = ParamMap::new("LibSVMIter", params, &[NAMES])?;
        map.required("data_shape")?;
        map.required("batch_size")?;
        let width = |name: &str| match map.sizes(name)?.as_deref() {
            None => Ok(1),
            Some([width]) => Ok(*width),
            Some(_) => Err(map.wrong(name, "one size")),
        };
        let batch_size = map.number("batch_size")?.unwrap_or(0);
        let mut settings = Self::new(map.required("data_libsvm")?, width("data_shape")?, batch_size);
        settings.label_libsvm = map.text("label_libsvm").filter(|path| *path != "NULL").map(Into::into);
        settings.label_width = width("label_shape")?;
        settings.round_batch = map.flag("round_batch", true)?;
        settings.data_name = map.text("data_name").unwrap_or(&settings.data_name).into();
        settings.label_name = map.text("label_name").unwrap_or(&settings.label_name).into();
        for (name, only) in [("num_parts", "1"), ("part_index", "0"), ("dtype", "float32")] {
            if map.text(name).is_some_and(|value| value != only) {
                return Err(map.wrong(name, only));
            }
        }
        Ok(settings)
    }

    /// Reads the files and builds the iterator.
    ///
    /// # Errors
    /// Returns the errors of reading the files, with file and line; [`mxrs_types::ErrorKind::InvalidValue`] if the settings
    /// contradict each other, or if the number of labels differs from that of the examples;
    /// [`mxrs_types::ErrorKind::Overflow`] for a batch too large to address.
    pub fn build(&self) -> Result<LibSvmIter> {
        let read = |path: &PathBuf, width| SparseRows::parse(&read_file(path)?, width).map_err(|e| e.with_path(path));
        if self.width == 0 || self.label_width == 0 {
            return Err(Error::invalid("data_shape or label_shape", 0, "at least 1"));
        }
        if self.label_libsvm.is_none() && self.label_width != 1 {
            return Err(Error::invalid("label_shape", self.label_width, "1, or a file of labels (label_libsvm)"));
        }
        let rows = read(&self.data_libsvm, self.width)?;
        let labels = self.label_libsvm.as_ref().map(|path| read(path, self.label_width)).transpose()?;
        if let Some(labels) = labels.as_ref().filter(|labels| labels.len() != rows.len()) {
            return Err(Error::invalid(
                "rows of label_libsvm",
                labels.len(),
                format!("{} as there are examples", rows.len()),
            ));
        }
        let numbers: Vec<u64> = (0..rows.len() as u64).collect();
        let numbers = Tensor::from_slice([rows.len()], &numbers)?.into_dense()?;
        let last_batch = if self.round_batch { LastBatch::Pad } else { LastBatch::Zeros };
        let numbers = NdArrayIter::builder(self.batch_size).data("row", numbers).last_batch(last_batch).build()?;
        let data = DataDesc::new(&self.data_name, [self.batch_size, self.width], DType::F32);
        let label_shape = match self.label_width {
            1 => Shape::from([self.batch_size]),
            width => Shape::from([self.batch_size, width]),
        };
        let label = DataDesc::new(&self.label_name, label_shape, DType::F32);
        data.shape.checked_size_bytes(DType::F32)?;
        label.shape.checked_size_bytes(DType::F32)?;
        Ok(LibSvmIter { rows, labels, numbers, fills_with_zeros: !self.round_batch, data: [data], label: [label] })
    }
}

/// Expands the rows with these numbers to dense rows; the remaining rows of the result are zeros.
fn gather(rows: &SparseRows, index: &[u64], shape: &Shape) -> Result<Dense> {
    let mut bytes = AlignedBytes::zeroed(shape.checked_size_bytes(DType::F32)?);
    let values: &mut [f32] = bytemuck::try_cast_slice_mut(&mut bytes)
        .map_err(|_| Error::invalid("memory of a batch", "unaligned", "memory aligned for its type"))?;
    let width = values.len() / shape[0].max(1);
    for (out, row) in values.chunks_exact_mut(width.max(1)).zip(index) {
        rows.write(*row as usize, out);
    }
    Dense::new(DType::F32, shape.clone(), bytes)
}

impl DataIter for LibSvmIter {
    fn provide_data(&self) -> &[DataDesc] {
        &self.data
    }

    fn provide_label(&self) -> &[DataDesc] {
        &self.label
    }

    fn batch_size(&self) -> usize {
        self.numbers.batch_size()
    }

    fn next_batch(&mut self) -> Result<Option<DataBatch>> {
        let _call = api_call("LibSvmIter::next_batch");
        let Some(batch) = self.numbers.next_batch()? else { return Ok(None) };
        let DataBatch { index, pad, .. } = batch;
        let ([data], [label]) = (&self.data, &self.label);
        let rows = &index[..index.len() - if self.fills_with_zeros { pad } else { 0 }];
        let labels = match &self.labels {
            Some(labels) => gather(labels, rows, &label.shape)?,
            None => {
                let mut labels: Vec<f32> = rows.iter().map(|row| self.rows.labels[*row as usize]).collect();
                labels.resize(index.len(), 0.0);
                Tensor::from_slice(label.shape.clone(), &labels)?.into_dense()?
            }
        };
        Ok(Some(DataBatch { data: vec![gather(&self.rows, rows, &data.shape)?], labels: vec![labels], index, pad }))
    }

    fn reset(&mut self) -> Result<()> {
        self.numbers.reset()
    }

    fn seek(&mut self, epoch: u64, batch: u64) -> Result<()> {
        self.numbers.seek(epoch, batch)
    }

    fn epoch(&self) -> u64 {
        self.numbers.epoch()
    }

    fn n_examples(&self) -> Option<u64> {
        self.numbers.n_examples()
    }

    fn n_batches(&self) -> Option<u64> {
        self.numbers.n_batches()
    }
}
