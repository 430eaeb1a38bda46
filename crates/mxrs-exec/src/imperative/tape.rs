//! The tape: the nodes that recorded calls create.
//!
//! A [`Node`] stands for one recorded call, or for a marked leaf. It owns the nodes of its inputs and the values that its
//! gradient reads. An array owns the node that made it. Saved values are separate handles without a node, so that there is
//! no cycle of ownership. A node gets a larger id than all earlier nodes, so the nodes of its inputs have smaller ids.
//! Gradients are computed in falling order of ids.

use super::cached::CachedRun;
use super::flags;
use super::function::Recorded as RecordedFunction;
use super::prepared::Prepared;
use super::views;
use crate::gradients::GradReq;
use mxrs_ndarray::{ArrayContext, NdArray, Recorded, ViewOf};
use mxrs_sync::atomic::{AtomicU64, Ordering};
use mxrs_sync::{Rank, RankedMutex};
use mxrs_types::{DType, Device, Error, Result, Shape};
use std::any::Any;
use std::panic::Location;
use std::sync::Arc;

/// Shape, element type and device of a tensor.
#[derive(Clone)]
pub struct Desc {
    pub shape: Shape,
    pub dtype: DType,
    pub device: Device,
}

impl Desc {
    pub fn of(array: &NdArray) -> Self {
        Self { shape: array.shape().clone(), dtype: array.dtype(), device: array.device() }
    }

    /// An array of zeros with this shape, type and device.
    ///
    /// # Errors
    /// Returns an error if memory runs out.
    pub fn zeros(&self, context: &ArrayContext) -> Result<NdArray> {
        NdArray::zeros_on(context, self.shape.clone(), self.dtype, self.device)
    }
}

/// A value kept for the gradient.
pub struct Saved {
    array: NdArray,
    /// Number of writes to the storage that had been requested when the value was recorded.
    n_writes: u64,
}

impl Saved {
    pub fn new(array: &NdArray) -> Self {
        Self { array: array.detach(), n_writes: array.n_writes() }
    }

    /// The value. `what` names it in the error.
    ///
    /// # Errors
    /// Returns an error if `is_checked` and the value was overwritten after it was recorded.
    pub fn get(&self, node: &Node, is_checked: bool, what: impl FnOnce() -> String) -> Result<&NdArray> {
        if !is_checked || self.array.n_writes() == self.n_writes {
            return Ok(&self.array);
        }
        let written = self.array.last_write().map_or("an unknown place".into(), ToString::to_string);
        Err(Error::invalid(
            format!("backward of `{}`, recorded at {}: {}", node.name, node.site, what()),
            format!("an array overwritten at {written} after it was recorded"),
            "the value it had then; write to a copy, or call backward before",
        ))
    }
}

/// An input of a recorded call: its entry, if the input is tracked, and its value, if the gradient reads the value.
pub struct Link {
    pub from: Option<Entry>,
    pub desc: Desc,
    pub saved: Option<Saved>,
}

impl Link {
    /// An input whose value is not kept.
    pub fn of(array: &NdArray) -> Self {
        Self { from: entry_of(array), desc: Desc::of(array), saved: None }
    }

    /// An input whose value is kept.
    pub fn saved(array: &NdArray) -> Self {
        Self { saved: Some(Saved::new(array)), ..Self::of(array) }
    }
}

/// How the gradient of a node is computed.
pub enum How {
    /// The gradient is computed by the gradient function that the operator declares.
    Call(Arc<Prepared>),
    /// The node is a reshape. The gradient of the input is the gradient of the output in the shape of the input.
    Reshape,
    /// The node is a view of the rows `begin..end` of axis 0. The gradient of the input is zero outside these rows.
    Rows { begin: usize, end: usize },
    /// The gradient is computed by the backward closure of a user's function.
    Function(RecordedFunction),
    /// The gradient is computed by the gradient half of a cached graph.
    Cached(Arc<CachedRun>),
}

/// The data that a node keeps until its gradient has been computed.
pub struct History {
    pub how: How,
    pub inputs: Vec<Link>,
    pub outputs: Vec<Option<Saved>>,
}

/// An array that receives the gradient of an output of a node.
#[derive(Clone)]
pub struct Buffer {
    pub output: usize,
    pub array: NdArray,
    pub request: GradReq,
}

/// A node of the tape: a recorded call or a leaf.
pub struct Node {
    pub id: u64,
    /// Name of the operator, or a description of the node such as `a marked array`.
    pub name: String,
    /// Source location of the call that recorded the node.
    pub site: &'static Location<'static>,
    pub is_leaf: bool,
    pub outputs: Vec<Desc>,
    /// `None` for a leaf, and after the gradient has been computed without retaining the tape.
    history: RankedMutex<Option<Arc<History>>>,
    buffers: RankedMutex<Vec<Buffer>>,
}

fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Node {
    fn new(name: String, site: &'static Location<'static>, outputs: Vec<Desc>, history: Option<History>) -> Self {
        Self {
            id: next_id(),
            name,
            site,
            is_leaf: history.is_none(),
            outputs,
            history: RankedMutex::new(Rank::Leaf, history.map(Arc::new)),
            buffers: RankedMutex::new(Rank::Leaf, Vec::new()),
        }
    }

    /// Records a call whose visible outputs are `made`. These arrays are tracked from now on.
    pub fn record(name: &str, site: &'static Location<'static>, descs: Vec<Desc>, history: History, made: &[NdArray]) {
        let node = Arc::new(Self::new(name.into(), site, descs, Some(history)));
        for (index, array) in made.iter().enumerate() {
            Entry { node: node.clone(), index }.attach(array);
        }
    }

    /// A leaf for `array`. Its gradient is put into `grad`.
    pub fn leaf(array: &NdArray, grad: NdArray, request: GradReq, site: &'static Location<'static>) -> Self {
        let node = Self::new("a marked array".into(), site, vec![Desc::of(array)], None);
        node.buffers.lock().push(Buffer { output: 0, array: grad, request });
        node
    }

    pub fn history(&self) -> Option<Arc<History>> {
        self.history.lock().clone()
    }

    /// Drops the data that was kept for the gradient.
    pub fn forget(&self) {
        // Taken out first, so that the data is dropped after the lock is released.
        let old = self.history.lock().take();
        drop(old);
    }

    /// The arrays that receive the gradients of the outputs.
    pub fn buffers(&self) -> Vec<Buffer> {
        self.buffers.lock().clone()
    }

    pub fn add_buffer(&self, buffer: Buffer) {
        self.buffers.lock().push(buffer);
    }

    /// Drops the arrays that receive the gradient of this output.
    pub fn drop_buffers(&self, output: usize) {
        let (gone, kept) = std::mem::take(&mut *self.buffers.lock()).into_iter().partition(|b| b.output == output);
        *self.buffers.lock() = kept;
        let gone: Vec<Buffer> = gone;
        drop(gone);
    }
}

impl Drop for Node {
    /// Drops the nodes that only this node keeps alive, in a loop. Recursion could overflow the stack, because a tape may
    /// be a million calls long.
    fn drop(&mut self) {
        let mut histories: Vec<Arc<History>> = self.history.get_mut().take().into_iter().collect();
        while let Some(history) = histories.pop() {
            let Some(history) = Arc::into_inner(history) else { continue };
            for link in history.inputs {
                if let Some(mut node) = link.from.and_then(|entry| Arc::into_inner(entry.node)) {
                    histories.extend(node.history.get_mut().take());
                }
            }
        }
    }
}

/// An output of a node. Each tracked array carries an entry: the output that the array is.
#[derive(Clone)]
pub struct Entry {
    pub node: Arc<Node>,
    pub index: usize,
}

impl Entry {
    /// Makes `array` carry this entry.
    pub fn attach(self, array: &NdArray) {
        array.set_recorded(Some(Arc::new(self)));
    }

    /// A new handle to `array` that carries this entry.
    pub fn on(&self, array: &NdArray) -> NdArray {
        let handle = array.detach();
        self.clone().attach(&handle);
        handle
    }

    pub fn desc(&self) -> &Desc {
        &self.node.outputs[self.index]
    }
}

impl Recorded for Entry {
    fn on_view(&self, view: &NdArray, how: ViewOf, site: &'static Location<'static>) -> Result<()> {
        if flags::is_recording() {
            views::record(self, view, how, site);
        }
        Ok(())
    }

    fn before_write(&self, site: &'static Location<'static>) -> Result<()> {
        if !flags::is_recording() {
            return Ok(());
        }
        Err(Error::invalid(
            format!("write at {site} to an array that is being recorded"),
            format!("an array of `{}`, recorded at {}", self.node.name, self.node.site),
            "an array no gradient depends on: write outside of record (autograd::pause), or to a new array",
        ))
    }
}

/// The entry that an array carries; `None` if it is not tracked.
pub fn entry_of(array: &NdArray) -> Option<Entry> {
    let recorded = array.recorded()?;
    let any: &dyn Any = &*recorded;
    any.downcast_ref::<Entry>().cloned()
}
