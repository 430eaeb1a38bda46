//! An iterator over arrays that are already in memory.

use crate::random::Random;
use crate::{DataBatch, DataDesc, DataIter};
use mxrs_format::{AlignedBytes, Dense};
use mxrs_trace::api_call;
use mxrs_types::{Error, ErrorKind, Result, Shape};

/// What happens to the examples that do not fill the last batch of an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum LastBatch {
    /// The batch is filled up with examples from the start of the epoch; [`DataBatch::pad`] is their number. MXNet's name is
    /// `pad`.
    #[default]
    Pad,
    /// The batch is filled up with rows of zeros, whose index is 0; [`DataBatch::pad`] is their number. `CSVIter` does this
    /// without `round_batch`; MXNet leaves old memory contents in these rows.
    Zeros,
    /// The remaining examples are left out in this epoch. MXNet's name is `discard`.
    Discard,
    /// The remaining examples come first in the next epoch. MXNet's name is `roll_over`.
    RollOver,
}

impl LastBatch {
    /// Parses MXNet's name of a variant: `pad`, `discard` or `roll_over`.
    ///
    /// # Errors
    /// Returns [`ErrorKind::InvalidValue`], with the three valid names, for any other name.
    pub fn from_name(name: &str) -> Result<Self> {
        match name {
            "pad" => Ok(Self::Pad),
            "discard" => Ok(Self::Discard),
            "roll_over" => Ok(Self::RollOver),
            _ => Err(Error::invalid("last_batch_handle", name, "pad, discard or roll_over")),
        }
    }
}

/// Batches of rows of arrays in memory; MXNet's `NDArrayIter`.
///
/// ```
/// use mxrs_data::{DataIter, NdArrayIter};
/// use mxrs_format::Tensor;
///
/// let x = Tensor::from_slice([3, 2], &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?.into_dense()?;
/// let y = Tensor::from_slice([3], &[0.0_f32, 1.0, 2.0])?.into_dense()?;
/// let mut batches = NdArrayIter::builder(2).data("data", x).label("softmax_label", y).build()?;
/// let first = batches.next_batch()?.unwrap();
/// assert_eq!(first.data[0].as_slice::<f32>()?, [1.0, 2.0, 3.0, 4.0]);
/// let last = batches.next_batch()?.unwrap();
/// assert_eq!((last.index, last.pad), (vec![2, 0], 1));
/// assert_eq!(batches.next_batch()?, None);
/// # Ok::<(), mxrs_types::Error>(())
/// ```
///
/// [`DataBatch::index`] holds the numbers of the rows. With [`LastBatch::RollOver`] a batch may begin with rows of the
/// previous epoch and continue with rows of this one; none of its rows is padding. MXNet sets `pad` on such a batch.
pub struct NdArrayIter {
    arrays: Vec<Dense>,
    n_data: usize,
    data: Vec<DataDesc>,
    labels: Vec<DataDesc>,
    n_rows: u64,
    batch_size: u64,
    shuffle_seed: Option<u64>,
    last_batch: LastBatch,
    epoch: u64,
    batch: u64,
    /// The order of the rows, and the epoch to which this order belongs.
    order: Option<(u64, Vec<u64>)>,
}

/// Settings of an [`NdArrayIter`].
#[must_use]
#[derive(Clone, Debug)]
pub struct NdArrayIterBuilder {
    batch_size: usize,
    data: Vec<(String, Dense)>,
    labels: Vec<(String, Dense)>,
    shuffle_seed: Option<u64>,
    last_batch: LastBatch,
}

impl NdArrayIterBuilder {
    /// Adds an input: the rows of `array`. The usual name is `data`.
    pub fn data(mut self, name: impl Into<String>, array: Dense) -> Self {
        self.data.push((name.into(), array));
        self
    }

    /// Adds a label: the rows of `array`. The usual name is `softmax_label`.
    pub fn label(mut self, name: impl Into<String>, array: Dense) -> Self {
        self.labels.push((name.into(), array));
        self
    }

    /// Shuffles the rows in every epoch; by default they stay in order.
    pub fn shuffle(self, seed: u64) -> Self {
        Self { shuffle_seed: Some(seed), ..self }
    }

