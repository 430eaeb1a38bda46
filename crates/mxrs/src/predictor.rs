//! The simplest way to use a network: batches of inputs in, outputs out.

use crate::{BoundModel, Model};
use mxrs_trace::api_call;
use mxrs_types::{Error, Result, Shape};

/// A model bound to one batch size and one shape of items.
pub struct Predictor {
    bound: BoundModel,
    input: String,
    batch_size: usize,
    /// Number of elements of one item.
    item_len: usize,
}

impl Predictor {
    pub(crate) fn new(model: &Model, batch_size: usize, data_shape: &[usize]) -> Result<Self> {
        if batch_size == 0 {
            return Err(Error::invalid("batch size", 0, "1 or more"));
        }
        let inputs = model.inputs();
        let &[input] = inputs.as_slice() else {
            let got = if inputs.is_empty() { "none".into() } else { inputs.join(", ") };
            return Err(Error::invalid("inputs of the network", got, "exactly one; use `Model::bind` for several"));
        };
        let shape: Shape = std::iter::once(batch_size).chain(data_shape.iter().copied()).collect();
        let bound = model.bind(&[(input, shape)])?;
        let item_len = data_shape.iter().product();
        Ok(Self { bound, input: input.to_owned(), batch_size, item_len })
    }

    /// Runs at most one batch of items (row-major), and returns their rows of the first output, one row per item.
    ///
    /// # Errors
    /// Returns an error if the data is not a whole number of items or more than one batch, or if a kernel fails.
    pub fn predict(&self, data: &[f32]) -> Result<Vec<f32>> {
        let _call = api_call("Predictor::predict");
        let n_items = data.len().checked_div(self.item_len).unwrap_or(0);
        if n_items * self.item_len != data.len() || n_items > self.batch_size {
            let expected = format!("up to {} items of {} elements", self.batch_size, self.item_len);
            return Err(Error::invalid("data to predict", format!("{} elements", data.len()), expected));
        }
        let mut padded = Vec::new();
        let batch = if n_items == self.batch_size {
            data
        } else {
            padded.extend_from_slice(data);
            padded.resize(self.batch_size * self.item_len, 0.0);
            &padded
        };
        let outputs = self.bound.forward(&[(&self.input, batch)])?;
        let first = outputs.first().ok_or_else(|| Error::invalid("outputs of the network", 0, "one or more"))?;
        let mut rows = first.to_vec::<f32>()?;
        rows.truncate(n_items * self.row_len());
        Ok(rows)
    }

    /// Largest number of items of one call.
    pub fn batch_size(&self) -> usize {
        self.batch_size
    }

    /// Name of the network's input.
    pub fn input(&self) -> &str {
        &self.input
    }

    /// Number of elements of the first output per item: the number of classes of a classifier.
    pub fn row_len(&self) -> usize {
        let shape = self.bound.executor().outputs().first().map(|output| output.shape().clone()).unwrap_or_default();
        shape.n_elements() / self.batch_size
    }

    /// The bound model, which gives access to the other outputs and to the report.
    pub fn bound(&self) -> &BoundModel {
        &self.bound
    }
}
