//! Marks: the arrays whose gradients are requested, and the arrays that receive these gradients.

use super::tape::{Buffer, Entry, Node, entry_of};
use super::{Imperative, flags};
use crate::gradients::GradReq;
use mxrs_ndarray::NdArray;
use mxrs_types::{Error, Result};
use std::panic::Location;
use std::sync::Arc;

/// Marks `array`: its gradient is to be put into `grad` as `request` says. An array that a recorded call made stays on the
/// tape. Any other array becomes a new leaf for the calls recorded from now on. With the request `null` no mark is made.
///
/// # Errors
/// Returns an error if the gradient array has another shape or type, or if a recorded call made the array and it is already
/// marked.
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

/// The array that receives the gradient of `array`, if it is marked.
pub fn grad_of(array: &NdArray) -> Option<NdArray> {
    let entry = entry_of(array)?;
    entry.node.buffers().into_iter().find(|b| b.output == entry.index).map(|b| b.array)
}

/// Removes the mark of `array` and releases its gradient array. A leaf is no longer tracked; an array that a recorded call
/// made stays on the tape.
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
    /// Like [`mark`], with a new gradient array of zeros. With the request `null` no array is made.
    ///
    /// # Errors
    /// Returns an error if memory runs out, and the errors of [`mark`].
    #[track_caller]
    pub fn attach_grad(&self, array: &NdArray, request: GradReq) -> Result<()> {
        if request == GradReq::Null {
            // A `null` request does not use the gradient array, so none is allocated.
            return mark(array, array, request);
        }
        let _off = flags::set(false, flags::is_training());
        mark(array, &NdArray::zeros_on(self.context(), array.shape().clone(), array.dtype(), array.device())?, request)
    }
}