    /// Sets what happens to rows that do not fill the last batch; default [`LastBatch::Pad`].
    pub fn last_batch(self, last_batch: LastBatch) -> Self {
        Self { last_batch, ..self }
    }

    /// Checks the arrays and builds the iterator.
    ///
    /// # Errors
    /// Returns [`ErrorKind::InvalidValue`] for a batch size of 0, if there is no input, for a name given twice, and with
    /// [`LastBatch::Discard`] or [`LastBatch::RollOver`] if there are fewer rows than a batch has; [`ErrorKind::Shape`] for
    /// an array without rows or with another number of rows than the first; [`ErrorKind::Overflow`] if a batch has more
    /// bytes than can be addressed.
    pub fn build(self) -> Result<NdArrayIter> {
        let batch_size = self.batch_size;
        if batch_size == 0 {
            return Err(Error::invalid("batch_size", 0, "at least 1"));
        }
        let n_data = self.data.len();
        if n_data == 0 {
            return Err(Error::invalid("data", "no array", "at least one"));
        }
        let mut descs: Vec<DataDesc> = Vec::new();
        let mut arrays = Vec::new();
        let mut n_rows = None;
        for (name, array) in self.data.into_iter().chain(self.labels) {
            let rows = array.shape().first().copied().filter(|rows| *rows > 0);
            let rows = rows.ok_or_else(|| Error::shape("NDArrayIter", &name, "at least one row", array.shape()))?;
            if *n_rows.get_or_insert(rows) != rows {
                let expected = format!("{} rows as the first array", n_rows.unwrap_or(rows));
                return Err(Error::shape("NDArrayIter", name, expected, array.shape()));
            }
            if descs.iter().any(|other| other.name == name) {
                return Err(Error::invalid("name of an array", name, "another than those before"));
            }
            let shape = Shape::new(std::iter::once(batch_size).chain(array.shape()[1..].iter().copied()));
            shape.checked_size_bytes(array.dtype())?;
            descs.push(DataDesc { name, shape, dtype: array.dtype() });
            arrays.push(array);
        }
        let n_rows = n_rows.unwrap_or(0);
        let fills_up = matches!(self.last_batch, LastBatch::Pad | LastBatch::Zeros);
        if !fills_up && n_rows < batch_size {
            return Err(Error::invalid("batch_size", batch_size, format!("at most the {n_rows} rows there are")));
        }
        let labels = descs.split_off(n_data);
        Ok(NdArrayIter {
            arrays,
            n_data,
            data: descs,
            labels,
            n_rows: n_rows as u64,
            batch_size: batch_size as u64,
            shuffle_seed: self.shuffle_seed,
            last_batch: self.last_batch,
            epoch: 0,
            batch: 0,
            order: None,
        })
    }
}

impl NdArrayIter {
    /// A builder of an iterator with batches of `batch_size` rows.
    pub fn builder(batch_size: usize) -> NdArrayIterBuilder {
        NdArrayIterBuilder {
            batch_size,
            data: Vec::new(),
            labels: Vec::new(),
            shuffle_seed: None,
            last_batch: LastBatch::default(),
        }
    }

    /// The row at index `place` of the concatenated orders of all epochs.
    fn row_at(&mut self, place: u128) -> u64 {
        let (epoch, at) = ((place / u128::from(self.n_rows)) as u64, (place % u128::from(self.n_rows)) as u64);
        let Some(seed) = self.shuffle_seed else {
            return at;
        };
        match &self.order {
            Some((of, order)) if *of == epoch => order[at as usize],
            _ => {
                let mut order: Vec<u64> = (0..self.n_rows).collect();
                Random::keyed(&[seed, epoch]).shuffle(&mut order);
                let row = order[at as usize];
                self.order = Some((epoch, order));
                row
            }
        }
    }

