//! Memory of batches that the network's inputs take over.

use mxrs_format::{AlignedBytes, Dense, Lender, Lent, Tensor};
use mxrs_ndarray::{ArrayContext, ArrayMemory, NdArray};
use mxrs_types::Result;
use std::ops::Deref;

/// Memory of an array, lent to whoever makes a batch.
struct BatchMemory(ArrayMemory);

impl Lent for BatchMemory {
    fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }
    fn bytes_mut(&mut self) -> &mut [u8] {
        self.0.bytes_mut()
    }
}

/// Lends iterators memory for their batches, which [`Module::forward`](crate::Module::forward) hands to the network's inputs
/// as it is; memory from elsewhere is copied there once.
pub fn batch_lender(context: &ArrayContext) -> Lender {
    let context = context.clone();
    Lender::new(move |len| Ok(Box::new(BatchMemory(ArrayMemory::new(&context, len)?))))
}

/// A batch's memory on its way into an array.
struct Owned(AlignedBytes);

impl Deref for Owned {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

/// Moves a tensor into an array of its shape: its memory becomes the array's if it was [lent](batch_lender), else it is copied
/// once, by the engine.
pub(super) fn feed(array: &NdArray, dense: Dense) -> Result<()> {
    let dense = match dense.dtype() == array.dtype() {
        true => dense,
        false => Tensor::Dense(Box::new(dense)).cast(array.dtype()).into_dense()?,
    };
    let bytes = dense.into_parts().2;
    if !array.can_adopt() || bytes.len() != array.size_bytes() {
        return array.copy_from_owned(Owned(bytes));
    }
    match bytes.into_lent::<BatchMemory>() {
        Ok(memory) => array.adopt(memory.0),
        Err(bytes) => array.copy_from_owned(Owned(bytes)),
    }
}
