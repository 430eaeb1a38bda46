//! Copies a batch into the arrays that executors read.

use mxrs_format::{AlignedBytes, Dense, Tensor};
use mxrs_ndarray::NdArray;
use mxrs_types::{DType, Result};
use std::ops::{Deref, Range};
use std::sync::Arc;

/// Memory of a batch that is being copied into an array.
struct Owned(AlignedBytes);

impl Deref for Owned {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

/// Some bytes of the memory of a batch.
struct Rows {
    memory: Arc<AlignedBytes>,
    bytes: Range<usize>,
}

impl Deref for Rows {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        self.memory.get(self.bytes.clone()).unwrap_or_default()
    }
}

fn converted(dense: Dense, dtype: DType) -> Result<Dense> {
    match dense.dtype() == dtype {
        true => Ok(dense),
        false => Tensor::Dense(Box::new(dense)).cast(dtype).into_dense(),
    }
}

/// Writes a tensor into an array of the same shape, converted to the array's dtype. The engine copies the elements once.
pub fn feed(array: &NdArray, dense: Dense) -> Result<()> {
    array.copy_from_owned(Owned(converted(dense, array.dtype())?.into_parts().2))
}

/// Writes rows of a tensor into each of these arrays, which have the same dtype, converted to it.
pub fn feed_rows(targets: &[(&NdArray, Range<usize>)], dense: Dense) -> Result<()> {
    let Some((first, _)) = targets.first() else { return Ok(()) };
    let dense = converted(dense, first.dtype())?;
    let row_bytes = dense.bytes().len() / dense.shape().first().copied().unwrap_or(1).max(1);
    let memory = Arc::new(dense.into_parts().2);
    for (array, rows) in targets {
        let bytes = rows.start * row_bytes..rows.end * row_bytes;
        array.copy_from_owned(Rows { memory: Arc::clone(&memory), bytes })?;
    }
    Ok(())
}