    /// The index of the next batch's first row in the concatenated orders, and the number of its rows that are not padding;
    /// `None` at the end of the epoch.
    fn next_rows(&self) -> Option<(u128, u64)> {
        let (n, size) = (u128::from(self.n_rows), u128::from(self.batch_size));
        let (epoch, batch) = (u128::from(self.epoch), u128::from(self.batch));
        let start = epoch * n;
        match self.last_batch {
            LastBatch::RollOver => {
                let number = start / size + batch;
                (number < (start + n) / size).then_some((number * size, self.batch_size))
            }
            LastBatch::Pad | LastBatch::Zeros => {
                let first = batch * size;
                (first < n).then(|| (start + first, (n - first).min(size) as u64))
            }
            LastBatch::Discard => (batch < n / size).then(|| (start + batch * size, self.batch_size)),
        }
    }
}

/// Copies the rows with these numbers into a batch; the remaining rows are zeros.
fn gather(array: &Dense, index: &[u64], shape: &Shape) -> Result<Dense> {
    let bytes = array.bytes();
    let row_len = bytes.len() / array.shape()[0];
    let mut out = AlignedBytes::zeroed(row_len * shape[0]);
    if row_len > 0 {
        for (out, row) in out.chunks_exact_mut(row_len).zip(index) {
            out.copy_from_slice(&bytes[*row as usize * row_len..][..row_len]);
        }
    }
    Dense::new(array.dtype(), shape.clone(), out)
}

impl DataIter for NdArrayIter {
    fn provide_data(&self) -> &[DataDesc] {
        &self.data
    }

    fn provide_label(&self) -> &[DataDesc] {
        &self.labels
    }

    fn batch_size(&self) -> usize {
        self.batch_size as usize
    }

    fn next_batch(&mut self) -> Result<Option<DataBatch>> {
        let _call = api_call("NdArrayIter::next_batch");
        let Some((first, n_valid)) = self.next_rows() else {
            return Ok(None);
        };
        let mut index: Vec<u64> = (0..n_valid).map(|i| self.row_at(first + u128::from(i))).collect();
        let start = u128::from(self.epoch) * u128::from(self.n_rows);
        for i in 0..self.batch_size - n_valid {
            index.push(match self.last_batch {
                LastBatch::Zeros => 0,
                _ => self.row_at(start + u128::from(i % self.n_rows)),
            });
        }
        let n_rows = if self.last_batch == LastBatch::Zeros { n_valid as usize } else { index.len() };
        let descs = self.data.iter().chain(&self.labels);
        let all = self.arrays.iter().zip(descs).map(|(array, desc)| gather(array, &index[..n_rows], &desc.shape));
        let mut data = all.collect::<Result<Vec<Dense>>>()?;
        let labels = data.split_off(self.n_data);
        self.batch += 1;
        Ok(Some(DataBatch { data, labels, index, pad: (self.batch_size - n_valid) as usize }))
    }

    fn reset(&mut self) -> Result<()> {
        self.seek(self.epoch.saturating_add(1), 0)
    }

    fn seek(&mut self, epoch: u64, batch: u64) -> Result<()> {
        if self.shuffle_seed.is_some() && epoch == u64::MAX {
            return Err(Error::new(ErrorKind::Overflow { what: format!("epoch {epoch}") }));
        }
        (self.epoch, self.batch) = (epoch, batch);
        Ok(())
    }

    fn epoch(&self) -> u64 {
        self.epoch
    }

    fn n_examples(&self) -> Option<u64> {
        Some(self.n_rows)
    }

    fn n_batches(&self) -> Option<u64> {
        match self.last_batch {
            LastBatch::Pad | LastBatch::Zeros => Some(self.n_rows.div_ceil(self.batch_size)),
            LastBatch::Discard => Some(self.n_rows / self.batch_size),
            // If the rows do not fill whole batches, the number of batches can differ by one between epochs.
            LastBatch::RollOver => self.n_rows.is_multiple_of(self.batch_size).then_some(self.n_rows / self.batch_size),
        }
    }
}

impl std::fmt::Debug for NdArrayIter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut f = f.debug_struct("NdArrayIter");
        f.field("data", &self.data).field("labels", &self.labels).field("n_rows", &self.n_rows);
        f.field("epoch", &self.epoch).field("batch", &self.batch).finish_non_exhaustive()
    }
}
