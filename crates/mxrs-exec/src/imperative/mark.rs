//! Which arrays gradients are wanted of, and where they go.

use super::tape::{Buffer, Entry, Node, entry_of};
use super::{Imperative, flags};
use crate::gradients::GradReq;
use mxrs_ndarray::NdArray;
use mxrs_types::{Error, Result};
use std::panic::Location;
use std::sync::Arc;

/// Wants the gradient of `array`, to go to `grad` as `request` says. An array that a recorded call made keeps its place on
/// the tape; a leaf becomes a new leaf, for calls recorded from here on. `null` marks nothing.
///
/// # Errors
/// A gradient array of another shape or type; an array made by a recorded call that is marked already.
#[track_caller]
pub fn mark(array: &NdArray, grad: &NdArray, request: GradReq) -> Result<()> {
    if grad.shape() != array.shape() || grad.dtype() != array.dtype() {
        let expected = format!("{} {}, as the array", array.dtype(), array.shape());
        return Err(Error::invalid("gradient array", format!("{} {}", grad.dtype(), grad.shape()), expected));
    }
    let entry = entry_of(array).filter(|entry| !entry.node.is_leaf);
    match entry {
        Some(entry) => {
            if entry.node.buffers().iter().any(|b| b.output == entry.index) {
                return Err(Error::invalid(
                    "array to mark",
                    format!("an output of `{}` that is marked", entry.node.name),
                    "one that is not; drop_grads releases it",
                ));
            }
            if request != GradReq::Null {
                entry.node.add_buffer(Buffer { output: entry.index, array: grad.detach(), request });
            }
        }
        None if request == GradReq::Null => array.set_recorded(None),
        None => {
            let node = Node::leaf(array, grad.detach(), request, Location::caller());
            Entry { node: Arc::new(node), index: 0 }.attach(array);
        }
    }
    Ok(())
}

/// The array that the gradient of `array` goes to.
pub fn grad_of(array: &NdArray) -> Option<NdArray> {
    let entry = entry_of(array)?;
    entry.node.buffers().into_iter().find(|b| b.output == entry.index).map(|b| b.array)
}

/// The gradient of `array` is wanted no more: its gradient array is released. A leaf is no longer tracked; an array that a
/// recorded call made stays on the tape.
pub fn drop_grads(array: &NdArray) {
    let Some(entry) = entry_of(array) else { return };
    entry.node.drop_buffers(entry.index);
    if entry.node.is_leaf {
        array.set_recorded(None);
    }
}

/// Whether `array` is on the tape: marked, or made by a recorded call.
pub fn is_tracked(array: &NdArray) -> bool {
    entry_of(array).is_some()
}

impl Imperative {
    /// As [`mark`], with a new gradient array of zeros; `null` makes none.
    ///
    /// # Errors
    /// Out of memory, or as [`mark`].
    #[track_caller]
    pub fn attach_grad(&self, array: &NdArray, request: GradReq) -> Result<()> {
        if request == GradReq::Null {
            // Nothing is stored, and nothing allocated.
            return mark(array, array, request);
        }
        let _off = flags::set(false, flags::is_training());
        mark(array, &NdArray::zeros(self.context(), array.shape().clone(), array.dtype())?, request)
    }
}
