//! The executors of one shape of batches: one per context, each for a part of the rows.

mod feed;
mod merge;
mod split;

pub use merge::{array_for, concatenate};
pub use split::split_rows;

use feed::{feed, feed_rows};
use mxrs_data::{DataBatch, DataDesc};
use mxrs_exec::{Executor, Imperative};
use mxrs_format::Dense;
use mxrs_ndarray::NdArray;
use mxrs_types::{Error, Result, ResultExt, Shape};
use std::cell::{Cell, OnceCell};
use std::ops::Range;

/// One context of a group: its executor, and the rows of the batch that it gets.
pub struct Part {
    pub rows: Range<usize>,
    pub executor: Executor,
}

/// The executors of one shape of batches, with the descriptions of inputs and labels of the whole batch.
pub struct Group {
    pub data: Vec<DataDesc>,
    pub labels: Vec<DataDesc>,
    parts: Vec<Part>,
    /// What metrics and callers read instead of the arrays of the parts; `None` if there is one part.
    whole: Option<Whole>,
}

/// Labels and outputs of the whole batch.
struct Whole {
    /// The labels in host memory, in the order of [`Group::labels`].
    labels: Vec<NdArray>,
    /// The outputs on the device of the first part. They are made when they are first read.
    outputs: OnceCell<Vec<NdArray>>,
    /// Whether `outputs` are those of the last run.
    is_current: Cell<bool>,
}

impl Group {
    /// A group of these parts, of which there is at least one.
    ///
    /// # Errors
    /// Returns an error if there is no part, or if memory for labels is short.
    pub fn new(nd: &Imperative, data: Vec<DataDesc>, labels: Vec<DataDesc>, parts: Vec<Part>) -> Result<Self> {
        if parts.is_empty() {
            return Err(Error::invalid("contexts of a module", "none", "at least one"));
        }
        let whole = (parts.len() > 1).then(|| {
            let label = |desc: &DataDesc| {
                let dtype = parts[0].executor.argument(&desc.name)?.dtype();
                NdArray::zeros(nd.context(), desc.shape.clone(), dtype)
            };
            let labels = labels.iter().map(label).collect::<Result<_>>()?;
            Ok::<_, Error>(Whole { labels, outputs: OnceCell::new(), is_current: Cell::new(false) })
        });
        Ok(Self { whole: whole.transpose()?, data, labels, parts })
    }

    pub fn has_shapes(&self, data: &[Shape], labels: Option<&[Shape]>) -> bool {
        let same = |descs: &[DataDesc], shapes: &[Shape]| descs.iter().map(|desc| &desc.shape).eq(shapes);
        same(&self.data, data) && labels.is_none_or(|labels| same(&self.labels, labels))
    }

    /// The executor of the first context.
    pub fn executor(&self) -> &Executor {
        &self.parts[0].executor
    }

    /// The executors, in the order of the contexts.
    pub fn executors(&self) -> impl ExactSizeIterator<Item = &Executor> {
        self.parts.iter().map(|part| &part.executor)
    }

    /// Copies the inputs of a batch into the arrays of the executors, and the labels if `with_labels` is set.
    pub fn feed(&self, batch: DataBatch, with_labels: bool) -> Result<()> {
        for (desc, tensor) in self.data.iter().zip(batch.data) {
            self.feed_one(desc, None, tensor)?;
        }
        let labels = self.labels.iter().zip(batch.labels).enumerate().filter(|_| with_labels);
        for (i, (desc, tensor)) in labels {
            self.feed_one(desc, self.whole.as_ref().map(|whole| &whole.labels[i]), tensor)?;
        }
        Ok(())
    }

    /// Copies one input to the executors: each gets its rows. `all` is an array for all rows.
    fn feed_one(&self, desc: &DataDesc, all: Option<&NdArray>, tensor: Dense) -> Result<()> {
        let filling = || format!("filling input `{}`", desc.name);
        if let [part] = self.parts.as_slice() {
            return feed(part.executor.argument(&desc.name)?, tensor).context(filling);
        }
        let mut targets = Vec::with_capacity(self.parts.len() + 1);
        for part in &self.parts {
            targets.push((part.executor.argument(&desc.name)?, part.rows.clone()));
        }
        targets.extend(all.map(|all| (all, 0..all.shape().first().copied().unwrap_or(0))));
        feed_rows(&targets, tensor).context(filling)
    }

    /// Runs every executor in training or inference mode.
    pub fn forward(&self, is_train: bool) -> Result<()> {
        if let Some(whole) = &self.whole {
            whole.is_current.set(false);
        }
        self.executors().try_for_each(|e| if is_train { e.forward_train() } else { e.forward() })
    }

    /// Computes the gradients of every executor. `head_grads` are those of the whole batch.
    pub fn backward(&self, nd: &Imperative, head_grads: &[NdArray]) -> Result<()> {
        if self.parts.len() == 1 || head_grads.is_empty() {
            return self.executors().try_for_each(|executor| executor.backward(head_grads));
        }
        if head_grads.len() != self.executor().outputs().len() {
            // The number of gradients is wrong. The executor returns the error.
            return self.executor().backward(head_grads);
        }
        let n_rows = |array: &NdArray| array.shape().first().copied().unwrap_or(0);
        for (i, grad) in head_grads.iter().enumerate() {
            let expected: usize = self.executors().map(|executor| n_rows(&executor.outputs()[i])).sum();
            if n_rows(grad) != expected {
                let what = format!("gradient of output `{}`", self.executor().output_names()[i]);
                return Err(Error::shape("backward", what, format!("{expected} rows"), grad.shape()));
            }
        }
        let mut begins = vec![0; head_grads.len()];
        for executor in self.executors() {
            let mut own = Vec::with_capacity(head_grads.len());
            for ((grad, output), begin) in head_grads.iter().zip(executor.outputs()).zip(&mut begins) {
                let end = *begin + n_rows(output);
                let rows = grad.detach().slice(*begin, end)?;
                own.push(rows.copy_to_device(nd.context(), output.device())?);
                *begin = end;
            }
            executor.backward(&own)?;
        }
        Ok(())
    }

    /// The outputs of the whole batch.
    pub fn outputs(&self, nd: &Imperative) -> Result<&[NdArray]> {
        let Some(whole) = &self.whole else { return Ok(self.executor().outputs()) };
        let parts = |i: usize| self.executors().map(|executor| &executor.outputs()[i]).collect::<Vec<_>>();
        let names = self.executor().output_names();
        if whole.outputs.get().is_none() {
            let make = |(i, name): (usize, &String)| array_for(nd, &parts(i), &format!("output `{name}`"));
            let made = names.iter().enumerate().map(make).collect::<Result<Vec<_>>>()?;
            whole.outputs.get_or_init(|| made);
        }
        let outputs = whole.outputs.get().map_or(&[][..], Vec::as_slice);
        if !whole.is_current.get() {
            for (i, output) in outputs.iter().enumerate() {
                concatenate(nd, &parts(i), output)?;
            }
            whole.is_current.set(true);
        }
        Ok(outputs)
    }

    /// The labels of the whole batch with their names.
    pub fn labels(&self) -> Result<Vec<(&str, &NdArray)>> {
        let mut labels = Vec::with_capacity(self.labels.len());
        for (i, DataDesc { name, .. }) in self.labels.iter().enumerate() {
            let array = match &self.whole {
                Some(whole) => &whole.labels[i],
                None => self.executor().argument(name)?,
            };
            labels.push((name.as_str(), array));
        }
        Ok(labels)
    }
}
